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
// Errors. A call that can fail returns a status, and distal_error() says what was wrong. The library prints
// nothing of it and does not end the program, unless distal_on_error asks for that. A failed call changes
// nothing unless its comment says so, and sets the handle that it would have returned to NULL. Calls accept
// NULL handles: they return DISTAL_INVALID at once, on this rank only, also where the call is collective.
//
// Ranks. All ranks of the context's communicator make the same calls with the same arguments in the same
// order, except where a comment says "local": such a call may be made on some ranks only. Calls marked
// "collective" communicate: a failure on one rank is a failure on all, with the same status and diagnostic.
//
// Memory. Everything belongs to the context and is freed with it. Handles can be freed earlier, in any order:
// a plan keeps what it needs of its statement, but it cannot be executed once one of its tensors has been
// freed. Text that is passed in is copied.
//
// Threads. A context may be used by one thread at a time. Kernels run with as many OpenMP threads as the
// caller has set.
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
// The version of the linked library: "0.1.0".
DISTAL_API const char *distal_version(void);

typedef enum {
    DISTAL_OK = 0,
    DISTAL_FAILED = 1,  // the program is correct but could not be run: memory, files, the C compiler
    DISTAL_INVALID = 2, // the program or an argument of the call is wrong
} distal_status;

typedef struct distal_context distal_context;
typedef struct distal_tensor distal_tensor;
typedef struct distal_statement distal_statement;
typedef struct distal_plan distal_plan;

// --- Contexts

// Creates a context on the ranks of `comm`, which is duplicated, so that messages of the library and of the
// caller do not mix. Any number of contexts, on any communicators, may exist at the same time. If MPI is not
// initialized yet, this initializes it (with MPI_THREAD_SERIALIZED), and freeing the last context finalizes
// it. Errors of MPI itself go to the error handler of `comm`. Collective over `comm`.
DISTAL_API distal_status distal_create(MPI_Comm comm, distal_context **context);

// Frees the context and all that belongs to it; NULL is fine. Collective.
DISTAL_API void distal_free(distal_context *context);

// The diagnostics of the latest call that failed or warned, as a compiler prints them: one or more lines,
// each ended by a newline; "" if there was none. Valid until the next such call. distal_plan_create warns of
// what is right, and probably not meant ("distal help warnings"). With NULL: those of the latest call of this
// thread that had no context, such as one with a NULL handle. Local.
DISTAL_API const char *distal_error(const distal_context *context);

typedef enum { DISTAL_ERROR, DISTAL_NOTE, DISTAL_WARNING } distal_severity;

typedef struct {
    distal_severity severity; // a note explains the error or the warning before it
    const char *message;
    const char *source;       // what it refers to: the call, or the name given to distal_program
    int line, column, length; // from 1, in bytes; all 0 if it refers to no text
} distal_diagnostic;

// The same as *count values, in the order of the source. Valid until the next call that fails or warns.
// Local.
DISTAL_API distal_status distal_diagnostics(const distal_context *context, int64_t *count,
                                            const distal_diagnostic **diagnostics);

// What happens when a call fails, besides the status that it returns.
typedef enum {
    DISTAL_ERRORS_RETURN, // nothing; the default
    DISTAL_ERRORS_PRINT,  // the diagnostics are printed to standard error, warnings too: once where all ranks
                          // fail alike, by each rank that fails in a local call
    DISTAL_ERRORS_ABORT,  // they are printed, and MPI_Abort ends all processes of the communicator
} distal_error_action;
// Sets it for the calls in the context from now on; with NULL, for those that have no context, such as a
// distal_create that fails or a call with a NULL handle, in this process. Local.
DISTAL_API distal_status distal_on_error(distal_context *context, distal_error_action action);

// How arrays of the caller are stored that have more than one mode.
typedef enum { DISTAL_ROW_MAJOR, DISTAL_COLUMN_MAJOR } distal_layout;
// Sets it for what the context copies from and to the caller (distal_tensor_gather, distal_section_read and
// the like), and for tensors that distal_tensor_create declares from now on. It is DISTAL_ROW_MAJOR at first,
// and has to be the same on all ranks. Tensors that are declared as text are stored as the text says.
DISTAL_API distal_status distal_use_layout(distal_context *context, distal_layout layout);

