// SPDX-License-Identifier: BSD-3-Clause
// Sparse tensors: their entries and the arrays of their levels, of the library or of the caller.
#include "api/data.h"

#include "api/balance.h"
#include "api/fibers.h"
#include "api/replicas.h"
#include "base/integer.h"
#include "format/level_list.h"

#include <inttypes.h>
#include <string.h>

static distal_status check_sparse(distal_context *context, const distal_tensor *tensor) {
    return tensor_is_sparse(tensor->tensor)
               ? DISTAL_OK
               : invalid(context, "tensor '%s' is dense: it has pieces, and no levels with arrays",
                         tensor->name);
}

static distal_status check_tensor_home(distal_context *context, const DataCall *call) {
    const distal_status status = check_sparse(context, call->tensor);
    return status == DISTAL_OK ? tensor_check_home(context, call->tensor) : status;
}

// Whether this rank has the arrays of the tensor's levels, once it has memory.
static bool is_here(const distal_tensor *tensor) {
    return tensor->storage && tensor->storage->piece_count > 0;
}

static distal_status check_entries(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    const distal_status status = check_tensor_home(context, call);
    if (status != DISTAL_OK)
        return status;
    const char *name = call->tensor->name;
    if (call->count < 0)
        return invalid(context, "%" PRId64 " is no number of entries for tensor '%s'", call->count, name);
    const int order = call->tensor->tensor->order;
    bool missing = call->count > 0 && (!call->data || !call->columns);
    for (int d = 0; d < order && call->count > 0 && !missing; d++)
        missing = !call->columns[d];
    return missing ? invalid(context, "the coordinates or the values of the entries of tensor '%s' are NULL",
                             name)
                   : DISTAL_OK;
}

// What a rank gives to a tensor: entries, or arrays and the entries in them.
typedef struct {
    distal_context *context;
    const DataCall *call;
    Entries entries;
    StoredTensor arrays;
    bool cut;             // ranks have parts of fibers
    bool takes_none;      // of its arrays, as it has no part of the tensor so far
    distal_status status; // of this rank
} Giving;

static Giving giving_create(distal_context *context, const DataCall *call) {
    const Storage *storage = call->tensor->storage;
    return (Giving){.context = context,
                    .call = call,
                    .entries = storage_no_entries(storage),
                    .arrays = home_stored_empty(storage->home),
                    .status = DISTAL_FAILED};
}

static bool copy_entries(void *arguments, Diagnostics *diagnostics) {
    Giving *giving = arguments;
    const DataCall *call = giving->call;
    Entries *entries = &giving->entries;
    entries->count = call->count;
    const char *why = entries_allocate(entries);
    if (!why) {
        const MemoryKind *memory = memory_kind(MEMORY_HOST);
        for (int d = 0; d < entries->order && entries->count > 0; d++)
            memory->copy(TYPE_I64, entries->coordinates[d], 1, call->columns[d], 1, entries->count);
        if (entries->count > 0)
            memory->copy(entries->type, entries->values, 1, call->data, 1, entries->count);
        why = entries_check(entries, giving->context->scratch);
        giving->status = why ? DISTAL_INVALID : DISTAL_OK;
    }
    return !why || diagnostics_error(diagnostics, (Span){0}, "tensor '%s' cannot have such entries: %s",
                                     call->tensor->name, why);
}

static distal_status put_entries(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    Giving giving = giving_create(context, call);
    // Entries go to their homes when all ranks have good ones.
    if (agree_on_part(context->comm, copy_entries, &giving, context->diagnostics))
        giving.status = data_put_entries(context, call->tensor, &giving.entries);
    entries_free(&giving.entries);
    return giving.status;
}

distal_status distal_tensor_entries(distal_tensor *tensor, int64_t count, const int64_t *const *coordinates,
                                    const void *values) {
    return data_call_collective(
        "distal_tensor_entries", check_entries, put_entries,
        &(DataCall){.tensor = tensor, .count = count, .columns = coordinates, .data = (void *)values});
}

// An array of a level in memory of the caller, and how many bits its elements and those of the library have.
typedef struct {
    const void *given;
    int bits, own_bits;
} Given;

