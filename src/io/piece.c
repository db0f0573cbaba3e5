// SPDX-License-Identifier: BSD-3-Clause
#include "io/piece.h"

#include "io/runs.h"

Piece piece_packed(const Rect *rect, LevelList levels, ElementType type, void *data) {
    Piece piece = {.rect = *rect, .type = type, .memory = MEMORY_HOST, .data = data};
    packed_strides(rect, levels, piece.stride);
    return piece;
}

Frame piece_frame(const Piece *piece) {
    return (Frame){&piece->rect, piece->stride};
}

void *piece_element(const Piece *piece, const Rect *rect) {
    const Frame frame = piece_frame(piece);
    return (char *)piece->data + frame_offset(&frame, rect) * (int64_t)type_info(piece->type)->size;
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

// What is done to each run of two pieces.
typedef struct {
    char *to;
    const char *from;
    ElementType type, from_type;
    const MemoryKind *memory;
    Reducer reducer;
    RunVisit visit;
} PieceWork;

static char *element(const PieceWork *work, int64_t offset) {
    return work->to + offset * (int64_t)type_info(work->type)->size;
}

static const char *source(const PieceWork *work, int64_t offset) {
    return work->from + offset * (int64_t)type_info(work->from_type)->size;
}

static void copy_run(void *context, const Run *run) {
    const PieceWork *work = context;
    work->memory->copy(work->type, element(work, run->a), run->a_step, source(work, run->b), run->b_step,
                       run->count);
}

static void convert_run(void *context, const Run *run) {
    const PieceWork *work = context;
    type_conversion(work->from_type, work->type)(element(work, run->a), run->a_step, source(work, run->b),
                                                 run->b_step, run->count);
}

static void reduce_run(void *context, const Run *run) {
    const PieceWork *work = context;
    work->memory->reduce(work->reducer, work->type, element(work, run->a), run->a_step, source(work, run->b),
                         run->b_step, run->count);
}

static void clear_run(void *context, const Run *run) {
    const PieceWork *work = context;
    work->memory->clear(work->reducer, work->type, element(work, run->a), run->a_step, run->count);
}

static void visit_patch(void *context, const Patch *patch) {
    const PieceWork *whole = context;
    PieceWork work = *whole;
    work.to = element(whole, patch->a);
    work.from = source(whole, patch->b);
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    runs_visit(&runs, true, whole->visit, &work);
}

// By the operations of the memory that is not the host's, if one is not.
static void visit_pieces(Reducer reducer, const Piece *to, const Piece *from, const Rect *rect,
                         RunVisit visit) {
    PieceWork work = {.to = to->data,
                      .from = from->data,
                      .type = to->type,
                      .from_type = from->type,
                      .memory = memory_kind(to->memory == MEMORY_HOST ? from->memory : to->memory),
                      .reducer = reducer,
                      .visit = visit};
    const Frame a = piece_frame(to), b = piece_frame(from);
    patches_visit(rect, &a, &b, visit_patch, &work);
}

void piece_copy(const Piece *to, const Piece *from, const Rect *rect) {
    visit_pieces(REDUCER_SUM, to, from, rect, copy_run);
}

void piece_convert(const Piece *to, const Piece *from, const Rect *rect) {
    visit_pieces(REDUCER_SUM, to, from, rect, convert_run);
}

void piece_reduce(Reducer reducer, const Piece *to, const Piece *from, const Rect *rect) {
    visit_pieces(reducer, to, from, rect, reduce_run);
}

void piece_clear(Reducer reducer, const Piece *piece) {
    visit_pieces(reducer, piece, piece, &piece->rect, clear_run);
}