// Sets the folder in which tensors that are placed `in disk` keep their elements, for those that get elements
// from now on; NULL, as at first: what the environment variable TMPDIR says, or /tmp. The files have no names
// and end with the tensors. Ranks may have different folders. Local. See distal_tensor_attach_file for one
// file.
DISTAL_API distal_status distal_scratch(distal_context *context, const char *folder);

// Whether whole blocks of 4 KiB of these files are read and written with direct I/O (O_DIRECT), which
// bypasses the page cache; 0 at first. For tensors that get elements from now on, which takes 1 MiB of memory
// for each, and fails where the file system does not support it. Ranks may differ. Local.
DISTAL_API distal_status distal_scratch_direct(distal_context *context, int direct);

// Gives a stream of CUDA (CUstream, cudaStream_t) that calls use on the GPU of this rank from now on: what
// they do there comes after all that the caller has put into it before, and before all that the caller puts
// into it later. A call waits for the GPU only where other ranks, or memory of the host, need what it does,
// and a failure of the GPU may be that of a later call. NULL, as at first: calls do not wait for what the
// caller has begun, and what they do is finished when they return; so is then what was begun in the stream
// before. The stream is one of the primary context of the GPU, and stays until another one, or NULL, is given
// or the context is freed. Local; DISTAL_INVALID where the driver knows that it is of another GPU,
// DISTAL_FAILED where there is none.
DISTAL_API distal_status distal_gpu_stream(distal_context *context, void *stream);

// Sets how many bytes of GPU memory a rank may have, for plans that are made from now on: one that needs more
// while it is executed, gpu_peak_bytes of its figures, is refused on all ranks (DISTAL_FAILED of
// distal_plan_create), before anything is allocated. 0, as at first: what is free. DISTAL_INVALID: the limit
// is negative. Local; ranks may differ.
DISTAL_API distal_status distal_gpu_memory_limit(distal_context *context, int64_t bytes);

// --- Params and machines

// Declares an integer that extents, grids, right sides and arguments of commands may mention by name, or
// changes its value. Tensors without memory follow the change; DISTAL_INVALID if the extents or the placement
// of a tensor with memory would change. Existing plans keep the old value. The built-in param `ranks` is the
// number of ranks.
DISTAL_API distal_status distal_param(distal_context *context, const char *name, int64_t value);

// Declares a machine, a grid of abstract processors: "grid(gx, gy)", or a hierarchy, outermost level first:
// "node grid(2, 2), core grid(4)". Processors are numbered row-major. Their number is that of the ranks or a
// multiple of it; in the latter case each rank runs a contiguous block of processors.
DISTAL_API distal_status distal_machine(distal_context *context, const char *name, const char *grid);

// The same for a flat grid with `order` dimensions (at least 1). Its extents become params NAME_dim0,
// NAME_dim1, ..., so that kernels do not depend on their values.
DISTAL_API distal_status distal_machine_grid(distal_context *context, const char *name, int order,
                                             const int64_t *extents);

// --- Tensors

#define DISTAL_MAX_ORDER 12

typedef enum { DISTAL_I32, DISTAL_I64, DISTAL_F32, DISTAL_F64, DISTAL_C64, DISTAL_C128 } distal_type;

// Declares a dense tensor that is stored row-major (distal_use_layout); `tensor` may be NULL. `order`:
// number of modes, 0 (a scalar) to DISTAL_MAX_ORDER; `extents`: number of coordinates of each mode, at least
// 0. In statements that mention the tensor, and in their schedules, the extents are params NAME_dim0,
// NAME_dim1, ..., so one kernel serves tensors of any size. Other declarations cannot mention these params.
//
// `placement` is tensor distribution notation: "A(x, y) -> M(x, y)". Its right side has one entry for each
// dimension of the machine: the name of a mode (the mode is partitioned into blocks of ceil(extent / size)
// coordinates along this dimension), cyclic(x, b) (blocks of b coordinates are distributed round-robin, as in
// ScaLAPACK), an integer (only that coordinate holds the tensor), or * (every coordinate holds the same). A
// hierarchy has an arrow for each level. NULL: a scalar is on every rank, any other tensor where the first
// plan that uses it needs it. Memory is allocated when it is needed; a machine that does not fit the number
// of ranks is diagnosed then, too.
DISTAL_API distal_status distal_tensor_create(distal_context *context, const char *name, distal_type type,
                                              int order, const int64_t *extents, const char *placement,
                                              distal_tensor **tensor);

// The same from text, in which extents may mention params and the order of storage can be given:
// "A(n, m): f64, order(1, 0)" is stored column-major.
DISTAL_API distal_status distal_tensor_declare(distal_context *context, const char *declaration,
                                               const char *placement, distal_tensor **tensor);

