// SPDX-License-Identifier: BSD-3-Clause
// SPMD program: what one rank does, symbolic in params and in the coordinates of its processor. Distributed
// loops are gone (they are coordinates now); transfers of tensors stand at the loops where they happen; the
// rest is leaves.
#ifndef DISTAL_SPMD_SPMD_H
#define DISTAL_SPMD_SPMD_H

#include "index/cin.h"
#include "loop/loop.h"

// One dimension of the grid of processors that executes the statement.
typedef struct {
    const IntExpr *extent;
    const Machine *machine; // NULL: a dimension that only this statement has
} ExecutionDim;

// A loop of a leaf on a GPU whose units have partial results.
typedef struct {
    int var;
    GpuUnit unit;
    int64_t threads; // that execute its iterations at most, or warps; blocks: 0, as all loops over them share
                     // theirs
} PartialLoop;

// A place where data moves: one access of the statement. Two accesses of one nest with the same tensor,
// variables and place share it, and those that are near each other, as u(i - 1), u(i) and u(i + 1), so that
// what several of them read moves once. Executed once in every iteration of its loops, on all ranks alike.
typedef enum {
    TRANSFER_FETCH,  // bring what is read under this iteration
    TRANSFER_REDUCE, // bring what was computed under this iteration to its owners
} TransferKind;

typedef struct {
    int id; // index in Spmd.transfers
    TransferKind kind;
    // As in the leaf: an element lies where the values of these variables say. Those are the variables of the
    // statement's access, but where a processor has a part of a mode that is not contiguous, the part is
    // packed, and the variable is its child[1], which counts it. Where the operand is converted, its tensor
    // is a copy of the statement's with other levels.
    const Access *access;
    const Access *statement_access;
    // Other accesses of the statement that share it, as in the leaf.
    int near_count;
    const Access *const *near;
    // A fetch of a dense tensor: the sparse operand whose entries name the coordinates that are used, as it
    // is a factor wherever this is one; NULL: the whole footprint is.
    const Access *indexed_by;
    // The fetch of that operand, -1; and by mode of this one, which is dense, the level of that operand as
    // leaves read it that lists the coordinates of the mode, -1. In leaves these coordinates are numbered: as
    // in the operand, or as in a buffer that has no others.
    int indexing;
    int index_levels[MAX_ORDER];
    // The outermost loop of its leaf, over rows, which are coordinates of the first level of the operand that
    // indexes: rows that use nothing of other ranks are computed while the rest arrives. -1: none.
    int rows;
    // A fetch in sequential loops of a dense tensor that nothing in these loops writes: the fetch of the next
    // step can begin while this one's elements are used.
    bool ahead;
    int nest, stage;
    Reducer reducer; // of a reduction: how partial results are combined
    // Of a reduction: each element is computed once, and takes the place of what the owners have.
    bool replaces;
    int at; // variable of the loop that it is at (for diagnostics and plans), -1: outside of all loops
    int loop_count; // sequential loops around it, outermost first
    int loops[MAX_VARS];
    // The most bytes of the copies of the view that threads of the leaf add to, on a rank, which limits the
    // number of threads. 0: threads have no copies; INT64_MAX: a command requires them.
    int64_t copy_limit;
    // Of a leaf on a GPU: the loops whose blocks, warps or threads have a partial result each, outermost
    // first.
    int partial_loop_count;
    const PartialLoop *partial_loops;
} Transfer;

// A leaf: loops without communication inside. Loops step by 1 and start at 0, or further where an index of
// the statement needs that; with the guards they reach exactly the iterations that exist (remainders clamp to
// the parent's rectangle).
typedef struct {
    int var;
    const IntExpr *value;
} Definition; // a variable recovered from loop variables and coordinates

typedef struct {
    const IntExpr *less, *than; // the iteration exists only where less < than
} Guard;

typedef struct {
    int var;
    const IntExpr *lower, *upper;
    bool distinct;       // iterations write distinct elements
    bool permutable;     // the order is open, and what `distinct` says holds in any order
    bool thread;         // iterations are divided among the threads
    bool thread_reduces; // they all update the same element: each thread sums on its own, then the sums are
                         // added
    bool partials; // they update the same elements: each thread, or unit, has a partial result of its own
                   // of what the view covers, then these are added
    int64_t copy_limit; // then, the most bytes of all copies of a rank; INT64_MAX: a command requires them
    bool atomic;        // updates inside are atomic
    bool vector;        // vectorized
    GpuUnit unit;       // what executes its iterations on a GPU
    int64_t unroll;     // times; 0: as the C compiler likes. Not of a loop that is threaded or vectorized
    // Known once this loop's variable is: computed at the start of its body.
    int definition_count;
    const Definition *definitions;
    int guard_count;
    const Guard *guards;
} LeafLoop;

