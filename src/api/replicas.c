// SPDX-License-Identifier: BSD-3-Clause
#include "api/replicas.h"

#include "base/integer.h"
#include "base/random.h"
#include "format/entry_reader.h"
#include "runtime/wait.h"

#include <string.h>

typedef struct {
    distal_context *context;
    const distal_tensor *tensor;
    const StoredTensor *arrays;
    HoldingArray shared;    // parts that several ranks have, the same list on all of them
    uint64_t *sums, *first; // by part: checksums of this rank, and of the first rank that has it
    distal_status status;
} ReplicaCheck;

static uint64_t mix(uint64_t x) {
    return random_number(x, 0);
}

// The sum over the entries of a block that are in a rectangle, in any order.
static uint64_t block_sum(const StoredTensor *arrays, const EntryBlock *block, const Rect *rect) {
    const size_t size = type_info(arrays->type)->size;
    uint64_t sum = 0;
    for (int i = 0; i < block->count; i++) {
        uint64_t hash = 0, words[2] = {0};
        bool within = true;
        for (int l = 0; l < arrays->order && within; l++) {
            within = rect_has(rect, arrays->mode_order[l], block->coordinates[l][i]);
            hash = mix(hash ^ (uint64_t)block->coordinates[l][i]);
        }
        memcpy(words, (const char *)arrays->values + (size_t)block->numbers[i] * size, size);
        sum += within ? mix(mix(hash ^ words[0]) ^ words[1]) : 0;
    }
    return sum;
}

static bool add_up(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    ReplicaCheck *check = arguments;
    Arena *arena = check->context->scratch;
    const StoredTensor *arrays = check->arrays;
    const Home *home = &check->tensor->home;
    const Rect whole = rect_whole(home->order, home->extents);
    HoldingArray owners = {0};
    home_owners(home, &whole, arena, &owners);
    for (int64_t i = 0; i < owners.count; i++)
        if (holding_count(&owners.items[i]) > 1)
            array_push(arena, check->shared, owners.items[i]);
    const int64_t parts = check->shared.count;
    check->sums = arena_array(arena, uint64_t, parts);
    check->first = arena_array(arena, uint64_t, parts);
    const EntryReader reader = reader_of_stored(arrays, arrays->mode_order);
    for (int64_t p = 0; p < parts; p++) {
        const Holding *part = &check->shared.items[p];
        uint64_t sum = 0;
        if (!holding_has(part, check->context->rank) || arrays->value_count == 0)
            continue;
#pragma omp parallel for num_threads(entries_team(reader.places)) reduction(+ : sum)
        for (int64_t at = 0; at < reader.places; at += ENTRY_BLOCK) {
            EntryBlock block;
            reader_read(&reader, at, min_i64(ENTRY_BLOCK, reader.places - at), &block);
            sum += block_sum(arrays, &block, &part->rect);
        }
        check->sums[p] = sum;
        check->first[p] = holding_rank(part, 0) == check->context->rank ? sum : 0;
    }
    return true;
}

static bool compare(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    ReplicaCheck *check = arguments;
    check->status = DISTAL_OK;
    for (int64_t p = 0; p < check->shared.count && check->status == DISTAL_OK; p++) {
        const Holding *part = &check->shared.items[p];
        if (holding_has(part, check->context->rank) && check->sums[p] != check->first[p])
            check->status =
                invalid(check->context,
                        "the arrays of tensor '%s' on rank %d differ from those on rank %lld, "
                        "which has the same part of it at home: replicas have the same entries "
                        "and values",
                        check->tensor->name, check->context->rank, (long long)holding_rank(part, 0));
    }
    return check->status == DISTAL_OK;
}

distal_status replicas_check(distal_context *context, const distal_tensor *tensor,
                             const StoredTensor *arrays) {
    ReplicaCheck check = {.context = context, .tensor = tensor, .arrays = arrays, .status = DISTAL_FAILED};
    if (!agree_on_part(context->comm, add_up, &check, context->diagnostics))
        return DISTAL_FAILED;
    enum { AT_ONCE = 1 << 20 };
    for (int64_t p = 0; p < check.shared.count; p += AT_ONCE)
        all_reduce(check.first + p, (int)min_i64(AT_ONCE, check.shared.count - p), MPI_UINT64_T, MPI_SUM,
                   context->comm);
    return agree_on_part(context->comm, compare, &check, context->diagnostics) ? DISTAL_OK
           : check.status == DISTAL_INVALID                                    ? DISTAL_INVALID
                                                                               : DISTAL_FAILED;
}
