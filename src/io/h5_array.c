// SPDX-License-Identifier: BSD-3-Clause
// A dense array in a file of HDF5: the data set that a path names behind the file, as in "results.h5:/run/A".
// Elements that are stored one after the other in a type of this machine are read and written in place by
// each rank, without HDF5, which only says where they are; all others, such as compressed ones, are read
// through it.
#include "io/file_array.h"

#ifdef DISTAL_HDF5
#include "base/integer.h"
#include "io/hdf5_library.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

// An array in a file that is open: the type and the shape of its elements.
typedef struct {
    hid_t file, set, space, type; // negative: not open
    hid_t memory;                 // the type of its elements in memory
    FileTensor tensor;
    bool has_unsigned_longs; // elements may be more than INT64_MAX
    int64_t offset;          // of the first element where all are in the file in this type; else -1
} OpenArray;

typedef struct {
    FileArray array; // where `in_place`
    bool in_place;
} Header;

static const char *const parts[] = {"r", "i"}; // of complex elements, as h5py writes them

// The type of elements in memory, to be closed by H5Tclose. `names`: of the parts of a complex one.
static hid_t type_in_memory(ElementType type, const char *const *names) {
    const hid_t component = hdf5.H5Tcopy(hdf5_number_type(type));
    if (!type_info(type)->is_complex)
        return component;
    const size_t size = type_info(type)->size;
    const hid_t compound = hdf5.H5Tcreate(H5T_COMPOUND, size);
    for (int p = 0; p < 2; p++)
        hdf5.H5Tinsert(compound, names[p], (size_t)p * size / 2, component);
    hdf5.H5Tclose(component);
    return compound;
}

static const char *find_integer(OpenArray *array) {
    const size_t size = hdf5.H5Tget_size(array->type);
    const bool is_signed = hdf5.H5Tget_sign(array->type) == H5T_SGN_2;
    if (size > sizeof(int64_t))
        return "its elements are integers of more than 64 bits";
    array->tensor.type = size < 4 || (size == 4 && is_signed) ? TYPE_I32 : TYPE_I64;
    array->has_unsigned_longs = size == sizeof(int64_t) && !is_signed;
    array->memory = array->has_unsigned_longs ? hdf5.H5Tcopy(hdf5.H5T_NATIVE_UINT64_g)
                                              : type_in_memory(array->tensor.type, parts);
    return NULL;
}

static const char *real_type(hid_t type, ElementType *element) {
    const size_t size = hdf5.H5Tget_size(type);
    *element = size <= sizeof(float) ? TYPE_F32 : TYPE_F64;
    return size <= sizeof(double) ? NULL : "its elements have more digits than f64";
}

static const char *find_real(OpenArray *array) {
    const char *why = real_type(array->type, &array->tensor.type);
    array->memory = type_in_memory(array->tensor.type, parts);
    return why;
}

// Two numbers whose names begin with r and i: "r" and "i", or "real" and "imag".
static const char *find_complex(OpenArray *array) {
    static const char *const why = "its elements are records, and not numbers";
    char *names[2] = {NULL, NULL};
    ElementType types[2] = {TYPE_F64, TYPE_F64};
    bool ok = hdf5.H5Tget_nmembers(array->type) == 2;
    for (unsigned p = 0; ok && p < 2; p++) {
        const hid_t part = hdf5.H5Tget_member_type(array->type, p);
        names[p] = hdf5.H5Tget_member_name(array->type, p);
        ok = hdf5.H5Tget_class(part) == H5T_FLOAT && !real_type(part, &types[p]) && names[p] &&
             names[p][0] == parts[p][0];
        hdf5.H5Tclose(part);
    }
    if (ok) {
        array->tensor.type = types[0] == TYPE_F64 || types[1] == TYPE_F64 ? TYPE_C128 : TYPE_C64;
        array->memory = type_in_memory(array->tensor.type, (const char *const *)names);
    }
    for (int p = 0; p < 2; p++)
        hdf5.H5free_memory(names[p]);
    return ok ? NULL : why;
}

static const char *find_type(OpenArray *array) {
    switch (hdf5.H5Tget_class(array->type)) {
    case H5T_INTEGER:
        return find_integer(array);
    case H5T_FLOAT:
        return find_real(array);
    case H5T_COMPOUND:
        return find_complex(array);
    default:
        return "its elements are not numbers";
    }
}