// Finds the tensor of this name.
DISTAL_API distal_status distal_tensor_find(distal_context *context, const char *name,
                                            distal_tensor **tensor);

// Frees the tensor and its memory (but not memory of the caller); its name can be used again. NULL is fine.
DISTAL_API void distal_tensor_free(distal_tensor *tensor);

// Type, number of modes and extents. Any of the pointers may be NULL; `extents` has room for the modes.
DISTAL_API distal_status distal_tensor_shape(const distal_tensor *tensor, distal_type *type, int *order,
                                             int64_t *extents);

// A rectangle of a tensor in the memory of this rank. The element with index i, 0 <= i[d] < extent[d] in each
// mode d, is data[sum over d of i[d] * stride[d]]. Strides are in elements; the stride of a mode with one
// element is not used. Coordinates x[d] of the tensor are at least lo[d] and below hi[d]: where the placement
// is contiguous, extent[d] = hi[d] - lo[d] and i[d] = x[d] - lo[d]; where it is block-cyclic,
// distal_tensor_coordinates lists them.
typedef struct {
    int order;
    int64_t lo[DISTAL_MAX_ORDER], hi[DISTAL_MAX_ORDER];
    int64_t extent[DISTAL_MAX_ORDER];
    int64_t stride[DISTAL_MAX_ORDER];
    void *data;
} distal_piece;

// The number of pieces that this rank holds: usually 1; 0 if it holds nothing; several if it runs several
// processors whose rectangles cannot be joined. DISTAL_INVALID while the tensor has neither a placement nor a
// plan. Local.
DISTAL_API distal_status distal_tensor_piece_count(distal_tensor *tensor, int64_t *count);

// The coordinates of piece `index` and, if the tensor has memory, its data and strides; without memory `data`
// is NULL, and the strides are those that memory of the library would have. Allocates nothing. Local.
DISTAL_API distal_status distal_tensor_box(distal_tensor *tensor, int64_t index, distal_piece *piece);

// The same, but allocates zeroed memory for a tensor without memory. This is how callers read results and
// write inputs. `data` stays valid until the tensor is freed or other memory is attached. Local.
DISTAL_API distal_status distal_tensor_piece(distal_tensor *tensor, int64_t index, distal_piece *piece);

// The only piece of this rank; all numbers are 0 and `data` is NULL if the rank holds nothing. DISTAL_INVALID
// if it holds several. Local.
DISTAL_API distal_status distal_tensor_local(distal_tensor *tensor, distal_piece *piece);

// The coordinates of piece `index` in one mode, in increasing order, as its elements are stored;
// `coordinates` has room for extent[mode] of them. Local.
DISTAL_API distal_status distal_tensor_coordinates(distal_tensor *tensor, int64_t index, int mode,
                                                   int64_t *coordinates);

// Places the tensor in memory of the caller: plans read and write it there. `data` points to the first
// element of this rank's piece; `stride` is the distance in elements between neighbours in each mode (NULL:
// without gaps, in the order of storage). Elements must not overlap. Nothing is copied if the mode that is
// stored last has stride 1 and the strides decrease in the order of storage; rows may have padding. For other
// strides each plan keeps a copy, which its figures do not count: every execution copies the tensor into it,
// and a result back. `data` is aligned as the type is in C, and may be NULL if the rank holds nothing. The
// memory must stay until the tensor is freed or other memory is attached. Existing plans can no longer be
// executed. Collective; `data` and `stride` may differ from rank to rank.
//
// Of a tensor that is placed `in gpu`, `data` is an address in memory of the GPU that the rank uses, aligned
// to the size of an element: DISTAL_INVALID where the driver knows that it is not, or that the memory ends
// before the last element; DISTAL_FAILED where there is no GPU. Calls do not wait for what the caller has
// begun there, and what they do is finished when they return, unless there is a stream for both
// (distal_gpu_stream). A tensor in disk takes no memory, but a file (distal_tensor_attach_file).
DISTAL_API distal_status distal_tensor_attach(distal_tensor *tensor, void *data, const int64_t *stride);

// The same for any number of pieces: `pieces` has all of this rank, as distal_tensor_box gives them, with
// `data` and `stride` set by the caller.
DISTAL_API distal_status distal_tensor_attach_pieces(distal_tensor *tensor, int64_t count,
                                                     const distal_piece *pieces);

