// SPDX-License-Identifier: BSD-3-Clause
// distal: distributed tensor algebra from an MPI program. A computation has three independent parts: what is
// computed (a statement in index notation), where tensors live (placements on a machine), and how loops map
// onto processors (a schedule). They are given to a context, compiled, planned, and executed.
//
//     distal_context *d;
//     distal_create(MPI_COMM_WORLD, &d);
//     distal_machine(d, "M", "grid(2, 2)");
//     distal_tensor_create(d, "A", DISTAL_F64, 2, (int64_t[]){n, n}, "A(x, y) -> M(x, y)", &A);
//     ...
//     distal_statement_create(d, "A(i, j) = B(i, k) * C(k, j)", &s);
//     distal_plan_create(s, &p);
//     distal_execute(p);
//
// Errors. A call that can fail returns a status. The library never prints, exits or aborts; what was wrong is
// in distal_error(). A failed call has changed nothing, but for what its comment says. A handle that a call
// would have given is set to NULL. Calls accept NULL handles: they return DISTAL_INVALID.
//
// Ranks. All ranks of the context's communicator make the same calls with the same arguments in the same
// order, except where a comment says "local": such a call may be made on some ranks only. Calls that say
// "collective" communicate: what fails on one rank fails on all of them, with the same status and diagnostic.
//
// Memory. Everything belongs to the context and is freed with it. Handles can be freed earlier, in any order:
// a plan keeps what it needs of its statement; a plan of which a tensor has been freed cannot be executed.
// Text that is passed in is copied.
//
// Threads. One thread at a time uses a context. Kernels run with as many OpenMP threads as the caller has
// set.
#ifndef DISTAL_H
#define DISTAL_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISTAL_API __attribute__((visibility("default")))

#define DISTAL_VERSION_MAJOR 0
#define DISTAL_VERSION_MINOR 1
#define DISTAL_VERSION_PATCH 0
// Of the library that is linked: "0.1.0".
DISTAL_API const char *distal_version(void);

typedef enum {
    DISTAL_OK = 0,
    DISTAL_FAILED = 1,  // the program is right and could not be run: memory, files, the C compiler
    DISTAL_INVALID = 2, // the program, or an argument of the call, is wrong
} distal_status;

typedef struct distal_context distal_context;
typedef struct distal_tensor distal_tensor;
typedef struct distal_statement distal_statement;
typedef struct distal_plan distal_plan;

// --- Contexts

// A context on the ranks of `comm`, which is duplicated: messages of the library never meet the caller's. Any
// number of contexts, on any communicators, may live at the same time. Collective over `comm`.
// Where MPI is not initialized yet, it is initialized here (with MPI_THREAD_FUNNELED), and finalized with the
// last context. Errors of MPI itself go to the error handler of `comm`.
DISTAL_API distal_status distal_create(MPI_Comm comm, distal_context **context);

// Frees the context and all that belongs to it; NULL is fine. Collective.
DISTAL_API void distal_free(distal_context *context);

// What was wrong in the latest call that failed, in the manner of a compiler: one or more lines, each ended
// by a newline. "" where nothing has failed. Valid until the next call that fails. With NULL: of the latest
// call of this thread that had no context, such as one with a NULL handle. Local.
DISTAL_API const char *distal_error(const distal_context *context);

typedef enum { DISTAL_ERROR, DISTAL_NOTE } distal_severity;

typedef struct {
    distal_severity severity; // a note explains the error before it
    const char *message;
    const char *source;       // what the place is in: "distal", or the name that distal_program got
    int line, column, length; // from 1, in bytes; all 0 where it has no place
} distal_diagnostic;

// The same as values: *count diagnostics in order of place, none where nothing has failed. They are valid
// until the next call that fails. Local.
DISTAL_API distal_status distal_diagnostics(const distal_context *context, int64_t *count,
                                            const distal_diagnostic **diagnostics);

// --- Params and machines

