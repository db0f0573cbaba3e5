// SPDX-License-Identifier: BSD-3-Clause
// Contractions on a GPU (distal_kernel.h): one product of matrices, or a batch of them, by the library of the
// device. A loop of each dimension is that of the matrices, and what is left are loops of the batch, or, of
// sums, products one after the other. Where tensors have other strides than the library takes, or more loops
// than are good for it, operands and result are copied to space, in which the loops of a dimension lie one in
// the other. What that takes is estimated for every choice, and the least is done.
#include "runtime/gpu_contraction.h"

#include "base/integer.h"
#include "memory/device.h"
#include "runtime/tiles.h"

enum { ROWS, COLUMNS, SUMS, BATCH, DIMS }; // m, n, k, and the loops around products

typedef struct {
    ElementType type;
    int64_t size; // of an element
    const void *alpha;
    bool stores;
    char *tensors[OPERANDS];
    Dimension dims[DIMS];
    char *space; // for copies, behind the workspace; NULL: none
    void *workspace;
    int64_t workspace_bytes; // of products
    const GpuContractionCosts *costs;
} Contraction;

// The dimensions of an operand, outermost first.
static const int dims_of[OPERANDS][3] = {
    [OF_A] = {BATCH, ROWS, SUMS}, [OF_B] = {BATCH, SUMS, COLUMNS}, [OF_C] = {BATCH, ROWS, COLUMNS}};

// A GPU that makes 3.3e13 multiplications in a second, begins a call in 3 microseconds, and copies 1.3 TB/s.
const GpuContractionCosts gpu_contraction_costs = {1e8, 25, DEVICE_SPACE};

// How it is computed: the contraction with the strides of what is copied to space, and the loop of each
// dimension that is that of the matrices; -1: none.
typedef struct {
    Contraction of;
    unsigned copied; // bits of operands
    int copy_counts[OPERANDS];
    DeviceCopyLoop copies[OPERANDS][3 * DISTAL_MAX_ORDER]; // to space
    int chosen[BATCH];
    double cost;
} Form;

static const Loop one_iteration = {.extent = 1};

static Loop chosen_loop(const Form *form, int dim) {
    return form->chosen[dim] < 0 ? one_iteration : form->of.dims[dim].loops[form->chosen[dim]];
}

static int64_t elements_of(const Contraction *contraction, int operand) {
    int64_t elements = 1;
    for (int d = 0; d < 3; d++)
        elements *= contraction->dims[dims_of[operand][d]].extent;
    return elements;
}

// Bytes of space, in which each operand is aligned.
static int64_t space_of(const Contraction *contraction, int operand) {
    return (elements_of(contraction, operand) * contraction->size + 255) / 256 * 256;
}

static int64_t *stride_of(Loop *loop, int operand) {
    return operand == OF_A ? &loop->a : operand == OF_B ? &loop->b : &loop->c;
}

// The operand that is indexed by a dimension of two as well.
static Operand other_of(int dim, int operand) {
    for (int o = 0; o < OPERANDS; o++)
        for (int d = 1; o != operand && d < 3; d++)
            if (dims_of[o][d] == dim)
                return (Operand)o;
    return (Operand)operand;
}

// The strides of an operand in space: the loops of a dimension are in the order of those of the other tensor,
// so that they are one loop if they are in that, and the dimension along which the operand is contiguous is
// the last one, so that it is copied in long runs.
static void copy_to_space(Form *form, int operand) {
    int order[3] = {dims_of[operand][0], dims_of[operand][1], dims_of[operand][2]};
    int64_t stride = 1;
    form->copied |= 1u << operand;
    if (dimension_has_unit(&form->of.dims[order[1]], (Operand)operand)) {
        order[1] = dims_of[operand][2];
        order[2] = dims_of[operand][1];
    }
    for (int d = 2; d >= 0; d--) {
        Dimension *dim = &form->of.dims[order[d]];
        const Operand other = d == 0 ? OF_C : other_of(order[d], operand);
        *dim = dimension_create(dim->loops, dim->count, other);
        for (int i = dim->count - 1; i >= 0; i--) {
            Loop *loop = &dim->loops[i];
            int64_t *own = stride_of(loop, operand);
            form->copies[operand][form->copy_counts[operand]++] =
                (DeviceCopyLoop){loop->extent, stride, *own};
            *own = stride;
            stride *= loop->extent;
        }
    }
}

