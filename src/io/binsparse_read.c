// SPDX-License-Identifier: BSD-3-Clause
#include "io/binsparse.h"

#ifdef DISTAL_HDF5
#include "base/integer.h"
#include "io/symmetry.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// The layout of a file with the number of positions below each level, all of which are 1 above the first.
typedef struct {
    BinsparseLayout layout;
    int64_t positions[MAX_ORDER + 1];
    Symmetry symmetry;
    bool iso; // there is one value for all
} Header;

typedef struct {
    const char *name;
    ElementType type; // that has all values
} ValueType;

static const ValueType value_types[] = {{"uint8", TYPE_I32},
                                        {"int8", TYPE_I32},
                                        {"uint16", TYPE_I32},
                                        {"int16", TYPE_I32},
                                        {"int32", TYPE_I32},
                                        {"uint32", TYPE_I64},
                                        {"int64", TYPE_I64},
                                        {"uint64", TYPE_I64},
                                        {"bint8", TYPE_I32},
                                        {"float32", TYPE_F32},
                                        {"float64", TYPE_F64},
                                        {"complex[float32]", TYPE_C64},
                                        {"complex[float64]", TYPE_C128}};

// By its descriptor, so that it is the file that was opened first.
static hid_t open_file(int fd) {
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return hdf5.H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

// A copy of the text that the attribute `binsparse` is; NULL where it is none.
static const char *read_descriptor(hid_t file, Arena *arena) {
    const hid_t attribute = hdf5.H5Aopen(file, "binsparse", H5P_DEFAULT);
    const hid_t type = attribute < 0 ? -1 : hdf5.H5Aget_type(attribute);
    const hid_t space = attribute < 0 ? -1 : hdf5.H5Aget_space(attribute);
    const char *text = NULL;
    if (type >= 0 && hdf5.H5Tget_class(type) == H5T_STRING && hdf5.H5Sget_simple_extent_npoints(space) == 1) {
        if (hdf5.H5Tis_variable_str(type) > 0) {
            char *read = NULL;
            if (hdf5.H5Aread(attribute, type, &read) >= 0 && read) {
                text = arena_printf(arena, "%s", read);
                hdf5.H5Dvlen_reclaim(type, space, H5P_DEFAULT, &read);
            }
        } else {
            char *read = arena_array(arena, char, (int64_t)hdf5.H5Tget_size(type) + 1);
            text = hdf5.H5Aread(attribute, type, read) >= 0 ? read : NULL;
        }
    }
    if (space >= 0)
        hdf5.H5Sclose(space);
    if (type >= 0)
        hdf5.H5Tclose(type);
    if (attribute >= 0)
        hdf5.H5Aclose(attribute);
    return text;
}

// The length of an array, whose elements are integers, or real numbers if `real`.
static const char *find_array(hid_t file, const char *name, bool real, int64_t *length, Arena *arena) {
    *length = 0;
    const char *why = arena_printf(arena, "it has no array '%s' of %s", name, real ? "numbers" : "integers");
    const hid_t set =
        hdf5.H5Lexists(file, name, H5P_DEFAULT) > 0 ? hdf5.H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (set < 0)
        return why;
    const hid_t space = hdf5.H5Dget_space(set), type = hdf5.H5Dget_type(set);
    const H5T_class_t class = hdf5.H5Tget_class(type);
    hsize_t extent = 0;
    if ((class == H5T_INTEGER || (real && class == H5T_FLOAT)) &&
        hdf5.H5Sget_simple_extent_ndims(space) == 1 &&
        hdf5.H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && extent <= INT64_MAX) {
        *length = (int64_t)extent;
        why = NULL;
    }
    hdf5.H5Tclose(type);
    hdf5.H5Sclose(space);
    hdf5.H5Dclose(set);
    return why;
}

// Elements first to before first + count of an array, as `type`.
static bool read_part(hid_t file, const char *name, hid_t type, int64_t first, int64_t count, void *to) {
    const hsize_t start = (hsize_t)first, length = (hsize_t)count;
    if (count == 0)
        return true;
    const hid_t set = hdf5.H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t from = set < 0 ? -1 : hdf5.H5Dget_space(set),
                memory = hdf5.H5Screate_simple(1, &length, NULL);
    const bool ok = from >= 0 &&
                    hdf5.H5Sselect_hyperslab(from, H5S_SELECT_SET, &start, NULL, &length, NULL) >= 0 &&
                    hdf5.H5Dread(set, type, memory, from, H5P_DEFAULT, to) >= 0;
    hdf5.H5Sclose(memory);
    if (from >= 0)
        hdf5.H5Sclose(from);
    if (set >= 0)
        hdf5.H5Dclose(set);
    return ok;
}

static const char *unreadable(const char *name, Arena *arena) {
    return arena_printf(arena, "its array '%s' cannot be read", name);
}

static const char *parse_shape(const json_t *shape, FileTensor *tensor, Arena *arena) {
    if (!json_is_array(shape) || json_array_size(shape) < 1 || json_array_size(shape) > MAX_ORDER)
        return arena_printf(arena, "its descriptor has no shape of 1 to %d extents", MAX_ORDER);
    tensor->order = (int)json_array_size(shape);
    for (int d = 0; d < tensor->order; d++) {
        const json_t *extent = json_array_get(shape, (size_t)d);
        tensor->extents[d] = json_integer_value(extent);
        if (!json_is_integer(extent) || tensor->extents[d] < 0 || tensor->extents[d] > INT64_C(1) << 62)
            return arena_printf(arena, "extent %d of its shape is not an integer from 0 to 2^62", d);
    }
    return NULL;
}

static const char *parse_levels(const json_t *level, BinsparseLayout *layout, Arena *arena) {
    for (;; level = json_object_get(level, "level")) {
        const char *what = json_string_value(json_object_get(level, "level_desc"));
        if (!what)
            return "a level of its descriptor has no 'level_desc'";
        if (strcmp(what, "element") == 0)
            return NULL;
        const bool sparse = strcmp(what, "sparse") == 0;
        if (!sparse && strcmp(what, "dense") != 0)
            return arena_printf(arena, "'%.40s' is not a level of Binsparse (dense, sparse, element)", what);
        const json_t *rank = json_object_get(level, "rank");
        if (!json_is_integer(rank) || !binsparse_add_level(layout, sparse, json_integer_value(rank)))
            return arena_printf(
                arena, "the ranks of its levels are not integers from 1 on, %d in all at most", MAX_ORDER);
    }
}

// Which mode each dimension of the levels is.
static const char *parse_transpose(const json_t *transpose, BinsparseLayout *layout) {
    bool taken[MAX_ORDER] = {false};
    for (int d = 0; d < layout->order; d++) {
        const json_t *mode = json_array_get(transpose, (size_t)d);
        layout->modes[d] = transpose ? (int)json_integer_value(mode) : d;
        if ((transpose && (!json_is_integer(mode) || json_integer_value(mode) < 0 ||
                           json_integer_value(mode) >= layout->order)) ||
            taken[layout->modes[d]])
            return "the transpose of its descriptor is not a permutation of the modes";
        taken[layout->modes[d]] = true;
    }
    return NULL;
}

static const char *parse_layout(const json_t *descriptor, BinsparseLayout *layout, Arena *arena) {
    const char *format = json_string_value(json_object_get(descriptor, "format"));
    const json_t *custom = json_object_get(descriptor, "custom");
    if (!format && custom)
        format = "custom";
    if (!format)
        return "its descriptor has no format";
    if (binsparse_layout(format, layout))
        return NULL;
    if (strcmp(format, "custom") != 0)
        return arena_printf(arena, "'%.40s' is not a format of Binsparse", format);
    const char *why = parse_levels(json_object_get(custom, "level"), layout, arena);
    return why ? why : parse_transpose(json_object_get(custom, "transpose"), layout);
}

static const char *parse_type(const json_t *types, Header *header, ElementType *type, Arena *arena) {
    const char *text = json_string_value(json_object_get(types, "values"));
    if (!text)
        return "its descriptor does not say what type the values have";
    size_t length = strlen(text);
    header->iso = length > 5 && strncmp(text, "iso[", 4) == 0 && text[length - 1] == ']';
    if (header->iso) {
        text += 4;
        length -= 5;
    }
    for (size_t i = 0; i < sizeof value_types / sizeof *value_types; i++)
        if (strlen(value_types[i].name) == length && strncmp(value_types[i].name, text, length) == 0) {
            *type = value_types[i].type;
            return NULL;
        }
    return arena_printf(arena, "'%.40s' is not a type of values of Binsparse", text);
}

static const char *parse_structure(const json_t *structure, const FileTensor *tensor, Symmetry *symmetry,
                                   Arena *arena) {
    static const char *const names[] = {"general", "symmetric_", "skew_symmetric_", "hermitian_"};
    const char *text = json_string_value(structure);
    *symmetry = GENERAL;
    if (!structure || (text && strcmp(text, names[GENERAL]) == 0))
        return NULL;
    for (int s = SYMMETRIC; text && s <= HERMITIAN; s++) {
        const size_t length = strlen(names[s]);
        if (strncmp(text, names[s], length) == 0 &&
            (strcmp(text + length, "lower") == 0 || strcmp(text + length, "upper") == 0))
            *symmetry = (Symmetry)s;
    }
    if (*symmetry == GENERAL)
        return arena_printf(arena, "'%.40s' is not a structure of Binsparse", text ? text : "");
    if (tensor->order != 2 || tensor->extents[0] != tensor->extents[1])
        return arena_printf(arena, "what is %.40s is a square matrix, and this is none", text);
    return *symmetry == HERMITIAN && !type_info(tensor->type)->is_complex
               ? "a hermitian matrix is complex, and this one is not"
               : NULL;
}

// The arrays of a sparse level below `above` positions.
static const char *find_level(hid_t file, const BinsparseLevel *level, int64_t above, int64_t *positions,
                              Arena *arena) {
    char name[40];
    for (int d = level->first; d < level->end; d++) {
        int64_t length;
        snprintf(name, sizeof name, "indices_%d", d);
        const char *why = find_array(file, name, false, &length, arena);
        if (why)
            return why;
        if (d > level->first && length != *positions)
            return arena_printf(arena, "its arrays 'indices_%d' and '%s' differ in length", level->first,
                                name);
        *positions = length;
    }
    if (level->first == 0)
        return NULL;
    int64_t length, ends[2] = {0};
    snprintf(name, sizeof name, "pointers_to_%d", level->first);
    const char *why = find_array(file, name, false, &length, arena);
    if (why)
        return why;
    if (length != above + 1)
        return arena_printf(arena, "its array '%s' has %lld elements, and not %lld", name, (long long)length,
                            (long long)above + 1);
    if (!read_part(file, name, hdf5.H5T_NATIVE_INT64_g, 0, 1, &ends[0]) ||
        !read_part(file, name, hdf5.H5T_NATIVE_INT64_g, above, 1, &ends[1]))
        return unreadable(name, arena);
    if (ends[0] != 0 || ends[1] != *positions)
        return arena_printf(arena, "its array '%s' goes from %lld to %lld, and not from 0 to %lld", name,
                            (long long)ends[0], (long long)ends[1], (long long)*positions);
    return NULL;
}

static const char *find_levels(hid_t file, const FileTensor *tensor, Header *header, Arena *arena) {
    const BinsparseLayout *layout = &header->layout;
    header->positions[0] = 1;
    for (int l = 0; l < layout->level_count; l++) {
        const BinsparseLevel *level = &layout->levels[l];
        int64_t *positions = &header->positions[l + 1];
        const char *why = NULL;
        if (level->sparse)
            why = find_level(file, level, header->positions[l], positions, arena);
        else if (!checked_mul(header->positions[l], tensor->extents[layout->modes[level->first]], positions))
            why = "its number of elements does not fit into 64 bits";
        if (why)
            return why;
    }
    return NULL;
}

static const char *check_values(hid_t file, const json_t *descriptor, const Header *header, ElementType type,
                                Arena *arena) {
    const int64_t positions = header->positions[header->layout.level_count];
    const int64_t expected =
        saturated_mul(header->iso ? min_i64(positions, 1) : positions, type_info(type)->is_complex ? 2 : 1);
    int64_t length;
    const char *why = find_array(file, "values", true, &length, arena);
    if (why)
        return why;
    if (length != expected && !(header->iso && positions == 0))
        return arena_printf(arena, "its array 'values' has %lld numbers, and not %lld", (long long)length,
                            (long long)expected);
    const json_t *stored = json_object_get(descriptor, "number_of_stored_values");
    if (!json_is_integer(stored) || json_integer_value(stored) != positions)
        return arena_printf(arena, "its descriptor does not say that %lld values are stored, which are",
                            (long long)positions);
    if (json_is_true(json_object_get(descriptor, "fill"))) {
        double fill;
        why = find_array(file, "fill_value", true, &length, arena);
        if (why)
            return why;
        if (length < 1 || !read_part(file, "fill_value", hdf5.H5T_NATIVE_DOUBLE_g, 0, 1, &fill))
            return unreadable("fill_value", arena);
        if (fill != 0)
            return "elements that it does not store are not zero";
    }
    return NULL;
}

static const char *parse(hid_t file, const json_t *descriptor, FileTensor *tensor, Header *header,
                         Arena *arena) {
    const char *version = json_string_value(json_object_get(descriptor, "version"));
    if (!version || strncmp(version, "0.", 2) != 0)
        return arena_printf(arena, "version '%.40s' of Binsparse is not known, 0.1 is",
                            version ? version : "");
    *tensor = (FileTensor){.listed = -1};
    const char *why = parse_shape(json_object_get(descriptor, "shape"), tensor, arena);
    if (!why)
        why = parse_layout(descriptor, &header->layout, arena);
    if (!why && header->layout.order != tensor->order)
        why = arena_printf(arena, "its shape has %d extents, and its levels have %d dimensions",
                           tensor->order, header->layout.order);
    if (!why)
        why = parse_type(json_object_get(descriptor, "data_types"), header, &tensor->type, arena);
    if (!why)
        why = parse_structure(json_object_get(descriptor, "structure"), tensor, &header->symmetry, arena);
    if (!why)
        why = find_levels(file, tensor, header, arena);
    if (!why)
        why = check_values(file, descriptor, header, tensor->type, arena);
    tensor->is_full = true;
    for (int l = 0; l < header->layout.level_count; l++)
        tensor->is_full = tensor->is_full && !header->layout.levels[l].sparse;
    return why;
}

// The descriptor is an object with the name "binsparse", or that object itself.
const char *binsparse_open(InputFile *file, Arena *arena) {
    Header *header = arena_new(arena, Header);
    file->header = header;
    const char *why = hdf5_load(arena);
    if (why)
        return why;
    const hid_t opened = open_file(file->fd);
    if (opened < 0)
        return "it is not a file of HDF5, or it is damaged";
    const char *text = read_descriptor(opened, arena);
    json_error_t error;
    json_t *json = text ? json_loads(text, 0, &error) : NULL;
    if (!text)
        why = "its root group has no attribute 'binsparse' with a text";
    else if (!json)
        why =
            arena_printf(arena, "its attribute 'binsparse' is not JSON: line %d: %s", error.line, error.text);
    else {
        const json_t *inner = json_object_get(json, "binsparse");
        why = parse(opened, inner ? inner : json, &file->tensor, header, arena);
    }
    json_decref(json);
    hdf5.H5Fclose(opened);
    return why;
}

// The entries of a share while they are read, from the last level upwards: the positions that they have below
// the current level, which do not decrease.
typedef struct {
    hid_t file;
    const FileTensor *tensor;
    const Header *header;
    Entries *entries;
    int64_t *positions;
    int64_t *buffer; // elements of an array of one level: one for each position
    Arena *arena;
} Reading;

static void to_parents_of_dense(const Reading *reading, const BinsparseLevel *level) {
    const int mode = reading->header->layout.modes[level->first];
    const int64_t extent = reading->entries->extents[mode];
    for (int64_t e = 0; e < reading->entries->count; e++) {
        reading->entries->coordinates[mode][e] = reading->positions[e] % extent;
        reading->positions[e] /= extent;
    }
}

// The first position above whose children end after `position`; what `pointers` say is not trusted.
static const char *find_parent(const Reading *reading, const char *pointers, int64_t above, int64_t position,
                               int64_t *parent) {
    int64_t low = 0, high = above;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t end = 0;
        if (!read_part(reading->file, pointers, hdf5.H5T_NATIVE_INT64_g, middle + 1, 1, &end))
            return unreadable(pointers, reading->arena);
        if (end > position)
            high = middle;
        else
            low = middle + 1;
    }
    *parent = low;
    return NULL;
}