// Declares an integer that extents, grids and arguments of commands may mention by name, or gives it another
// value. Tensors follow, as long as they have no memory: DISTAL_INVALID where the extents or the placement of
// one that has would change. Plans made before keep the old value. The built-in param `ranks` is the number
// of ranks.
DISTAL_API distal_status distal_param(distal_context *context, const char *name, int64_t value);

// Declares a machine, a grid of abstract processors: "grid(gx, gy)", or a hierarchy, outermost level first:
// "node grid(2, 2), core grid(4)". Processors are numbered row-major; there are as many as ranks or a
// multiple of that, in which case each rank runs a contiguous block of them.
DISTAL_API distal_status distal_machine(distal_context *context, const char *name, const char *grid);

// The same for a flat grid with `order` dimensions (at least 1). Its extents become params NAME_dim0,
// NAME_dim1, ..., so that a kernel does not depend on them.
DISTAL_API distal_status distal_machine_grid(distal_context *context, const char *name, int order,
                                             const int64_t *extents);

// --- Tensors

#define DISTAL_MAX_ORDER 12

typedef enum { DISTAL_I32, DISTAL_I64, DISTAL_F32, DISTAL_F64, DISTAL_C64, DISTAL_C128 } distal_type;

// Declares a dense tensor that is stored row-major; `tensor` may be NULL. `order`: number of modes, 0 (a
// scalar) to DISTAL_MAX_ORDER; `extents`: coordinates of each mode, 0 or more. In statements that mention the
// tensor, and in their schedules, the extents are params NAME_dim0, NAME_dim1, ...: tensors of another size
// need no other kernel. Other declarations cannot mention these.
//
// `placement` is tensor distribution notation: "A(x, y) -> M(x, y)". On its right stands for each dimension
// of the machine: a mode's name (the mode is cut into blocks of ceil(extent / size) coordinates along this
// dimension), cyclic(x, b) (blocks of b coordinates are distributed round-robin, as in ScaLAPACK), an
// integer (only that coordinate holds the tensor), or * (every coordinate holds the same). A hierarchy has an
// arrow for each level. NULL: a scalar is on every rank, any other tensor lies where the first plan that uses
// it needs it. No memory is allocated before something needs it; whether the machine fits the ranks is found
// then, too.
DISTAL_API distal_status distal_tensor_create(distal_context *context, const char *name, distal_type type,
                                              int order, const int64_t *extents, const char *placement,
                                              distal_tensor **tensor);

// The same from text, where extents may mention params and the order of storage can be given:
// "A(n, m): f64, order(1, 0)" is stored column-major.
DISTAL_API distal_status distal_tensor_declare(distal_context *context, const char *declaration,
                                               const char *placement, distal_tensor **tensor);

// The tensor of this name.
DISTAL_API distal_status distal_tensor_find(distal_context *context, const char *name,
                                            distal_tensor **tensor);

// Frees the memory of the tensor (not memory of the caller) and its name; NULL is fine.
DISTAL_API void distal_tensor_free(distal_tensor *tensor);

// Type, number of modes and extents. Any of the pointers may be NULL; `extents` has room for the modes.
DISTAL_API distal_status distal_tensor_shape(const distal_tensor *tensor, distal_type *type, int *order,
                                             int64_t *extents);

// A rectangle of a tensor in the memory of this rank: the element that is number i[d] of those that the piece
// has in mode d, 0 <= i[d] < extent[d], lies at data[sum over d of i[d] * stride[d]]. Strides are in
// elements; that of a mode with one element says nothing. Coordinates go from lo[d] to hi[d] - 1. They are
// all of these, so that i[d] = x[d] - lo[d] and extent[d] = hi[d] - lo[d], but where the placement is
// block-cyclic: then distal_tensor_coordinates lists them.
typedef struct {
    int order;
    int64_t lo[DISTAL_MAX_ORDER], hi[DISTAL_MAX_ORDER];
    int64_t extent[DISTAL_MAX_ORDER];
    int64_t stride[DISTAL_MAX_ORDER];
    void *data;
} distal_piece;

