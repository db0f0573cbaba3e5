// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/message.h"

#include "format/runs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// What a datatype is made of: nested repetitions, innermost first, and its extent where it is not natural.
typedef struct {
    ElementType type;
    int levels;
    int64_t extent[MAX_ORDER], stride[MAX_ORDER]; // elements
    int64_t resized;                              // elements, 0: as it is
} Shape;

typedef struct {
    Shape shape;
    MPI_Datatype type;
} Entry;

struct MessageTypes {
    int64_t count, capacity; // capacity: a power of two, more than count
    Entry *entries;          // hashed by shape, type MPI_DATATYPE_NULL where free
    int64_t irregular_count, irregular_capacity;
    MPI_Datatype *irregular; // those without a shape
};

MPI_Datatype message_element(ElementType type) {
    const MPI_Datatype table[TYPE_COUNT] = {
        [TYPE_I32] = MPI_INT32_T, [TYPE_I64] = MPI_INT64_T,         [TYPE_F32] = MPI_FLOAT,
        [TYPE_F64] = MPI_DOUBLE,  [TYPE_C64] = MPI_C_FLOAT_COMPLEX, [TYPE_C128] = MPI_C_DOUBLE_COMPLEX,
    };
    return table[type];
}

static Entry *entries_create(int64_t capacity) {
    Entry *entries = calloc((size_t)capacity, sizeof(Entry));
    for (int64_t i = 0; entries && i < capacity; i++)
        entries[i].type = MPI_DATATYPE_NULL;
    return entries;
}

MessageTypes *message_types_create(void) {
    enum { FIRST_CAPACITY = 16 };
    MessageTypes *types = malloc(sizeof *types);
    Entry *entries = entries_create(FIRST_CAPACITY);
    if (!types || !entries) {
        free(types);
        free(entries);
        return NULL;
    }
    *types = (MessageTypes){.capacity = FIRST_CAPACITY, .entries = entries};
    return types;
}

void message_types_free(MessageTypes *types) {
    if (!types)
        return;
    for (int64_t i = 0; i < types->capacity; i++)
        if (types->entries[i].type != MPI_DATATYPE_NULL)
            MPI_Type_free(&types->entries[i].type);
    for (int64_t i = 0; i < types->irregular_count; i++)
        MPI_Type_free(&types->irregular[i]);
    free(types->irregular);
    free(types->entries);
    free(types);
}

static bool shape_equal(const Shape *a, const Shape *b) {
    const size_t bytes = sizeof(int64_t) * (size_t)a->levels;
    return a->type == b->type && a->levels == b->levels && a->resized == b->resized &&
           memcmp(a->extent, b->extent, bytes) == 0 && memcmp(a->stride, b->stride, bytes) == 0;
}

static uint64_t shape_hash(const Shape *shape) {
    uint64_t hash = (uint64_t)shape->resized * TYPE_COUNT + (uint64_t)shape->type + 1;
    for (int l = 0; l < shape->levels; l++) {
        hash = (hash ^ (uint64_t)shape->extent[l]) * UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ (uint64_t)shape->stride[l] ^ hash >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    return hash ^ hash >> 29;
}

// The entry of the shape, or the free one where it belongs.
static Entry *find(Entry *entries, int64_t capacity, const Shape *shape) {
    uint64_t at = shape_hash(shape);
    for (;; at++) {
        Entry *entry = &entries[at & (uint64_t)(capacity - 1)];
        if (entry->type == MPI_DATATYPE_NULL || shape_equal(&entry->shape, shape))
            return entry;
    }
}

static bool grow(MessageTypes *types) {
    Entry *entries = entries_create(2 * types->capacity);
    if (!entries)
        return false;
    for (int64_t i = 0; i < types->capacity; i++)
        if (types->entries[i].type != MPI_DATATYPE_NULL)
            *find(entries, 2 * types->capacity, &types->entries[i].shape) = types->entries[i];
    free(types->entries);
    types->entries = entries;
    types->capacity *= 2;
    return true;
}

// `count` times `element`, `stride` bytes apart; counts beyond an int are nested.
static MPI_Datatype repeat(MPI_Datatype element, int64_t count, int64_t stride) {
    const int64_t chunk = 1 << 30, chunks = count / chunk;
    MPI_Datatype result;
    if (count <= INT_MAX) {
        MPI_Type_create_hvector((int)count, 1, (MPI_Aint)stride, element, &result);
        return result;
    }
    MPI_Datatype one, parts[2];
    MPI_Type_create_hvector((int)chunk, 1, (MPI_Aint)stride, element, &one);
    MPI_Type_create_hvector((int)chunks, 1, (MPI_Aint)(stride * chunk), one, &parts[0]);
    MPI_Type_free(&one);
    if (count % chunk == 0)
        return parts[0]; // an empty part would still move the end in some MPI libraries
    MPI_Type_create_hvector((int)(count % chunk), 1, (MPI_Aint)stride, element, &parts[1]);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, (MPI_Aint)(chunks * chunk * stride)}, parts,
                           &result);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
    return result;
}

