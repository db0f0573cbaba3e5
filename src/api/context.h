// SPDX-License-Identifier: BSD-3-Clause
// The context behind the public calls: the declarations of a caller, and functions with which a call begins,
// fails and agrees with the other ranks. Declarations go into a ProgramBuilder, as those of a text do, so
// that calls and programs share one implementation and one set of diagnostics. Params have one numbering in a
// context, so tensors, machines and statements share the expressions that mention them.
#ifndef DISTAL_API_CONTEXT_H
#define DISTAL_API_CONTEXT_H

#include "distal.h"
#include "jit/hash.h"
#include "jit/jit.h"
#include "lang/fragment.h"
#include "pipeline/pipeline.h"
#include "runtime/communicators.h"
#include "runtime/neighbours.h"
#include "runtime/save.h"
#include "runtime/storage.h"

// Where the value of a param comes from.
typedef enum {
    PARAM_DEFINED,   // its definition in a program
    PARAM_GIVEN,     // the caller
    PARAM_OF_TENSOR, // an extent of a tensor, NAME_dim0, ..., which only statements may mention
    PARAM_FREE,      // of a freed tensor: the next tensor may use its index
} ParamOrigin;

typedef struct LoadedKernel LoadedKernel;
struct LoadedKernel {
    LoadedKernel *next;
    Hash source;
    Kernel kernel;
    KernelFunctions functions;
};

struct distal_tensor {
    distal_tensor *next;
    distal_context *context; // NULL: freed, but plans still refer to it
    int64_t references;      // by the context and by plans
    uint64_t serial;         // unique in the context
    Arena *arena;            // of this struct and all that belongs to it but the elements
    const char *name;
    Tensor *tensor;  // with id 0
    int first_param; // index of the param of its first extent; 0 if its extents are no params of its own
    int64_t extents[MAX_ORDER];
    Arena *settled;   // has the home of a placement, which follows from the values of params
    Home home;        // known once it is needed; without a placement, once a plan has been made
    Storage *storage; // NULL while it has no memory
    // Of a tensor in disk: the file of its home. One of the caller's is read, or is an output, which can
    // change until it is complete.
    HomeFile file;
    Output *output;          // that is not complete; NULL: there is none
    const char *output_path; // its path, with the name of the array in the file
    int64_t home_changes;
    // Of a sparse tensor, how its entries divide it and others (api/balance.h): the boundaries of all
    // divisions that placements and statements require, which follow from the structure `balanced`.
    Arena *balance_arena;
    BoundariesArray boundaries;
    Structure *balanced;
    int64_t balance_changes;
    bool is_internal; // of distal_norm or distal_dot: no list shows it
    bool attached;    // its memory is the caller's, or was before entries have divided it otherwise
    bool spread;      // its memory is the caller's and has strides that kernels do not support
    int64_t memory;   // number of changes of its memory
    // What the first plan that gives it a home fills it from; NULL: nothing.
    const char *pending;
};

// A tensor that a statement mentions, as it was declared when the statement was created.
typedef struct {
    Tensor *tensor; // with its id in the statement
    uint64_t serial;
} StatementTensor;

// What a statement divides by the entries of a tensor.
typedef struct {
    Division division;
    uint64_t serial; // of the tensor
} RequiredDivision;

struct distal_statement {
    distal_statement *next;
    distal_context *context; // NULL: freed, but plans still refer to it
    int64_t references;      // by the context and by plans
    Arena *arena;
    const char *target;
    const char *text;     // its assignment
    const char *name;     // of its source, to which its spans refer
    const char *shared;   // the source, if it is shared with other statements; else NULL
    Text source;          // the source otherwise; its last line is complete
    int32_t lines;        // of `source`
    ProgramBuilder build; // its tensors and itself
    Assignment *assignment;
    Array(StatementTensor) tensors; // by id
    Array(Command) commands;
    Array(RequiredDivision) required; // once it has been planned, for any values of params
    int64_t required_on_all;          // of these, how many all ranks have agreed on
    Statement written;
    Program program;                           // the statement as a program
    Pipeline *pipeline;                        // of `program`, with the results of the passes so far
    bool failed;                               // a command has failed
    const char *failed_call;                   // the first call that was wrong; NULL: memory ran out
    Diagnostic mistake;                        // its first error
    bool is_computed;                          // it belongs to distal_compute, and is not found
    struct PlannedProgram *planned;            // of the latest plan; NULL: none
    distal_kernel_function function, assembly; // compiled ahead of time, or NULL
    const char *function_id;
    Arena *answers; // of the text that a call has returned last; NULL if none has
    const char *answer;
};

// The diagnostics of the latest call that failed.
typedef struct {
    const char *text;
    int64_t count;
    const distal_diagnostic *items;
} Failure;