// How many pieces this rank holds: usually 1; 0 where it holds nothing; several where it runs several
// processors whose rectangles do not join. DISTAL_INVALID while nothing says where the tensor lies. Local.
DISTAL_API distal_status distal_tensor_piece_count(distal_tensor *tensor, int64_t *count);

// Where piece `index` lies in the tensor and, if it has memory, in memory; `data` is NULL otherwise and the
// strides are those that memory of the library would have. Allocates nothing. Local.
DISTAL_API distal_status distal_tensor_box(distal_tensor *tensor, int64_t index, distal_piece *piece);

// The same; a tensor without memory gets some, set to zero. Results are read and inputs written through this.
// `data` stays valid until the tensor is freed or other memory is attached. Local.
DISTAL_API distal_status distal_tensor_piece(distal_tensor *tensor, int64_t index, distal_piece *piece);

// The only piece of this rank. Where the rank holds nothing: all numbers 0 and `data` NULL. DISTAL_INVALID
// where there are several. Local.
DISTAL_API distal_status distal_tensor_local(distal_tensor *tensor, distal_piece *piece);

// The coordinates of the tensor that piece `index` has in a mode, in increasing order, which is that of its
// elements; `coordinates` has room for extent[mode] of them. Local.
DISTAL_API distal_status distal_tensor_coordinates(distal_tensor *tensor, int64_t index, int mode,
                                                   int64_t *coordinates);

// Puts the tensor into memory of the caller, where it is used in place from then on: plans read and write
// there. `data` is where the first element of this rank's piece lies, `stride` has the distance of neighbours
// in each mode, in elements (NULL: without gaps, in the order of storage); elements do not overlap. Nothing
// is copied where the mode that is stored last has stride 1 and the others have strides in the order of
// storage: rows may be longer than the piece. For other strides each plan has a copy, which its figures do
// not count: every execution copies the tensor into it, and a result back. Where the rank holds nothing,
// `data` may be NULL. The memory has to stay until the tensor is freed or other memory is attached. Plans
// made before cannot be executed any more. Collective; `data` and `stride` may differ from rank to rank.
DISTAL_API distal_status distal_tensor_attach(distal_tensor *tensor, void *data, const int64_t *stride);

// The same for a rank that may hold several pieces: `pieces` are `count` of them, as distal_tensor_box gives
// them, with `data` and `stride` filled in.
DISTAL_API distal_status distal_tensor_attach_pieces(distal_tensor *tensor, int64_t count,
                                                     const distal_piece *pieces);

// Fills the tensor: "zeros", "ones", "iota" (the row-major position), "const:V", "random:SEED" (uniform in
// [0, 1), the same for any number of ranks), or the path of a .npy file, which every rank reads in part.
// Collective.
DISTAL_API distal_status distal_tensor_fill(distal_tensor *tensor, const char *source);

// Writes a .npy file that appears under `path` when it is complete. Collective.
DISTAL_API distal_status distal_tensor_write(distal_tensor *tensor, const char *path);

// Copies the whole tensor, row-major, into `whole` on every rank; there is room for all of its elements.
// Collective.
DISTAL_API distal_status distal_tensor_gather(distal_tensor *tensor, void *whole);

// Copies `from` into `to`, which has the same extents and any other placement, order of storage or wider
// type. Moves each element that has to move once, in one message for each pair of ranks where that is
// possible. The first copy between two tensors compiles a kernel. To copy often, write the statement
// "to(i, j) = from(i, j)" and keep its plan. Collective.
DISTAL_API distal_status distal_redistribute(distal_tensor *to, distal_tensor *from);

// --- Statements and schedules

// A statement in index notation over tensors of the context: "A(i, j) = B(i, k) * C(k, j)", with += to
// accumulate. Variables that stand only on the right are summed over.
DISTAL_API distal_status distal_statement_create(distal_context *context, const char *text,
                                                 distal_statement **statement);

// Plans of the statement stay; NULL is fine.
DISTAL_API void distal_statement_free(distal_statement *statement);