static MPI_Datatype build(const Shape *shape) {
    const int64_t size = (int64_t)type_info(shape->type)->size;
    MPI_Datatype type = message_element(shape->type);
    for (int l = 0; l < shape->levels; l++) {
        MPI_Datatype inner = type;
        type = repeat(inner, shape->extent[l], shape->stride[l] * size);
        if (l > 0)
            MPI_Type_free(&inner);
    }
    if (shape->resized) {
        MPI_Datatype natural = type;
        MPI_Type_create_resized(natural, 0, (MPI_Aint)(shape->resized * size), &type);
        if (shape->levels > 0)
            MPI_Type_free(&natural);
    }
    MPI_Type_commit(&type);
    return type;
}

static bool shape_type(MessageTypes *types, const Shape *shape, MPI_Datatype *type) {
    if (shape->levels == 0 && shape->resized == 0) {
        *type = message_element(shape->type);
        return true;
    }
    if (2 * types->count >= types->capacity && !grow(types))
        return false;
    Entry *entry = find(types->entries, types->capacity, shape);
    if (entry->type == MPI_DATATYPE_NULL) {
        *entry = (Entry){*shape, build(shape)};
        types->count++;
    }
    *type = entry->type;
    return true;
}

// The modes of `rect` but for `without` (-1: all), by increasing stride, joined where they are seamless. The
// order is that of the elements in the message: that in which the tensor is stored, on every rank.
static Shape shape_of(const Piece *piece, const Rect *rect, int without) {
    int64_t extent[MAX_ORDER];
    for (int d = 0; d < rect->order; d++)
        extent[d] = d == without ? 1 : rect_count(rect, d);
    Runs runs = runs_create(rect->order, extent, piece->stride, piece->stride);
    Shape shape = {.type = piece->type};
    if (runs.levels == 1 && runs.extent[0] == 1)
        return shape;
    shape.levels = runs.levels;
    memcpy(shape.extent, runs.extent, sizeof shape.extent);
    memcpy(shape.stride, runs.a, sizeof shape.stride);
    return shape;
}

// Datatypes in one of them, each once.
typedef struct {
    int *ones;
    MPI_Aint *places;
    MPI_Datatype *types;
} Parts;

static void parts_free(Parts *parts) {
    free(parts->ones);
    free(parts->places);
    free(parts->types);
}

static bool parts_create(Parts *parts, int64_t count) {
    *parts = (Parts){.ones = calloc((size_t)count + 1, sizeof(int)),
                     .places = calloc((size_t)count + 1, sizeof(MPI_Aint)),
                     .types = calloc((size_t)count + 1, sizeof(MPI_Datatype))};
    if (parts->ones && parts->places && parts->types)
        return true;
    parts_free(parts);
    return false;
}

static MPI_Datatype strip_type(MPI_Datatype inner, const Strip *strip, int64_t stride) {
    MPI_Datatype run = repeat(inner, strip->length, stride);
    if (strip->repeat == 1)
        return run;
    MPI_Datatype type = repeat(run, strip->repeat, strip->a_step * stride);
    MPI_Type_free(&run);
    return type;
}

// `inner` for every coordinate of a mode of `rect`, as strips of equal distances. False: no memory.
static bool along_mode(MPI_Datatype inner, const Piece *piece, const Rect *rect, int mode,
                       MPI_Datatype *result) {
    const PositionSet set = rect_mode(rect, mode), in = rect_mode(&piece->rect, mode);
    const int64_t start = positions_index(in, set.lo),
                  stride = piece->stride[mode] * (int64_t)type_info(piece->type)->size;
    Strip strip;
    int64_t count = 0;
    for (int64_t at = set.lo; strip_next(set, in, in, at, &strip, &at);)
        count++;
    Parts parts;
    if (!parts_create(&parts, count))
        return false;
    int64_t i = 0;
    for (int64_t at = set.lo; strip_next(set, in, in, at, &strip, &at); i++) {
        parts.ones[i] = 1;
        parts.places[i] = (MPI_Aint)((strip.a - start) * stride);
        parts.types[i] = strip_type(inner, &strip, stride);
    }
    MPI_Type_create_struct((int)count, parts.ones, parts.places, parts.types, result);
    for (i = 0; i < count; i++)
        MPI_Type_free(&parts.types[i]);
    parts_free(&parts);
    return true;
}

