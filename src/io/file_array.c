// SPDX-License-Identifier: BSD-3-Clause
#include "io/file_array.h"

#include "base/integer.h"
#include "format/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Size of the buffer through which elements go that are not contiguous in the file, for the largest type.
enum { BLOCK_BYTES = RUN_LENGTH * 16 };

const char *file_bytes_read(int fd, void *to, size_t size, int64_t offset) {
    char *at = to;
    while (size > 0) {
        ssize_t n = pread(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return strerror(errno);
        if (n == 0)
            return "it was truncated while it was read";
        at += n;
        size -= (size_t)n;
        offset += n;
    }
    return NULL;
}

const char *file_bytes_write(int fd, const void *from, size_t size, int64_t offset) {
    const char *at = from;
    while (size > 0) {
        ssize_t n = pwrite(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? strerror(errno) : "nothing could be written";
        at += n;
        size -= (size_t)n;
        offset += n;
    }
    return NULL;
}

const char *file_bytes_claim(int fd, int64_t size) {
    if (fallocate(fd, 0, 0, (off_t)size) == 0)
        return NULL;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return strerror(errno);
    return ftruncate(fd, (off_t)size) == 0 ? NULL : strerror(errno);
}

int64_t file_tensor_bytes(const FileTensor *tensor) {
    int64_t bytes = (int64_t)type_info(tensor->type)->size;
    for (int d = 0; d < tensor->order; d++)
        bytes = tensor->extents[d] == 0 ? 0 : saturated_mul(bytes, tensor->extents[d]);
    return bytes;
}

const char *file_bytes_clear(int fd, int64_t size, int64_t offset) {
    static const char zeros[BLOCK_BYTES];
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size) == 0)
        return NULL;
    const char *why = NULL;
    for (int64_t done = 0; done < size && !why; done += BLOCK_BYTES)
        why = file_bytes_write(fd, zeros, (size_t)min_i64(BLOCK_BYTES, size - done), offset + done);
    return why;
}

const char *file_array_check(const FileArray *array, int64_t size, Arena *arena) {
    int64_t needed = (int64_t)type_info(array->tensor.type)->size;
    for (int d = 0; d < array->tensor.order; d++)
        if (!checked_mul(needed, array->tensor.extents[d], &needed))
            return "its size does not fit into 64 bits";
    if (size - array->offset >= needed)
        return NULL;
    return arena_printf(arena, "it is truncated: its elements take %lld bytes, and it has %lld",
                        (long long)needed, (long long)(size - array->offset));
}

static void strides_of(const FileArray *array, const Rect *whole, int64_t *stride) {
    int order[MAX_ORDER];
    for (int l = 0; l < whole->order; l++)
        order[l] = array->columns_first ? whole->order - 1 - l : l;
    packed_strides(whole, (LevelList){.mode_order = order}, stride);
}

typedef struct {
    int fd;
    int64_t offset; // bytes: of the first element
    size_t size;    // bytes of an element in the file
    size_t swap;    // bytes of a number whose order is reversed; 0: none
    Conversion convert;
    char *data;
    size_t data_size; // bytes of an element in memory
    char *block;
    const Runs *inside; // read_spans: the runs within one span of the file
    int64_t span;
    char *span_data;
    const char *why; // the first failure
} Transit;

static void swap_bytes(char *bytes, size_t total, size_t size) {
    for (size_t i = 0; i < total; i += size)
        for (size_t k = 0; k < size / 2; k++) {
            char byte = bytes[i + k];
            bytes[i + k] = bytes[i + size - 1 - k];
            bytes[i + size - 1 - k] = byte;
        }
}

static bool read_block(Transit *transit, int64_t element, int64_t count) {
    size_t total = (size_t)count * transit->size;
    if (!transit->why)
        transit->why = file_bytes_read(transit->fd, transit->block, total,
                                       transit->offset + element * (int64_t)transit->size);
    if (transit->why)
        return false;
    if (transit->swap)
        swap_bytes(transit->block, total, transit->swap);
    return true;
}

// A run with unit stride in the file is read by one call, other elements one by one.
static void read_run(void *context, const Run *run) {
    Transit *transit = context;
    int64_t at_once = run->a_step == 1 ? run->count : 1;
    for (int64_t i = 0; i < run->count; i += at_once)
        if (read_block(transit, run->a + i * run->a_step, at_once))
            transit->convert(transit->data + (run->b + i * run->b_step) * (int64_t)transit->data_size,
                             run->b_step, transit->block, 1, at_once);
}

static void take_run(void *context, const Run *run) {
    const Transit *transit = context;
    transit->convert(transit->span_data + run->b * (int64_t)transit->data_size, run->b_step,
                     transit->block + run->a * (int64_t)transit->size, run->a_step, run->count);
}

// Reads several short runs together with the gaps between them.
static void read_spans(void *context, const Run *run) {
    Transit *transit = context;
    for (int64_t i = 0; i < run->count; i++) {
        if (!read_block(transit, run->a + i * run->a_step, transit->span))
            return;
        transit->span_data = transit->data + (run->b + i * run->b_step) * (int64_t)transit->data_size;
        runs_visit(transit->inside, false, take_run, transit);
    }
}