// The schedule: each command changes the loops that those before it left. Without any, the work goes onto the
// placement of the left tensor. The arguments are names of loop variables, lists of them ("ii, ji, ki"), and
// integer expressions over params ("chunk", "n / 2", "256"). docs/schedule.md describes the commands, with an
// example of each.
// After a command that has failed, the statement can neither be compiled nor planned, so that it is enough to
// look at the status of that. What only the whole schedule shows, such as a library call that does not fit,
// is found by distal_compile.

// The loop `var` becomes `outer` with `parts` iterations around `inner`.
DISTAL_API distal_status distal_divide(distal_statement *statement, const char *var, const char *outer,
                                       const char *inner, const char *parts);
// The loop `var` becomes `outer` around `inner` with `size` iterations.
DISTAL_API distal_status distal_split(distal_statement *statement, const char *var, const char *outer,
                                      const char *inner, const char *size);
// Two directly nested loops become one.
DISTAL_API distal_status distal_collapse(distal_statement *statement, const char *outer, const char *inner,
                                         const char *fused);
// The named loops stand in this order, in the places that they hold now.
DISTAL_API distal_status distal_reorder(distal_statement *statement, const char *vars);
// Iterations of these loops run on different processors at the same time.
DISTAL_API distal_status distal_distribute(distal_statement *statement, const char *vars);
// Divides each target by the dimension of `onto` (a machine, one level of it, "L.node", or a tensor whose
// placement is followed), puts the outer loops outside and distributes them.
DISTAL_API distal_status distal_distribute_onto(distal_statement *statement, const char *targets,
                                                const char *outer, const char *inner, const char *onto);
// What the tensors need under one iteration of `var` is brought at its start.
DISTAL_API distal_status distal_communicate(distal_statement *statement, const char *tensors,
                                            const char *var);
// The loop `target` becomes `rotated`: target = (rotated + sum of vars) mod its extent. Systolic algorithms.
DISTAL_API distal_status distal_rotate(distal_statement *statement, const char *target, const char *vars,
                                       const char *rotated);
// The named innermost loops become a call: "gemm", "gemv", "ger", "dot", "axpy", "blas" (the best that fits)
// or "loops".
DISTAL_API distal_status distal_substitute(distal_statement *statement, const char *vars, const char *kernel);
// Iterations of `var` are shared out to `unit`: "cpu_thread" or "cpu_vector". `race` says what is done where
// they write the same: "none", "atomic", "reduction", "temporary"; NULL: none.
DISTAL_API distal_status distal_parallelize(distal_statement *statement, const char *var, const char *unit,
                                            const char *race);
// The body of the loop `var` is repeated `factor` times, a number.
DISTAL_API distal_status distal_unroll(distal_statement *statement, const char *var, const char *factor);
// `expression`, an operand or factors of a product of the right side ("B(i, k) * C(k, j)"), is computed ahead
// into the tensor `workspace`, indexed by `vars`, in loops over `workspace_vars`: the same names, or new
// ones. Its other variables are summed there; both lists may be empty (""). Comes first in a schedule. The
// workspace belongs to each plan: it is no tensor of the context.
DISTAL_API distal_status distal_precompute(distal_statement *statement, const char *expression,
                                           const char *vars, const char *workspace_vars,
                                           const char *workspace);
// The loop `var` becomes `position`, over what `access`, an access of a sparse tensor, stores. There are no
// sparse tensors yet: DISTAL_INVALID.
DISTAL_API distal_status distal_pos(distal_statement *statement, const char *var, const char *position,
                                    const char *access);

// Commands as text of the language, on lines or between semicolons: "split(k, ko, ki, 64); reorder({...})".
// All commands of the language can be written so.
DISTAL_API distal_status distal_schedule(distal_statement *statement, const char *commands);

// The statement as a program of the language, with its declarations and its schedule: what `distal explain`
// takes, and what the lines in diagnostics refer to. Valid until the next call with this statement.
DISTAL_API distal_status distal_statement_text(distal_statement *statement, const char **text);

// --- Programs as text