// The ends of the children of positions above, of which a block is read at a time.
typedef struct {
    const char *name;
    int64_t above; // positions
    int64_t first, end;
    int64_t *block;
} Pointers;

enum { BLOCK_POINTERS = 1 << 14 };

static const char *read_end(const Reading *reading, Pointers *pointers, int64_t position, int64_t *end) {
    if (position >= pointers->end) {
        const int64_t count = min_i64(BLOCK_POINTERS, pointers->above - position);
        if (!read_part(reading->file, pointers->name, hdf5.H5T_NATIVE_INT64_g, position + 1, count,
                       pointers->block))
            return unreadable(pointers->name, reading->arena);
        pointers->first = position;
        pointers->end = position + count;
    }
    *end = pointers->block[position - pointers->first];
    return NULL;
}

static const char *to_parents_by_pointers(const Reading *reading, const BinsparseLevel *level,
                                          int64_t above) {
    Pointers pointers = {.name = arena_printf(reading->arena, "pointers_to_%d", level->first),
                         .above = above,
                         .block = arena_array(reading->arena, int64_t, BLOCK_POINTERS)};
    const Entries *entries = reading->entries;
    int64_t parent = 0, end = 0, last = 0;
    const char *why = find_parent(reading, pointers.name, above, reading->positions[0], &parent);
    for (int64_t e = 0; !why && e < entries->count; reading->positions[e++] = parent)
        for (bool found = false; !why && !found; last = end) {
            if (parent < above)
                why = read_end(reading, &pointers, parent, &end);
            if (!why && (parent >= above || end < last))
                why = arena_printf(reading->arena, "the elements of its array '%s' decrease", pointers.name);
            found = end > reading->positions[e];
            parent += !found;
        }
    return why;
}