// Makes a file that all ranks see the home of a tensor that is placed `in disk`: a .npy file, or a data set
// of HDF5 (PATH.h5:/NAME), that stores it contiguously, in its type, in the byte order of the machine, and in
// the order in which the tensor is stored. Nothing is copied: elements are read there when they are used. The
// file has to stay as it is until the tensor is freed or in another file, and stays as it is: calls and plans
// that would change the tensor are DISTAL_INVALID. DISTAL_FAILED where the file cannot be opened or is not
// such a file: then the tensor is as it was. DISTAL_INVALID of a tensor that is not in disk, or that is
// placed by the entries of another one. Existing plans can no longer be executed. Collective.
DISTAL_API distal_status distal_tensor_attach_file(distal_tensor *tensor, const char *path);

// The same for results, with a new file: it is made in its full size, with zeros, and the tensor is computed
// and read there. It appears under its name with distal_tensor_write(tensor, path), and replaces what is
// there; from then on the tensor is in it as with distal_tensor_attach_file. Nothing remains of it where the
// tensor is freed before. The new file of a data set of HDF5 begins as a copy of the file that it will
// replace; if that file changes after this call, as where another tensor is written to it,
// distal_tensor_write fails, and the tensor has no elements then. Of a placement with replicas the first ones
// count, so that each element is written once. The tensor has to be stored by row. Collective.
DISTAL_API distal_status distal_tensor_attach_output(distal_tensor *tensor, const char *path);

// Fills the tensor: "zeros", "ones", "iota" (the row-major position), "const:V", "random:SEED" (uniform in
// [0, 1), the same for any number of ranks), others of docs/command.md, or the path of a file: .npy, .mtx,
// .tns, .h5, or a data set in it, "PATH.h5:/NAME". Every rank reads its part of a .npy file. A dense tensor
// without a placement is filled by the first plan that uses it, which then fails where the source cannot be
// read. Collective.
DISTAL_API distal_status distal_tensor_fill(distal_tensor *tensor, const char *source);

// Writes a file that appears under `path` when it is complete; its ending gives the format: .npy, .mtx, .tns,
// .csv, .h5, or a data set in it, "PATH.h5:/NAME". Collective.
DISTAL_API distal_status distal_tensor_write(distal_tensor *tensor, const char *path);

// Copies the whole tensor, row-major (distal_use_layout), into `whole` on every rank; there is room for all
// of its elements. Collective.
DISTAL_API distal_status distal_tensor_gather(distal_tensor *tensor, void *whole);

// The same into `whole` on one rank only; other ranks need no memory for it and may pass NULL. Collective;
// `whole` may differ from rank to rank.
DISTAL_API distal_status distal_tensor_gather_to(distal_tensor *tensor, int rank, void *whole);

// Reads the rectangle lo[d] <= x[d] < hi[d] of the tensor into `values`, row-major (distal_use_layout) and of
// the tensor's type, from wherever it is at home; of a sparse tensor with its zeros. Each rank has a
// rectangle of its own, which may be empty (lo[d] = hi[d]; `values` may be NULL then). Collective; all
// arguments but the tensor may differ from rank to rank.
DISTAL_API distal_status distal_section_read(distal_tensor *tensor, const int64_t *lo, const int64_t *hi,
                                             void *values);

// The same the other way: writes the rectangle of each rank into a dense tensor, into all of its replicas.
// Where several ranks write an element, the value of the highest one stays. Collective.
DISTAL_API distal_status distal_section_write(distal_tensor *tensor, const int64_t *lo, const int64_t *hi,
                                              const void *values);

// The value of a scalar, a tensor without modes; *value has its type. Communicates only if the scalar has a
// placement, or has never had a value; else the status may differ from rank to rank. Collective.
DISTAL_API distal_status distal_get(distal_tensor *scalar, void *value);
// Sets a scalar to *value, which is of its type and the same on all ranks. Does not communicate.
DISTAL_API distal_status distal_set(distal_tensor *scalar, const void *value);

// Fills a dense tensor with what `function` returns: it is called for each element that a rank holds, in
// row-major order in each piece, with the coordinates in the whole tensor, the place for the element, which
// has the tensor's type, and `argument`. It makes no calls of the library. Collective; `argument` may differ
// from rank to rank, but replicas of an element have to get the same value.
typedef void (*distal_element_function)(const int64_t *coordinates, void *element, void *argument);
DISTAL_API distal_status distal_tensor_fill_by(distal_tensor *tensor, distal_element_function function,
                                               void *argument);