// A dimension of a call: no loop where the kernel does not have it, several only in contractions.
typedef struct {
    int count;
    int loops[MAX_VARS];
    // The source variable that each of them moves by one in an iteration; it indexes one mode of the access.
    int sources[MAX_VARS];
} CallDim;

// Products of which fewer are multiplied by the BLAS, and by one thread: they take about 35 microseconds.
enum { SMALL_PRODUCTS = 5 << 18 };

// Whether a product of floating-point matrices, rows x terms and terms x cols, whose result is contiguous
// along its rows, is multiplied in panels (runtime/panels.h) rather than by the BLAS, which copies all of A,
// also for few columns; adds to zeros where a result is stored; and divides the result among the threads, not
// the sum.
static inline bool multiplies_in_panels(double rows, double cols, double terms, bool stores) {
    enum { COLUMNS = 128, TERMS = 128, LONG_SUM = 8 };
    return rows * cols * terms > SMALL_PRODUCTS &&
           (cols <= COLUMNS || (stores && terms <= TERMS) || terms >= LONG_SUM * (rows + cols));
}

// A BLAS call in place of the innermost loops of a leaf.
//   gemm  C(m, n) += alpha * A(m, k) * B(k, n)     gemv  y(m) += alpha * A(m, k) * x(k)
//   ger   C(m, n) += alpha * x(m) * y(n)           dot   s += alpha * x(k) * y(k)
//   axpy  y(m) += alpha * x(m)
// where `a` and `b` are the operands in this order.
enum { CALL_DIMS = 4 };
typedef struct {
    KernelName kernel;
    CallDim m, n, k;
    // Of a contraction: loops that index all three, one product for each of their iterations. On a GPU all
    // such loops; else those that an operand is contiguous along.
    CallDim batch;
    // gemm with several loops for a dimension, or on operands without a unit stride: needs space to copy to.
    bool contraction;
    const Access *a, *b;
    // What multiplies the product: accesses that the loops of the call do not index, and numbers; NULL for 1.
    const Expr *alpha;
} BlasCall;

// A row workspace: memory of each thread for a workspace that is filled and read inside of a leaf, in every
// iteration of the loops around its WHERE. On a GPU, memory of each block that has such iterations.
typedef struct {
    const Stmt *where; // of the Cin; NULL of the row of values of a sparse result
    const Tensor *tensor;
    int at; // the innermost loop around it
    // On a GPU: loops around it whose iterations are those of blocks, by variable; none where all blocks fill
    // it together.
    VarSet blocks;
    // By mode, as leaves access it: the first coordinate, and the number of coordinates. That is 1 where the
    // loops around it determine the coordinate, and the length of a block where they determine the block.
    const IntExpr *first[MAX_ORDER], *extents[MAX_ORDER];
    bool stored; // the nest that fills it first stores every element; else elements are zero before
} RowWorkspace;

// A tree: loops around an assignment or a call, or around the leaves that fill a row workspace and the one
// that reads it.
typedef struct Leaf Leaf;
struct Leaf {
    int nest;           // whose loops these are
    const Stmt *assign; // of that nest; the reader executes it where there is a row workspace
    // Known before the first loop.
    int definition_count;
    const Definition *definitions;
    int guard_count;
    const Guard *guards;
    int loop_count; // all loops, those that `call` replaces last
    const LeafLoop *loops;
    const BlasCall *call; // NULL: loops all the way
    int call_loops;       // number of innermost loops that `call` replaces
    int row;              // index in Spmd.rows, -1: `assign` is innermost
    int fill_count;       // leaves that fill the row workspace, in order, before the one that reads it
    const Leaf *const *fills, *reader;
    const char *why; // how the leaf was chosen, for messages
    bool sparse;     // some access is of a sparse tensor: loops iterate over what is stored
};

typedef enum {
    SPMD_LOOP,       // for var in 0 .. extent: body. The same number of iterations on every rank
    SPMD_FETCH,      // of `transfer`: after it, the access can be read
    SPMD_RELEASE,    // of `transfer`: it is not read any more
    SPMD_ACCUMULATE, // of `transfer` (a TRANSFER_REDUCE): after it, the access can be written
    SPMD_REDUCE,     // of `transfer`: what was written is sent to the owners
    SPMD_LEAF,
} SpmdKind;

typedef struct SpmdNode SpmdNode;
struct SpmdNode {
    SpmdKind kind;
    SpmdNode *next; // the next in sequence
    // SPMD_LOOP
    int var;
    const IntExpr *extent;
    SpmdNode *body;
    // transfers
    int transfer;
    // SPMD_LEAF
    const Leaf *leaf;
};

