// SPDX-License-Identifier: BSD-3-Clause
#include "index/notation.h"

#include "format/level_list.h"

#include <string.h>

// What determines the type of an expression; numbers are kept apart, as they adapt to the tensors around
// them.
typedef struct {
    bool has_tensor, has_real_number, has_complex_number, integer_is_long;
    ElementType type; // of the tensors together
} Operands;

// A number takes the type of the tensors (NumPy's rule): a real number only makes integers f64, and an
// integer only i32 into i64 where it needs that; a complex one makes them complex in the same precision.
static ElementType combined(const Operands *operands) {
    if (operands->has_complex_number)
        return operands->has_tensor && type_component(operands->type) == TYPE_F32 ? TYPE_C64 : TYPE_C128;
    if (!operands->has_tensor)
        return operands->has_real_number ? TYPE_F64 : TYPE_I64;
    if (operands->has_real_number && type_info(operands->type)->is_integer)
        return TYPE_F64;
    if (operands->integer_is_long && operands->type == TYPE_I32)
        return TYPE_I64;
    return operands->type;
}

static void add_tensor(Operands *operands, ElementType type) {
    operands->type = operands->has_tensor ? type_promote(operands->type, type) : type;
    operands->has_tensor = true;
}

static void add_number(Operands *operands, ElementType type, int64_t integer) {
    const TypeInfo *info = type_info(type);
    operands->has_complex_number |= info->is_complex;
    operands->has_real_number |= !info->is_integer;
    operands->integer_is_long |= info->is_integer && (integer > INT32_MAX || integer < INT32_MIN);
}

// `computing`: types of intermediate results count as well.
static void collect(const Expr *expr, bool computing, Operands *operands) {
    switch (expr->kind) {
    case EXPR_ACCESS:
        add_tensor(operands, expr->access->tensor->type);
        return;
    case EXPR_NUMBER:
        add_number(operands,
                   expr->number_is_integer     ? TYPE_I64
                   : expr->number_is_imaginary ? TYPE_C128
                                               : TYPE_F64,
                   expr->integer);
        return;
    case EXPR_CALL: {
        Operands arguments = {0};
        collect(expr->left, computing, &arguments);
        if (expr->right)
            collect(expr->right, computing, &arguments);
        ElementType type = function_type(expr->function, combined(&arguments));
        if (expr->function->gives_real && !computing)
            type = type_component(type);
        // A function of numbers alone is a number.
        if (arguments.has_tensor)
            add_tensor(operands, type);
        else
            add_number(operands, type, 0);
        return;
    }
    default:
        collect(expr->left, computing, operands);
        if (expr->right)
            collect(expr->right, computing, operands);
    }
}

ElementType expr_type(const Expr *expr) {
    Operands operands = {0};
    collect(expr, false, &operands);
    return combined(&operands);
}

ElementType assignment_type(const Assignment *assignment) {
    Operands operands = {.has_tensor = true, .type = assignment->lhs->tensor->type};
    collect(assignment->rhs, true, &operands);
    return combined(&operands);
}

// The first access of the tensor (NULL: of any sparse one).
static const Access *find_access(const Expr *expr, const Tensor *tensor) {
    if (!expr)
        return NULL;
    if (expr->kind == EXPR_ACCESS) {
        const Tensor *own = expr->access->tensor;
        return (tensor ? own == tensor : tensor_is_sparse(own)) ? expr->access : NULL;
    }
    const Access *left = find_access(expr->left, tensor);
    return left ? left : find_access(expr->right, tensor);
}

const Access *expr_access_of(const Expr *expr, const Tensor *tensor) {
    return find_access(expr, tensor);
}

const Access *expr_sparse(const Expr *expr) {
    return find_access(expr, NULL);
}

bool assignment_is_update(const Assignment *assignment) {
    return expr_access_of(assignment->rhs, assignment->lhs->tensor) != NULL;
}

bool assignment_reads_target(const Assignment *assignment) {
    return assignment->accumulate || assignment_is_update(assignment);
}

static void find_old(void *context, const Access *access) {
    const Tensor **old = context;
    *old = access->tensor->old_of ? access->tensor : *old;
}

const Tensor *assignment_old(const Assignment *assignment) {
    const Tensor *old = NULL;
    expr_accesses(assignment->rhs, find_old, &old);
    return old;
}

const Expr *expr_reduction(const Expr *expr) {
    if (!expr || expr->kind == EXPR_REDUCE)
        return expr;
    const Expr *left = expr_reduction(expr->left);
    return left ? left : expr_reduction(expr->right);
}

