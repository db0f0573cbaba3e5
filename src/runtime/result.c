// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/result.h"

#include "base/integer.h"
#include "format/entry_list.h"
#include "runtime/load_sparse.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

// What one thread has appended. A product of sparse matrices appends an element once for each of its
// products, so a thread remembers the points that it appended last, one for each value of a hash, and appends
// none of them again.
enum { RECENT_BITS = 13 };
typedef struct ResultList {
    EntryList list;
    int64_t *recent; // points, -1 where there is none yet
    bool failed;
} ResultList;

static void free_lists(Result *result) {
    appender_free(result->appender);
    result->appender = NULL;
    for (int t = 0; t < result->list_count; t++) {
        entries_free(&result->lists[t].list.entries);
        free(result->lists[t].recent);
    }
    free(result->lists);
    result->lists = NULL;
    result->list_count = 0;
}

void result_free(Result *result) {
    for (int i = 0; i < result->operand_count; i++)
        structure_hold(&result->known[i], NULL);
    structure_hold(&result->made, NULL);
    free_lists(result);
}

bool result_is_known(const Result *result) {
    if (result->kind == RESULT_DENSE)
        return true;
    if (result->kind == RESULT_SHARED)
        return result->target->structure == result->shared->structure;
    if (result->kind == RESULT_LEADING)
        return result->shared->structure && result->target->structure &&
               result->target->structure->of == result->shared->structure;
    for (int i = 0; i < result->operand_count; i++)
        if (result->operands[i]->structure != result->known[i])
            return false;
    return result->made && result->target->structure == result->made;
}

static bool no_memory(const Result *result, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "rank %lld has not enough memory for the entries of %s",
                             (long long)result->target->rank, result->target->home->tensor->name);
}

bool result_begin(Result *result, Diagnostics *diagnostics) {
    Storage *target = result->target;
    if (result->kind != RESULT_ASSEMBLED)
        return true;
    // What is replaced makes room.
    structure_hold(&result->made, NULL);
    if (!result->adds)
        storage_clear(target);
    result->before = storage_set_aside(target);
    result->why = NULL;
    const int count = omp_get_max_threads();
    const StoredTensor shape = target->empty;
    if (append_lists(shape.order, shape.levels).count > 0) {
        result->appender = appender_create(&shape, count, target->limit);
        if (!result->appender)
            return no_memory(result, diagnostics);
    }
    if (target->piece_count == 0)
        return true;
    result->lists = calloc((size_t)count, sizeof *result->lists);
    if (!result->lists)
        return no_memory(result, diagnostics);
    for (; result->list_count < count; result->list_count++)
        result->lists[result->list_count].list =
            (EntryList){.entries = storage_no_entries(target), .limit = target->limit / count};
    return true;
}

// Whether the thread remembers the point; if not, it does from now on.
static bool is_recent(ResultList *own, int order, const int64_t *coordinates) {
    uint64_t hash = 0;
    for (int d = 0; d < order; d++)
        hash = (hash ^ (uint64_t)coordinates[d]) * 0x9E3779B97F4A7C15;
    const size_t bytes = sizeof(int64_t) * (size_t)order;
    if (!own->recent) {
        own->recent = malloc(bytes << RECENT_BITS);
        if (!own->recent)
            return false;
        memset(own->recent, -1, bytes << RECENT_BITS);
    }
    int64_t *slot = own->recent + (hash >> (64 - RECENT_BITS)) * (uint64_t)order;
    if (memcmp(slot, coordinates, bytes) == 0)
        return true;
    memcpy(slot, coordinates, bytes);
    return false;
}

// Sorts a full list and keeps each point once, to make room. Where memory runs out, the list is lost.
static void compact(const Result *result, ResultList *own) {
    enum { LEAST = 1 << 16 };
    EntryList *list = &own->list;
    if (list->entries.count < list->capacity || list->capacity < LEAST)
        return;
    own->failed = entries_sort(&list->entries, result->target->home->tensor->mode_order) ||
                  entries_sum_duplicates(&list->entries);
    list->capacity = list->entries.count;
}

void result_append(const Result *result, const int64_t *coordinates) {
    ResultList *own = &result->lists[omp_get_thread_num()];
    if (own->failed || is_recent(own, result->target->home->tensor->order, coordinates))
        return;
    compact(result, own);
    own->failed = own->failed || !entry_list_append(&own->list, coordinates, NULL);
}

static bool has_ordered(const Result *result) {
    return result->appender && result->target->piece_count > 0 && appender_is_used(result->appender);
}