static int64_t element(const Given *array, int64_t i) {
    return array->bits == 64 ? ((const int64_t *)array->given)[i] : ((const int32_t *)array->given)[i];
}

// The array in place, or a copy with elements of other size. NULL: no memory, or a coordinate that does not
// fit.
static void *take_array(const Given *array, int64_t length, bool *borrowed) {
    *borrowed = array->bits == array->own_bits;
    if (*borrowed)
        return (void *)array->given;
    const bool wide = array->own_bits == 64;
    void *copy = memory_allocate(MEMORY_HOST, length, wide ? TYPE_I64 : TYPE_I32);
    bool fits = true;
#pragma omp parallel for num_threads(entries_team(length)) reduction(&& : fits)
    for (int64_t i = 0; i < (copy ? length : 0); i++) {
        const int64_t x = element(array, i);
        if (wide)
            ((int64_t *)copy)[i] = x;
        else
            ((int32_t *)copy)[i] = (int32_t)x;
        fits = fits && (wide || x == (int32_t)x);
    }
    if (fits)
        return copy;
    memory_release(MEMORY_HOST, copy);
    return NULL;
}

static distal_status refuse_array(distal_context *context, const DataCall *call, const Given *array,
                                  const char *name, int level, int64_t length) {
    for (int64_t i = 0; array->own_bits == 32 && i < length; i++)
        if (element(array, i) != (int32_t)element(array, i))
            return invalid(
                context, "element %lld of %s of level %d of tensor '%s' is %lld, which does not fit 32 bits",
                (long long)i, name, level, call->tensor->name, (long long)element(array, i));
    diagnostics_error(context->diagnostics, (Span){0},
                      "rank %d has not enough memory to convert %s of level %d of tensor '%s' to %d bits",
                      context->rank, name, level, call->tensor->name, array->own_bits);
    return DISTAL_FAILED;
}

static distal_status take_level(distal_context *context, const DataCall *call, StoredTensor *tensor, int l,
                                int64_t parents) {
    const LevelFormat *format = tensor->levels[l].format;
    LevelArrays *level = &tensor->arrays[l];
    const distal_level_arrays *given = &call->given[l];
    const int mode = tensor->mode_order[l];
    const bool part = given->first || given->count;
    tensor->lo[mode] = part ? given->first : 0;
    tensor->hi[mode] = part ? given->first + given->count : tensor->extents[mode];
    *level = stored_level(tensor, l);
    const Given arrays[] = {
        [LEVEL_ARRAY_POSITIONS] = {given->pos, given->pos_bits ? given->pos_bits : 64, 64},
        [LEVEL_ARRAY_COORDINATES] = {given->crd,
                                     given->crd_bits ? given->crd_bits
                                     : level->wide   ? 64
                                                     : 32,
                                     level->wide ? 64 : 32},
        [LEVEL_ARRAY_BITS] = {given->bits, 64, 64},
    };
    int64_t distinct = 0;
    for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
        const LevelArrayKind kind = format->arrays[a].kind;
        if (kind == LEVEL_ARRAY_NONE)
            continue;
        const Given *array = &arrays[kind];
        if (array->bits != 32 && array->bits != 64)
            return invalid(
                context,
                "the elements of %s of level %d of tensor '%s' have %d bits, and 32 or 64 are possible",
                format->arrays[a].name, l, call->tensor->name, array->bits);
        if (kind == LEVEL_ARRAY_POSITIONS && array->given)
            distinct = element(array, parents);
        format->measure(level, parents, distinct);
        if (distinct < 0 || (!array->given && level->lengths[a] > 0))
            return invalid(context,
                           distinct < 0 ? "%s of level %d of tensor '%s' ends with a negative number"
                                        : "%s of level %d is NULL, where tensor '%s' has elements",
                           format->arrays[a].name, l, call->tensor->name);
        level->arrays[a] = take_array(array, level->lengths[a], &level->borrowed[a]);
        if (!level->arrays[a] && level->lengths[a] > 0)
            return refuse_array(context, call, array, format->arrays[a].name, l, level->lengths[a]);
    }
    format->measure(level, parents, distinct);
    return DISTAL_OK;
}

