// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/message.h"

#include "io/runs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// What a datatype is made of: nested repetitions, innermost first, and its extent where it is not natural.
typedef struct {
    int levels;
    int64_t extent[MAX_ORDER], stride[MAX_ORDER]; // elements
    int64_t resized;                              // elements, 0: as it is
} Shape;

typedef struct {
    Shape shape;
    MPI_Datatype type;
} Entry;

struct MessageTypes {
    ElementType type;
    int64_t count, capacity; // capacity: a power of two, more than count
    Entry *entries;          // hashed by shape, type MPI_DATATYPE_NULL where free
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

MessageTypes *message_types_create(ElementType type) {
    enum { FIRST_CAPACITY = 16 };
    MessageTypes *types = malloc(sizeof *types);
    Entry *entries = entries_create(FIRST_CAPACITY);
    if (!types || !entries) {
        free(types);
        free(entries);
        return NULL;
    }
    *types = (MessageTypes){.type = type, .capacity = FIRST_CAPACITY, .entries = entries};
    return types;
}

void message_types_free(MessageTypes *types) {
    if (!types)
        return;
    for (int64_t i = 0; i < types->capacity; i++)
        if (types->entries[i].type != MPI_DATATYPE_NULL)
            MPI_Type_free(&types->entries[i].type);
    free(types->entries);
    free(types);
}

static bool shape_equal(const Shape *a, const Shape *b) {
    const size_t bytes = sizeof(int64_t) * (size_t)a->levels;
    return a->levels == b->levels && a->resized == b->resized && memcmp(a->extent, b->extent, bytes) == 0 &&
           memcmp(a->stride, b->stride, bytes) == 0;
}

static uint64_t shape_hash(const Shape *shape) {
    uint64_t hash = (uint64_t)shape->resized + 1;
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

// `count` times `element`, `stride` bytes apart; counts beyond an int are nested. Frees `element` unless it
// is basic.
static MPI_Datatype repeat(MPI_Datatype element, bool basic, int64_t count, int64_t stride) {
    const int64_t chunk = 1 << 30;
    MPI_Datatype result;
    if (count <= INT_MAX) {
        MPI_Type_create_hvector((int)count, 1, (MPI_Aint)stride, element, &result);
    } else {
        MPI_Datatype parts[2];
        MPI_Datatype one;
        MPI_Type_create_hvector((int)chunk, 1, (MPI_Aint)stride, element, &one);
        MPI_Type_create_hvector((int)(count / chunk), 1, (MPI_Aint)(stride * chunk), one, &parts[0]);
        MPI_Type_create_hvector((int)(count % chunk), 1, (MPI_Aint)stride, element, &parts[1]);
        MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, (MPI_Aint)(count / chunk * chunk * stride)},
                               parts, &result);
        MPI_Type_free(&one);
        MPI_Type_free(&parts[0]);
        MPI_Type_free(&parts[1]);
    }
    if (!basic)
        MPI_Type_free(&element);
    return result;
}

static MPI_Datatype build(ElementType element, const Shape *shape) {
    const int64_t size = (int64_t)type_info(element)->size;
    MPI_Datatype type = message_element(element);
    for (int l = 0; l < shape->levels; l++)
        type = repeat(type, l == 0, shape->extent[l], shape->stride[l] * size);
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
        *type = message_element(types->type);
        return true;
    }
    if (2 * types->count >= types->capacity && !grow(types))
        return false;
    Entry *entry = find(types->entries, types->capacity, shape);
    if (entry->type == MPI_DATATYPE_NULL) {
        *entry = (Entry){*shape, build(types->type, shape)};
        types->count++;
    }
    *type = entry->type;
    return true;
}

// The modes of `rect` but for `without` (-1: all), by increasing stride, joined where they are seamless. The
// order is that of the elements in the message: that in which the tensor is stored, on every rank.
static Shape shape_of(const Rect *rect, const int64_t *stride, int without) {
    int64_t extent[MAX_ORDER];
    for (int d = 0; d < rect->order; d++)
        extent[d] = d == without ? 1 : rect->hi[d] - rect->lo[d];
    Runs runs = runs_create(rect->order, extent, stride, stride);
    Shape shape = {0};
    if (runs.levels == 1 && runs.extent[0] == 1)
        return shape;
    shape.levels = runs.levels;
    memcpy(shape.extent, runs.extent, sizeof shape.extent);
    memcpy(shape.stride, runs.a, sizeof shape.stride);
    return shape;
}

bool message_single(MessageTypes *types, const Rect *rect, const int64_t *stride, MessageType *message) {
    Shape shape = shape_of(rect, stride, -1);
    message->count = 1;
    if (shape.levels == 1 && shape.stride[0] == 1 && shape.extent[0] <= INT_MAX) {
        message->count = (int)shape.extent[0];
        shape.levels = 0;
    }
    return shape_type(types, &shape, &message->type);
}

bool message_collective(MessageTypes *types, const Rect *rect, const int64_t *stride, const int *mode_order,
                        MessageType *message) {
    int outer = -1;
    for (int l = rect->order - 1; l >= 0; l--)
        if (rect->hi[mode_order[l]] - rect->lo[mode_order[l]] > 1)
            outer = mode_order[l];
    message->count = 1;
    if (outer < 0 || rect->hi[outer] - rect->lo[outer] > INT_MAX) {
        Shape shape = shape_of(rect, stride, -1);
        return shape_type(types, &shape, &message->type);
    }
    message->count = (int)(rect->hi[outer] - rect->lo[outer]);
    Shape shape = shape_of(rect, stride, outer);
    shape.resized = shape.levels == 0 && stride[outer] == 1 ? 0 : stride[outer];
    return shape_type(types, &shape, &message->type);
}
