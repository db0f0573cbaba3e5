// SPDX-License-Identifier: BSD-3-Clause
// The context behind the public calls: what a caller has declared, and how a call begins, fails and agrees
// with the other ranks. Declarations go into a ProgramBuilder, as those of a text do, so that calls and
// programs share one implementation and one set of diagnostics. Params have one numbering in a context, so
// tensors, machines and statements share the expressions that mention them.
#ifndef DISTAL_API_CONTEXT_H
#define DISTAL_API_CONTEXT_H

#include "distal.h"
#include "jit/hash.h"
#include "jit/jit.h"
#include "lang/fragment.h"
#include "pipeline/pipeline.h"
#include "runtime/agreement.h"
#include "runtime/communicators.h"
#include "runtime/storage.h"

// Where the value of a param comes from.
typedef enum {
    PARAM_DEFINED,   // its definition in a program
    PARAM_GIVEN,     // the caller
    PARAM_OF_TENSOR, // an extent of a tensor, NAME_dim0, ..., which only statements may mention
    PARAM_FREE,      // the tensor is gone: the next one may have its place
} ParamOrigin;

typedef struct LoadedKernel LoadedKernel;
struct LoadedKernel {
    LoadedKernel *next;
    Hash source;
    Kernel kernel;
};

struct distal_tensor {
    distal_tensor *next;
    distal_context *context; // NULL: freed, and kept for the plans that know it
    int64_t references;      // the context's and those of plans
    uint64_t serial;         // no other tensor of the context has had it
    Arena *arena;            // everything, this too, but the memory of elements
    const char *name;
    Tensor *tensor;  // with id 0
    int first_param; // of its extents, where they are params of its own; else 0
    int64_t extents[MAX_ORDER];
    Arena *settled;   // what follows from the values of params: `home` of a placement
    Home home;        // not known before something needs it; without a placement, before a plan does
    Storage *storage; // NULL while it has no memory
    int64_t home_changes;
    bool spread;    // it is memory of the caller with strides that kernels cannot work with
    int64_t memory; // counts the times that its memory has changed
};

// A tensor that a statement mentions, as it was declared then.
typedef struct {
    Tensor *tensor; // with its id in the statement
    uint64_t serial;
} StatementTensor;

struct distal_statement {
    distal_statement *next;
    distal_context *context; // NULL: freed, and kept for its plans
    int64_t references;      // the context's and those of plans
    Arena *arena;
    const char *target;
    const char *text;     // its assignment
    const char *name;     // of its source, which is what the places of its parts are in
    const char *shared;   // the source, where other statements have the same; else NULL
    Text source;          // the source otherwise; its last line is complete
    int32_t lines;        // of `source`
    ProgramBuilder build; // its tensors and itself
    Assignment *assignment;
    Array(StatementTensor) tensors; // by id
    Array(Command) commands;
    Statement written;
    Program program;                 // that it is
    Pipeline *pipeline;              // of `program`, as far as it has been run
    bool failed;                     // a command was wrong
    struct PlannedProgram *planned;  // of the latest plan; NULL: none
    distal_kernel_function function; // compiled ahead of time, or NULL
    const char *function_id;
    Arena *answers; // of what a call has returned to the caller last; NULL where none has
    const char *answer;
};

// What the latest call that failed had to say.
typedef struct {
    const char *text;
    int64_t count;
    const distal_diagnostic *items;
} Failure;

struct distal_context {
    MPI_Comm comm, node; // node: ranks that share this one's memory
    Communicators *communicators;
    int rank, ranks;
    Arena *arena;               // declarations, as long as the context; all others are within it
    Arena *scratch;             // of one call
    Arena *kept;                // what `failure` points to
    ProgramBuilder build;       // params and machines
    Array(ParamOrigin) origins; // of params, by index
    Outside names;              // tensors, for declarations
    Outside statement_names;    // tensors and their extents, for statements
    uint64_t serials;           // that tensors have had
    distal_tensor *tensors;     // alive, in order of declaration
    distal_statement *statements;
    distal_plan *plans;
    LoadedKernel *kernels;
    Diagnostics *diagnostics; // of the running call
    Diagnostics *no_memory;   // made ahead
    Failure failure;
};

// The local part of a call: `body` runs with an empty scratch arena and fresh diagnostics, and memory that
// runs out ends it with DISTAL_FAILED. What is wrong is in context->diagnostics. Does not communicate.
typedef distal_status (*CallBody)(distal_context *context, void *arguments);
distal_status call_local(distal_context *context, CallBody body, void *arguments);
// A later part of the same call: keeps the scratch arena.
distal_status call_continue(distal_context *context, CallBody body, void *arguments);
// The end of a call that does not communicate: keeps the diagnostics of a failure for the caller.
distal_status call_end(distal_context *context, distal_status status);
// The end of a part of a call that does: whether the part went well everywhere. What failed on one rank is
// then kept on all of them. Collective.
distal_status call_agree(distal_context *context, distal_status status);
// The same for the first part, where ranks could have come with different arguments: `fingerprint` has to be
// equal on all.
distal_status call_agree_on(distal_context *context, distal_status status, const Hash *fingerprint);
// The same; *most becomes the largest of all ranks.
distal_status call_agree_most(distal_context *context, distal_status status, const Hash *fingerprint,
                              int64_t *most);