// Prints the tensor to standard output of the first rank as "NAME = ...", as NumPy does: dense tensors of
// more than 1000 elements, and sparse ones of more than 50 entries, are shortened in the middle. Collective.
DISTAL_API distal_status distal_tensor_print(distal_tensor *tensor);

// The square root of the sum of the squared absolute values of all elements. Computed as a statement, whose
// plan is kept (distal_compute). Collective.
DISTAL_API distal_status distal_norm(distal_tensor *tensor, double *norm);

// The sum of the products of the elements of two tensors with the same extents, in any placements: *dot has
// the type that a statement computes in (NumPy's promotion of both). Nothing is conjugated. Collective; the
// plan is kept.
DISTAL_API distal_status distal_dot(distal_tensor *a, distal_tensor *b, void *dot);

// Copies `from` into `to`, which has the same extents; placement, order of storage and type may differ, where
// the type of `to` can hold that of `from`. Each element moves at most once, in one message for each pair of
// ranks where possible. The first copy between two tensors compiles a kernel. To copy often, create the
// statement "to(i, j) = from(i, j)" and keep its plan. Collective.
DISTAL_API distal_status distal_redistribute(distal_tensor *to, distal_tensor *from);

// --- Sparse tensors

// A sparse tensor is declared with the levels that store it (docs/language.md): distal_tensor_declare(d,
// "B(n, m): f64, csr", NULL, &B). It has no entries at first. distal_tensor_fill reads .mtx, .tns and .npy
// files and generators into it, distal_tensor_write writes it, distal_tensor_gather gives it with its zeros;
// it has no pieces. A rank has the entries that the placement puts there; without a placement the first rank
// has all of them.
//
// Where entries are given again, plans stay, and find the new ones when they are executed. Placements such as
// "B(i, j) -> M(weighted(i))" and "x(i) -> M(weighted(i, B))" follow the new entries: elements move to their
// new homes, and what the library has returned of the tensors that are placed so is no longer valid.
// DISTAL_INVALID where one of these is in memory of the caller and would move.

// Sets the entries of the tensor, those that all ranks give together, in any order: entry e has coordinate
// coordinates[d][e], counted from 0, in mode d and values[e], of the tensor's type. Those with the same
// coordinates are summed. Everything is copied. Collective.
DISTAL_API distal_status distal_tensor_entries(distal_tensor *tensor, int64_t count,
                                               const int64_t *const *coordinates, const void *values);

// The arrays of one level, in the order of storage. What is below position p of the level above (of the first
// level: p = 0) is in a compressed level at its positions pos[p] to pos[p + 1], and position q has coordinate
// crd[q]; in a singleton level it is at position p; in a dense or bitmap level coordinate x is at p * extent
// + x, and bit number p * extent + x of `bits` says whether it is stored. What a level does not have is NULL.
// A dense level that is the first one, or has nothing but dense levels below it, may have a part of the
// coordinates only, `count` of them from `first` on: coordinate x is at p * count + x - first then. So a rank
// has the rows that are its own, with a block-cyclic placement those from the first to the last one of the
// rank. Both 0: all coordinates.
// The elements of pos and crd have 32 or 64 bits; 0 is what the library has: 64 for pos; 32 for crd, or 64
// where the extent is greater than 2^31.
typedef struct {
    int64_t position_count;
    const void *pos, *crd;
    const uint64_t *bits;
    int pos_bits, crd_bits;
    int64_t first, count;
} distal_level_arrays;

// Uses arrays of the caller with the entries that are at home on this rank, which must stay until the tensor
// is given others or freed, and so must every result that has its structure; what a rank gives that has
// nothing at home is not read. `levels` has one element for each mode, whose position_count is not read, and
// values[q] is the value at position q of the last level. Nothing is copied but arrays whose elements do not
// have the bits of the library's. Entries are in the order of storage, without duplicates; arrays that are
// not such are DISTAL_INVALID, and so are those of a tensor that its entries balance if a rank gives entries
// that the boundaries found in the entries of all ranks put on another rank. After that a tensor whose home
// has changed has no entries, and tensors that are placed by its entries are at their new homes. A rank that
// has had no part of such a tensor, and gets none, may give no arrays, as distal_tensor_levels does. Where
// the placement cuts dense levels below others, ranks that have parts of what is below the same coordinates
// all store theirs or none does, and where it replicates parts, all ranks that have one give the same entries
// and values of it; else DISTAL_INVALID. For example CSR:
// {{0}, {.pos = row_pointers, .crd = columns}}. Collective.
DISTAL_API distal_status distal_tensor_attach_levels(distal_tensor *tensor, const distal_level_arrays *levels,
                                                     void *values);

