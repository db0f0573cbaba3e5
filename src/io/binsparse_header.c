// SPDX-License-Identifier: BSD-3-Clause
#include "io/binsparse.h"

#ifdef DISTAL_HDF5
#include "base/integer.h"

#include <jansson.h>
#include <string.h>

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

// An array, and a type that has all its elements but integers beyond INT64_MAX.
typedef struct {
    int64_t length;
    ElementType type;
    bool has_unsigned_longs;
} ArrayType;

static bool is_array(hid_t type, hid_t space, bool real, ArrayType *array) {
    const H5T_class_t class = hdf5.H5Tget_class(type);
    const size_t size = hdf5.H5Tget_size(type);
    const bool is_unsigned = class == H5T_INTEGER && hdf5.H5Tget_sign(type) == H5T_SGN_NONE;
    hsize_t extent = 0;
    if ((class != H5T_INTEGER && !(real && class == H5T_FLOAT)) || size > sizeof(int64_t) ||
        hdf5.H5Sget_simple_extent_ndims(space) != 1 ||
        hdf5.H5Sget_simple_extent_dims(space, &extent, NULL) != 1 || extent > INT64_MAX)
        return false;
    array->length = (int64_t)extent;
    if (class == H5T_FLOAT)
        array->type = size > sizeof(float) ? TYPE_F64 : TYPE_F32;
    else
        array->type = size > sizeof(int32_t) - is_unsigned ? TYPE_I64 : TYPE_I32;
    array->has_unsigned_longs = is_unsigned && size == sizeof(int64_t);
    return true;
}

// An array of integers, or of real numbers if `real`.
static const char *find_array(hid_t file, const char *name, bool real, ArrayType *array, Arena *arena) {
    *array = (ArrayType){0};
    const hid_t set =
        hdf5.H5Lexists(file, name, H5P_DEFAULT) > 0 ? hdf5.H5Dopen2(file, name, H5P_DEFAULT) : -1;
    bool found = false;
    if (set >= 0) {
        const hid_t space = hdf5.H5Dget_space(set), type = hdf5.H5Dget_type(set);
        found = is_array(type, space, real, array);
        hdf5.H5Tclose(type);
        hdf5.H5Sclose(space);
        hdf5.H5Dclose(set);
    }
    return found ? NULL
                 : arena_printf(arena, "it has no array '%s' of %s", name, real ? "numbers" : "integers");
}

