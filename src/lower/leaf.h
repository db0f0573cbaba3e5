// SPDX-License-Identifier: BSD-3-Clause
// Leaves: what a nest does between transfers, as loops with bounds, definitions and guards, around an
// assignment, a BLAS call, or leaves that fill and read a row workspace.
#ifndef DISTAL_LOWER_LEAF_H
#define DISTAL_LOWER_LEAF_H

#include "lower/transfers.h"

typedef struct {
    const Cin *cin;
    const int64_t *params; // by index, for estimates; NULL: not known
    Diagnostics *diagnostics;
    const Stmt *assign; // of a leaf with row workspaces, what fills them in their place
    bool
        outside[MAX_VARS]; // known around the leaf: coordinates, loops with transfers inside, loops of leaves
    bool unbounded[MAX_VARS]; // of those, coordinates that may lie beyond the extent of the variable
    int loop_count;
    int loops[MAX_VARS]; // of the leaf, in the order of the nest
    // Of leaves with row workspaces; `assign` reads the workspace.
    int nest;                   // the first one
    const Stmt *const *assigns; // by nest, as leaves make them
    const RowWorkspaceArray *rows;
    const char *converted;    // what is said of operands that are converted; NULL: nothing
    const Tensor *row;        // that the leaf fills and reads inside of its loops; NULL where it has none
    bool inner;               // inside of another leaf
    bool enclosing[MAX_VARS]; // loops of leaves around this one
    bool atomic;              // and one of them says that updates are atomic
} LeafSite;

// The leaf of `stmt`, of which `site` has what is outside, the assignments, the rows and in `nest` the first
// nest. NULL with a diagnostic where a schedule command about its loops cannot be carried out.
const Leaf *leaf_create(const LeafSite *site, const Stmt *stmt);

// The call of `kernel` that fits the statement on some of these loops, the innermost that will do, or NULL
// and what is in the way in *reason. All loops of the leaf other than those of the call stay around it.
const BlasCall *blas_fit(const LeafSite *site, KernelName kernel, const int *loops, int loop_count,
                         const char **reason);
// Number of loops that a call of `kernel` replaces, 0 where it is not a BLAS kernel.
int blas_loop_count(KernelName kernel);
// A product of two operands in which each dimension is all loops that index the same two of the three
// tensors: gemm, and what becomes one when pieces are copied. NULL where the statement is none, or where
// loops that are none of these walk along the operands, or, on a GPU, along all three.
const BlasCall *blas_fit_contraction(const LeafSite *site);
// Number of loops that this call replaces.
int blas_call_loops(const BlasCall *call);
// "C(m, n) += alpha * A(m, k) * B(k, n)"
const char *blas_form(KernelName kernel);
// Whether loops of the leaf around the call change what it multiplies by.
bool blas_alpha_varies(const LeafSite *site, const BlasCall *call);

// The call in place of the innermost loops of the leaf, as the schedule substitutes it or else the best that
// fits; NULL: none. *why: a description of the call, or the reason why there is none. False with a diagnostic
// where what the schedule substitutes does not fit.
bool leaf_choose_call(const LeafSite *site, const BlasCall **call, const char **why);

// Whether the element that is written and the loops in `around`, which are outside of it, determine the value
// of `var`, so that iterations with different values write different elements.
bool leaf_determines(const LeafSite *site, int var, VarSet around);

// Whether the order of the loops is open: there is no call, and no command says how they are executed.
bool leaf_is_open(const LeafSite *site);
// Whether a command orders some of the loops.
bool leaf_is_ordered(const LeafSite *site);