// Whether the library takes a matrix: of rows or columns without gaps between their elements.
static bool is_stored(int64_t rows, int64_t columns, int64_t row, int64_t column) {
    return ((rows == 1 || row == 1) && (columns == 1 || column >= rows)) ||
           ((columns == 1 || column == 1) && (rows == 1 || row >= columns));
}

static bool library_takes(const Form *form) {
    const Loop m = chosen_loop(form, ROWS), n = chosen_loop(form, COLUMNS), k = chosen_loop(form, SUMS);
    return is_stored(m.extent, k.extent, m.a, k.a) && is_stored(k.extent, n.extent, k.b, n.b) &&
           is_stored(m.extent, n.extent, m.c, n.c);
}

static double padded(int64_t extent, int64_t tile) {
    return (double)(ceil_div(extent, tile) * tile);
}

static double cost_of(const Form *form) {
    const Contraction *of = &form->of;
    const Loop m = chosen_loop(form, ROWS), n = chosen_loop(form, COLUMNS), k = chosen_loop(form, SUMS);
    const int64_t row_products = of->dims[ROWS].extent / m.extent;
    const int64_t column_products = of->dims[COLUMNS].extent / n.extent,
                  terms = of->dims[SUMS].extent / k.extent;
    const double sums = (double)terms;
    const double batch = (double)row_products * (double)column_products * (double)of->dims[BATCH].extent;
    // A kernel of the device's own computes what the library does not take.
    const double slower = library_takes(form) ? 1 : 10, factor = type_info(of->type)->is_complex ? 4 : 1;
    double cost = sums * of->costs->call + sums * batch * padded(m.extent, 64) * padded(n.extent, 64) *
                                               padded(k.extent, 16) * slower * factor;
    for (int o = 0; o < OPERANDS; o++)
        if (form->copied >> o & 1) {
            const int copies = o == OF_C && !of->stores ? 2 : 1;
            cost +=
                copies * (of->costs->call + (double)elements_of(of, o) * (double)of->size * of->costs->byte);
        }
    return cost;
}

// The best choice of loops, of all of them.
static void choose_loops(Form *form, int dim, Form *best) {
    if (dim == BATCH) {
        form->cost = cost_of(form);
        if (best->cost < 0 || form->cost < best->cost)
            *best = *form;
        return;
    }
    form->chosen[dim] = -1;
    if (form->of.dims[dim].count == 0)
        choose_loops(form, dim + 1, best);
    for (int i = 0; i < form->of.dims[dim].count; i++) {
        form->chosen[dim] = i;
        choose_loops(form, dim + 1, best);
    }
}

static Form choose_form(const Contraction *contraction) {
    Form best = {.cost = -1};
    for (unsigned copied = 0; copied < (contraction->space ? 1u << OPERANDS : 1u); copied++) {
        Form form = {.of = *contraction};
        // The result first, as the other two follow its order.
        for (int o = OPERANDS - 1; o >= 0; o--)
            if (copied >> o & 1)
                copy_to_space(&form, o);
        for (int d = 0; d < DIMS; d++)
            form.of.dims[d] =
                dimension_create(form.of.dims[d].loops, form.of.dims[d].count, d == SUMS ? OF_A : OF_C);
        choose_loops(&form, 0, &best);
    }
    return best;
}

// Where iteration `index` of all of these loops is in each tensor.
static Loop offset_at(const Loop *loops, int count, int64_t index) {
    Loop offset = {0};
    for (int i = count - 1; i >= 0; i--) {
        const int64_t at = index % loops[i].extent;
        index /= loops[i].extent;
        offset.a += at * loops[i].a, offset.b += at * loops[i].b, offset.c += at * loops[i].c;
    }
    return offset;
}

static int64_t iterations(const Loop *loops, int count) {
    int64_t product = 1;
    for (int i = 0; i < count; i++)
        product *= loops[i].extent;
    return product;
}