const char *binsparse_read_array(hid_t file, const char *name, hid_t type, int64_t first, int64_t count,
                                 void *to, Arena *arena) {
    const hsize_t start = (hsize_t)first, length = (hsize_t)count;
    if (count == 0)
        return NULL;
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
    return ok ? NULL : arena_printf(arena, "its array '%s' cannot be read", name);
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

static const char *parse_type(const json_t *types, BinsparseHeader *header, ElementType *type, Arena *arena) {
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

static const char *parse_structure(const json_t *structure, const FileTensor *tensor, BinsparseHeader *header,
                                   Arena *arena) {
    static const char *const names[] = {"general", "symmetric_", "skew_symmetric_", "hermitian_"};
    const char *text = json_string_value(structure);
    header->symmetry = GENERAL;
    if (!structure || (text && strcmp(text, names[GENERAL]) == 0))
        return NULL;
    for (int s = SYMMETRIC; text && s <= HERMITIAN; s++) {
        const char *triangle = text + strlen(names[s]);
        if (strncmp(text, names[s], strlen(names[s])) != 0)
            continue;
        header->is_upper = strcmp(triangle, "upper") == 0;
        if (header->is_upper || strcmp(triangle, "lower") == 0)
            header->symmetry = (Symmetry)s;
    }
    header->structure = arena_printf(arena, "%.40s", text ? text : "");
    if (header->symmetry == GENERAL)
        return arena_printf(arena, "'%s' is not a structure of Binsparse", header->structure);
    if (tensor->order != 2 || tensor->extents[0] != tensor->extents[1])
        return arena_printf(arena, "its structure is %s, and it is not a square matrix", header->structure);
    return header->symmetry == HERMITIAN && !type_info(tensor->type)->is_complex
               ? "a hermitian matrix is complex, and this one is not"
               : NULL;
}

// The pointers to `positions` positions of a level below `above` positions: the first and the last one.
static const char *check_pointers(hid_t file, int level, int64_t above, int64_t positions, Arena *arena) {
    ArrayType pointers;
    int64_t ends[2] = {0};
    const char *name = arena_printf(arena, "pointers_to_%d", level);
    const char *why = find_array(file, name, false, &pointers, arena);
    if (!why && pointers.length - 1 != above)
        why = arena_printf(arena, "its array '%s' has %lld elements, and not %lld", name,
                           (long long)pointers.length, (long long)saturated_add(above, 1));
    for (int i = 0; !why && i < 2; i++)
        why = binsparse_read_array(file, name, hdf5.H5T_NATIVE_INT64_g, i * above, 1, &ends[i], arena);
    if (!why && (ends[0] != 0 || ends[1] != positions))
        why = arena_printf(arena, "its array '%s' goes from %lld to %lld, and not from 0 to %lld", name,
                           (long long)ends[0], (long long)ends[1], (long long)positions);
    return why;
}

// The arrays of a sparse level below `above` positions.
static const char *find_level(hid_t file, const BinsparseLevel *level, int64_t above, int64_t *positions,
                              Arena *arena) {
    for (int d = level->first; d < level->end; d++) {
        ArrayType indices;
        const char *name = arena_printf(arena, "indices_%d", d);
        const char *why = find_array(file, name, false, &indices, arena);
        if (why)
            return why;
        if (d > level->first && indices.length != *positions)
            return arena_printf(arena, "its arrays 'indices_%d' and '%s' differ in length", level->first,
                                name);
        *positions = indices.length;
    }
    return level->first == 0 ? NULL : check_pointers(file, level->first, above, *positions, arena);
}

static const char *find_levels(hid_t file, const FileTensor *tensor, BinsparseHeader *header, Arena *arena) {
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

static const char *check_fill(hid_t file, int64_t parts, Arena *arena) {
    ArrayType array;
    double fill[2] = {0};
    const char *why = find_array(file, "fill_value", true, &array, arena);
    if (!why && array.length != parts)
        why = arena_printf(arena, "its array 'fill_value' has %lld numbers, and not %lld",
                           (long long)array.length, (long long)parts);
    if (!why)
        why = binsparse_read_array(file, "fill_value", hdf5.H5T_NATIVE_DOUBLE_g, 0, parts, fill, arena);
    return !why && (fill[0] != 0 || fill[1] != 0) ? "elements that it does not store are not zero" : why;
}

static const char *check_values(hid_t file, const json_t *descriptor, BinsparseHeader *header,
                                ElementType type, Arena *arena) {
    const int64_t positions = header->positions[header->layout.level_count];
    const int64_t parts = type_info(type)->is_complex ? 2 : 1;
    const int64_t expected = saturated_mul(header->iso ? min_i64(positions, 1) : positions, parts);
    ArrayType array;
    const char *why = find_array(file, "values", true, &array, arena);
    if (why)
        return why;
    if (array.length != expected && !(header->iso && positions == 0))
        return arena_printf(arena, "its array 'values' has %lld numbers, and not %lld",
                            (long long)array.length, (long long)expected);
    if (type_promote(array.type, type_component(type)) != type_component(type))
        return arena_printf(
            arena, "the numbers of its array 'values' are %s, and its descriptor says that they are %s",
            type_info(array.type)->name,
            json_string_value(json_object_get(json_object_get(descriptor, "data_types"), "values")));
    header->has_unsigned_longs = array.has_unsigned_longs;
    const json_t *stored = json_object_get(descriptor, "number_of_stored_values");
    if (!json_is_integer(stored) || json_integer_value(stored) != positions)
        return arena_printf(arena, "its descriptor does not say that %lld values are stored, which are",
                            (long long)positions);
    return json_is_true(json_object_get(descriptor, "fill")) ? check_fill(file, parts, arena) : NULL;
}

static const char *parse(hid_t file, const json_t *descriptor, FileTensor *tensor, BinsparseHeader *header,
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
        why = parse_structure(json_object_get(descriptor, "structure"), tensor, header, arena);
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
    BinsparseHeader *header = arena_new(arena, BinsparseHeader);
    file->header = header;
    const char *why = hdf5_load(arena);
    if (why)
        return why;
    const hid_t opened = hdf5_open_again(file->fd, H5F_ACC_RDONLY);
    if (opened < 0)
        return "it is not a file of HDF5, or it is damaged";
    const char *text = read_descriptor(opened, arena);
    json_error_t error;
    json_t *json = text ? json_loads(text, 0, &error) : NULL;
    if (!text)
        why = "its root group has no attribute 'binsparse' with a text; an array in it is named as "
              "'FILE.h5:/NAME'";
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
#endif
