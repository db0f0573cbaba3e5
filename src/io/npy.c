// SPDX-License-Identifier: BSD-3-Clause
#include "io/npy.h"

#include "base/integer.h"
#include "io/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBE = 4096 };
// What is read or written at once where the file is not one run, in elements of the largest type.
enum { BLOCK_BYTES = RUN_LENGTH * 16 };

// NULL, or why not all of `size` bytes are there.
static const char *read_all(int fd, void *to, size_t size, int64_t offset) {
    char *at = to;
    while (size > 0) {
        ssize_t n = pread(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return strerror(errno);
        if (n == 0)
            return "it ended while it was read";
        at += n;
        size -= (size_t)n;
        offset += n;
    }
    return NULL;
}

static const char *write_all(int fd, const void *from, size_t size, int64_t offset) {
    const char *at = from;
    while (size > 0) {
        ssize_t n = pwrite(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? strerror(errno) : "no byte could be written";
        at += n;
        size -= (size_t)n;
        offset += n;
    }
    return NULL;
}

static void strides_of(int order, const int64_t *extents, bool fortran, int64_t *stride) {
    int64_t step = 1;
    for (int i = 0; i < order; i++) {
        int d = fortran ? i : order - 1 - i;
        stride[d] = step;
        step *= extents[d] > 0 ? extents[d] : 1;
    }
}

static const char *read_header(int fd, int64_t file_size, Arena *arena, NpyHeader *header) {
    size_t size = (size_t)min_i64(file_size, PROBE), needed;
    unsigned char *bytes = arena_alloc(arena, size + 1);
    const char *why = read_all(fd, bytes, size, 0);
    if (why)
        return why;
    why = npy_parse(bytes, size, arena, header, &needed);
    if (why && needed > size && (int64_t)needed <= file_size) {
        bytes = arena_alloc(arena, needed);
        why = read_all(fd, bytes, needed, 0);
        if (!why)
            why = npy_parse(bytes, needed, arena, header, NULL);
    }
    if (why)
        return why;
    int64_t bytes_needed = (int64_t)type_info(header->type)->size;
    for (int d = 0; d < header->order; d++)
        if (!checked_mul(bytes_needed, header->extents[d], &bytes_needed))
            return "its size does not fit into 64 bits";
    if (file_size - header->data_offset < bytes_needed)
        return arena_printf(arena, "it is cut short: its elements take %lld bytes, %lld are there",
                            (long long)bytes_needed, (long long)(file_size - header->data_offset));
    return NULL;
}

bool npy_open(const char *path, NpyFile *file, Diagnostics *diagnostics) {
    *file = (NpyFile){.fd = -1, .path = path};
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    const char *why;
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        why = "it is not a regular file";
    else
        why = read_header(file->fd, (int64_t)status.st_size, diagnostics->arena, &file->header);
    if (!why)
        return true;
    npy_close(file);
    return diagnostics_error(diagnostics, (Span){0}, "cannot read '%s': %s", path, why);
}

void npy_close(NpyFile *file) {
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

typedef struct {
    int fd;
    int64_t offset; // bytes: of the first element
    size_t size;    // bytes of an element in the file
    size_t swap;    // bytes of a number to be reversed; 0: none
    Conversion convert;
    char *data;
    size_t data_size; // bytes of an element in memory
    char *block;
    const Runs *inside; // read_span: what lies in one span of the file
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
        transit->why =
            read_all(transit->fd, transit->block, total, transit->offset + element * (int64_t)transit->size);
    if (transit->why)
        return false;
    if (transit->swap)
        swap_bytes(transit->block, total, transit->swap);
    return true;
}

// One run of neighbours in the file, or elements far from each other.
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

// Several short runs and the gaps between them are read at once.
static void read_spans(void *context, const Run *run) {
    Transit *transit = context;
    for (int64_t i = 0; i < run->count; i++) {
        if (!read_block(transit, run->a + i * run->a_step, transit->span))
            return;
        transit->span_data = transit->data + (run->b + i * run->b_step) * (int64_t)transit->data_size;
        runs_visit(transit->inside, false, take_run, transit);
    }
}

// Splits `runs` into the innermost levels whose span in the file fits into a block and is mostly wanted, and
// the rest. Returns the span in elements, 0 where not even one level fits.
static int64_t split_runs(const Runs *runs, int64_t block, Runs *inside, Runs *outside) {
    enum { WORTH = 8 }; // elements read for one that is wanted
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

bool npy_check_type(const NpyFile *file, const char *tensor, ElementType type, Diagnostics *diagnostics) {
    ElementType from = file->header.type;
    if (from == type || (type_storable(from, type) && type_promote(from, type) == type))
        return true;
    return diagnostics_error(diagnostics, (Span){0},
                             "cannot read %s from '%s': its elements are %s, those of %s are %s, and the "
                             "conversion is not exact",
                             tensor, file->path, type_info(from)->name, tensor, type_info(type)->name);
}

bool npy_read(const NpyFile *file, ElementType type, const Piece *piece, Diagnostics *diagnostics) {
    const NpyHeader *header = &file->header;
    const TypeInfo *info = type_info(header->type);
    const Rect whole = rect_whole(header->order, header->extents);
    int64_t stride[MAX_ORDER] = {0};
    strides_of(header->order, header->extents, header->fortran_order, stride);
    Transit transit = {.fd = file->fd,
                       .offset = header->data_offset,
                       .size = info->size,
                       .swap = !header->swapped   ? 0
                               : info->is_complex ? info->size / 2
                                                  : info->size,
                       .convert = type_conversion(header->type, type),
                       .data = piece->data,
                       .data_size = type_info(type)->size,
                       .block = malloc(BLOCK_BYTES)};
    if (!transit.block)
        return diagnostics_error(diagnostics, (Span){0}, "cannot read '%s': out of memory", file->path);
    const Frame in_file = {&whole, stride}, in_memory = {&piece->rect, piece->stride};
    patches_visit(&piece->rect, &in_file, &in_memory, read_patch, &transit);
    free(transit.block);
    if (transit.why)
        return diagnostics_error(diagnostics, (Span){0}, "cannot read '%s': %s", file->path, transit.why);
    return true;
}

static const char *header_text(ElementType type, int order, const int64_t *extents, Arena *arena,
                               size_t *length) {
    enum { ALIGNMENT = 64, PREAMBLE = 10 };
    static const unsigned char version_1[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    Text text = text_create(arena);
    const char *name = type_info(type)->npy_name + 1;
    text_printf(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': ",
                __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>', name);
    npy_print_shape(order, extents, &text);
    text_append(&text, ", }");
    while ((PREAMBLE + text.length + 1) % ALIGNMENT != 0)
        text_append(&text, " ");
    text_append(&text, "\n");
    char *all = arena_alloc(arena, PREAMBLE + text.length);
    memcpy(all, version_1, sizeof version_1);
    all[8] = (char)(text.length & 0xff);
    all[9] = (char)(text.length >> 8);
    memcpy(all + PREAMBLE, text_string(&text), text.length);
    *length = PREAMBLE + text.length;
    return all;
}

// Space is claimed at once where the file system can, so that a full disk is noticed here.
static const char *claim(int fd, int64_t size) {
    if (fallocate(fd, 0, 0, (off_t)size) == 0)
        return NULL;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return strerror(errno);
    return ftruncate(fd, (off_t)size) == 0 ? NULL : strerror(errno);
}

const char *npy_create(int fd, ElementType type, int order, const int64_t *extents, Arena *arena) {
    size_t length;
    const char *header = header_text(type, order, extents, arena, &length);
    int64_t size = (int64_t)type_info(type)->size;
    for (int d = 0; d < order; d++)
        size *= extents[d];
    const char *why = write_all(fd, header, length, 0);
    return why ? why : claim(fd, (int64_t)length + size);
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
        transit->why = write_all(transit->fd, from, (size_t)at_once * transit->size,
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

const char *npy_write(int fd, ElementType type, int order, const int64_t *extents, int64_t count,
                      const PiecePart *parts, Arena *arena) {
    size_t length;
    header_text(type, order, extents, arena, &length);
    const Rect whole = rect_whole(order, extents);
    int64_t stride[MAX_ORDER] = {0};
    strides_of(order, extents, false, stride);
    Transit transit = {.fd = fd,
                       .offset = (int64_t)length,
                       .size = type_info(type)->size,
                       .convert = type_conversion(type, type),
                       .block = malloc(BLOCK_BYTES)};
    if (!transit.block)
        transit.why = "out of memory";
    const Frame in_file = {&whole, stride};
    for (int64_t i = 0; i < count && !transit.why; i++) {
        const Piece *piece = &parts[i].piece;
        transit.data = piece->data;
        patches_visit(&parts[i].part, &in_file, &(Frame){&piece->rect, piece->stride}, write_patch, &transit);
    }
    free(transit.block);
    return transit.why;
}