// Adds the loops of a dimension that are not those of the matrices, those with more iterations further
// inside.
static int add_others(const Form *form, int dim, Loop *loops, int count) {
    for (int i = 0; i < form->of.dims[dim].count; i++) {
        if (dim < BATCH && i == form->chosen[dim])
            continue;
        int at = count++;
        for (; at > 0 && loops[at - 1].extent > form->of.dims[dim].loops[i].extent; at--)
            loops[at] = loops[at - 1];
        loops[at] = form->of.dims[dim].loops[i];
    }
    return count;
}

// All products, of tensors in space or not. Those that the device cannot make in one call follow one another.
static void multiply(const Form *form, char *const *tensors) {
    const Contraction *of = &form->of;
    const Loop m = chosen_loop(form, ROWS), n = chosen_loop(form, COLUMNS), k = chosen_loop(form, SUMS);
    Loop products[3 * DISTAL_MAX_ORDER], sums[DISTAL_MAX_ORDER];
    int count = 0, outer = 0;
    for (int d = 0; d < DIMS; d++)
        if (d != SUMS)
            count = add_others(form, d, products, count);
    const int sum_count = add_others(form, SUMS, sums, 0);
    while (count - outer > DEVICE_LOOPS ||
           (count - outer > 1 &&
            iterations(products + outer, count - outer) > of->workspace_bytes / DEVICE_POINTER_BYTES))
        outer++;
    DeviceProduct product = {.m = m.extent,
                             .n = n.extent,
                             .k = k.extent,
                             .alpha = of->alpha,
                             .loop_count = count - outer,
                             .workspace = of->workspace,
                             .workspace_bytes = of->workspace_bytes};
    for (int i = outer; i < count; i++)
        product.loops[i - outer] =
            (DeviceLoop){products[i].extent, products[i].a, products[i].b, products[i].c};
    const int64_t calls = iterations(products, outer), terms = iterations(sums, sum_count);
    for (int64_t call = 0; call < calls; call++)
        for (int64_t term = 0; term < terms; term++) {
            const Loop at = offset_at(products, outer, call), of_sum = offset_at(sums, sum_count, term);
            product.stores = of->stores && term == 0;
            product.a = (DeviceMatrix){tensors[OF_A] + (at.a + of_sum.a) * of->size, m.a, k.a};
            product.b = (DeviceMatrix){tensors[OF_B] + (at.b + of_sum.b) * of->size, k.b, n.b};
            product.c = (DeviceMatrix){tensors[OF_C] + at.c * of->size, m.c, n.c};
            device_current()->gemm(of->type, &product);
        }
}

// Copies an operand to space, or back.
static void copy(const Form *form, int operand, char *space, bool back) {
    DeviceCopyLoop loops[3 * DISTAL_MAX_ORDER];
    char *tensor = form->of.tensors[operand];
    for (int i = 0; i < form->copy_counts[operand]; i++) {
        const DeviceCopyLoop *loop = &form->copies[operand][i];
        loops[i] = back ? (DeviceCopyLoop){loop->extent, loop->from, loop->to} : *loop;
    }
    device_current()->permute(form->of.size, back ? tensor : space, back ? space : tensor,
                              form->copy_counts[operand], loops);
}

static void execute(const Form *form) {
    char *tensors[OPERANDS], *next = form->of.space;
    for (int o = 0; o < OPERANDS; o++) {
        const bool is_copied = form->copied >> o & 1;
        tensors[o] = is_copied ? next : form->of.tensors[o];
        next += is_copied ? space_of(&form->of, o) : 0;
        if (is_copied && !(o == OF_C && form->of.stores))
            copy(form, o, tensors[o], false);
    }
    multiply(form, tensors);
    if (form->copied >> OF_C & 1)
        copy(form, OF_C, tensors[OF_C], true);
}

static void contract(const Contraction *contraction);