// A statement that is computed by its text (api/compute.c).
typedef struct ComputedStatement ComputedStatement;
enum { COMPUTED_BUCKETS = 64 };

struct distal_context {
    MPI_Comm comm, node;    // node: ranks that share this one's memory
    Neighbours *neighbours; // NULL: ranks read nothing of each other
    Communicators *communicators;
    int rank, ranks;
    Arena *arena;               // of declarations, freed with the context; contains all others
    Arena *scratch;             // of one call
    Arena *kept;                // what `failure` points to
    ProgramBuilder build;       // params and machines
    Array(ParamOrigin) origins; // of params, by index
    Outside names;              // tensors, for declarations
    Outside statement_names;    // tensors and their extents, for statements
    uint64_t serials;           // the latest serial of a tensor
    distal_tensor *tensors;     // not freed, in order of declaration
    distal_statement *statements;
    distal_plan *plans;
    LoadedKernel *kernels;
    ComputedStatement *computed[COMPUTED_BUCKETS]; // by a hash of the text
    int64_t computed_count, computed_calls;
    distal_error_action on_error;
    Scratch scratch_files; // of what is in disk
    distal_layout layout;  // of arrays of the caller
    void *gpu_stream;      // that calls follow (device_set_caller_stream); NULL: none
    // Whether ranks use GPU-aware MPI (runtime/gpu_messages.h), chosen for the first plan that uses a GPU.
    enum { GPU_MESSAGES_UNTRIED, GPU_MESSAGES_OFF, GPU_MESSAGES_ON } gpu_messages;
    bool gpu_sums;             // chosen with it (runtime/gpu_sums.h)
    int64_t gpu_memory_limit;  // bytes of the GPU of this rank that a plan may need; INT64_MAX: no limit
    bool is_local;             // the running call may be made on some ranks only
    const char *call, *within; // the running call; the one that it is a part of, or NULL
    Diagnostics *diagnostics;  // of the running call
    Diagnostics *no_memory;    // "out of memory", made in advance
    Failure failure;
};

// The local part of a public call, which diagnostics name: runs `body` with an empty scratch arena and empty
// diagnostics. If memory runs out, `body` ends and the status is DISTAL_FAILED. Diagnostics are in
// context->diagnostics. Does not communicate.
typedef distal_status (*CallBody)(distal_context *context, void *arguments);
distal_status call_local(distal_context *context, const char *call, CallBody body, void *arguments);
// A later part of the same call: keeps the scratch arena.
distal_status call_continue(distal_context *context, CallBody body, void *arguments);
// The end of a call that does not communicate: keeps the diagnostics of a failure for the caller.
distal_status call_end(distal_context *context, distal_status status);
// The end of a local part of a call that communicates: the status over all ranks. All ranks keep the
// diagnostics of a rank that has failed. Collective.
distal_status call_agree(distal_context *context, distal_status status);
// The same for the first part, as ranks may have made calls with different arguments: `fingerprint` must be
// equal on all.
distal_status call_agree_on(distal_context *context, distal_status status, const Hash *fingerprint);
// A first part that does nothing, for a call whose next part communicates: a rank that has no memory even for
// its diagnostics is found before others wait for it. `fingerprint` as above, NULL: none. Collective.
distal_status call_begin(distal_context *context, const char *call, const Hash *fingerprint);
// As call_agree_on; *most becomes the largest of all ranks.
distal_status call_agree_most(distal_context *context, distal_status status, const Hash *fingerprint,
                              int64_t *most);

// Whether the node has `bytes` of free memory for each of its ranks (the number may differ) for `what`.
// Checked before anything is allocated, so that the system does not kill a rank later. Collective.
distal_status call_fits(distal_context *context, distal_status status, int64_t bytes, const char *what);

// Releases what distal_compute has kept: statements of a tensor; NULL: all.
void computed_forget(distal_context *context, const distal_tensor *tensor);

// Sets the diagnostics of this call to "out of memory". Always DISTAL_FAILED.
distal_status out_of_memory(distal_context *context);
// Runs the remaining passes of the pipeline up to `last`.
distal_status call_run_passes(distal_context *context, Pipeline *pipeline, Pass last);