// Whether the node has `bytes` (its own number on each rank) for `what`: else nothing is allocated, and
// no rank is ended by the system later on. Collective.
distal_status call_fits(distal_context *context, distal_status status, int64_t bytes, const char *what);

// Diagnoses a mistake in the arguments of a call; always DISTAL_INVALID.
distal_status invalid(distal_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Where there is no context to keep the diagnostic in; always DISTAL_INVALID.
distal_status without_context(const char *call, const char *what);
// A whole call that came with NULL for `what`, its context or something that it cannot do without; always
// DISTAL_INVALID. `context`: NULL where it is not known.
distal_status missing_argument(distal_context *context, const char *call, const char *what);
// A copy of `text` in `arena`.
const char *copy_text(Arena *arena, const char *text);

// Whether `name` can name a param, a machine or a tensor; diagnosed.
bool check_name(distal_context *context, const char *what, const char *name);
// Whether `text` is one line of text that leaves no bracket open; diagnosed.
bool check_line(distal_context *context, const char *what, const char *text);

distal_tensor *context_tensor(const distal_context *context, const char *name);

// Prepares what declarations go into; within an attempt.
void context_begin_declarations(distal_context *context);
// What the diagnostics of this call are about: a text of that name, which stays until the end of the call.
void context_show(distal_context *context, const char *name, const char *text);

// How far declarations have come, to go back to after a mistake: params, machines, tensors and statements.
typedef struct {
    BuildMark build;
    distal_tensor **tensors;
    distal_statement **statements;
} DeclarationMark;
DeclarationMark context_mark(distal_context *context);
void context_reset(distal_context *context, DeclarationMark mark);

// A param that is new; its index, or -1 after a diagnostic.
int context_add_param(distal_context *context, Param param, ParamOrigin origin);
// Takes over a machine that a program has declared.
bool context_add_machine(distal_context *context, const Machine *machine);

// Declares a tensor, which is copied. One in *result that goes with a failure is the caller's to release.
distal_status tensor_declare(distal_context *context, const Tensor *declared, distal_tensor **result);
// Whether the new values of params fit the tensor, where it has been; diagnosed. It is as it was.
distal_status tensor_check_values(distal_context *context, distal_tensor *tensor, const int64_t *values,
                                  const char *param);
// Takes the values that params have now: forgets a home that has changed.
void tensor_take_values(distal_context *context, distal_tensor *tensor, const int64_t *old_values);
// Frees a tensor that neither the context nor a plan knows any more.
void tensor_release(distal_tensor *tensor);
// Whether it is known where the tensor lies; diagnosed.
distal_status tensor_check_home(distal_context *context, distal_tensor *tensor);
// What all ranks have to have declared alike.
void tensor_fingerprint(const distal_tensor *tensor, Hash *hash);
// Memory for the tensor, where it has none; its home is known. Local.
bool tensor_allocate(distal_tensor *tensor, Diagnostics *diagnostics);

// Declares a statement, whose places are in `source` under `name`, both of which stay; the assignment is
// copied. One in *result that goes with a failure is the caller's to free.
distal_status statement_declare(distal_context *context, const Assignment *assignment, const char *name,
                                const char *source, distal_statement **result);
// The same from a text.
distal_status statement_read(distal_context *context, const char *text, distal_statement **result);
// Adds commands to its schedule, which are copied and tried; after a mistake in them it is of no use.
distal_status statement_add_commands(distal_statement *statement, int64_t count, const Command *commands);
// Brings it up to date with tensors that have been declared again; diagnosed.
distal_status statement_update(distal_statement *statement);
// Runs the passes on it that have not been run, up to `last`, which is before PASS_PLAN.
distal_status statement_compile(distal_statement *statement, Pass last);
// Diagnostics are about the source of the statement, until the end of the call.
void statement_show(distal_statement *statement);
// Makes the source its own, for a call that adds lines to it.
void statement_own_source(distal_statement *statement);
// A tensor of the context in the form that it has in the statement.
const Tensor *statement_tensor(void *statement, const Tensor *tensor);
// Keeps a copy of `text` as the answer to the caller, in place of the one before.
void statement_answer(distal_statement *statement, const char *text);
// The statement and what it needs as a program.
void statement_print_program(const distal_statement *statement, Text *to);
// Frees a statement that neither the context nor a plan knows any more.
void statement_release(distal_statement *statement);

// The function for the C text, compiled and loaded where the context does not have it. Collective.
distal_status kernel_provide(distal_context *context, const char *source, distal_kernel_function *function,
                             double *seconds);
void kernels_free(distal_context *context);

#endif