// Declares everything in a program of the language (a .distal file): params, machines, tensors, and
// statements with their schedules. `name` is what diagnostics call it, such as the name of the file. Params
// that exist already keep the value that they have, so that a caller sets them first.
DISTAL_API distal_status distal_program(distal_context *context, const char *name, const char *text);

// The statement that assigns the tensor `target`; of several the one at `index`, from 0, in order of
// creation.
DISTAL_API distal_status distal_statement_find(distal_context *context, const char *target, int index,
                                               distal_statement **statement);

// --- Compile, plan, execute

// Generates C, compiles it once on each node, and loads it. Kernels are kept in a cache on disk
// ($XDG_CACHE_HOME/distal) and serve every size: a later plan, also with tensors of other extents under the
// same names, compiles nothing. DISTAL_FAILED holds what the C compiler said. Collective.
DISTAL_API distal_status distal_compile(distal_statement *statement);

// The generated C, as `distal emit` prints it. Valid until the next call with this statement.
DISTAL_API distal_status distal_statement_source(distal_statement *statement, const char **source);

// A compiled kernel: the function distal_kernel_N that `distal emit` has written.
typedef struct distal_execution distal_execution;
typedef void (*distal_kernel_function)(distal_execution *execution, const int64_t *params);

// Declares an emitted function, for example DISTAL_KERNEL(distal_kernel_0).
#define DISTAL_KERNEL(name)                                                                                  \
    void name(distal_execution *execution, const int64_t *params);                                           \
    extern const char name##_id[]

// Takes a function that was compiled ahead of time in place of compiling one: no C compiler is needed at run
// time. `id` stands beside the function in what was emitted: a function for another statement, schedule,
// list of params or version of the library is refused. With the macro: distal_use(s, distal_kernel_0).
#define distal_use(statement, name) distal_use_kernel(statement, name, name##_id)
DISTAL_API distal_status distal_use_kernel(distal_statement *statement, distal_kernel_function function,
                                           const char *id);

// Plans the statement for the values that params, extents and grids have now: who sends what to whom, and
// all memory that is needed for it. Tensors that have no memory yet get some, set to zero. Compiles the
// statement where that has not been done. DISTAL_FAILED, before anything is allocated, where the nodes have
// not that much memory free. Collective.
DISTAL_API distal_status distal_plan_create(distal_statement *statement, distal_plan **plan);

// Collective; NULL is fine.
DISTAL_API void distal_plan_free(distal_plan *plan);

// What a plan costs. Arrays have one entry for each rank and belong to the plan.
typedef struct {
    const char *tensor;
    const char *pattern; // "local", "broadcast", "shift", "gather", "reduce", or "none": not accessed
    const char *at;      // the loop at which it is brought or combined, "" outside of all
    int64_t steps;       // how often
    const int64_t *bytes_received; // by a rank that does not hold them; for "reduce": partial results sent
    const int64_t *messages_received;
    const int64_t *home_bytes;   // at rest
    const int64_t *buffer_bytes; // beyond that, copies of threads included
} distal_tensor_figures;

typedef struct {
    int64_t ranks;
    int64_t flop; // operations of all ranks together
    int tensor_count;
    const distal_tensor_figures *tensors; // those that the statement mentions
    const int64_t *peak_bytes;
    double plan_seconds;
    double compile_seconds; // 0 where the kernel was there already
} distal_figures;

// Local.
DISTAL_API distal_status distal_plan_figures(const distal_plan *plan, distal_figures *figures);

// Computes the statement once, with what the tensors hold now. Allocates nothing; the same plan can be
// executed any number of times. Collective. DISTAL_INVALID where a tensor of the plan has been freed or has
// got other memory.
DISTAL_API distal_status distal_execute(distal_plan *plan);

// What the latest execution brought to this rank, as in distal_tensor_figures, but counted. Either pointer
// may be NULL. Local.
DISTAL_API distal_status distal_plan_counted(const distal_plan *plan, const char *tensor, int64_t *bytes,
                                             int64_t *messages);

#ifdef __cplusplus
}
#endif

#endif