// Adds a diagnostic about the arguments of a call. Always DISTAL_INVALID.
distal_status invalid(distal_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same for a call without a context that could keep the diagnostic.
distal_status without_context(const char *call, const char *what);
// The whole of a call with NULL for `what`, its context or a necessary argument. Always DISTAL_INVALID.
// `context`: NULL if it is not known.
distal_status missing_argument(distal_context *context, const char *call, const char *what);
// The modes in the order in which arrays of the caller store them, in the scratch arena.
const int *layout_modes(const distal_context *context, int order);
// A copy of `text` in `arena`.
const char *copy_text(Arena *arena, const char *text);

// Whether `name` can name a param, a machine or a tensor. False with a diagnostic.
bool check_name(distal_context *context, const char *what, const char *name);
// Whether `text` is one line with matching brackets. False with a diagnostic.
bool check_line(distal_context *context, const char *what, const char *text);

distal_tensor *context_tensor(const distal_context *context, const char *name);

// Initializes context->build. May run out of memory (arena_attempt).
void context_begin_declarations(distal_context *context);
// Sets the source of the diagnostics of this call: a text, which must stay until the end of the call, and its
// name.
void context_show(distal_context *context, const char *name, const char *text);

// A state of the declarations, to return to after a mistake.
typedef struct {
    BuildMark build;
    distal_tensor **tensors;
    distal_statement **statements;
} DeclarationMark;
DeclarationMark context_mark(distal_context *context);
void context_reset(distal_context *context, DeclarationMark mark);

// Declares a new param. Its index, or -1 after a diagnostic.
int context_add_param(distal_context *context, Param param, ParamOrigin origin);
// Declares a copy of the machine.
bool context_add_machine(distal_context *context, const Machine *machine);

// Declares a copy of the tensor. After a failure, the caller has to release a tensor in *result.
distal_status tensor_declare(distal_context *context, const Tensor *declared, distal_tensor **result);
// Whether the tensor permits the new values of params. Does not change it.
distal_status tensor_check_values(distal_context *context, distal_tensor *tensor, const int64_t *values,
                                  const char *param);
// Updates the tensor to the current values of params; its home is no longer known if it has changed.
void tensor_take_values(distal_context *context, distal_tensor *tensor, const int64_t *old_values);
// Removes a reference, and frees the tensor after the last one.
void tensor_release(distal_tensor *tensor);
// Makes the home of the tensor known; DISTAL_INVALID with a diagnostic if that is not possible yet.
distal_status tensor_check_home(distal_context *context, distal_tensor *tensor);
// The home given by the placement with the current values of params and the boundaries that are known, in
// `arena`; of a tensor in disk, in this kind of file. False with a diagnostic if the machine does not fit the
// number of ranks.
bool tensor_place(distal_context *context, const distal_tensor *tensor, HomeFile file, Arena *arena,
                  Home *home);
// Adds the declaration of the tensor, which must be the same on all ranks.
void tensor_fingerprint(const distal_tensor *tensor, Hash *hash);
// Whether neighbours read its home where that is: it is dense, has several modes, and its memory is the
// library's. Elements of vectors are gathered, for which large pages matter more. The same on all ranks.
bool tensor_is_shared(const distal_tensor *tensor);
// Says so for the memory that is allocated next for `home`, on a rank that has neighbours.
void tensor_share_home(const distal_tensor *tensor, Home *home);
// Bytes of the host that tensor_allocate takes for this home, with the buffer of direct I/O of what is in
// disk.
int64_t home_missing_bytes(const distal_context *context, const Home *home);
// Allocates memory for a tensor that has none; its home is known. Local.
// Of a sparse tensor, all ranks allocate it or none does: a caller whose call fails on another rank frees it.
bool tensor_allocate(distal_tensor *tensor, Diagnostics *diagnostics);
void tensor_free_memory(distal_tensor *tensor);
// Fills it from the source that has been waiting for its home. Collective.
distal_status tensor_fill_pending(distal_tensor *tensor);

// Declares a statement with a copy of the assignment, whose spans refer to `source`, called `name`; both must
// stay; a name that is NULL is that of the call. After a failure, the caller has to free a statement in
// *result.
distal_status statement_declare(distal_context *context, const Assignment *assignment, const char *name,
                                const char *source, distal_statement **result);
// Adds copies of the commands to its schedule and applies them. After a mistake the statement cannot be
// compiled.
distal_status statement_add_commands(distal_statement *statement, int64_t count, const Command *commands);
// Runs the remaining passes up to generated C.
distal_status statement_compile(distal_statement *statement);
// Sets the source of the diagnostics of this call to that of the statement.
void statement_show(distal_statement *statement);
// Copies a shared source, before lines are added to it.
void statement_own_source(distal_statement *statement);
// A call that returns a text of the statement, of which its `body` keeps a copy with statement_answer, in
// place of the one before.
distal_status statement_return_text(distal_statement *statement, const char *call, CallBody body,
                                    const char **text);
void statement_answer(distal_statement *statement, const char *text);
// Removes a reference, and frees the statement after the last one.
void statement_release(distal_statement *statement);

// The functions of the C text, which are compiled and loaded unless the context has them. Collective.
distal_status kernel_provide(distal_context *context, const char *source, const KernelFunctions **functions,
                             double *seconds);
void kernels_free(distal_context *context);

#endif
