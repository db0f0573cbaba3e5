// SPDX-License-Identifier: BSD-3-Clause
// Which loops of a leaf are a BLAS call: the statement is a product whose factors the loops index as in the
// definition of the kernel, and each of these loops walks one mode of a matrix or vector with one stride.
#include "lower/bounds.h"
#include "lower/leaf.h"

// The dimensions of a kernel; a set of them says how an operand is indexed.
enum { M, N, K, DIM_COUNT, BATCH = DIM_COUNT };
enum { IN_M = 1 << M, IN_N = 1 << N, IN_K = 1 << K };

typedef struct {
    const char *form;
    KernelName kernel;
    int dims;          // that it has
    int output;        // dimensions of the left side
    int operand_count; // 1 or 2
    int operands[2];   // dimensions of `a` and `b`
} Shape;

static const Shape shapes[] = {
    {"C(m, n) += alpha * A(m, k) * B(k, n)",
     KERNEL_GEMM,
     IN_M | IN_N | IN_K,
     IN_M | IN_N,
     2,
     {IN_M | IN_K, IN_K | IN_N}},
    {"y(m) += alpha * A(m, k) * x(k)", KERNEL_GEMV, IN_M | IN_K, IN_M, 2, {IN_M | IN_K, IN_K}},
    {"C(m, n) += alpha * x(m) * y(n)", KERNEL_GER, IN_M | IN_N, IN_M | IN_N, 2, {IN_M, IN_N}},
    {"s += alpha * x(k) * y(k)", KERNEL_DOT, IN_K, 0, 2, {IN_K, IN_K}},
    {"y(m) += alpha * x(m)", KERNEL_AXPY, IN_M, IN_M, 1, {IN_M}},
};

static const Shape *shape_of(KernelName kernel) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].kernel == kernel)
            return &shapes[i];
    return NULL;
}

int blas_loop_count(KernelName kernel) {
    const Shape *shape = shape_of(kernel);
    return shape ? __builtin_popcount((unsigned)shape->dims) : 0;
}

const char *blas_form(KernelName kernel) {
    const Shape *shape = shape_of(kernel);
    return shape ? shape->form : NULL;
}

// What prevents a call, of all assignments of loops to dimensions tried: the obstacle of the one that came
// furthest.
typedef enum { OBSTACLE_NONE, OBSTACLE_PRODUCT, OBSTACLE_LOOP, OBSTACLE_FORM, OBSTACLE_STRIDE } Obstacle;

// A part of the right side, and the variables of its accesses.
typedef struct Part Part;
struct Part {
    const Expr *expr;
    VarSet vars;
    const Part *left, *right;
};

typedef struct {
    const LeafSite *site;
    const Shape *shape;
    const Part *product;
    Array(VarSet) accesses; // of it
    const int *loops;       // to choose from
    int loop_count;
    int moved[MAX_VARS];    // by them: the source variable of each that it moves by one, or -1
    bool any_stride;        // of operands
    int chosen[DIM_COUNT];  // loop of each dimension, -1
    int sources[DIM_COUNT]; // the source variable that it moves
    Obstacle furthest;
    const char *reason;
} Search;

// The right side, seen from the chosen loops.
typedef struct {
    int operand_count;
    const Access *operands[2];
    int dims[2];
    bool negative;
    bool scaled;       // alpha is collected too
    const Expr *alpha; // NULL: 1
} Product;

static bool obstacle(Search *search, Obstacle kind, const char *reason) {
    if (kind > search->furthest) {
        search->furthest = kind;
        search->reason = reason;
    }
    return false;
}

// The dimensions that index an access; -1 where one of them does so twice.
static int dims_of(const Search *search, const Access *access) {
    int dims = 0;
    for (int m = 0; m < access->tensor->order; m++)
        for (int d = 0; d < DIM_COUNT; d++) {
            if (search->chosen[d] < 0 || access->vars[m] != search->sources[d])
                continue;
            if (dims & 1 << d)
                return -1;
            dims |= 1 << d;
        }
    return dims;
}