const Access *assignment_sparse(const Assignment *assignment) {
    return tensor_is_sparse(assignment->lhs->tensor) ? assignment->lhs : expr_sparse(assignment->rhs);
}

LevelList tensor_levels(const Tensor *tensor) {
    return (LevelList){tensor->levels, tensor->mode_order};
}

static bool is_stored_in_order(const Tensor *tensor, const int64_t *extents, bool decreasing) {
    int last = decreasing ? tensor->order : -1;
    for (int l = 0; l < tensor->order; l++) {
        const int mode = tensor->mode_order[l];
        if (extents && extents[mode] == 1)
            continue;
        if (decreasing ? mode > last : mode < last)
            return false;
        last = mode;
    }
    return true;
}

bool tensor_is_stored_by_row(const Tensor *tensor, const int64_t *extents) {
    return is_stored_in_order(tensor, extents, false);
}

bool tensor_is_stored_by_column(const Tensor *tensor, const int64_t *extents) {
    return is_stored_in_order(tensor, extents, true);
}

Tensor *tensor_copy(Arena *arena, const Tensor *tensor) {
    Tensor *copy = arena_copy(arena, tensor, sizeof *tensor);
    copy->name = arena_string(arena, tensor->name, strlen(tensor->name));
    copy->span = (Span){0};
    for (int d = 0; d < tensor->order; d++) {
        copy->extents[d] = int_copy(arena, tensor->extents[d]);
        copy->extent_spans[d] = (Span){0};
    }
    if (!tensor->placement)
        return copy;
    Placement *placement = arena_copy(arena, tensor->placement, sizeof *placement);
    placement->span = (Span){0};
    for (int d = 0; d < placement->machine->order; d++) {
        placement->entries[d].cycle = int_copy(arena, placement->entries[d].cycle);
        placement->entries[d].span = (Span){0};
        PlaceEntry *entry = &placement->entries[d];
        const IntExpr **starts = arena_array(arena, const IntExpr *, entry->start_count);
        for (int64_t i = 0; i < entry->start_count; i++)
            starts[i] = int_copy(arena, entry->starts[i]);
        entry->starts = starts;
        const char *by = placement->entries[d].by;
        placement->entries[d].by = by ? arena_string(arena, by, strlen(by)) : NULL;
    }
    for (int m = 0; m < tensor->order; m++)
        placement->names[m] = arena_string(arena, placement->names[m], strlen(placement->names[m]));
    copy->placement = placement;
    return copy;
}

bool tensor_is_sparse(const Tensor *tensor) {
    return level_list_is_sparse(tensor->order, tensor->levels);
}

bool tensor_is_like(const Tensor *a, const Tensor *b) {
    if (a->type != b->type || a->order != b->order)
        return false;
    for (int d = 0; d < a->order; d++)
        if (!int_equal(a->extents[d], b->extents[d]) || !level_type_equal(a->levels[d], b->levels[d]) ||
            a->mode_order[d] != b->mode_order[d])
            return false;
    return placement_equal(a->placement, b->placement);
}

typedef struct {
    Arena *arena;
    TensorMap tensor;
    void *context;
} Mapping;

static const AffineIndex *index_copy(Arena *arena, const AffineIndex *index) {
    AffineIndex *copy = index ? arena_copy(arena, index, sizeof *index) : NULL;
    if (copy)
        copy->constant = int_copy(arena, index->constant);
    for (int i = 0; copy && i < copy->count; i++)
        copy->coefficients[i] = int_copy(arena, index->coefficients[i]);
    return copy;
}

static const Access *map_access(const Mapping *mapping, const Access *access) {
    Access *copy = access ? arena_copy(mapping->arena, access, sizeof *access) : NULL;
    if (copy)
        copy->tensor = mapping->tensor(mapping->context, access->tensor);
    for (int m = 0; copy && m < copy->tensor->order; m++)
        copy->indices[m] = index_copy(mapping->arena, access->indices[m]);
    return copy;
}

static const Expr *map_expr(const Mapping *mapping, const Expr *expr) {
    if (!expr)
        return NULL;
    Expr *copy = arena_copy(mapping->arena, expr, sizeof *expr);
    copy->access = map_access(mapping, expr->access);
    copy->param = int_copy(mapping->arena, expr->param);
    if (expr->param)
        copy->param_name = arena_string(mapping->arena, expr->param_name, strlen(expr->param_name));
    copy->left = map_expr(mapping, expr->left);
    copy->right = map_expr(mapping, expr->right);
    return copy;
}

