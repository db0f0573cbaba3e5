// SPDX-License-Identifier: BSD-3-Clause
#include "io/binsparse.h"

#ifdef DISTAL_HDF5
#include "base/integer.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 1 << 13 };

// An array that grows: a data set, and the elements that have not been written to it yet.
typedef struct {
    const char *name, *type_name;
    hid_t set, type; // type: in memory
    int64_t size;    // of an element, in bytes
    int64_t parts;   // numbers that an element is
    int64_t written, waiting;
    char *block;
} Array;

// A level: the number of its positions up to now, the coordinates of the last one, and for how many positions
// above there are pointers.
typedef struct {
    int64_t count, pointers;
    bool begun;
    int64_t last[MAX_ORDER];
    int pointer_array; // -1: none
    int index_array;   // of its first dimension
} WrittenLevel;

struct FileWriter {
    const FileTensor *tensor;
    BinsparseLayout layout;
    WrittenLevel levels[MAX_ORDER];
    hid_t file;
    int array_count;
    Array arrays[2 * MAX_ORDER + 1]; // the last one: values
    const char *why;                 // something could not be written; NULL: all could
};

static const char *type_name(ElementType type) {
    switch (type) {
    case TYPE_I32:
        return "int32";
    case TYPE_I64:
        return "int64";
    case TYPE_F32:
        return "float32";
    case TYPE_F64:
        return "float64";
    case TYPE_C64:
        return "complex[float32]";
    case TYPE_C128:
        return "complex[float64]";
    }
    return "";
}

