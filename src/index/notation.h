// SPDX-License-Identifier: BSD-3-Clause
// Index notation: tensors, accesses, expressions and assignments, as the user wrote them (DISTAL, section 2).
#ifndef DISTAL_INDEX_NOTATION_H
#define DISTAL_INDEX_NOTATION_H

#include "base/diagnostic.h"
#include "base/function.h"
#include "base/intexpr.h"
#include "base/reducer.h"
#include "base/type.h"
#include "format/slice.h"
#include "machine/placement.h"
#include "relation/variable.h"

typedef struct Tensor {
    int id; // index among the tensors of the program
    const char *name;
    Span span;
    ElementType type;
    int order;
    const IntExpr *extents[MAX_ORDER]; // of the modes, in the order of accesses
    Span extent_spans[MAX_ORDER];
    // Storage: level l stores mode mode_order[l] as levels[l].
    LevelType levels[MAX_ORDER];
    int mode_order[MAX_ORDER];
    const Placement *placement; // NULL: induced by the schedule
    // Of a row workspace, which is filled anew in each iteration of the loops around it: the variables of its
    // statement that these loops iterate over. 0: a tensor that lies in memory as a whole.
    VarSet around;
    // Of a workspace: it has elements where its expression is not present (index/presence.h), as its last
    // level stores every coordinate.
    bool partial;
    // Of a workspace: it has what this tensor, which its statement assigns, has before the statement. NULL:
    // it is computed.
    const struct Tensor *old_of;
} Tensor;

// Whether a level does not store every coordinate.
bool tensor_is_sparse(const Tensor *tensor);
LevelList tensor_levels(const Tensor *tensor);
// Whether the levels store the modes in the order of an array by row. Modes of one coordinate may be
// anywhere; `extents` NULL: they are not known.
bool tensor_is_stored_by_row(const Tensor *tensor, const int64_t *extents);
// Whether the levels store the modes in the order of an array by column, with `extents` as above.
bool tensor_is_stored_by_column(const Tensor *tensor, const int64_t *extents);
// A deep copy in `arena`, without spans; the machine of its placement is not copied.
Tensor *tensor_copy(Arena *arena, const Tensor *tensor);
// Whether two tensors differ in their names and ids only: type, extents as they are written, storage and
// placement are equal.
bool tensor_is_like(const Tensor *a, const Tensor *b);
// What `old_A` has the elements of, A (Tensor.old_of); of others, the tensor itself.
static inline const Tensor *tensor_resolve_old(const Tensor *tensor) {
    return tensor->old_of ? tensor->old_of : tensor;
}

typedef struct {
    const Tensor *tensor;
    // Ids of index variables of the statement, one a mode. Where an index is more than a variable: it, and a
    // variable of its own, which it determines.
    int vars[MAX_ORDER];
    const AffineIndex *indices[MAX_ORDER];
    Span span, var_spans[MAX_ORDER];
} Access;

typedef enum {
    EXPR_ACCESS,
    EXPR_NUMBER,
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_DIV,
    EXPR_NEG,
    EXPR_CALL,
    EXPR_REDUCE, // sum({i}, E): E, combined over all values of some variables
} ExprKind;

typedef struct Expr Expr;
struct Expr {
    ExprKind kind;
    Span span;
    const Access *access;     // EXPR_ACCESS
    double number;            // EXPR_NUMBER
    bool number_is_imaginary; // i times `number`
    bool number_is_integer;   // written without point or exponent
    int64_t integer;          // its value then
    const IntExpr *param;     // EXPR_NUMBER: an integer that is the value of this param; NULL: as written
    const char *param_name;
    const Function *function; // EXPR_CALL
    Reducer reducer;          // EXPR_REDUCE
    VarSet bound;             // EXPR_REDUCE: the variables, which nothing outside of it has
    const Expr *left,
        *right; // of operations and calls; EXPR_NEG, EXPR_REDUCE and one argument have left only
};

// One index variable of the statement as written: not derived.
typedef struct {
    const char *name;
    Span span;             // of its first occurrence
    const IntExpr *extent; // of the first mode that it indexes
    // An index that is more than a variable determines it, of which the name is the text; NULL: a variable as
    // written. The values of a variable with a range are those of an index that no access has, i - first, and
    // that is below last - first.
    const AffineIndex *index;
    const IntExpr *first, *last; // of such a range, half open; NULL otherwise
    const IntExpr *start;        // of a variable as written: the value that 0 stands for; NULL: 0
} SourceVar;