static int64_t list_bytes(const Result *result) {
    int64_t bytes = 0;
    for (int t = 0; t < result->list_count; t++) {
        const Entries *entries = &result->lists[t].list.entries;
        bytes = saturated_add(bytes, entries_bytes(entries, entries->count));
    }
    return bytes;
}

// What has been appended in the order of storage, as another list.
static const char *list_ordered(Result *result, Arena *arena) {
    StoredTensor tensor = result->target->empty;
    Entries entries = storage_no_entries(result->target);
    const char *why = appender_join(result->appender, &tensor, arena);
    if (!why)
        why = stored_unpack(&tensor, &entries, result->target->limit - list_bytes(result), arena);
    stored_free(&tensor);
    ResultList *lists = why ? NULL : realloc(result->lists, sizeof *lists * (size_t)(result->list_count + 1));
    if (lists) {
        lists[result->list_count++] = (ResultList){.list = {.entries = entries}};
        result->lists = lists;
        return NULL;
    }
    entries_free(&entries);
    return why ? why : "not enough memory for its entries";
}

void result_end_processor(Result *result, Arena *arena) {
    if (!has_ordered(result))
        return;
    if (!result->why)
        result->why = list_ordered(result, arena);
    appender_clear(result->appender, max_i64(result->target->limit - list_bytes(result), 0));
}

static void join(Entries *to, const Entries *from) {
    const size_t size = type_info(to->type)->size;
    for (int d = 0; d < to->order && from->count > 0; d++)
        memcpy(to->coordinates[d] + to->count, from->coordinates[d], sizeof(int64_t) * (size_t)from->count);
    if (from->count > 0)
        memcpy((char *)to->values + (size_t)to->count * size, from->values, (size_t)from->count * size);
    to->count += from->count;
}

// All lists as one, with what the result has already where the statement adds to it.
static bool join_all(const Result *result, const Entries *before, Entries *all) {
    *all = storage_no_entries(result->target);
    all->count = before->count;
    for (int t = 0; t < result->list_count; t++)
        all->count += result->lists[t].list.entries.count;
    if (entries_bytes(all, all->count) > result->target->limit || entries_allocate(all))
        return false;
    all->count = 0;
    join(all, before);
    for (int t = 0; t < result->list_count; t++)
        join(all, &result->lists[t].list.entries);
    return true;
}

// Entries that have been appended in the order of storage.
static bool join_ordered(Result *result, Diagnostics *diagnostics) {
    StoredTensor tensor = result->target->empty;
    const char *why = appender_join(result->appender, &tensor, diagnostics->arena);
    if (!why)
        return storage_put(result->target, &tensor) || no_memory(result, diagnostics);
    stored_free(&tensor);
    return sparse_refuse(result->target, why, diagnostics);
}

static bool assemble(Result *result, Diagnostics *diagnostics) {
    if (result->why)
        return sparse_refuse(result->target, result->why, diagnostics);
    if (has_ordered(result))
        return join_ordered(result, diagnostics);
    Entries before, all = {0};
    for (int t = 0; t < result->list_count; t++)
        if (result->lists[t].failed)
            return no_memory(result, diagnostics);
    bool ok = sparse_entries_before(result->target, &result->before, &before, diagnostics);
    if (ok && result->target->piece_count > 0) {
        ok = join_all(result, &before, &all) || no_memory(result, diagnostics);
        free_lists(result);
    }
    ok = ok && sparse_put_entries(result->target, &all, diagnostics);
    entries_free(&before);
    entries_free(&all);
    return ok;
}

bool result_finish(Result *result, Diagnostics *diagnostics) {
    if (result->kind == RESULT_SHARED)
        return (result->converts ? storage_take(result->target, result->shared)
                                 : storage_share(result->target, result->shared->structure, true)) ||
               no_memory(result, diagnostics);
    if (result->kind == RESULT_LEADING)
        return storage_share_leading(result->target, result->shared->structure) ||
               no_memory(result, diagnostics);
    const bool ok = assemble(result, diagnostics);
    free_lists(result);
    for (int i = 0; ok && i < result->operand_count; i++)
        structure_hold(&result->known[i], result->operands[i]->structure);
    if (ok)
        structure_hold(&result->made, result->target->structure);
    return ok;
}

void result_settle(Result *result, bool ok) {
    if (result->kind == RESULT_ASSEMBLED)
        storage_settle(result->target, &result->before, ok);
    else if (!ok && result->kind != RESULT_DENSE)
        storage_clear(result->target);
}