static distal_status take_levels(distal_context *context, const DataCall *call, StoredTensor *tensor) {
    int64_t positions = 1;
    tensor->part = true;
    for (int l = 0; l < tensor->order; l++) {
        const distal_level_arrays *given = &call->given[l];
        const bool part = given->first || given->count;
        const int64_t extent = tensor->extents[tensor->mode_order[l]];
        if (part && !level_can_be_part(tensor->order, tensor->levels, l))
            return invalid(
                context,
                "`first` and `count` of level %d of tensor '%s' are set, and only a dense level that "
                "is the first one, or has nothing but dense levels below it, can have a part of its "
                "coordinates: set both to 0",
                l, call->tensor->name);
        if (given->first < 0 || given->count < 0 || given->first > extent ||
            given->count > extent - given->first)
            return invalid(
                context,
                "`first` (%lld) and `count` (%lld) of level %d of tensor '%s' go beyond its %lld coordinates",
                (long long)given->first, (long long)given->count, l, call->tensor->name, (long long)extent);
        const distal_status status = take_level(context, call, tensor, l, positions);
        if (status != DISTAL_OK)
            return status;
        positions = tensor->arrays[l].position_count;
        if (positions == INT64_MAX)
            return invalid(context, "level %d of tensor '%s' has more than 2^63 positions", l,
                           call->tensor->name);
    }
    if (!call->data && positions > 0)
        return invalid(context, "the values of tensor '%s' are NULL", call->tensor->name);
    tensor->values = call->data;
    tensor->values_borrowed = true;
    tensor->value_count = positions;
    const char *why = stored_check(tensor, context->scratch);
    return why ? invalid(context, "tensor '%s' cannot have such arrays: %s", call->tensor->name, why)
               : DISTAL_OK;
}

static distal_status check_arrays(distal_context *context, void *arguments) {
    return check_tensor_home(context, arguments);
}

// Where `why` is not NULL, entries cannot be listed.
static distal_status status_of(distal_context *context, const DataCall *call, const char *why) {
    if (!why)
        return DISTAL_OK;
    diagnostics_error(context->diagnostics, (Span){0}, "the arrays of tensor '%s' cannot be checked: %s",
                      call->tensor->name, why);
    return DISTAL_FAILED;
}

// The first of these entries that is in none of the pieces; their number where there is none.
static int64_t first_outside(const Entries *entries, const Region *pieces) {
    int64_t first = entries->count;
#pragma omp parallel for num_threads(entries_team(entries->count)) reduction(min : first)
    for (int64_t e = 0; e < entries->count; e++) {
        bool inside = false;
        for (int64_t i = 0; i < pieces->rects.count && !inside; i++)
            inside = entries_is_within(entries, e, &pieces->rects.items[i]);
        first = inside ? first : min_i64(first, e);
    }
    return first;
}

// What a rank stores: its home pieces, and where fibers are cut, the elements of fibers between these.
static Region stored_pieces(const distal_tensor *tensor, int rank, Arena *arena) {
    const Region pieces = home_pieces(&tensor->home, rank, arena);
    const StoredTensor *own = &tensor->storage->empty;
    for (int l = 0; tensor->storage->padded && l < own->order; l++)
        for (int64_t i = 0; i < pieces.rects.count && level_is_padded(own->order, own->levels, l); i++) {
            const int mode = own->mode_order[l];
            rect_set_mode(&pieces.rects.items[i], mode, (PositionSet){own->lo[mode], own->hi[mode], NULL});
        }
    return pieces;
}