static const char *find_shape(OpenArray *array, Arena *arena) {
    hsize_t extents[H5S_MAX_RANK];
    const int order = hdf5.H5Sget_simple_extent_ndims(array->space);
    if (order < 0 || order > MAX_ORDER)
        return arena_printf(arena, "it has more than %d dimensions", (int)MAX_ORDER);
    if (hdf5.H5Sget_simple_extent_dims(array->space, extents, NULL) < 0 ||
        (order == 0 && hdf5.H5Sget_simple_extent_npoints(array->space) != 1))
        return "it has no elements"; // a null data space
    array->tensor.order = order;
    for (int d = 0; d < order; d++) {
        if (extents[d] > INT64_MAX)
            return "an extent does not fit into 64 bits";
        array->tensor.extents[d] = (int64_t)extents[d];
    }
    return NULL;
}

// Whether an object is in the file that it was opened from: an external link leads to another one.
static bool is_in_file(hid_t file, hid_t object) {
    char name[2][4096] = {"", ""};
    hdf5.H5Fget_name(file, name[0], sizeof name[0]);
    hdf5.H5Fget_name(object, name[1], sizeof name[1]);
    return strcmp(name[0], name[1]) == 0;
}

static int64_t find_offset(const OpenArray *array) {
    const hid_t properties = hdf5.H5Dget_create_plist(array->set);
    const bool is_contiguous = hdf5.H5Pget_layout(properties) == H5D_CONTIGUOUS;
    hdf5.H5Pclose(properties);
    if (!is_contiguous || array->has_unsigned_longs || !is_in_file(array->file, array->set) ||
        hdf5.H5Tequal(array->type, array->memory) <= 0)
        return -1;
    const haddr_t offset = hdf5.H5Dget_offset(array->set);
    if (offset == HADDR_UNDEF && file_tensor_bytes(&array->tensor) == 0)
        return 0; // no element is anywhere
    return offset == HADDR_UNDEF || offset > INT64_MAX ? -1 : (int64_t)offset;
}

static void close_set(OpenArray *array) {
    if (array->memory >= 0)
        hdf5.H5Tclose(array->memory);
    if (array->type >= 0)
        hdf5.H5Tclose(array->type);
    if (array->space >= 0)
        hdf5.H5Sclose(array->space);
    if (array->set >= 0)
        hdf5.H5Dclose(array->set);
    array->memory = array->type = array->space = array->set = -1;
}

static void close_array(OpenArray *array) {
    close_set(array);
    if (array->file >= 0)
        hdf5.H5Fclose(array->file);
}

// HDF5 keeps chunks that it has decompressed for as long as parts of them are read.
static hid_t open_set(hid_t file, const char *name) {
    enum { CACHE_BYTES = 64 << 20, CACHE_SLOTS = 12421 };
    const hid_t access = hdf5.H5Pcreate(hdf5.H5P_CLS_DATASET_ACCESS_ID_g);
    hdf5.H5Pset_chunk_cache(access, CACHE_SLOTS, CACHE_BYTES, 1);
    const hid_t set = hdf5.H5Dopen2(file, name, access);
    hdf5.H5Pclose(access);
    return set;
}

static const char *find_array(OpenArray *array, const char *name, Arena *arena) {
    array->set = open_set(array->file, name);
    if (array->set < 0)
        return arena_printf(arena, "it has no data set '%s'", name);
    array->space = hdf5.H5Dget_space(array->set);
    array->type = hdf5.H5Dget_type(array->set);
    const char *why = find_type(array);
    if (!why)
        why = find_shape(array, arena);
    if (!why)
        array->offset = find_offset(array);
    return why;
}

// To be closed in any case.
static const char *open_array(int fd, const char *name, OpenArray *array, Arena *arena) {
    *array = (OpenArray){.set = -1, .space = -1, .type = -1, .memory = -1, .offset = -1};
    array->file = hdf5_open_again(fd, H5F_ACC_RDONLY);
    return array->file < 0 ? "it is not a file of HDF5, or it is damaged" : find_array(array, name, arena);
}

static const char *h5_array_open(InputFile *file, Arena *arena) {
    Header *header = arena_new(arena, Header);
    const char *why = hdf5_load(arena);
    if (why)
        return why;
    OpenArray array;
    why = open_array(file->fd, file->array, &array, arena);
    file->tensor = array.tensor;
    file->header = header;
    header->in_place = array.offset >= 0;
    header->array = (FileArray){.tensor = array.tensor, .offset = array.offset};
    close_array(&array);
    return why || !header->in_place ? why : file_array_check(&header->array, file->size, arena);
}