static void take_extents(void *context, const Access *access) {
    Assignment *assignment = context;
    for (int m = 0; m < access->tensor->order; m++) {
        SourceVar *var = &assignment->vars[access->vars[m]];
        if (!var->extent)
            var->extent = access->tensor->extents[m];
    }
}

// One more than the greatest value of a variable that an index allows with some values of the others, whose
// extents are known; NULL where that does not follow.
static const IntExpr *allowed_extent(Arena *arena, const Assignment *assignment, const SourceVar *of, int var,
                                     VarSet settled) {
    const AffineIndex *index = of->index;
    const IntExpr *one = int_const(arena, 1), *least = index->constant, *most = index->constant;
    int64_t own = 0;
    for (int i = 0; i < index->count; i++) {
        const IntExpr *coefficient = index->coefficients[i],
                      *extent = assignment->vars[index->vars[i]].extent;
        if (coefficient->op != INT_CONST ||
            (index->vars[i] != var && (!extent || !(settled >> index->vars[i] & 1))))
            return NULL;
        if (index->vars[i] == var) {
            own = coefficient->value;
            continue;
        }
        const IntExpr **end = coefficient->value < 0 ? &least : &most;
        *end = int_op(arena, INT_ADD, *end,
                      int_op(arena, INT_MUL, coefficient, int_op(arena, INT_SUB, extent, one)));
    }
    const IntExpr *allowed =
        own > 0
            ? int_op(arena, INT_CEIL_DIV, int_op(arena, INT_SUB, of->extent, least), int_const(arena, own))
            : int_op(arena, INT_ADD, int_op(arena, INT_FLOOR_DIV, most, int_const(arena, -own)), one);
    return int_op(arena, INT_MAX, int_const(arena, 0), allowed);
}

// Of the variables that index no mode alone, in order: one may follow from those before it.
static void take_allowed_extents(Arena *arena, Assignment *assignment, VarSet settled) {
    for (int v = 0; v < assignment->var_count; v++) {
        const IntExpr *extent = NULL;
        for (int k = 0; k < assignment->var_count && !assignment->vars[v].extent && settled >> v & 1; k++) {
            const SourceVar *other = &assignment->vars[k];
            if (!other->index || !(index_vars(other->index) >> v & 1))
                continue;
            const IntExpr *allowed = allowed_extent(arena, assignment, other, v, settled);
            extent = allowed && extent ? int_op(arena, INT_MIN, extent, allowed) : allowed ? allowed : extent;
        }
        if (extent)
            assignment->vars[v].extent = extent;
    }
}

void assignment_take_extents(Arena *arena, Assignment *assignment) {
    assignment_take_extents_of(arena, assignment, ~(VarSet)0);
}

void assignment_take_extents_of(Arena *arena, Assignment *assignment, VarSet settled) {
    for (int v = 0; v < assignment->var_count; v++) {
        SourceVar *var = &assignment->vars[v];
        var->extent = var->first ? int_op(arena, INT_MAX, int_const(arena, 0),
                                          int_op(arena, INT_SUB, var->last, var->first))
                                 : NULL;
    }
    if (assignment->lhs)
        take_extents(assignment, assignment->lhs);
    expr_accesses(assignment->rhs, take_extents, assignment);
    take_allowed_extents(arena, assignment, settled);
}

Assignment *assignment_with_tensors(Arena *arena, const Assignment *assignment, TensorMap tensor,
                                    void *context) {
    const Mapping mapping = {arena, tensor, context};
    Assignment *copy = arena_copy(arena, assignment, sizeof *assignment);
    copy->lhs = map_access(&mapping, assignment->lhs);
    copy->rhs = map_expr(&mapping, assignment->rhs);
    for (int v = 0; v < copy->var_count; v++) {
        copy->vars[v].name = arena_string(arena, copy->vars[v].name, strlen(copy->vars[v].name));
        copy->vars[v].index = index_copy(arena, copy->vars[v].index);
        copy->vars[v].first = int_copy(arena, copy->vars[v].first);
        copy->vars[v].last = int_copy(arena, copy->vars[v].last);
        copy->vars[v].start = int_copy(arena, copy->vars[v].start);
    }
    assignment_take_extents(arena, copy);
    return copy;
}

VarSet index_vars(const AffineIndex *index) {
    VarSet vars = 0;
    for (int i = 0; i < index->count; i++)
        vars |= (VarSet)1 << index->vars[i];
    return vars;
}