static const Part *part_of(Search *search, const Expr *expr) {
    if (!expr)
        return NULL;
    Arena *arena = search->site->cin->arena;
    Part *part = arena_new(arena, Part);
    *part = (Part){.expr = expr, .left = part_of(search, expr->left), .right = part_of(search, expr->right)};
    if (expr->kind == EXPR_ACCESS) {
        part->vars = access_vars(expr->access);
        array_push(arena, search->accesses, part->vars);
    } else {
        part->vars = (part->left ? part->left->vars : 0) | (part->right ? part->right->vars : 0);
    }
    return part;
}

static VarSet chosen_sources(const Search *search) {
    VarSet sources = 0;
    for (int d = 0; d < DIM_COUNT; d++)
        if (search->chosen[d] >= 0)
            sources |= (VarSet)1 << search->sources[d];
    return sources;
}

static bool is_indexed(const Search *search, const Part *part) {
    return part->vars & chosen_sources(search);
}

// Whether the chosen loops index more accesses than the kernel has operands.
static bool is_too_much(const Search *search) {
    const VarSet sources = chosen_sources(search);
    int count = 0;
    for (int64_t i = 0; i < search->accesses.count && count <= search->shape->operand_count; i++)
        count += (search->accesses.items[i] & sources) != 0;
    return count > search->shape->operand_count;
}

static const Expr *operation(const Search *search, ExprKind kind, const Expr *left, const Expr *right) {
    Expr *expr = arena_new(search->site->cin->arena, Expr);
    *expr = (Expr){.kind = kind, .span = search->site->assign->rhs->span, .left = left, .right = right};
    return expr;
}

static const Expr *one(const Search *search) {
    Expr *expr = arena_new(search->site->cin->arena, Expr);
    *expr = (Expr){.kind = EXPR_NUMBER,
                   .span = search->site->assign->rhs->span,
                   .number = 1,
                   .number_is_integer = true,
                   .integer = 1};
    return expr;
}

static void multiply_alpha(const Search *search, Product *product, ExprKind kind, const Expr *factor) {
    if (!product->scaled)
        return;
    if (kind == EXPR_MUL && !product->alpha)
        product->alpha = factor;
    else
        product->alpha = operation(search, kind, product->alpha ? product->alpha : one(search), factor);
}

static bool collect_product(Search *search, const Part *part, Product *product) {
    const Expr *expr = part->expr;
    if (!is_indexed(search, part)) {
        multiply_alpha(search, product, EXPR_MUL, expr);
        return true;
    }
    switch (expr->kind) {
    case EXPR_ACCESS:
        if (product->operand_count == search->shape->operand_count)
            return obstacle(search, OBSTACLE_PRODUCT,
                            product->operand_count == 2 ? "more than two operands" : "more than one operand");
        product->dims[product->operand_count] = dims_of(search, expr->access);
        product->operands[product->operand_count++] = expr->access;
        return true;
    case EXPR_MUL:
        return collect_product(search, part->left, product) && collect_product(search, part->right, product);
    case EXPR_NEG:
        product->negative = !product->negative;
        return collect_product(search, part->left, product);
    case EXPR_DIV:
        if (is_indexed(search, part->right))
            return obstacle(search, OBSTACLE_PRODUCT, "a divisor that its loops index");
        if (type_info(search->site->assign->lhs->tensor->type)->is_integer)
            return obstacle(search, OBSTACLE_PRODUCT, "a division of integers");
        if (!collect_product(search, part->left, product))
            return false;
        multiply_alpha(search, product, EXPR_DIV, expr->right);
        return true;
    case EXPR_CALL:
        return obstacle(search, OBSTACLE_PRODUCT, "a function of what its loops index");
    default:
        return obstacle(search, OBSTACLE_PRODUCT, "a sum, not a product");
    }
}

// Stored so that one of its two dimensions is contiguous.
static bool has_unit_stride(const Search *search, const Access *access, int dims) {
    if ((dims & (dims - 1)) == 0)
        return true; // a vector may have any stride
    const int last = access_contiguous_var(access);
    for (int d = 0; d < DIM_COUNT; d++)
        if (dims & 1 << d && search->sources[d] == last)
            return true;
    return false;
}