static const char *to_parents_of_sparse(const Reading *reading, const BinsparseLevel *level, int64_t above) {
    const Entries *entries = reading->entries;
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): there are entries
    const int64_t first = reading->positions[0], count = reading->positions[entries->count - 1] + 1 - first;
    for (int d = level->first; d < level->end; d++) {
        char name[40];
        int64_t *coordinates = entries->coordinates[reading->header->layout.modes[d]];
        snprintf(name, sizeof name, "indices_%d", d);
        if (!read_part(reading->file, name, hdf5.H5T_NATIVE_INT64_g, first, count, reading->buffer))
            return unreadable(name, reading->arena);
        for (int64_t e = 0; e < entries->count; e++)
            coordinates[e] = reading->buffer[reading->positions[e] - first];
    }
    return level->first == 0 ? NULL : to_parents_by_pointers(reading, level, above);
}

// Values from `first` on; real ones may become complex.
static const char *read_values(const Reading *reading, int64_t first) {
    const Entries *entries = reading->entries;
    const ElementType component = type_component(entries->type);
    const bool from_complex = type_info(reading->tensor->type)->is_complex;
    const int64_t size = (int64_t)type_info(component)->size;
    const int64_t parts = from_complex ? 2 : 1, to_parts = type_info(entries->type)->is_complex ? 2 : 1;
    const int64_t count = reading->header->iso ? 1 : entries->count;
    char *values = entries->values;
    if (!read_part(reading->file, "values", binsparse_number_type(component),
                   reading->header->iso ? 0 : first * parts, count * parts, values))
        return unreadable("values", reading->arena);
    if (parts < to_parts)
        for (int64_t e = count - 1; e >= 0; e--) {
            memmove(values + 2 * e * size, values + e * size, (size_t)size);
            memset(values + (2 * e + 1) * size, 0, (size_t)size);
        }
    for (int64_t e = count; e < entries->count; e++)
        memcpy(values + e * to_parts * size, values, (size_t)(to_parts * size));
    return NULL;
}