// The arrays of a tensor in place, an operand or a result: `levels` has room for one element for each mode;
// either of the other pointers may be NULL. Values may be changed: the structure stays, and executions find
// the new ones. Valid until the tensor gets other entries: a result, when it is executed with operands of
// another structure. Coordinates are those of the whole tensor. All counts are 0 on ranks that have nothing.
// Local.
DISTAL_API distal_status distal_tensor_levels(distal_tensor *tensor, distal_level_arrays *levels,
                                              void **values, int64_t *value_count);

// --- Statements and schedules

// A statement in index notation over tensors of the context: "A(i, j) = B(i, k) * C(k, j)", with += to
// accumulate. Variables that occur only on the right are summed over.
DISTAL_API distal_status distal_statement_create(distal_context *context, const char *text,
                                                 distal_statement **statement);

// Frees the statement; its plans stay. NULL is fine.
DISTAL_API void distal_statement_free(distal_statement *statement);

// The schedule: commands transform the loops of the statement, one after the other. Without any, the work is
// distributed as the first sparse tensor that has a placement, the left one before operands, else as the
// first dense one (docs/language.md, "Where nothing is said"). Arguments are names of loop variables, lists
// of them ("ii, ji, ki"), and integer expressions over params ("chunk", "n / 2", "256"). docs/schedule.md
// describes the commands, with an example of each.
// After a command has failed, the statement can be neither compiled nor planned: distal_compile and
// distal_plan_create fail with the error of that command, so a caller may check their status only. Mistakes
// that only the whole schedule shows, such as a library call that does not fit, are diagnosed there.

// The loop `var` becomes `outer` with `parts` iterations around `inner`.
DISTAL_API distal_status distal_divide(distal_statement *statement, const char *var, const char *outer,
                                       const char *inner, const char *parts);
// The loop `var` becomes `outer` around `inner` with `size` iterations.
DISTAL_API distal_status distal_split(distal_statement *statement, const char *var, const char *outer,
                                      const char *inner, const char *size);
// Two directly nested loops become one.
DISTAL_API distal_status distal_collapse(distal_statement *statement, const char *outer, const char *inner,
                                         const char *fused);
// Reorders the named loops among the places that they have now.
DISTAL_API distal_status distal_reorder(distal_statement *statement, const char *vars);
// Iterations of these loops run on different processors at the same time.
DISTAL_API distal_status distal_distribute(distal_statement *statement, const char *vars);
// Divides each target by a dimension of `onto` (a machine, one level of it, "L.node", or a tensor whose
// placement gives the dimensions), moves the outer loops outside, and distributes them.
DISTAL_API distal_status distal_distribute_onto(distal_statement *statement, const char *targets,
                                                const char *outer, const char *inner, const char *onto);
// What one iteration of `var` uses of the tensors is communicated at its start.
DISTAL_API distal_status distal_communicate(distal_statement *statement, const char *tensors,
                                            const char *var);
// The loop `target` becomes `rotated`: target = (rotated + sum of vars) mod its extent. Systolic algorithms.
DISTAL_API distal_status distal_rotate(distal_statement *statement, const char *target, const char *vars,
                                       const char *rotated);
// The named innermost loops become a call: "gemm", "gemv", "ger", "dot", "axpy", "blas" (the best that fits)
// or "loops".
DISTAL_API distal_status distal_substitute(distal_statement *statement, const char *vars, const char *kernel);
// Iterations of `var` are executed in parallel by `unit`: "cpu_thread", "cpu_vector", "gpu_block", "gpu_warp"
// or "gpu_thread". `race` says how updates of the same element are resolved: "none", "atomic", "reduction",
// "temporary"; NULL: none.
DISTAL_API distal_status distal_parallelize(distal_statement *statement, const char *var, const char *unit,
                                            const char *race);
