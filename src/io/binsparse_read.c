// SPDX-License-Identifier: BSD-3-Clause
#include "io/binsparse.h"

#ifdef DISTAL_HDF5
#include "base/integer.h"
#include "io/array_entries.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 1 << 14 };

// The entries of a share while they are read, from the last level upwards: the positions that they have below
// the current level, which do not decrease.
typedef struct {
    hid_t file;
    const InputFile *input;
    const BinsparseHeader *header;
    Entries *entries;
    int64_t *positions;
    int64_t *block; // of elements of an array, BLOCK_ELEMENTS more than there are entries
    Arena *arena;
} Reading;

// Elements of an array that are asked for in increasing order, of which a block is read at a time.
typedef struct {
    const char *name;
    int64_t length;     // of what may be asked for
    int64_t first, end; // of the block
} ArrayReader;

static const char *read_element(const Reading *reading, ArrayReader *array, int64_t index, int64_t *element) {
    if (index >= array->end) {
        const int64_t count = min_i64(reading->entries->count + BLOCK_ELEMENTS, array->length - index);
        const char *why = binsparse_read_array(reading->file, array->name, hdf5.H5T_NATIVE_INT64_g, index,
                                               count, reading->block, reading->arena);
        if (why)
            return why;
        array->first = index;
        array->end = index + count;
    }
    *element = reading->block[index - array->first];
    return NULL;
}

static const char *refuse_pointers(const Reading *reading, const char *name) {
    return arena_printf(reading->arena, "the elements of its array '%s' decrease", name);
}

// Each share is that of the pointers of all levels, too, with the one after it.
static const char *check_pointers(const Reading *reading) {
    const InputFile *input = reading->input;
    const int64_t shares = max_i64(input->shares, 1);
    const char *why = NULL;
    for (int l = 1; l < reading->header->layout.level_count; l++) {
        const BinsparseLevel *level = &reading->header->layout.levels[l];
        const int64_t above = reading->header->positions[l];
        const int64_t first = part_begin(above, shares, input->share),
                      end = part_begin(above, shares, input->share + 1);
        ArrayReader pointers = {.length = end + 1};
        if (level->sparse)
            pointers.name = arena_printf(reading->arena, "pointers_to_%d", level->first);
        for (int64_t p = first, last = 0, pointer = 0; level->sparse && !why && p <= end;
             p++, last = pointer) {
            why = read_element(reading, &pointers, p, &pointer);
            if (!why && pointer < last)
                why = refuse_pointers(reading, pointers.name);
        }
    }
    return why;
}

static void to_parents_of_dense(const Reading *reading, const BinsparseLevel *level) {
    const int mode = reading->header->layout.modes[level->first];
    const int64_t extent = reading->entries->extents[mode];
    for (int64_t e = 0; e < reading->entries->count; e++) {
        reading->entries->coordinates[mode][e] = reading->positions[e] % extent;
        reading->positions[e] /= extent;
    }
}

// The first position above whose children end after `position`.
static const char *find_parent(const Reading *reading, const char *pointers, int64_t above, int64_t position,
                               int64_t *parent) {
    int64_t low = 0, high = above;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t end = 0;
        const char *why = binsparse_read_array(reading->file, pointers, hdf5.H5T_NATIVE_INT64_g, middle + 1,
                                               1, &end, reading->arena);
        if (why)
            return why;
        if (end > position)
            high = middle;
        else
            low = middle + 1;
    }
    *parent = low;
    return NULL;
}

// Another share may have pointers that decrease, so that no position is the parent.
static const char *to_parents_by_pointers(const Reading *reading, const BinsparseLevel *level,
                                          int64_t above) {
    ArrayReader pointers = {.name = arena_printf(reading->arena, "pointers_to_%d", level->first),
                            .length = above + 1};
    const Entries *entries = reading->entries;
    int64_t parent = 0, end = 0;
    const char *why = find_parent(reading, pointers.name, above, reading->positions[0], &parent);
    if (!why && parent < above)
        why = read_element(reading, &pointers, parent + 1, &end);
    for (int64_t e = 0; !why && e < entries->count; reading->positions[e++] = parent) {
        while (!why && parent < above && end <= reading->positions[e])
            if (++parent < above)
                why = read_element(reading, &pointers, parent + 1, &end);
        if (!why && parent >= above)
            why = refuse_pointers(reading, pointers.name);
    }
    return why;
}

static const char *to_parents_of_sparse(const Reading *reading, const BinsparseLevel *level, int64_t above) {
    const Entries *entries = reading->entries;
    const char *why = NULL;
    for (int d = level->first; d < level->end; d++) {
        int64_t *coordinates = entries->coordinates[reading->header->layout.modes[d]];
        ArrayReader indices = {.name = arena_printf(reading->arena, "indices_%d", d),
                               .length = reading->positions[entries->count - 1] + 1};
        for (int64_t e = 0; !why && e < entries->count; e++)
            why = read_element(reading, &indices, reading->positions[e], &coordinates[e]);
    }
    return why || level->first == 0 ? why : to_parents_by_pointers(reading, level, above);
}