// `lhs = rhs` or `lhs += rhs`. Variables are numbered in order of first occurrence, left to right.
typedef struct {
    const Access *lhs;
    bool accumulate; // the old value counts as well: written with +=, max=, ...
    // How values are combined over the variables that the left side lacks, and, where it accumulates, with
    // the old value. Sums that are not `whole` are those of each additive term over its own variables; else
    // the right side is one term.
    Reducer reducer;
    bool whole;
    const Expr *rhs;
    Span span;
    int var_count;
    SourceVar vars[MAX_VARS];
} Assignment;

// The type that the statement computes in: promotion over all of its tensors, the left one included. A number
// takes the type of the tensors around it (NumPy's rules: 0.5 converts integers to f64 and does not change
// f32), and a function that is not defined on integers converts them to f64.
ElementType assignment_type(const Assignment *assignment);
// The type of the value of one expression, which may have to be converted to be stored: the same promotion
// over its tensors and numbers. It is real if complex numbers are only in arguments of functions with real
// results.
ElementType expr_type(const Expr *expr);

// Whether the left side also stands on the right: an update, computed from the values before the statement.
bool assignment_is_update(const Assignment *assignment);
// Whether the old values of the left side count, as it accumulates or is an update.
bool assignment_reads_target(const Assignment *assignment);

// The first access of a sparse tensor, the left side first; NULL where there is none.
const Access *assignment_sparse(const Assignment *assignment);
// The first access of the tensor in an expression; NULL where there is none.
const Access *expr_access_of(const Expr *expr, const Tensor *tensor);
// The first access of a sparse tensor in an expression; NULL where there is none.
const Access *expr_sparse(const Expr *expr);
// The workspace that has what the left side has before (Tensor.old_of), where the statement reads one; or
// NULL.
const Tensor *assignment_old(const Assignment *assignment);
// The first explicit reduction in it, NULL where there is none.
const Expr *expr_reduction(const Expr *expr);

// The variables that determine the element of an access: those in its indices, and those around a row
// workspace. And those of all accesses of an expression, but for those that explicit reductions bind.
VarSet access_vars(const Access *access);
VarSet expr_vars(const Expr *expr);
// Those that stand for its coordinates, one a mode, with those around a row workspace.
VarSet access_coordinates(const Access *access);
VarSet index_vars(const AffineIndex *index);
// The variables of the index of a mode.
VarSet access_mode_vars(const Access *access, int mode);
// The only one of them; -1 where it has none or several.
int access_mode_var(const Access *access, int mode);
// Whether a variable is in the indices of two modes, as in A(i, i + 1).
bool access_is_diagonal(const Access *access);
bool index_equal(const AffineIndex *a, const AffineIndex *b);
// The constant of the index of a mode, 0 where it is no number.
int64_t access_offset(const Access *access, int mode);
// Whether both are of the same dense tensor, and the indices of each mode differ by a small number at most.
bool access_is_near(const Access *a, const Access *b);
// The first index that is more than a variable, or range of a variable, of the assignment: what iterations
// there are follows from these. NULL where there is none.
const SourceVar *assignment_window(const Assignment *assignment);

// The variable whose coordinates lie one after the other in memory: that of the level that is stored last,
// where its format stores them so. -1 where there is none.
int access_contiguous_var(const Access *access);

// The same tensor with the same variables.
bool access_equal(const Access *a, const Access *b);
// Whether two EXPR_NUMBER are the same.
bool number_equal(const Expr *a, const Expr *b);

// Calls `visit` for every access of the expression, left to right.
void expr_accesses(const Expr *expr, void (*visit)(void *context, const Access *access), void *context);

// A copy in `arena` with all that it refers to, for other tensors: `tensor` gives the one in place of each.
typedef const Tensor *(*TensorMap)(void *context, const Tensor *tensor);
Assignment *assignment_with_tensors(Arena *arena, const Assignment *assignment, TensorMap tensor,
                                    void *context);
// Sets the extents of the variables from those of the tensors: that of the first mode that a variable indexes
// alone, else the most that indices allow; NULL where they allow any.
void assignment_take_extents(Arena *arena, Assignment *assignment);
// The same where it is known of these variables only that they begin at 0; those of others stay NULL, unless
// they index a mode alone.
void assignment_take_extents_of(Arena *arena, Assignment *assignment, VarSet settled);

// " = ", " += ", " max= "
const char *assignment_mark(bool accumulate, Reducer reducer);
// As written in a program: "2 * i + k - 1".
void index_print(const AffineIndex *index, IntNames names, Text *to);
// As written in a program: "A(i, j) = B(i, k) * C(k, j)". `names` are by variable id.
void access_print(const Access *access, const char *const *names, Text *to);
void expr_print(const Expr *expr, const char *const *names, Text *to);
void assignment_print(const Assignment *assignment, Text *to);

#endif