// The loop `var` is unrolled `factor` times, a number.
DISTAL_API distal_status distal_unroll(distal_statement *statement, const char *var, const char *factor);
// `expression`, an operand or factors of a product of the right side ("B(i, k) * C(k, j)"), is computed
// before the statement into the tensor `workspace`, which is indexed by `vars`, in loops over
// `workspace_vars`: the same names, or new ones. The other variables of the expression are summed over there;
// both lists may be empty (""). `format`: how a sparse workspace is stored, a format such as "csr" or levels
// such as "dense, compressed", without braces, in the order of `vars`; NULL: every element is. Must precede
// all other commands. Each plan has its own workspace, which is not a tensor of the context.
DISTAL_API distal_status distal_precompute(distal_statement *statement, const char *expression,
                                           const char *vars, const char *workspace_vars,
                                           const char *workspace, const char *format);
// The loop `var` becomes a loop `position` over the positions at which the tensor of `access`, an access of
// the statement such as "B(i, j)", stores coordinates of `var`. After distal_collapse of the loops of several
// levels these are all positions of the last one, which split and parallelize then divide evenly
// (Senanayake et al. 2020, section 4). DISTAL_INVALID if the tensor stores every coordinate of `var`.
DISTAL_API distal_status distal_pos(distal_statement *statement, const char *var, const char *position,
                                    const char *access);

// Applies commands written in the language, separated by newlines or semicolons: "split(k, ko, ki, 64);
// reorder({...})".
DISTAL_API distal_status distal_schedule(distal_statement *statement, const char *commands);

// The statement with its declarations and its schedule as a program of the language, which `distal explain`
// accepts, and to which lines in diagnostics refer. Valid until the next call with this statement.
DISTAL_API distal_status distal_statement_text(distal_statement *statement, const char **text);

// --- Programs as text

// Declares everything in a program of the language (a .distal file): params, machines, tensors, and
// statements with their schedules. `name` is its name in diagnostics, such as that of the file. Params that
// already exist keep their value, so a caller can set them first.
DISTAL_API distal_status distal_program(distal_context *context, const char *name, const char *text);

// The same with the placements and schedules that `distal schedule` chooses for the ranks of the context,
// where the program has none. Entries of sparse tensors are assumed, spread evenly. `memory_limit`: bytes
// that a rank may have, or 0; DISTAL_FAILED where no schedule is found that keeps it.
DISTAL_API distal_status distal_choose(distal_context *context, const char *name, const char *text,
                                       int64_t memory_limit);

// Finds the statement that assigns the tensor `target`; of several the one with number `index`, from 0, in
// order of creation.
DISTAL_API distal_status distal_statement_find(distal_context *context, const char *target, int index,
                                               distal_statement **statement);

// --- Compile, plan, execute

// Generates C, compiles it once on each node, and loads it. Kernels are kept in a cache on disk
// ($XDG_CACHE_HOME/distal) and serve every size: a later plan, also for tensors of the same names with other
// extents, compiles nothing. If it returns DISTAL_FAILED, the diagnostic contains the output of the C
// compiler. Collective.
DISTAL_API distal_status distal_compile(distal_statement *statement);

// The generated C, as `distal emit` prints it. Valid until the next call with this statement.
DISTAL_API distal_status distal_statement_source(distal_statement *statement, const char **source);

// A compiled kernel: a function that `distal emit` has written, distal_kernel_N, or
// distal_kernel_N_structure, which finds the entries of a sparse result where these follow from the entries
// of several operands.
typedef struct distal_execution distal_execution;
typedef void (*distal_kernel_function)(distal_execution *execution, const int64_t *params);

// Declares the emitted functions of a statement, for example DISTAL_KERNEL(distal_kernel_0).
#define DISTAL_KERNEL(name)                                                                                  \
    void name(distal_execution *execution, const int64_t *params);                                           \
    extern const distal_kernel_function name##_assembly;                                                     \
    extern const char name##_id[]

// Uses functions that were compiled ahead of time, so that no C compiler is needed at run time; `assembly`
// finds the entries of a sparse result or of sparse workspaces, and is NULL where no function is needed for
// that. `id` is emitted with them: functions for another statement, schedule, list of params or version of
// the library are refused. With the macro: distal_use(s, distal_kernel_0).
#define distal_use(statement, name) distal_use_kernel(statement, name, name##_assembly, name##_id)
DISTAL_API distal_status distal_use_kernel(distal_statement *statement, distal_kernel_function function,
                                           distal_kernel_function assembly, const char *id);

