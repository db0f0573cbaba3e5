// SPDX-License-Identifier: BSD-3-Clause
// The context behind the public calls: what a caller has declared, and how a call begins, fails and agrees
// with the other ranks. Declarations become text of the language, so that calls and programs share one
// implementation and one set of diagnostics.
#ifndef DISTAL_API_CONTEXT_H
#define DISTAL_API_CONTEXT_H

#include "distal.h"
#include "jit/hash.h"
#include "jit/jit.h"
#include "pipeline/pipeline.h"
#include "runtime/agreement.h"
#include "runtime/communicators.h"
#include "runtime/storage.h"

// "n = 1024" as `definition`, which a value given by the caller replaces.
typedef struct Parameter Parameter;
struct Parameter {
    Parameter *next;
    const char *name, *definition;
    bool given;
    int64_t value; // where given
};

// "machine L = node grid(2, 2), core grid(4)".
typedef struct MachineText MachineText;
struct MachineText {
    MachineText *next;
    const char *text;
};

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
    Arena *arena;            // everything, this too, but the memory of elements
    Arena *settled;          // what follows from the values of params: `tensor`, `extents` and `home`
    const char *name;
    const char *dims;        // "A_dim0 = 4, A_dim1 = 5", or NULL
    const char *declaration; // "tensor A(A_dim0, A_dim1): f64"
    const char *placement;   // "place A(x, y) -> M(x, y)", or NULL
    const Tensor *tensor;
    int64_t extents[MAX_ORDER];
    Home home;        // not known before a plan needs it, where there is no placement
    Storage *storage; // NULL while it has no memory
    int64_t home_changes;
    bool spread;    // it is memory of the caller with strides that kernels cannot work with
    int64_t memory; // counts the times that its memory has changed
};

struct distal_statement {
    distal_statement *next;
    distal_context *context;
    Arena *arena;
    const char *target;
    const char *text;
    Array(const char *) commands;
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
    Arena *arena;   // declarations, as long as the context; all others are within it
    Arena *scratch; // of one call
    Arena *kept;    // what `failure` points to
    Parameter *parameters;
    MachineText *machines;
    distal_tensor *tensors; // alive, in order of declaration
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
// nobody is ended by the system later on. Collective.
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

// A program with the declarations of the context: all params and machines, and the tensors that `mentions`
// names as a word (NULL: none), besides `also`. In the scratch arena.
Text context_program(distal_context *context, const char *mentions, const distal_tensor *also);
const char *context_tensor_names(distal_context *context); // all of them, for `mentions`
// The tensors of that program, in its order; *count is set.
distal_tensor **context_mentioned(distal_context *context, const char *mentions, int *count);

// Runs the passes on a program text. Where they fail, context->diagnostics are those of the pipeline.
// `homes`: of its tensors, as PlanOptions. Everything lives in `arena`.
Pipeline *context_compile(distal_context *context, Arena *arena, const char *text, Pass last,
                          const Home *homes, bool *ok);

// What a pipeline that was run so means for a call.
distal_status pipeline_status(const Pipeline *pipeline, bool ok);

Parameter *context_param(const distal_context *context, const char *name);
// A param at the end of the list, without a value.
Parameter *context_add_param(distal_context *context, const char *name);
// Declare what such a line says; diagnosed. `dims` and `placement` may be NULL. A tensor in *result that goes
// with a failure is the caller's to release.
distal_status machine_declare(distal_context *context, const char *text);
distal_status tensor_declare(distal_context *context, const char *dims, const char *declaration,
                             const char *placement, distal_tensor **result);

// Looks again at the extents and homes of tensors without memory, for the values that params have now: of all
// of them or, where something fails, of none.
distal_status tensors_settle(distal_context *context, int64_t count, distal_tensor *const *tensors);
// Frees a tensor that neither the context nor a plan knows any more.
void tensor_release(distal_tensor *tensor);
// Whether it is known where the tensor lies; diagnosed.
distal_status tensor_check_home(distal_context *context, distal_tensor *tensor);
// Memory for the tensor, where it has none; its home is known. Local.
bool tensor_allocate(distal_tensor *tensor, Diagnostics *diagnostics);

// Declares a statement with its commands. One in *result that goes with a failure is the caller's to free.
distal_status statement_declare(distal_context *context, const char *text, int command_count,
                                const char *const *commands, distal_statement **statement);
// Keeps a copy of `text` as the answer to the caller, in place of the one before.
void statement_answer(distal_statement *statement, const char *text);
// The whole program of a statement.
const char *statement_program(distal_statement *statement);
// Adds lines to its schedule; after a mistake in them the statement is of no use.
distal_status statement_command(distal_statement *statement, const char *command);
// Runs the passes on it; NULL in *pipeline where its schedule has failed before.
distal_status statement_compile(distal_statement *statement, Arena *arena, Pass last, const Home *homes,
                                Pipeline **pipeline);

// The function for the C text, compiled and loaded where the context does not have it. Collective.
distal_status kernel_provide(distal_context *context, const char *source, distal_kernel_function *function,
                             double *seconds);
void kernels_free(distal_context *context);

#endif