// In two parts, one after the other, along the longest loop of the largest operand that is copied, but for
// sums, of which parts have to be added.
static void contract_parts(const Contraction *contraction, const Form *form) {
    Contraction first = *contraction, second = *contraction;
    int largest = OF_A, dim = ROWS, loop = 0;
    int64_t longest = 0, most = 0;
    for (int o = 0; o < OPERANDS; o++)
        if (form->copied >> o & 1 && elements_of(contraction, o) > most) {
            most = elements_of(contraction, o);
            largest = o;
        }
    for (int d = 0; d < 3; d++) {
        const Dimension *of = &contraction->dims[dims_of[largest][d]];
        const int64_t worth = dims_of[largest][d] == SUMS ? 1 : 8;
        for (int i = 0; i < of->count; i++)
            if (of->loops[i].extent * worth > longest) {
                longest = of->loops[i].extent * worth;
                dim = dims_of[largest][d];
                loop = i;
            }
    }
    Loop *half = &first.dims[dim].loops[loop], *rest = &second.dims[dim].loops[loop];
    half->extent /= 2;
    rest->extent -= half->extent;
    for (int o = 0; o < OPERANDS; o++)
        second.tensors[o] += *stride_of(half, o) * half->extent * first.size;
    second.stores = second.stores && dim != SUMS;
    contract(&first);
    contract(&second);
}

static void contract(const Contraction *contraction) {
    Contraction product = *contraction;
    for (int d = 0; d < DIMS; d++)
        product.dims[d] =
            dimension_create(product.dims[d].loops, product.dims[d].count, d == SUMS ? OF_A : OF_C);
    const Form form = choose_form(&product);
    int64_t bytes = 0;
    for (int o = 0; o < OPERANDS; o++)
        bytes += form.copied >> o & 1 ? space_of(&form.of, o) : 0;
    if (bytes > product.costs->space - product.workspace_bytes)
        contract_parts(&product, &form);
    else
        execute(&form);
}

void gpu_contract(ElementType type, const int counts[DIMS], const distal_contraction_loop *loops,
                  distal_contraction_space space, const GpuContractionCosts *costs, bool stores,
                  const void *alpha, const void *a, const void *b, void *c) {
    const bool copies = space.bytes >= costs->space;
    const int64_t workspace_bytes = copies ? costs->space / 8 / 256 * 256 : space.bytes;
    Contraction contraction = {.type = type,
                               .size = (int64_t)type_info(type)->size,
                               .alpha = alpha,
                               .stores = stores,
                               .tensors = {(char *)(uintptr_t)a, (char *)(uintptr_t)b, c},
                               .space = copies ? (char *)space.memory + workspace_bytes : NULL,
                               .workspace = space.memory,
                               .workspace_bytes = workspace_bytes,
                               .costs = costs};
    for (int d = 0; d < DIMS; d++) {
        contraction.dims[d] = dimension_create(loops, counts[d], OF_C);
        if (contraction.dims[d].extent == 0)
            return;
        loops += counts[d];
    }
    contract(&contraction);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types are no expressions
#define DEFINE_CONTRACT(suffix, type, element_type)                                                          \
    void distal_gpu_contract_##suffix(int m_count, int n_count, int k_count, int batch_count,                \
                                      const distal_contraction_loop *loops, distal_contraction_space space,  \
                                      int stores, type alpha, const type *a, const type *b, type *c) {       \
        gpu_contract(element_type, (const int[]){m_count, n_count, k_count, batch_count}, loops, space,      \
                     &gpu_contraction_costs, stores, &alpha, a, b, c);                                       \
    }                                                                                                        \
                                                                                                             \
    void distal_gpu_axpy_##suffix(int64_t m, type alpha, const type *x, int64_t x_stride, type *y,           \
                                  int64_t y_stride) {                                                        \
        device_current()->axpy(element_type, m, &alpha, x, x_stride, y, y_stride);                           \
    }
DEFINE_CONTRACT(f32, float, TYPE_F32)
DEFINE_CONTRACT(f64, double, TYPE_F64)
DEFINE_CONTRACT(c64, float _Complex, TYPE_C64)
DEFINE_CONTRACT(c128, double _Complex, TYPE_C128)
DEFINE_CONTRACT(i32, int32_t, TYPE_I32)
DEFINE_CONTRACT(i64, int64_t, TYPE_I64)
// NOLINTEND(bugprone-macro-parentheses)