// Whether all of these entries are stored on this rank.
static distal_status check_own(distal_context *context, const DataCall *call, const Entries *entries) {
    const Home *home = &call->tensor->home;
    Arena *arena = context->scratch;
    const Region pieces = stored_pieces(call->tensor, context->rank, arena);
    const int64_t outside = first_outside(entries, &pieces);
    if (outside == entries->count)
        return DISTAL_OK;
    Text text = text_create(arena);
    Rect entry = {.order = entries->order};
    for (int d = 0; d < entries->order; d++) {
        const int64_t coordinate = entries->coordinates[d][outside];
        rect_set_mode(&entry, d, (PositionSet){coordinate, coordinate + 1, NULL});
        text_printf(&text, d > 0 ? ", %" PRId64 : "%" PRId64, coordinate);
    }
    HoldingArray owners = {0};
    home_owners(home, &entry, arena, &owners);
    return invalid(context,
                   "the arrays of tensor '%s' on rank %d have entry (%s), which is at home on rank %lld",
                   call->tensor->name, context->rank, text_string(&text), (long long)owners.items[0].rank);
}

// Whether levels that have a part of their coordinates have all that are at home on this rank.
static distal_status check_part(distal_context *context, const distal_tensor *to, const StoredTensor *given) {
    const Region pieces = home_pieces(&to->home, context->rank, context->scratch);
    StoredTensor own = home_stored_empty(&to->home);
    stored_restrict(&own, pieces.rects.count, pieces.rects.items);
    for (int l = 0; l < own.order; l++) {
        const LevelArrays part = stored_level(given, l), needed = stored_level(&own, l);
        if (needed.extent > 0 &&
            (part.first > needed.first || part.first + part.extent < needed.first + needed.extent))
            return invalid(context,
                           "`first` (%" PRId64 ") and `count` (%" PRId64
                           ") of level %d of tensor '%s' leave out coordinates that rank %d has at home: "
                           "%" PRId64 " from %" PRId64 " on",
                           part.first, part.extent, l, to->tensor->name, context->rank, needed.extent,
                           needed.first);
    }
    return DISTAL_OK;
}

static bool has_all(const distal_context *context, const distal_tensor *tensor) {
    const Region pieces = home_pieces(&tensor->home, context->rank, context->scratch);
    const Rect whole = rect_whole(tensor->home.order, tensor->home.extents);
    return rect_is_empty(&whole) || region_contains(&pieces, &whole);
}

// Whether no array is given, as distal_tensor_levels has it on ranks without a part.
static bool gives_nothing(const DataCall *call) {
    for (int l = 0; call->given && l < call->tensor->tensor->order; l++)
        if (call->given[l].pos || call->given[l].crd || call->given[l].bits)
            return false;
    return true;
}

// The arrays of this rank and, if `list`, their entries.
static distal_status take_arrays(distal_context *context, const DataCall *call, bool list,
                                 StoredTensor *tensor, Entries *entries) {
    if (!call->given)
        return invalid(context, "the array of levels of tensor '%s' is NULL", call->tensor->name);
    const distal_status status = take_levels(context, call, tensor);
    return status == DISTAL_OK && list
               ? status_of(context, call, stored_unpack(tensor, entries, INT64_MAX, context->scratch))
               : status;
}

// Entries are listed on all ranks where placements are balanced by them, or fibers are cut; else only on
// ranks that do not have the whole tensor at home, to check that they are at home there.
static bool take_own(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Giving *giving = arguments;
    const distal_tensor *to = giving->call->tensor;
    const bool divides = balance_divides(giving->context, to);
    const bool list = divides || home_cuts_fibers(&to->home) || !has_all(giving->context, to);
    giving->takes_none = !is_here(to) && (!divides || gives_nothing(giving->call));
    giving->status = giving->takes_none ? DISTAL_OK
                                        : take_arrays(giving->context, giving->call, list, &giving->arrays,
                                                      &giving->entries);
    return giving->status == DISTAL_OK;
}

static bool check_home(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Giving *giving = arguments;
    const distal_tensor *to = giving->call->tensor;
    giving->cut = home_cuts_fibers(&to->home);
    distal_status status = check_own(giving->context, giving->call, &giving->entries);
    if (status == DISTAL_OK && is_here(to))
        status = giving->takes_none
                     ? invalid(giving->context,
                               "the levels of tensor '%s' are NULL on rank %d, which has a part of it with "
                               "the entries of the other ranks: give it arrays without entries",
                               to->name, giving->context->rank)
                     : check_part(giving->context, to, &giving->arrays);
    giving->status = status; // set last, as memory may run out before
    return status == DISTAL_OK;
}