typedef struct {
    // Without `accumulate`, every element of the left side is written once, by one iteration: the leaf
    // stores; else it adds to what ACCUMULATE made ready.
    const Stmt *assign;
    // For each dimension of the execution grid: the distributed variable that is its coordinate; or -1, and
    // then only processors with coordinate `fixed` take part.
    int coordinates[MAX_MACHINE_ORDER];
    const IntExpr *fixed[MAX_MACHINE_ORDER];
    // How many outermost loops of its leaf are outside of where it sets elements to zero, right before it
    // first adds to them, or 0 where it is a call that stores them; -1: the runtime sets them to zero before
    // the kernel.
    int zero_depth;
    // The statement whose loops find the entries of what it writes: cin_for_entries where that is sparse,
    // else the Cin. Transfers of sparse tensors have its steps and footprints. Nests in one body have that of
    // the last one.
    const Cin *entries;
    int inside; // the nest whose body it is executed in: the one that reads the row that it fills, or itself
    int stage;
    SpmdNode *body; // NULL where it is executed in another one's
} SpmdNest;

// Where the levels of what is written come from.
typedef enum {
    RESULT_DENSE,     // full
    RESULT_SHARED,    // those of an operand: it has an element exactly where this has one
    RESULT_LEADING,   // the first ones of an operand, which has elements below each position of them
    RESULT_ASSEMBLED, // made from the entries that a function of its own appends, before values are computed
} ResultKind;

// Nests that are executed one after the other, up to one that writes a sparse workspace or the result. The
// structure of that is found before its values are computed, and those of the stages before are there then.
typedef struct {
    const Tensor *target; // the workspace or the result
    ResultKind result;    // where its levels come from
    const Access *shared; // RESULT_SHARED, RESULT_LEADING: the operand's access; else NULL
    // The row that values are added to, before they are copied to the entries of `target` in order; -1: none,
    // they are added to the entries.
    int values_row;
    bool stores_rows; // each of its rows ends once, so that its values are stored there and nothing is zero
                      // before
    // How its entries and values are found, for messages; NULL: nothing to say.
    const char *assembly;
} Stage;

typedef struct {
    Arena *arena;
    const Cin *cin;
    int stage_count; // at least one
    Stage *stages;
    bool converts; // the statement does no more than convert what it shares the structure of: where the
                   // result is computed at home its values are put into it, and the kernel does not run
    int dim_count;
    ExecutionDim dims[MAX_MACHINE_ORDER];
    int transfer_count;
    const Transfer *transfers;
    int nest_count;
    const SpmdNest *nests;
    int row_count;
    const RowWorkspace *rows;
    bool calls_library; // some leaf calls the BLAS
    bool contracts;     // some leaf is a contraction, for which space is needed
    bool gpu_contracts; // the same on a GPU
    bool on_gpu;        // leaves are executed on a GPU, and their views are in its memory
    bool scales_sums;   // some call multiplies a sum of products by factors that each product has (alpha)
} Spmd;

// The dimensions of a call in the order of the loops that it replaces: m, n, k, and the loops around
// products.
static inline const CallDim *call_dim(const BlasCall *call, int d) {
    return d == 0 ? &call->m : d == 1 ? &call->n : d == 2 ? &call->k : &call->batch;
}

// The leaf in a nest's body; NULL where it is executed in another one's.
const Leaf *spmd_leaf(const SpmdNode *body);

// Whether it is the transfer of an access of its nest, as leaves make it.
bool transfer_serves(const Transfer *transfer, const Access *access);

// Whether leaves begin before the fetch has ended.
static inline bool transfer_overlaps(const Transfer *transfer) {
    return transfer->rows >= 0;
}

// The stage that a nest is in.
static inline const Stage *spmd_stage(const Spmd *spmd, int nest) {
    return &spmd->stages[spmd->nests[nest].stage];
}

// The variables that entries determine for each processor, which kernels get after its coordinates; `vars`
// has room for MAX_VARS. Their number.
int spmd_processor_numbers(const Spmd *spmd, int *vars);
// The tensors that transfers move or rows are of, by id; room for one of each transfer and row.
int spmd_tensors(const Spmd *spmd, const Tensor **tensors);

// Every access of a leaf is covered by a FETCH or ACCUMULATE that is still open, every one opened is closed,
// loops of transfers match the loops around them. On failure false and *why.
bool spmd_verify(const Spmd *spmd, const char **why);

// Pseudo-code in the manner of DISTAL, figures 10, 11 and 13. `params` are names by index.
void spmd_print(const Spmd *spmd, const char *const *params, Text *to);
// "fetch B[io * chunk : (io + 1) * chunk, :]": what moves in one iteration of the loops around a transfer.
const char *spmd_transfer_text(const Spmd *spmd, const Transfer *transfer, const char *const *params);

#endif