// Reads the coordinates from lo to before hi of a chunk.
static const char *read_box(const OpenArray *array, const Rect *box, void *data) {
    hsize_t start[MAX_ORDER + 1] = {0}, count[MAX_ORDER + 1] = {0};
    for (int d = 0; d < box->order; d++) {
        start[d] = (hsize_t)box->lo[d];
        count[d] = (hsize_t)(box->hi[d] - box->lo[d]);
    }
    const hid_t memory =
        box->order ? hdf5.H5Screate_simple(box->order, count, NULL) : hdf5.H5Screate(H5S_SCALAR);
    const bool ok = (box->order == 0 ||
                     hdf5.H5Sselect_hyperslab(array->space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0) &&
                    hdf5.H5Dread(array->set, array->memory, memory, array->space, H5P_DEFAULT, data) >= 0;
    hdf5.H5Sclose(memory);
    return ok ? NULL : "HDF5 cannot read its elements";
}

// A rectangle with gaps is read with what is between: HDF5 would read, and decompress, the same chunks.
static Rect box_of(const Rect *rect) {
    Rect box = *rect;
    memset(box.periodic, 0, sizeof box.periodic);
    return box;
}

static const char *check_longs(const int64_t *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (values[i] < 0)
            return "one of its elements does not fit into i64";
    return NULL;
}

static const char *read_rect(const OpenArray *array, const Piece *piece) {
    enum { MOST = 1 << 20 }; // elements that are read at once
    const Rect whole = box_of(&piece->rect);
    const int64_t spread = ceil_div(rect_volume(&whole), rect_volume(&piece->rect));
    const RectChunks chunks = rect_chunks(&piece->rect, NULL, max_i64(MOST / spread, 1));
    const ElementType type = array->tensor.type;
    const char *why = NULL;
    for (int64_t c = 0; c < chunks.count && !why; c++) {
        const Rect chunk = rect_chunk(&chunks, c), box = box_of(&chunk);
        const int64_t count = rect_volume(&box);
        void *data = memory_allocate(MEMORY_HOST, count, type);
        why = data ? read_box(array, &box, data) : "out of memory";
        if (!why && array->has_unsigned_longs)
            why = check_longs(data, count);
        const Piece from = piece_packed(&box, (LevelList){0}, type, data);
        if (!why)
            piece_convert(piece, &from, &chunk);
        if (data)
            memory_release(MEMORY_HOST, data);
    }
    return why;
}

static const char *h5_array_read(const InputFile *file, const Piece *piece, Arena *arena) {
    const Header *header = file->header;
    if (header->in_place)
        return file_array_read(file->fd, &header->array, piece);
    OpenArray array;
    const char *why = open_array(file->fd, file->array, &array, arena);
    if (!why)
        why = read_rect(&array, piece);
    close_array(&array);
    return why;
}

static const FileArray *h5_array_locate(const InputFile *file) {
    const Header *header = file->header;
    return header->in_place ? &header->array : NULL;
}

// The array of that name that is there already is written again where it has the type and the shape, so that
// the file does not grow.
static bool can_reuse(const OpenArray *there, const FileTensor *tensor) {
    bool same =
        there->offset >= 0 && there->tensor.type == tensor->type && there->tensor.order == tensor->order;
    for (int d = 0; same && d < tensor->order; d++)
        same = there->tensor.extents[d] == tensor->extents[d];
    return same;
}

static hid_t space_of(const FileTensor *tensor) {
    hsize_t extents[MAX_ORDER];
    for (int d = 0; d < tensor->order; d++)
        extents[d] = (hsize_t)tensor->extents[d];
    return tensor->order ? hdf5.H5Screate_simple(tensor->order, extents, NULL) : hdf5.H5Screate(H5S_SCALAR);
}

// All its space, at once.
static hid_t creation_properties(void) {
    const hid_t properties = hdf5.H5Pcreate(hdf5.H5P_CLS_DATASET_CREATE_ID_g);
    hdf5.H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    hdf5.H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    hdf5.H5Pset_obj_track_times(properties, false); // the same tensor gives the same file
    return properties;
}

static const char *create_set(OpenArray *array, const FileTensor *tensor, Arena *arena) {
    const hid_t links = hdf5.H5Pcreate(hdf5.H5P_CLS_LINK_CREATE_ID_g), properties = creation_properties();
    hdf5.H5Pset_create_intermediate_group(links, 1);
    array->space = space_of(tensor);
    array->memory = type_in_memory(tensor->type, parts);
    errno = 0;
    array->set = hdf5.H5Dcreate2(array->file, tensor->array, array->memory, array->space, links, properties,
                                 H5P_DEFAULT);
    hdf5.H5Pclose(properties);
    hdf5.H5Pclose(links);
    if (array->set < 0)
        return errno ? strerror(errno)
                     : arena_printf(arena, "HDF5 cannot create the data set '%s'", tensor->array);
    array->type = hdf5.H5Dget_type(array->set);
    array->offset = find_offset(array);
    return NULL;
}

// Whether the groups around an array, as far as they are there, are in this file. In another one, which an
// external link leads to, nothing is changed.
static bool has_own_groups(hid_t file, const char *name, Arena *arena) {
    for (const char *end = strchr(name + 1, '/'); end; end = strchr(end + 1, '/')) {
        const char *path = arena_string(arena, name, (size_t)(end - name));
        const hid_t group =
            hdf5.H5Lexists(file, path, H5P_DEFAULT) > 0 ? hdf5.H5Gopen2(file, path, H5P_DEFAULT) : -1;
        if (group < 0)
            continue;
        const bool is_own = is_in_file(file, group);
        hdf5.H5Gclose(group);
        if (!is_own)
            return false;
    }
    return true;
}

// `array->file` is open.
static const char *provide_set(OpenArray *array, const FileTensor *tensor, Arena *arena) {
    if (!has_own_groups(array->file, tensor->array, arena))
        return arena_printf(arena, "an external link leads from '%s' to another file", tensor->array);
    const bool is_there = hdf5.H5Lexists(array->file, tensor->array, H5P_DEFAULT) > 0;
    if (is_there) {
        const char *why = find_array(array, tensor->array, arena);
        if (array->set < 0)
            return arena_printf(arena, "'%s' is there, and is not a data set", tensor->array);
        if (!why && can_reuse(array, tensor))
            return NULL;
        close_set(array);
        if (hdf5.H5Ldelete(array->file, tensor->array, H5P_DEFAULT) < 0)
            return arena_printf(arena, "HDF5 cannot replace its data set '%s'", tensor->array);
    }
    return create_set(array, tensor, arena);
}

// The file has what the file that it will replace has.
static const char *h5_array_create(int fd, FileTensor *tensor, Arena *arena) {
    const char *why = hdf5_load(arena);
    struct stat status;
    if (why)
        return why;
    if (fstat(fd, &status) != 0)
        return strerror(errno);
    OpenArray array = {.set = -1, .space = -1, .type = -1, .memory = -1, .offset = -1};
    array.file = hdf5_open_again(fd, status.st_size ? H5F_ACC_RDWR : H5F_ACC_TRUNC);
    if (array.file < 0)
        return "it is there, and is not a file of HDF5";
    why = provide_set(&array, tensor, arena);
    tensor->offset = array.offset;
    close_set(&array);
    errno = 0;
    if (hdf5.H5Fclose(array.file) < 0 && !why)
        why = hdf5_failure();
    const int64_t bytes = file_tensor_bytes(tensor);
    if (!why && bytes > 0 && tensor->offset < 0)
        why = "HDF5 does not say where its elements are";
    if (!why && bytes > 0 && tensor->starts_zero)
        why = file_bytes_clear(fd, bytes, tensor->offset);
    if (!why && fstat(fd, &status) != 0)
        why = strerror(errno);
    return why ? why : file_bytes_claim(fd, (int64_t)status.st_size);
}
#else
static const char *h5_array_open(InputFile *file, Arena *arena) {
    (void)file, (void)arena;
    return hdf5_missing;
}

static const char *h5_array_read(const InputFile *file, const Piece *piece, Arena *arena) {
    (void)file, (void)piece, (void)arena;
    return hdf5_missing;
}

static const FileArray *h5_array_locate(const InputFile *file) {
    (void)file;
    return NULL;
}

static const char *h5_array_create(int fd, FileTensor *tensor, Arena *arena) {
    (void)fd, (void)tensor, (void)arena;
    return hdf5_missing;
}
#endif

const FileFormat file_format_h5_array = {
    .ending = ".h5:/NAME",
    .file_ending = ".h5",
    .most_order = MAX_ORDER,
    .open = h5_array_open,
    .read = h5_array_read,
    .locate = h5_array_locate,
    .create = h5_array_create,
    .write = file_array_write,
};