static bool check_stride(Search *search, const Access *access, int dims) {
    if (search->any_stride || has_unit_stride(search, access, dims))
        return true;
    return obstacle(
        search, OBSTACLE_STRIDE,
        arena_printf(
            search->site->cin->arena,
            "'%s' is no matrix with a unit stride: the mode that it stores last is not one of the call's",
            access->tensor->name));
}

static CallDim chosen_dim(const Search *search, int dim) {
    CallDim result = {0};
    if (search->chosen[dim] >= 0)
        result = (CallDim){1, {search->chosen[dim]}, {search->sources[dim]}};
    return result;
}

static const BlasCall *fit_chosen(Search *search) {
    const Shape *shape = search->shape;
    const Stmt *assign = search->site->assign;
    Product product = {0};
    if (!collect_product(search, search->product, &product))
        return NULL;
    bool swapped = product.dims[0] != shape->operands[0];
    if (product.operand_count != shape->operand_count || product.dims[swapped] != shape->operands[0] ||
        product.dims[!swapped] != shape->operands[1] || dims_of(search, assign->lhs) != shape->output) {
        obstacle(search, OBSTACLE_FORM,
                 arena_printf(search->site->cin->arena, "the operands or their indices are not those of %s",
                              kernel_names[shape->kernel]));
        return NULL;
    }
    const Access *a = product.operands[swapped], *b = product.operands[!swapped];
    if (!check_stride(search, assign->lhs, shape->output) || !check_stride(search, a, shape->operands[0]) ||
        (b && !check_stride(search, b, shape->operands[1])))
        return NULL;
    product = (Product){.scaled = true};
    collect_product(search, search->product, &product);
    BlasCall *call = arena_new(search->site->cin->arena, BlasCall);
    *call = (BlasCall){.kernel = shape->kernel,
                       .m = chosen_dim(search, M),
                       .n = chosen_dim(search, N),
                       .k = chosen_dim(search, K),
                       .a = a,
                       .b = b,
                       .alpha = product.alpha};
    if (product.negative)
        call->alpha = operation(search, EXPR_NEG, product.alpha ? product.alpha : one(search), NULL);
    return call;
}

static bool is_chosen(const Search *search, int loop, int source) {
    for (int d = 0; d < DIM_COUNT; d++)
        if (search->chosen[d] >= 0 && (search->chosen[d] == loop || search->sources[d] == source))
            return true;
    return false;
}

// Tries every choice of loops for the dimensions k, n, m, in this order, inner loops first.
static const BlasCall *choose(Search *search, int dim) {
    if (dim < 0)
        return fit_chosen(search);
    if (!(search->shape->dims & 1 << dim))
        return choose(search, dim - 1);
    const Cin *cin = search->site->cin;
    for (int i = search->loop_count - 1; i >= 0; i--) {
        int loop = search->loops[i], source = search->moved[i];
        if (source < 0) {
            obstacle(search, OBSTACLE_LOOP,
                     arena_printf(cin->arena, "loop '%s' does not move through one mode in unit steps",
                                  cin->vars[loop].name));
            continue;
        }
        if (is_chosen(search, loop, source))
            continue;
        search->chosen[dim] = loop;
        search->sources[dim] = source;
        // There may be very many choices. Those that begin like this cannot be, and a reason has been found.
        const bool hopeless = search->furthest >= OBSTACLE_PRODUCT && is_too_much(search);
        const BlasCall *call = hopeless ? NULL : choose(search, dim - 1);
        if (call)
            return call;
        search->chosen[dim] = search->sources[dim] = -1;
    }
    return NULL;
}

typedef struct {
    const Tensor *left;
    const char *reason;
} TypeCheck;

static void check_access(void *context, const Access *access) {
    TypeCheck *check = context;
    if (access->tensor->type != check->left->type)
        check->reason = "operands of different element types";
    for (int l = 0; l < access->tensor->order; l++)
        if (!access->tensor->levels[l].format->full)
            check->reason = "an operand that does not store every coordinate";
}