// Integers of 64 bits that have been read without a sign.
static const char *check_longs(const int64_t *values, int64_t count, Arena *arena) {
    for (int64_t i = 0; i < count; i++)
        if (values[i] < 0)
            return arena_printf(arena, "%" PRIu64 " of its array 'values' does not fit into i64",
                                (uint64_t)values[i]);
    return NULL;
}

// Values from `first` on; real ones may become complex.
static const char *read_values(const Reading *reading, int64_t first) {
    const Entries *entries = reading->entries;
    const ElementType component = type_component(entries->type);
    const bool from_complex = type_info(reading->input->tensor.type)->is_complex;
    const bool is_unsigned = reading->header->has_unsigned_longs && component == TYPE_I64;
    const int64_t size = (int64_t)type_info(component)->size;
    const int64_t parts = from_complex ? 2 : 1, to_parts = type_info(entries->type)->is_complex ? 2 : 1;
    const int64_t count = reading->header->iso ? 1 : entries->count;
    const hid_t type = is_unsigned ? hdf5.H5T_NATIVE_UINT64_g : hdf5_number_type(component);
    char *values = entries->values;
    const char *why =
        binsparse_read_array(reading->file, "values", type, reading->header->iso ? 0 : first * parts,
                             count * parts, values, reading->arena);
    if (!why && is_unsigned)
        why = check_longs(entries->values, count, reading->arena);
    if (why)
        return why;
    if (parts < to_parts)
        for (int64_t e = count - 1; e >= 0; e--) {
            memmove(values + 2 * e * size, values + e * size, (size_t)size);
            memset(values + (2 * e + 1) * size, 0, (size_t)size);
        }
    for (int64_t e = count; e < entries->count; e++)
        memcpy(values + e * to_parts * size, values, (size_t)(to_parts * size));
    return NULL;
}

static const char *read_entries(const Reading *reading, int64_t first) {
    const BinsparseHeader *header = reading->header;
    for (int64_t e = 0; e < reading->entries->count; e++)
        reading->positions[e] = first + e;
    const char *why = read_values(reading, first);
    for (int l = header->layout.level_count - 1; !why && l >= 0; l--) {
        const BinsparseLevel *level = &header->layout.levels[l];
        if (level->sparse)
            why = to_parents_of_sparse(reading, level, header->positions[l]);
        else
            to_parents_of_dense(reading, level);
    }
    return why ? why : entries_check(reading->entries, reading->arena);
}

static const char *read_share(const InputFile *file, int64_t first, Entries *entries, Arena *arena) {
    int64_t *positions =
        malloc((size_t)saturated_mul(2 * entries->count + BLOCK_ELEMENTS, (int64_t)sizeof(int64_t)));
    if (!positions)
        return "not enough memory to read it";
    const Reading reading = {.file = hdf5_open_again(file->fd, H5F_ACC_RDONLY),
                             .input = file,
                             .header = file->header,
                             .entries = entries,
                             .positions = positions,
                             .block = positions + entries->count,
                             .arena = arena};
    const char *why = reading.file < 0 ? "it cannot be opened again" : check_pointers(&reading);
    if (!why && entries->count > 0)
        why = read_entries(&reading, first);
    if (reading.file >= 0)
        hdf5.H5Fclose(reading.file);
    free(positions);
    return why;
}

// Whether the entries are all in the triangle that the structure of the file names.
static const char *check_triangle(const BinsparseHeader *header, const Entries *entries, Arena *arena) {
    for (int64_t e = 0; e < entries->count; e++) {
        const int64_t i = entries->coordinates[0][e], j = entries->coordinates[1][e];
        if (i == j && header->symmetry == SKEW_SYMMETRIC)
            return "a skew-symmetric matrix has no entries on its diagonal, and this one has";
        if (header->is_upper ? i > j : i < j)
            return arena_printf(arena, "its structure is %s, and it has element (%" PRId64 ", %" PRId64 ")",
                                header->structure, i, j);
    }
    return NULL;
}

const char *binsparse_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    const BinsparseHeader *header = file->header;
    const int64_t all = header->positions[header->layout.level_count], shares = max_i64(file->shares, 1);
    const int64_t first = part_begin(all, shares, file->share);
    entries->count = part_begin(all, shares, file->share + 1) - first;
    const int64_t beside = saturated_mul(entries->count, 2 * (int64_t)sizeof(int64_t));
    const char *why = entries_allocate_within(entries, limit - beside, arena);
    if (!why)
        why = read_share(file, first, entries, arena);
    if (why || header->symmetry == GENERAL)
        return why;
    if (file->tensor.is_full) // the file has zeros in place of the other triangle
        why = entries_drop_zeros(entries);
    if (!why)
        why = check_triangle(header, entries, arena);
    return why ? why : symmetry_mirror(header->symmetry, limit, entries, arena);
}
#endif