// `stored`: the type in the file.
static int add_array(FileWriter *writer, const char *name, const char *type_name, hid_t stored, hid_t type,
                     int64_t size, int64_t parts) {
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = BLOCK_ELEMENTS;
    Array *array = &writer->arrays[writer->array_count];
    const hid_t space = hdf5.H5Screate_simple(1, &none, &most),
                properties = hdf5.H5Pcreate(hdf5.H5P_CLS_DATASET_CREATE_ID_g);
    hdf5.H5Pset_chunk(properties, 1, &chunk);
    hdf5.H5Pset_obj_track_times(properties, false); // the same tensor gives the same file
    *array = (Array){.name = name, .type_name = type_name, .type = type, .size = size, .parts = parts};
    array->set = hdf5.H5Dcreate2(writer->file, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    array->block = malloc((size_t)(BLOCK_ELEMENTS * size));
    if (array->set < 0)
        writer->why = hdf5_failure();
    if (!array->block)
        writer->why = "not enough memory to write it";
    hdf5.H5Pclose(properties);
    hdf5.H5Sclose(space);
    return writer->array_count++;
}

static void flush(FileWriter *writer, Array *array) {
    const hsize_t parts = (hsize_t)array->parts, start = (hsize_t)array->written * parts,
                  count = (hsize_t)array->waiting * parts;
    const hsize_t length = start + count;
    if (array->waiting == 0 || writer->why)
        return;
    errno = 0;
    bool ok = hdf5.H5Dset_extent(array->set, &length) >= 0;
    const hid_t to = hdf5.H5Dget_space(array->set), from = hdf5.H5Screate_simple(1, &count, NULL);
    ok = ok && hdf5.H5Sselect_hyperslab(to, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
         hdf5.H5Dwrite(array->set, array->type, from, to, H5P_DEFAULT, array->block) >= 0;
    hdf5.H5Sclose(from);
    hdf5.H5Sclose(to);
    if (!ok)
        writer->why = hdf5_failure();
    array->written += array->waiting;
    array->waiting = 0;
}

// NULL: zero.
static void push(FileWriter *writer, int number, const void *element) {
    Array *array = &writer->arrays[number];
    if (writer->why)
        return;
    char *to = array->block + array->waiting * array->size;
    if (element)
        memcpy(to, element, (size_t)array->size);
    else
        memset(to, 0, (size_t)array->size);
    if (++array->waiting == BLOCK_ELEMENTS)
        flush(writer, array);
}

static int64_t length_of(const Array *array) {
    return array->written + array->waiting;
}

// Singleton levels are dimensions of the level with coordinates of its own above them.
static BinsparseLayout layout_of(const FileTensor *tensor) {
    BinsparseLayout layout = {0};
    for (int l = 0, rank; l < tensor->order; l += rank) {
        const bool full = !tensor->levels || tensor->levels[l].format->full;
        for (rank = 1; tensor->levels && tensor->levels[l + rank - 1].nonunique;)
            rank++;
        binsparse_add_level(&layout, !full, rank);
    }
    for (int d = 0; d < tensor->order; d++)
        layout.modes[d] = tensor->levels ? tensor->mode_order[d] : d;
    return layout;
}

static void add_arrays(FileWriter *writer, Arena *arena) {
    const FileTensor *tensor = writer->tensor;
    for (int l = 0; l < writer->layout.level_count && !writer->why; l++) {
        const BinsparseLevel *level = &writer->layout.levels[l];
        WrittenLevel *to = &writer->levels[l];
        to->pointer_array = -1;
        if (!level->sparse)
            continue;
        if (level->first > 0)
            to->pointer_array =
                add_array(writer, arena_printf(arena, "pointers_to_%d", level->first), "uint64",
                          hdf5.H5T_STD_U64LE_g, hdf5.H5T_NATIVE_INT64_g, sizeof(int64_t), 1);
        to->index_array = writer->array_count;
        for (int d = level->first; d < level->end && !writer->why; d++) {
            const bool wide = coordinate_is_wide(tensor->extents[writer->layout.modes[d]]);
            add_array(writer, arena_printf(arena, "indices_%d", d), wide ? "uint64" : "uint32",
                      wide ? hdf5.H5T_STD_U64LE_g : hdf5.H5T_STD_U32LE_g, hdf5.H5T_NATIVE_INT64_g,
                      sizeof(int64_t), 1);
        }
    }
    const hid_t type = hdf5_number_type(tensor->type);
    if (!writer->why)
        add_array(writer, "values", type_name(tensor->type), type, type,
                  (int64_t)type_info(tensor->type)->size, type_info(tensor->type)->is_complex ? 2 : 1);
}

const char *binsparse_begin(int fd, const FileTensor *tensor, FileWriter **writer, Arena *arena) {
    const char *why = hdf5_load(arena);
    *writer = why ? NULL : calloc(1, sizeof **writer);
    if (why)
        return why;
    if (!*writer)
        return "not enough memory to write it";
    (*writer)->tensor = tensor;
    (*writer)->layout = layout_of(tensor);
    errno = 0;
    (*writer)->file = hdf5_open_again(fd, H5F_ACC_TRUNC);
    if ((*writer)->file < 0)
        return hdf5_failure();
    add_arrays(*writer, arena);
    return (*writer)->why;
}

// Pointers of a level for positions above up to before `end`.
static void push_pointers(FileWriter *writer, WrittenLevel *level, int64_t end) {
    for (; level->pointers < end && !writer->why; level->pointers++)
        push(writer, level->pointer_array, &level->count);
}

// The position in a sparse level of an entry below position `above`, where all levels above are the same as
// for the entry before if `same`.
static int64_t append_sparse(FileWriter *writer, int l, const Entries *entries, int64_t e, int64_t above,
                             bool *same) {
    const BinsparseLevel *level = &writer->layout.levels[l];
    WrittenLevel *to = &writer->levels[l];
    *same = *same && to->begun;
    for (int d = level->first; d < level->end; d++) {
        const int64_t coordinate = entries->coordinates[writer->layout.modes[d]][e];
        *same = *same && coordinate == to->last[d];
        to->last[d] = coordinate;
    }
    to->begun = true;
    if (*same)
        return to->count - 1;
    if (to->pointer_array >= 0)
        push_pointers(writer, to, above + 1);
    for (int d = level->first; d < level->end; d++)
        push(writer, to->index_array + d - level->first, &to->last[d]);
    return to->count++;
}

static void push_zeros(FileWriter *writer, int64_t end) {
    const Array *values = &writer->arrays[writer->array_count - 1];
    while (length_of(values) < end && !writer->why)
        push(writer, writer->array_count - 1, NULL);
}

const char *binsparse_append(FileWriter *writer, const Entries *entries) {
    const size_t size = type_info(entries->type)->size;
    for (int64_t e = 0; e < entries->count && !writer->why; e++) {
        int64_t position = 0;
        bool same = true;
        for (int l = 0; l < writer->layout.level_count; l++) {
            const int mode = writer->layout.modes[writer->layout.levels[l].first];
            if (writer->layout.levels[l].sparse) {
                position = append_sparse(writer, l, entries, e, position, &same);
            } else {
                const int64_t coordinate = entries->coordinates[mode][e];
                WrittenLevel *to = &writer->levels[l];
                same = same && to->begun && coordinate == to->last[0];
                to->begun = true;
                to->last[0] = coordinate;
                position = position * writer->tensor->extents[mode] + coordinate;
            }
        }
        push_zeros(writer, position);
        push(writer, writer->array_count - 1, (const char *)entries->values + (size_t)e * size);
    }
    return writer->why;
}

// Pointers for all positions, and a value for each position; returns how many these are.
static int64_t finish_levels(FileWriter *writer) {
    int64_t positions = 1;
    for (int l = 0; l < writer->layout.level_count; l++) {
        const BinsparseLevel *level = &writer->layout.levels[l];
        if (writer->levels[l].pointer_array >= 0)
            push_pointers(writer, &writer->levels[l], saturated_add(positions, 1));
        positions =
            level->sparse
                ? writer->levels[l].count
                : saturated_mul(positions, writer->tensor->extents[writer->layout.modes[level->first]]);
    }
    push_zeros(writer, positions);
    return positions;
}

// The JSON object of the levels from `l` on.
static json_t *levels_json(const BinsparseLayout *layout, int l) {
    if (l == layout->level_count)
        return json_pack("{s:s}", "level_desc", "element");
    const BinsparseLevel *level = &layout->levels[l];
    return json_pack("{s:s, s:i, s:o}", "level_desc", level->sparse ? "sparse" : "dense", "rank",
                     level->end - level->first, "level", levels_json(layout, l + 1));
}

static json_t *descriptor_json(const FileWriter *writer, int64_t positions) {
    const BinsparseLayout *layout = &writer->layout;
    const char *name = binsparse_name(layout);
    json_t *shape = json_array(), *types = json_object();
    for (int d = 0; d < layout->order; d++)
        json_array_append_new(shape, json_integer(writer->tensor->extents[d]));
    for (int a = 0; a < writer->array_count; a++)
        json_object_set_new(types, writer->arrays[a].name, json_string(writer->arrays[a].type_name));
    json_t *descriptor =
        json_pack("{s:s, s:s, s:o, s:I, s:o}", "version", "0.1", "format", name ? name : "custom", "shape",
                  shape, "number_of_stored_values", (json_int_t)positions, "data_types", types);
    if (!name) {
        json_t *transpose = json_array();
        for (int d = 0; d < layout->order; d++)
            json_array_append_new(transpose, json_integer(layout->modes[d]));
        json_object_set_new(descriptor, "custom",
                            json_pack("{s:o, s:o}", "transpose", transpose, "level", levels_json(layout, 0)));
    }
    return json_pack("{s:o}", "binsparse", descriptor);
}

static void write_descriptor(FileWriter *writer, int64_t positions) {
    errno = 0;
    json_t *json = descriptor_json(writer, positions);
    char *text = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    const hid_t type = hdf5.H5Tcopy(hdf5.H5T_C_S1_g), space = hdf5.H5Screate(H5S_SCALAR);
    hdf5.H5Tset_size(type, H5T_VARIABLE);
    hdf5.H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t attribute =
        text ? hdf5.H5Acreate2(writer->file, "binsparse", type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
    if (attribute < 0 || hdf5.H5Awrite(attribute, type, &text) < 0)
        writer->why = hdf5_failure();
    if (attribute >= 0)
        hdf5.H5Aclose(attribute);
    hdf5.H5Sclose(space);
    hdf5.H5Tclose(type);
    free(text);
    json_decref(json);
}

const char *binsparse_end(FileWriter *writer) {
    if (!writer)
        return NULL;
    const int64_t positions = writer->why || writer->file < 0 ? 0 : finish_levels(writer);
    for (int a = 0; a < writer->array_count; a++)
        flush(writer, &writer->arrays[a]);
    if (!writer->why && writer->file >= 0)
        write_descriptor(writer, positions);
    for (int a = 0; a < writer->array_count; a++) {
        if (writer->arrays[a].set >= 0)
            hdf5.H5Dclose(writer->arrays[a].set);
        free(writer->arrays[a].block);
    }
    errno = 0;
    if (writer->file >= 0 && hdf5.H5Fclose(writer->file) < 0 && !writer->why)
        writer->why = hdf5_failure();
    const char *why = writer->why;
    free(writer);
    return why;
}
#endif