static bool has_real_number(const Expr *expr) {
    return (expr->kind == EXPR_NUMBER && !expr->number_is_integer) ||
           (expr->left && has_real_number(expr->left)) || (expr->right && has_real_number(expr->right));
}

static const BlasCall *fit(Search *search, const char **reason) {
    const LeafSite *site = search->site;
    const Stmt *assign = site->assign;
    TypeCheck check = {assign->lhs->tensor, NULL};
    for (int d = 0; d < DIM_COUNT; d++)
        search->chosen[d] = search->sources[d] = -1;
    // Another term may have made the statement compute in a wider type.
    if (assignment_type(site->cin->assignment) != check.left->type)
        check.reason = "a statement that computes in another element type";
    if (assignment_window(site->cin->assignment))
        check.reason = "an index that is no variable, or a range";
    expr_accesses(assign->rhs, check_access, &check);
    check_access(&check, assign->lhs);
    if (type_info(check.left->type)->is_integer && has_real_number(assign->rhs))
        check.reason = "a real factor of integers";
    if (search->loop_count < blas_loop_count(search->shape->kernel))
        check.reason = "too few loops";
    if (expr_access_of(assign->rhs, check.left))
        check.reason = "an update";
    if (!assign->accumulate)
        check.reason = "nothing is summed";
    else if (assign->reducer != REDUCER_SUM)
        check.reason = "a reduction that is not a sum";
    if (check.reason) {
        *reason = check.reason;
        return NULL;
    }
    search->accesses.count = 0;
    search->product = part_of(search, assign->rhs);
    for (int i = 0; i < search->loop_count; i++)
        search->moved[i] = bounds_unit_source(site->cin, assign, search->loops[i]);
    const BlasCall *call = choose(search, DIM_COUNT - 1);
    *reason = search->reason;
    return call;
}

const BlasCall *blas_fit(const LeafSite *site, KernelName kernel, const int *loops, int loop_count,
                         const char **reason) {
    Search search = {.site = site, .shape = shape_of(kernel), .loops = loops, .loop_count = loop_count};
    return fit(&search, reason);
}

static bool depends(const Cin *cin, const Expr *expr, int loop) {
    if (!expr)
        return false;
    if (expr->kind != EXPR_ACCESS)
        return depends(cin, expr->left, loop) || depends(cin, expr->right, loop);
    for (int m = 0; m < expr->access->tensor->order; m++)
        if (bounds_depends(cin, expr->access->vars[m], loop))
            return true;
    return false;
}

bool blas_alpha_varies(const LeafSite *site, const BlasCall *call) {
    for (int i = 0; i < site->loop_count; i++)
        if (depends(site->cin, call->alpha, site->loops[i]))
            return true;
    return false;
}

static int mode_count(const Access *access, int source) {
    int count = 0;
    for (int m = 0; m < access->tensor->order; m++)
        count += access->vars[m] == source;
    return count;
}

// The dimension of the call, which has one loop for each, that a loop is or may join; BATCH: that of loops
// that products are inside of. -1 where there is none.
static int dim_of(const LeafSite *site, const BlasCall *call, int loop) {
    const CallDim *const dims[] = {&call->m, &call->n, &call->k};
    const int source = bounds_unit_source(site->cin, site->assign, loop);
    for (int d = 0; d < DIM_COUNT; d++)
        if (dims[d]->loops[0] == loop || dims[d]->sources[0] == source)
            return dims[d]->loops[0] == loop ? d : -1;
    if (source < 0 || depends(site->cin, call->alpha, loop))
        return -1;
    const int in_a = mode_count(call->a, source), in_b = mode_count(call->b, source),
              in_c = mode_count(site->assign->lhs, source);
    if (in_a > 1 || in_b > 1 || in_c > 1 || in_a + in_b + in_c < 2)
        return -1;
    if (in_a + in_b + in_c == 3)
        return BATCH;
    return !in_b ? M : !in_a ? N : K;
}