// Room for one more that has no shape.
static bool reserve(MessageTypes *types) {
    if (types->irregular_count < types->irregular_capacity)
        return true;
    const int64_t capacity = 2 * types->irregular_capacity + 16;
    MPI_Datatype *grown = realloc(types->irregular, sizeof(MPI_Datatype) * (size_t)capacity);
    if (!grown)
        return false;
    types->irregular = grown;
    types->irregular_capacity = capacity;
    return true;
}

static bool irregular_type(MessageTypes *types, const Piece *piece, const Rect *rect, MPI_Datatype *type) {
    if (!reserve(types))
        return false;
    int modes[MAX_ORDER];
    const Frame frame = piece_frame(piece);
    const int count = frame_modes(&frame, rect, modes);
    *type = message_element(piece->type);
    for (int l = 0; l < count; l++) {
        MPI_Datatype inner = *type;
        const bool ok = along_mode(inner, piece, rect, modes[l], type);
        if (l > 0)
            MPI_Type_free(&inner);
        if (!ok)
            return false;
    }
    MPI_Type_commit(type);
    types->irregular[types->irregular_count++] = *type;
    return true;
}

bool message_joined(MessageTypes *types, int64_t count, const Operand *operands, const void *base,
                    MPI_Datatype *type) {
    MPI_Aint first;
    int *counts = malloc(sizeof(int) * (size_t)count);
    MPI_Aint *places = malloc(sizeof(MPI_Aint) * (size_t)count);
    MPI_Datatype *parts = malloc(sizeof(MPI_Datatype) * (size_t)count);
    const bool ok = counts && places && parts && reserve(types);
    MPI_Get_address(base, &first);
    for (int64_t i = 0; ok && i < count; i++) {
        counts[i] = operands[i].message.count;
        MPI_Get_address(operands[i].data, &places[i]);
        places[i] = MPI_Aint_diff(places[i], first);
        parts[i] = operands[i].message.type;
    }
    if (ok) {
        MPI_Type_create_struct((int)count, counts, places, parts, type);
        MPI_Type_commit(type);
        types->irregular[types->irregular_count++] = *type;
    }
    free(counts);
    free(places);
    free(parts);
    return ok;
}

static bool is_regular(const Piece *piece, const Rect *rect) {
    const Frame frame = piece_frame(piece);
    for (int d = 0; d < rect->order; d++)
        if (!frame_mode_is_contiguous(&frame, rect, d))
            return false;
    return true;
}

bool message_single(MessageTypes *types, const Piece *piece, const Rect *rect, MessageType *message) {
    message->count = 1;
    if (!is_regular(piece, rect))
        return irregular_type(types, piece, rect, &message->type);
    Shape shape = shape_of(piece, rect, -1);
    if (shape.levels == 1 && shape.stride[0] == 1 && shape.extent[0] <= INT_MAX) {
        message->count = (int)shape.extent[0];
        shape.levels = 0;
    }
    return shape_type(types, &shape, &message->type);
}

static bool has_periodic_mode(const Rect *rect) {
    for (int d = 0; d < rect->order; d++)
        if (rect->periodic[d])
            return true;
    return false;
}

bool message_collective(MessageTypes *types, const Piece *piece, const Rect *rect, const int *mode_order,
                        MessageType *message) {
    message->count = 1;
    if (!is_regular(piece, rect))
        return irregular_type(types, piece, rect, &message->type);
    int outer = -1;
    for (int l = rect->order - 1; l >= 0; l--)
        if (rect_count(rect, mode_order[l]) > 1)
            outer = mode_order[l];
    if (outer < 0 || rect_count(rect, outer) > INT_MAX || has_periodic_mode(rect)) {
        Shape shape = shape_of(piece, rect, -1);
        return shape_type(types, &shape, &message->type);
    }
    message->count = (int)rect_count(rect, outer);
    Shape shape = shape_of(piece, rect, outer);
    shape.resized = shape.levels == 0 && piece->stride[outer] == 1 ? 0 : piece->stride[outer];
    return shape_type(types, &shape, &message->type);
}
