// SPDX-License-Identifier: BSD-3-Clause
#include "io/piece.h"

#include "io/runs.h"

#include <string.h>

void packed_strides(const Rect *rect, const int *mode_order, int64_t *stride) {
    int64_t step = 1;
    for (int l = rect->order - 1; l >= 0; l--) {
        int d = mode_order ? mode_order[l] : l;
        stride[d] = step;
        step *= rect_count(rect, d);
    }
}

int64_t piece_offset(const Piece *piece, const Rect *rect) {
    int64_t offset = 0;
    for (int d = 0; d < rect->order; d++)
        offset += positions_index(rect_mode(&piece->rect, d), rect->lo[d]) * piece->stride[d];
    return offset;
}

void *piece_element(const Piece *piece, const Rect *rect, ElementType type) {
    return (char *)piece->data + piece_offset(piece, rect) * (int64_t)type_info(type)->size;
}

bool piece_mode_is_dense(const Piece *piece, const Rect *rect, int mode) {
    const PositionSet set = rect_mode(rect, mode), in = rect_mode(&piece->rect, mode);
    return positions_index(in, set.hi - 1) - positions_index(in, set.lo) + 1 == positions_count(set);
}

bool piece_is_packed(const Piece *piece, const Rect *rect, const int *mode_order) {
    int64_t packed[MAX_ORDER];
    packed_strides(rect, mode_order, packed);
    for (int d = 0; d < rect->order; d++)
        if (rect_count(rect, d) > 1 &&
            (piece->stride[d] != packed[d] || !piece_mode_is_dense(piece, rect, d)))
            return false;
    return true;
}

int piece_modes(const Piece *piece, const Rect *rect, int *modes) {
    int count = 0;
    for (int d = 0; d < rect->order; d++) {
        if (rect_count(rect, d) == 1)
            continue;
        int at = count++;
        for (; at > 0 && piece->stride[modes[at - 1]] > piece->stride[d]; at--)
            modes[at] = modes[at - 1];
        modes[at] = d;
    }
    return count;
}

// X(type, C type, c type suffix of its functions)
#define EACH_TYPE(X)                                                                                         \
    X(TYPE_I32, int32_t, i32)                                                                                \
    X(TYPE_I64, int64_t, i64)                                                                                \
    X(TYPE_F32, float, f32)                                                                                  \
    X(TYPE_F64, double, f64)                                                                                 \
    X(TYPE_C64, float _Complex, c64)                                                                         \
    X(TYPE_C128, double _Complex, c128)

#define DEFINE_CONVERSION(name, to_type, from_type)                                                          \
    static void name(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count) {        \
        to_type *x = to;                                                                                     \
        const from_type *y = from;                                                                           \
        if (to_step == 1 && from_step == 1)                                                                  \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i] = (to_type)y[i];                                                                        \
        else                                                                                                 \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i * to_step] = (to_type)y[i * from_step];                                                  \
    }
#define DEFINE_FROM_INTEGER(TYPE, type, suffix)                                                              \
    DEFINE_CONVERSION(i32_to_##suffix, type, int32_t)                                                        \
    DEFINE_CONVERSION(i64_to_##suffix, type, int64_t)
EACH_TYPE(DEFINE_FROM_INTEGER)
DEFINE_CONVERSION(f32_to_f32, float, float)
DEFINE_CONVERSION(f32_to_f64, double, float)
DEFINE_CONVERSION(f32_to_c64, float _Complex, float)
DEFINE_CONVERSION(f32_to_c128, double _Complex, float)
DEFINE_CONVERSION(f64_to_f32, float, double)
DEFINE_CONVERSION(f64_to_f64, double, double)
DEFINE_CONVERSION(f64_to_c64, float _Complex, double)
DEFINE_CONVERSION(f64_to_c128, double _Complex, double)
DEFINE_CONVERSION(c64_to_c64, float _Complex, float _Complex)
DEFINE_CONVERSION(c64_to_c128, double _Complex, float _Complex)
DEFINE_CONVERSION(c128_to_c64, float _Complex, double _Complex)
DEFINE_CONVERSION(c128_to_c128, double _Complex, double _Complex)

Conversion type_conversion(ElementType from, ElementType to) {
    static const Conversion table[TYPE_COUNT][TYPE_COUNT] = {
        [TYPE_I32] = {i32_to_i32, i32_to_i64, i32_to_f32, i32_to_f64, i32_to_c64, i32_to_c128},
        [TYPE_I64] = {i64_to_i32, i64_to_i64, i64_to_f32, i64_to_f64, i64_to_c64, i64_to_c128},
        [TYPE_F32] = {NULL, NULL, f32_to_f32, f32_to_f64, f32_to_c64, f32_to_c128},
        [TYPE_F64] = {NULL, NULL, f64_to_f32, f64_to_f64, f64_to_c64, f64_to_c128},
        [TYPE_C64] = {NULL, NULL, NULL, NULL, c64_to_c64, c64_to_c128},
        [TYPE_C128] = {NULL, NULL, NULL, NULL, c128_to_c64, c128_to_c128},
    };
    return table[from][to];
}

typedef struct {
    char *to;
    const char *from;
    size_t size;
    Conversion convert; // of copies
    void (*add)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);
    RunVisit visit;
} Operation;

#define DEFINE_ADD(TYPE, type, suffix)                                                                       \
    static void add_##suffix(void *to, int64_t to_step, const void *from, int64_t from_step,                 \
                             int64_t count) {                                                                \
        type *x = to;                                                                                        \
        const type *y = from;                                                                                \
        if (to_step == 1 && from_step == 1)                                                                  \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i] = ADD(type, x[i], y[i]);                                                                \
        else                                                                                                 \
            for (int64_t i = 0; i < count; i++)                                                              \
                x[i * to_step] = ADD(type, x[i * to_step], y[i * from_step]);                                \
    }