// Splits `runs` into the innermost levels whose span in the file fits into a block and contains few unwanted
// elements, and the remaining levels. Returns the span in elements, 0 where no level fits.
static int64_t split_runs(const Runs *runs, int64_t block, Runs *inside, Runs *outside) {
    enum { WORTH = 8 }; // elements read at most for each that is needed
    int64_t span = 1, wanted = 1;
    int inner = 0;
    for (; inner < runs->levels; inner++) {
        int64_t reach = span + (runs->extent[inner] - 1) * runs->a[inner];
        if (reach > block || reach > WORTH * wanted * runs->extent[inner])
            break;
        span = reach;
        wanted *= runs->extent[inner];
    }
    if (inner == 0)
        return 0;
    *inside = *runs;
    inside->levels = inner;
    *outside = (Runs){.levels = 1, .extent = {1}, .a = {1}, .b = {1}};
    for (int l = inner; l < runs->levels; l++) {
        outside->levels = l - inner + 1;
        outside->extent[l - inner] = runs->extent[l];
        outside->a[l - inner] = runs->a[l];
        outside->b[l - inner] = runs->b[l];
    }
    return span;
}

static void read_patch(void *context, const Patch *patch) {
    Transit *whole = context;
    Transit transit = *whole;
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride), inside, outside;
    transit.offset += patch->a * (int64_t)whole->size;
    transit.data += patch->b * (int64_t)whole->data_size;
    transit.span = split_runs(&runs, BLOCK_BYTES / (int64_t)whole->size, &inside, &outside);
    transit.inside = &inside;
    if (transit.span > 0)
        runs_visit(&outside, false, read_spans, &transit);
    else
        runs_visit(&runs, false, read_run, &transit);
    whole->why = transit.why;
}

static void write_run(void *context, const Run *run) {
    Transit *transit = context;
    int64_t at_once = run->a_step == 1 ? run->count : 1;
    for (int64_t i = 0; i < run->count && !transit->why; i += at_once) {
        const char *from = transit->data + (run->b + i * run->b_step) * (int64_t)transit->size;
        if (run->b_step != 1 && at_once > 1) {
            transit->convert(transit->block, 1, from, run->b_step, at_once);
            from = transit->block;
        }
        transit->why =
            file_bytes_write(transit->fd, from, (size_t)at_once * transit->size,
                             transit->offset + (run->a + i * run->a_step) * (int64_t)transit->size);
    }
}

static void write_patch(void *context, const Patch *patch) {
    Transit *whole = context;
    Transit transit = *whole;
    transit.offset += patch->a * (int64_t)whole->size;
    transit.data += patch->b * (int64_t)whole->size;
    Runs runs = runs_create(patch->levels, patch->extent, patch->a_stride, patch->b_stride);
    runs_visit(&runs, false, write_run, &transit);
    whole->why = transit.why;
}

const char *file_array_read(int fd, const FileArray *array, const Piece *piece) {
    const TypeInfo *info = type_info(array->tensor.type);
    const Rect whole = rect_whole(array->tensor.order, array->tensor.extents);
    int64_t stride[MAX_ORDER] = {0};
    strides_of(array, &whole, stride);
    Transit transit = {.fd = fd,
                       .offset = array->offset,
                       .size = info->size,
                       .swap = !array->swapped    ? 0
                               : info->is_complex ? info->size / 2
                                                  : info->size,
                       .convert = type_conversion(array->tensor.type, piece->type),
                       .data = piece->data,
                       .data_size = type_info(piece->type)->size,
                       .block = malloc(BLOCK_BYTES)};
    if (!transit.block)
        return "out of memory";
    const Frame in_file = {&whole, stride}, in_memory = piece_frame(piece);
    patches_visit(&piece->rect, &in_file, &in_memory, read_patch, &transit);
    free(transit.block);
    return transit.why;
}

const char *file_array_write(int fd, const FileTensor *tensor, int64_t count, const PiecePart *parts) {
    const ElementType type = tensor->type;
    const Rect whole = rect_whole(tensor->order, tensor->extents);
    int64_t stride[MAX_ORDER] = {0};
    packed_strides(&whole, (LevelList){0}, stride);
    Transit transit = {.fd = fd,
                       .offset = tensor->offset,
                       .size = type_info(type)->size,
                       .convert = type_conversion(type, type),
                       .block = malloc(BLOCK_BYTES)};
    if (!transit.block)
        return "out of memory";
    const Frame in_file = {&whole, stride};
    for (int64_t i = 0; i < count && !transit.why; i++) {
        const Frame in_memory = piece_frame(&parts[i].piece);
        transit.data = parts[i].piece.data;
        patches_visit(&parts[i].part, &in_file, &in_memory, write_patch, &transit);
    }
    free(transit.block);
    return transit.why;
}