// Whether one of the loops iterates over the mode that is stored last.
static bool is_walked_by(const CallDim *dim, const Access *access) {
    const int last = access_contiguous_var(access);
    for (int i = 0; i < dim->count; i++)
        if (dim->sources[i] == last)
            return true;
    return false;
}

// Whether a loop of the call does. Otherwise another call would have better locality.
static bool is_walked(const BlasCall *call, const Access *access) {
    for (int d = 0; d < CALL_DIMS; d++)
        if (is_walked_by(call_dim(call, d), access))
            return true;
    return false;
}

static void add_loop(CallDim *dim, int loop, int source) {
    dim->loops[dim->count] = loop;
    dim->sources[dim->count++] = source;
}

// Whether the leaf is executed once, so that it may store what it sums.
static bool is_executed_once(const LeafSite *site) {
    const Nest nest = cin_nest(site->cin, site->nest);
    for (int i = 0; i < nest.loop_count; i++)
        if (site->outside[nest.loops[i]] && !cin_directive(site->cin, DIRECTIVE_DISTRIBUTE, nest.loops[i]))
            return false;
    return true;
}

// Whether a product of matrices is multiplied in panels, as far as the extents are known.
static bool fits_panels(const LeafSite *site, const BlasCall *call) {
    const Access *result = site->assign->lhs;
    double extents[DIM_COUNT] = {1, 1, 1};
    if (type_info(result->tensor->type)->is_integer)
        return true;
    for (int d = 0; d < DIM_COUNT; d++)
        for (int i = 0; i < call_dim(call, d)->count; i++) {
            int64_t extent;
            const IntExpr *of_loop = site->cin->vars[call_dim(call, d)->loops[i]].extent;
            if (!site->params || !int_is_closed(of_loop) || !int_eval(of_loop, site->params, NULL, &extent))
                return false;
            extents[d] *= (double)extent;
        }
    const bool by_rows = is_walked_by(&call->n, result);
    return multiplies_in_panels(extents[by_rows ? M : N], extents[by_rows ? N : M], extents[K],
                                is_executed_once(site));
}

const BlasCall *blas_fit_contraction(const LeafSite *site) {
    const char *reason;
    Search search = {
        .site = site, .shape = shape_of(KERNEL_GEMM), .loops = site->loops, .loop_count = site->loop_count};
    const BlasCall *gemm = fit(&search, &reason);
    search.any_stride = true;
    const BlasCall *found = gemm ? gemm : fit(&search, &reason);
    if (!found)
        return NULL;
    BlasCall *call = arena_new(site->cin->arena, BlasCall);
    *call = *found;
    CallDim *const dims[] = {&call->m, &call->n, &call->k, &call->batch};
    for (int d = 0; d < CALL_DIMS; d++)
        dims[d]->count = 0;
    for (int i = 0; i < site->loop_count; i++) {
        const int loop = site->loops[i], d = dim_of(site, found, loop);
        if (d >= 0)
            add_loop(dims[d], loop, bounds_unit_source(site->cin, site->assign, loop));
    }
    // On CPUs the batch is part of the call only where a tensor is contiguous along one of its loops;
    // otherwise its loops are around the call.
    if (!cin_is_on_gpu(site->cin) && !is_walked_by(&call->batch, call->a) &&
        !is_walked_by(&call->batch, call->b) && !is_walked_by(&call->batch, site->assign->lhs))
        call->batch.count = 0;
    // In iterations of other loops, products may have few columns, which panels are better at.
    call->contraction = !gemm || blas_call_loops(call) - (call->batch.count == 1) > DIM_COUNT ||
                        site->inner || fits_panels(site, call);
    const int walked =
        is_walked(call, call->a) + is_walked(call, call->b) + is_walked(call, site->assign->lhs);
    const bool fits = cin_is_on_gpu(site->cin) ? walked > 0 // what is copied there is transposed on the way
                                               : is_walked(call, call->a) && is_walked(call, call->b);
    return gemm || fits ? call : NULL;
}

int blas_call_loops(const BlasCall *call) {
    return call->m.count + call->n.count + call->k.count + call->batch.count;
}
