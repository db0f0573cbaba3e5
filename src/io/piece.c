// SPDX-License-Identifier: BSD-3-Clause
#include "io/piece.h"

#include "format/contiguous.h"
#include "format/runs.h"

#include "base/integer.h"

#include <assert.h>

Piece piece_packed(const Rect *rect, LevelList levels, ElementType type, void *data) {
    Piece piece = {.rect = *rect, .type = type, .memory = MEMORY_HOST, .data = data};
    packed_strides(rect, levels, piece.stride);
    return piece;
}

Frame piece_frame(const Piece *piece) {
    return (Frame){&piece->rect, piece->stride};
}

void *piece_element(const Piece *piece, const Rect *rect) {
    assert(!piece_is_in_disk(piece) && "elements in disk have no addresses");
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

// The rows that the levels of runs from `level` inwards have, of `rows` levels with a block of rows at most.
static void copy_levels(const PieceWork *work, const Runs *runs, int level, int64_t a, int64_t b) {
    const int64_t size = (int64_t)type_info(work->type)->size;
    const bool rows = runs->a[0] == 1 && runs->b[0] == 1; // of contiguous elements; else of one
    const int innermost = rows && runs->levels > 1 ? 1 : 0;
    if (level > innermost) {
        for (int64_t i = 0; i < runs->extent[level]; i++)
            copy_levels(work, runs, level - 1, a + i * runs->a[level], b + i * runs->b[level]);
        return;
    }
    const bool block = !rows || level > 0;
    work->memory->copy_rows(element(work, a), block ? runs->a[level] * size : 0, source(work, b),
                            block ? runs->b[level] * size : 0, rows ? runs->extent[0] * size : size,
                            block ? runs->extent[level] : 1);
}

static void visit_patch(void *context, const Patch *patch) {
    const PieceWork *whole = context;
    PieceWork work = *whole;
    work.to = element(whole, patch->a);
    work.from = source(whole, patch->b);
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    if (work.visit == copy_run && work.memory->copy_rows) {
        copy_levels(&work, &runs, runs.levels - 1, 0, 0);
        return;
    }
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

// A rectangle of a piece in disk and of one in memory.
typedef struct {
    const Piece *disk, *memory;
    size_t size;
    Reducer reducer;
} DiskWork;

static int64_t place(const DiskWork *work, int64_t offset) {
    return work->disk->at + offset * (int64_t)work->size;
}

static void read_run(void *context, int64_t file, int64_t memory, int64_t count) {
    const DiskWork *work = context;
    disk_read(work->disk->file, place(work, file), (char *)work->memory->data + memory * (int64_t)work->size,
              count * (int64_t)work->size);
    disk_count(work->disk->file, 1, 0);
}

static void write_run(void *context, int64_t file, int64_t memory, int64_t count) {
    const DiskWork *work = context;
    disk_write(work->disk->file, place(work, file),
               (const char *)work->memory->data + memory * (int64_t)work->size, count * (int64_t)work->size);
    disk_count(work->disk->file, 0, 1);
}

// What is in memory of a run while it is combined, or set.
enum { BLOCK_BYTES = 1 << 16 };
typedef union {
    char bytes[BLOCK_BYTES];
    double _Complex element; // aligned for all
} Block;

static void combine_run(void *context, int64_t file, int64_t memory, int64_t count) {
    const DiskWork *work = context;
    const int64_t size = (int64_t)work->size, most = BLOCK_BYTES / size;
    Block block;
    for (int64_t done = 0; done < count; done += most) {
        const int64_t elements = min_i64(most, count - done);
        disk_read(work->disk->file, place(work, file + done), block.bytes, elements * size);
        memory_kind(MEMORY_HOST)
            ->reduce(work->reducer, work->disk->type, block.bytes, 1,
                     (const char *)work->memory->data + (memory + done) * size, 1, elements);
        disk_write(work->disk->file, place(work, file + done), block.bytes, elements * size);
    }
    disk_count(work->disk->file, 1, 1);
}

static FileLayout file_layout(const Piece *disk) {
    return (FileLayout){disk->within ? disk->within : &disk->rect, disk->levels, disk->tile};
}

static void visit_disk(Reducer reducer, const Piece *disk, const Piece *memory, const Rect *rect,
                       ContiguousVisit visit) {
    DiskWork work = {disk, memory, type_info(disk->type)->size, reducer};
    const Frame frame = piece_frame(memory);
    const FileLayout file = file_layout(disk);
    assert(piece_is_in_disk(disk) && !piece_is_in_disk(memory) && "one of the pieces is in memory");
    contiguous_visit(rect, &file, &frame, visit, &work);
}

static void clear_file_run(void *context, int64_t file, int64_t memory, int64_t count) {
    const DiskWork *work = context;
    const int64_t size = (int64_t)work->size, most = BLOCK_BYTES / size;
    Block block;
    (void)memory;
    memory_kind(MEMORY_HOST)->clear(work->reducer, work->disk->type, block.bytes, 1, min_i64(most, count));
    for (int64_t done = 0; done < count; done += most)
        disk_write(work->disk->file, place(work, file + done), block.bytes,
                   min_i64(most, count - done) * size);
    disk_count(work->disk->file, 0, 1);
}

static void clear_disk(Reducer reducer, const Piece *piece) {
    DiskWork work = {piece, NULL, type_info(piece->type)->size, reducer};
    if (!piece->within) { // in one run, also where it is in tiles
        clear_file_run(&work, 0, 0, rect_volume(&piece->rect));
        return;
    }
    const Piece packed = piece_packed(&piece->rect, piece->levels, piece->type, NULL);
    const Frame frame = piece_frame(&packed);
    const FileLayout file = file_layout(piece);
    contiguous_visit(&piece->rect, &file, &frame, clear_file_run, &work);
}

void piece_copy(const Piece *to, const Piece *from, const Rect *rect) {
    if (piece_is_in_disk(to)) {
        visit_disk(REDUCER_SUM, to, from, rect, write_run);
        return;
    }
    if (piece_is_in_disk(from)) {
        visit_disk(REDUCER_SUM, from, to, rect, read_run);
        return;
    }
    visit_pieces(REDUCER_SUM, to, from, rect, copy_run);
}

void piece_convert(const Piece *to, const Piece *from, const Rect *rect) {
    visit_pieces(REDUCER_SUM, to, from, rect, convert_run);
}

void piece_reduce(Reducer reducer, const Piece *to, const Piece *from, const Rect *rect) {
    if (piece_is_in_disk(to)) {
        visit_disk(reducer, to, from, rect, combine_run);
        return;
    }
    visit_pieces(reducer, to, from, rect, reduce_run);
}

void piece_clear(Reducer reducer, const Piece *piece) {
    if (piece_is_in_disk(piece)) {
        clear_disk(reducer, piece);
        return;
    }
    const Frame frame = piece_frame(piece);
    if (frame_span(&frame) ==
        rect_volume(&piece->rect)) // at once, as a call for each row takes longer than rows
        memory_kind(piece->memory)->clear(reducer, piece->type, piece->data, 1, frame_span(&frame));
    else
        visit_pieces(reducer, piece, piece, &piece->rect, clear_run);
}