// Integers wrap, as those of NumPy do.
#define ADD(type, x, y)                                                                                      \
    (type) _Generic((x), int32_t                                                                             \
                    : (int32_t)((uint32_t)(x) + (uint32_t)(y)), int64_t                                      \
                    : (int64_t)((uint64_t)(x) + (uint64_t)(y)), default                                      \
                    : (x) + (y))
EACH_TYPE(DEFINE_ADD)

static void copy_run(void *context, const Run *run) {
    const Operation *op = context;
    char *to = op->to + run->a * (int64_t)op->size;
    const char *from = op->from + run->b * (int64_t)op->size;
    if (run->a_step == 1 && run->b_step == 1)
        memcpy(to, from, (size_t)run->count * op->size);
    else
        op->convert(to, run->a_step, from, run->b_step, run->count);
}

static void add_run(void *context, const Run *run) {
    const Operation *op = context;
    op->add(op->to + run->a * (int64_t)op->size, run->a_step, op->from + run->b * (int64_t)op->size,
            run->b_step, run->count);
}

static void visit_patch(void *context, const Patch *patch) {
    const Operation *whole = context;
    Operation operation = *whole;
    operation.to += patch->a * (int64_t)whole->size;
    operation.from += patch->b * (int64_t)whole->size;
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    runs_visit(&runs, true, whole->visit, &operation);
}

static void visit_pieces(const Piece *to, const Piece *from, const Rect *rect, Operation *operation) {
    const Frame a = {&to->rect, to->stride}, b = {&from->rect, from->stride};
    patches_visit(rect, &a, &b, visit_patch, operation);
}

void piece_copy(const Piece *to, const Piece *from, const Rect *rect, ElementType type) {
    Operation operation = {.to = to->data,
                           .from = from->data,
                           .size = type_info(type)->size,
                           .convert = type_conversion(type, type),
                           .visit = copy_run};
    visit_pieces(to, from, rect, &operation);
}

void piece_add(const Piece *to, const Piece *from, const Rect *rect, ElementType type) {
#define ADD_ENTRY(TYPE, c_type, suffix) [TYPE] = add_##suffix,
    static void (*const table[TYPE_COUNT])(void *, int64_t, const void *, int64_t,
                                           int64_t) = {EACH_TYPE(ADD_ENTRY)};
    Operation operation = {.to = to->data,
                           .from = from->data,
                           .size = type_info(type)->size,
                           .add = table[type],
                           .visit = add_run};
    visit_pieces(to, from, rect, &operation);
}

static void zero_run(void *context, const Run *run) {
    const Operation *op = context;
    char *to = op->to + run->a * (int64_t)op->size;
    if (run->a_step == 1) {
        memset(to, 0, (size_t)run->count * op->size);
        return;
    }
    for (int64_t i = 0; i < run->count; i++)
        memset(to + i * run->a_step * (int64_t)op->size, 0, op->size);
}

void piece_zero(const Piece *piece, ElementType type) {
    Operation operation = {
        .to = piece->data, .from = piece->data, .size = type_info(type)->size, .visit = zero_run};
    visit_pieces(piece, piece, &piece->rect, &operation);
}