static const char *read_entries(Reading *reading, int64_t first) {
    const Header *header = reading->header;
    const int64_t count = reading->entries->count;
    reading->positions = malloc((size_t)saturated_mul(2 * count, (int64_t)sizeof(int64_t)));
    if (!reading->positions)
        return "not enough memory to read it";
    reading->buffer = reading->positions + count;
    for (int64_t e = 0; e < count; e++)
        reading->positions[e] = first + e;
    const char *why = read_values(reading, first);
    for (int l = header->layout.level_count - 1; !why && l >= 0; l--) {
        const BinsparseLevel *level = &header->layout.levels[l];
        if (level->sparse)
            why = to_parents_of_sparse(reading, level, header->positions[l]);
        else
            to_parents_of_dense(reading, level);
    }
    free(reading->positions);
    return why ? why : entries_check(reading->entries, reading->arena);
}

static bool has_diagonal(const Entries *entries) {
    bool has = false;
    for (int64_t e = 0; e < entries->count; e++)
        has = has || entries->coordinates[0][e] == entries->coordinates[1][e];
    return has;
}

const char *binsparse_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    const Header *header = file->header;
    const int64_t all = header->positions[header->layout.level_count], shares = max_i64(file->shares, 1);
    const int64_t first = part_begin(all, shares, file->share);
    entries->count = part_begin(all, shares, file->share + 1) - first;
    const int64_t beside = saturated_mul(entries->count, 2 * (int64_t)sizeof(int64_t));
    const char *why = entries_allocate_within(entries, limit - beside, arena);
    if (why || entries->count == 0)
        return why;
    Reading reading = {.file = open_file(file->fd),
                       .tensor = &file->tensor,
                       .header = header,
                       .entries = entries,
                       .arena = arena};
    if (reading.file < 0)
        return "it cannot be opened again";
    why = read_entries(&reading, first);
    hdf5.H5Fclose(reading.file);
    if (why || header->symmetry == GENERAL)
        return why;
    if (header->symmetry == SKEW_SYMMETRIC && has_diagonal(entries))
        return "a skew-symmetric matrix has no entries on its diagonal, and this one has";
    return symmetry_mirror(header->symmetry, limit, entries, arena);
}
#endif