// Plans the statement for the current values of params, extents and grids: all messages, and all memory that
// they need. Allocates zeroed memory for tensors that have none. Compiles the statement if that has not been
// done. DISTAL_FAILED, and tensors are as before, if
// - a node has less free memory than its ranks lack for the plan,
// - the GPU of a rank has less free memory than the rank lacks for it, or there is no GPU,
// - a GPU executes something and DISTAL_GPU_MPI has a value other than "on" and "off",
// - a rank needs more GPU memory for it than it may have (distal_gpu_memory_limit),
// - memory runs out nevertheless, as where ranks that share a GPU take it from each other,
// - or compiling fails as in distal_compile.
// The first four are found before anything is allocated, and of GPU memory distal_error says what takes it.
// DISTAL_INVALID if the statement, its schedule or a placement is wrong. Collective.
DISTAL_API distal_status distal_plan_create(distal_statement *statement, distal_plan **plan);

// Frees the plan; NULL is fine. Collective.
DISTAL_API void distal_plan_free(distal_plan *plan);

// What a plan costs. Arrays have one entry for each rank and belong to the plan: they are valid until
// distal_plan_figures is called again, the plan is executed with other entries of sparse tensors, or it is
// freed. Before its first execution, what moves and is stored of
// sparse tensors counts as nothing, and of an operand that a sparse one indexes all of the footprint; after
// it, all is exact for the entries of the latest execution.
typedef struct {
    const char *tensor;
    const char *pattern; // "local", "broadcast", "shift", "all-gather", "exchange", "gather", "reduce",
                         // "all-reduce", "reduce-scatter", "replicate", or "none": not accessed
    const char *at;      // the loop at which it is communicated, "" outside of all loops
    int64_t steps;       // how often it is communicated
    const int64_t
        *bytes_received; // that the rank does not hold; for reductions, partial results that it sends
    const int64_t *messages_received;
    const int64_t *home_bytes;       // the pieces that the rank holds; an array that several hold, once
    const int64_t *buffer_bytes;     // further memory of the host, copies of threads included
    const int64_t *gpu_buffer_bytes; // and of its GPU
} distal_tensor_figures;

typedef struct {
    int64_t ranks;
    int64_t flop; // arithmetic operations of all ranks together; INT64_MAX: that many or more; -1: not known,
                  // of sparse tensors
    int tensor_count;
    const distal_tensor_figures *tensors; // those that the statement mentions
    const int64_t *peak_bytes;            // of memory of the host, while the plan is executed
    const int64_t *gpu_peak_bytes;        // of memory of its GPU
    double plan_seconds;
    double compile_seconds; // 0 if the kernel had been compiled before
} distal_figures;

// The figures of a plan. Local.
DISTAL_API distal_status distal_plan_figures(const distal_plan *plan, distal_figures *figures);

// Computes the statement once, with the current elements of the tensors. Allocates nothing; a plan can be
// executed any number of times. DISTAL_INVALID if a tensor of the plan has been freed or its memory has
// changed. Collective.
DISTAL_API distal_status distal_execute(distal_plan *plan);

// Computes one statement, without a schedule, from its text: distal_compute(d, "y(i) = A(i, j) * x(j)"). The
// first call with a text creates the statement and its plan; later calls with the same text find them by it
// and execute the plan. The context keeps those of the 256 texts that were computed last, until one of their
// tensors is freed. A plan is made again
// where params or the memory of the tensors have changed, as after distal_tensor_attach. Fails as
// distal_statement_create, distal_plan_create and distal_execute do. Collective.
DISTAL_API distal_status distal_compute(distal_context *context, const char *statement);

// bytes_received and messages_received of this rank as counted in the latest execution. Either pointer may be
// NULL. Local.
DISTAL_API distal_status distal_plan_counted(const distal_plan *plan, const char *tensor, int64_t *bytes,
                                             int64_t *messages);

// --- Other languages, and libraries on top of this one

// distal_create with a communicator of Fortran: of mpi_f08, its component MPI_VAL. Collective.
DISTAL_API distal_status distal_create_f(MPI_Fint comm, distal_context **context);

// Fails as the call named `call` would: `message` is what distal_error says then. For wrappers that check
// more than calls do; all ranks have to fail alike where what the wrapper would have called is collective.
// Always DISTAL_INVALID.
DISTAL_API distal_status distal_refuse(distal_context *context, const char *call, const char *message);

// Where `status` is not DISTAL_OK, prints distal_error(context) and ends all processes, as
// DISTAL_ERRORS_ABORT does: distal_check(d, distal_execute(plan)). Local.
DISTAL_API void distal_check(const distal_context *context, distal_status status);

#ifdef __cplusplus
}
#endif

#endif