static bool put_own(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Giving *giving = arguments;
    Storage *storage = giving->call->tensor->storage;
    StoredTensor own = storage->empty;
    if (storage->piece_count > 0) {
        own = giving->arrays;
        giving->arrays = storage->empty;
    }
    return storage_put(storage, &own);
}

// All ranks get other arrays or none; what was moved for the new boundaries stays there.
static bool attach_arrays(Giving *giving) {
    distal_context *context = giving->context;
    distal_tensor *to = giving->call->tensor;
    const MPI_Comm comm = context->comm;
    if (!agree_on_part(comm, take_own, giving, context->diagnostics))
        return false;
    giving->status = balance_by(context, to, &giving->entries);
    if (giving->status != DISTAL_OK)
        return false;
    giving->status = DISTAL_FAILED;
    bool ok = agree_on_part(comm, check_home, giving, context->diagnostics);
    if (ok && giving->cut) {
        giving->status = fibers_check(context, to, &giving->entries);
        ok = giving->status == DISTAL_OK;
    }
    if (ok && to->home.replicated) {
        giving->status = replicas_check(context, to, &giving->arrays);
        ok = giving->status == DISTAL_OK;
    }
    if (ok) {
        SetAside before = storage_set_aside(to->storage);
        giving->status = DISTAL_FAILED;
        ok = agree_on_part(comm, put_own, giving, context->diagnostics);
        storage_settle(to->storage, &before, ok);
    }
    if (ok)
        balance_settle(to);
    return ok;
}

static distal_status put_arrays(distal_context *context, void *arguments) {
    const DataCall *call = arguments;
    Giving giving = giving_create(context, call);
    const bool ok = attach_arrays(&giving);
    entries_free(&giving.entries);
    stored_free(&giving.arrays);
    return ok ? DISTAL_OK : giving.status;
}

distal_status distal_tensor_attach_levels(distal_tensor *tensor, const distal_level_arrays *levels,
                                          void *values) {
    return data_call_collective("distal_tensor_attach_levels", check_arrays, put_arrays,
                                &(DataCall){.tensor = tensor, .given = levels, .data = values});
}

static distal_status show_levels(distal_context *context, void *arguments) {
    DataCall *call = arguments;
    const distal_status status = check_sparse(context, call->tensor);
    const int order = call->tensor->tensor->order;
    memset(call->levels, 0, sizeof *call->levels * (size_t)order);
    const Storage *storage = call->tensor->storage;
    if (status != DISTAL_OK || !storage || !storage->structure || !is_here(call->tensor))
        return status;
    const StoredTensor *tensor = &storage->stored;
    for (int l = 0; l < order; l++) {
        distal_level_arrays *to = &call->levels[l];
        const LevelArrays *level = &tensor->arrays[l];
        to->position_count = level->position_count;
        to->pos_bits = 64;
        to->crd_bits = level->wide ? 64 : 32;
        if (level_can_be_part(tensor->order, tensor->levels, l)) {
            to->first = level->first;
            to->count = level->extent;
        }
        for (int a = 0; a < LEVEL_ARRAY_COUNT; a++) {
            const LevelArrayKind kind = tensor->levels[l].format->arrays[a].kind;
            if (kind == LEVEL_ARRAY_POSITIONS)
                to->pos = level->arrays[a];
            else if (kind == LEVEL_ARRAY_COORDINATES)
                to->crd = level->arrays[a];
            else if (kind == LEVEL_ARRAY_BITS)
                to->bits = level->arrays[a];
        }
    }
    call->data = tensor->values;
    call->count = tensor->value_count;
    return DISTAL_OK;
}

distal_status distal_tensor_levels(distal_tensor *tensor, distal_level_arrays *levels, void **values,
                                   int64_t *value_count) {
    DataCall call = {.tensor = tensor, .levels = levels};
    const distal_status status = data_call_local("distal_tensor_levels", show_levels, &call, levels);
    if (values)
        *values = call.data;
    if (value_count)
        *value_count = call.count;
    return status;
}