bool index_equal(const AffineIndex *a, const AffineIndex *b) {
    bool equal = a->count == b->count && int_equal(a->constant, b->constant);
    for (int i = 0; i < a->count && equal; i++)
        equal = a->vars[i] == b->vars[i] && int_equal(a->coefficients[i], b->coefficients[i]);
    return equal;
}

int64_t access_offset(const Access *access, int mode) {
    const AffineIndex *index = access->indices[mode];
    return index && index->constant->op == INT_CONST ? index->constant->value : 0;
}

static bool is_number(const IntExpr *expr) {
    return expr->op == INT_CONST;
}

// Whether the index is the variable and a number.
static bool is_shifted(const AffineIndex *index, int var) {
    return index->count == 1 && index->vars[0] == var && is_number(index->coefficients[0]) &&
           index->coefficients[0]->value == 1 && is_number(index->constant);
}

static bool mode_is_near(const Access *a, const Access *b, int mode) {
    enum { NEAR = 32 }; // so that what lies between takes little memory
    const AffineIndex *x = a->indices[mode], *y = b->indices[mode];
    if (a->vars[mode] == b->vars[mode])
        return true;
    const int64_t distance = access_offset(a, mode) - access_offset(b, mode);
    bool near = distance >= -NEAR && distance <= NEAR;
    if (!x || !y)
        return near && ((x && is_shifted(x, b->vars[mode])) || (y && is_shifted(y, a->vars[mode])));
    near = near && x->count > 0 && x->count == y->count && is_number(x->constant) && is_number(y->constant);
    for (int i = 0; near && i < x->count; i++)
        near = x->vars[i] == y->vars[i] && int_equal(x->coefficients[i], y->coefficients[i]);
    return near;
}

bool access_is_near(const Access *a, const Access *b) {
    bool near = a->tensor == b->tensor && !tensor_is_sparse(a->tensor);
    for (int m = 0; near && m < a->tensor->order; m++)
        near = mode_is_near(a, b, m);
    return near;
}

VarSet access_mode_vars(const Access *access, int mode) {
    return access->indices[mode] ? index_vars(access->indices[mode]) : (VarSet)1 << access->vars[mode];
}

VarSet access_vars(const Access *access) {
    VarSet vars = access->tensor->around;
    for (int m = 0; m < access->tensor->order; m++)
        vars |= access_mode_vars(access, m);
    return vars;
}

VarSet access_coordinates(const Access *access) {
    VarSet vars = access->tensor->around;
    for (int m = 0; m < access->tensor->order; m++)
        vars |= (VarSet)1 << access->vars[m];
    return vars;
}

bool access_is_diagonal(const Access *access) {
    for (int m = 0; m < access->tensor->order; m++)
        for (int other = 0; other < m; other++)
            if (access_mode_vars(access, m) & access_mode_vars(access, other))
                return true;
    return false;
}

int access_mode_var(const Access *access, int mode) {
    const AffineIndex *index = access->indices[mode];
    return !index ? access->vars[mode] : index->count == 1 ? index->vars[0] : -1;
}

const SourceVar *assignment_window(const Assignment *assignment) {
    for (int v = 0; v < assignment->var_count; v++)
        if (assignment->vars[v].index)
            return &assignment->vars[v];
    return NULL;
}

VarSet expr_vars(const Expr *expr) {
    if (!expr)
        return 0;
    if (expr->kind == EXPR_ACCESS)
        return access_vars(expr->access);
    return (expr_vars(expr->left) | expr_vars(expr->right)) & ~expr->bound;
}

int access_contiguous_var(const Access *access) {
    const Tensor *tensor = access->tensor;
    const int last = tensor->order - 1;
    return last >= 0 && tensor->levels[last].format->contiguous ? access->vars[tensor->mode_order[last]] : -1;
}

bool number_equal(const Expr *a, const Expr *b) {
    if (a->param || b->param)
        return a->param && b->param && int_equal(a->param, b->param);
    return a->number_is_integer == b->number_is_integer && a->number_is_imaginary == b->number_is_imaginary &&
           (a->number_is_integer ? a->integer == b->integer : a->number == b->number);
}

bool access_equal(const Access *a, const Access *b) {
    return a->tensor == b->tensor &&
           memcmp(a->vars, b->vars, sizeof *a->vars * (size_t)a->tensor->order) == 0;
}

void expr_accesses(const Expr *expr, void (*visit)(void *context, const Access *access), void *context) {
    if (expr->kind == EXPR_ACCESS)
        visit(context, expr->access);
    if (expr->left)
        expr_accesses(expr->left, visit, context);
    if (expr->right)
        expr_accesses(expr->right, visit, context);
}