// Puts the loops of a leaf, `loops`, into an order with good locality in memory.
void leaf_order(const LeafSite *site, int *loops);
// The same where some tensor is sparse: also in the order in which levels are stored.
void leaf_order_sparse(const LeafSite *site, int *loops);
// Whether the loops of a leaf, in this order, can iterate over what sparse tensors store. Else a diagnostic.
bool leaf_check_order(const LeafSite *site, const int *loops);
// A sparse tensor with a level that is searched, as loops in this order do not follow its storage; NULL
// where there is none.
const Tensor *leaf_searched(const LeafSite *site, const int *loops);
// What is said of loops that are not in the order of the statement, so that one of them iterates over entries
// at an index of several variables, such as i + j: "" or with "; " before it.
const char *leaf_order_text(const LeafSite *site);
// Which of the loops, in this order, iterate over what is stored, and not over their whole extent.
VarSet leaf_bounded(const LeafSite *site, const int *loops);
// Whether the loops, in this order, follow the storage of an access.
bool leaf_fits(const LeafSite *site, const int *loops, const Access *access);
// Gives operands of a nest other levels where loops then need not iterate over their whole extents: their
// transfers get accesses of a tensor with these levels. `site` is without loops. What was converted, for
// people: "" or with "; " before each; NULL where the schedule orders loops.
const char *leaf_convert(const LeafSite *site, const Nest *nest, TransferArray *transfers);
// The access of an operand with the levels of a result that is indexed by the same variables, in whose order
// it is then stored; NULL where that may store elements at which the operand has no entry.
const Access *leaf_stored_as(Arena *arena, const Access *operand, const Access *result);
// Gives the fetch of an operand that access, which is stages[0].shared of `spmd`. What was converted, for
// messages.
const char *leaf_convert_as(const Cin *cin, const Access *operand, const Spmd *spmd,
                            TransferArray *transfers);
// Whether a loop inside of the loops `around` iterates over stored coordinates among which one may occur
// several times.
bool leaf_repeats(const LeafSite *site, int loop, VarSet around);
// Whether the loop iterates over stored coordinates of several accesses, as merge loops do.
bool leaf_merges(const LeafSite *site, int loop, VarSet around);
// Whether one iteration of the loop has all entries with a coordinate that may occur several times, so that
// others are not iterated over for each of them: it is a merge loop then, too.
bool leaf_joins_repeated(const LeafSite *site, int loop, VarSet around);
// A sparse tensor of the leaf; NULL where there is none.
const Tensor *leaf_sparse_tensor(const LeafSite *site);

// Sets which loops write distinct elements, and who executes their iterations where the schedule says it
// (threads, vectors, unrolling). False with a diagnostic where that would race.
bool leaf_parallelize(const LeafSite *site, LeafLoop *loops, int loop_count, const BlasCall *call);

// How many outermost loops of the leaf are outside of where it sets elements to zero, right before it first
// adds to them (SpmdNest); 0 of a call that stores them; -1 where its iterations do not have every element.
int leaf_zero_depth(const Spmd *spmd, const Leaf *leaf, const Stage *stage);

// Whether threads, or units of a GPU, have partial results of what the leaf writes; and Transfer.copy_limit.
bool leaf_has_partials(const Leaf *leaf);
int64_t leaf_copy_limit(const Leaf *leaf);
void leaf_partial_loops(const Leaf *leaf, Transfer *transfer, Arena *arena); // Transfer.partial_loops

// On a GPU: sets which loops around rows are those of blocks (RowWorkspace). False with a diagnostic where
// commands give loops inside of such iterations to what is outside of them.
bool gpu_place_rows(const Cin *cin, const Leaf *leaf, RowWorkspace *rows, Diagnostics *diagnostics);

// On a GPU (lower/gpu.c): refuses, with a diagnostic, what is not supported there yet. Whether a call can be
// made: outside of rows, and with factors that are numbers, as others are in memory of the GPU; else false,
// with *reason. A call of gemm, or of contractions; NULL with *reason.
bool gpu_check(const Cin *cin, Diagnostics *diagnostics);
bool gpu_takes_call(const LeafSite *site, const BlasCall *call, const char **reason);
const BlasCall *gpu_gemm(const LeafSite *site, const char **reason);

#endif
