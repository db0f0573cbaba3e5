// SPDX-License-Identifier: BSD-3-Clause
#include "choose/spans.h"

#include "base/integer.h"

// Values of a variable are in up to so many blocks of the same length.
enum { MOST_BLOCKS = 1024 };

static EntrySpan *span_of(const SearchStatement *statement, int by, int var) {
    for (int64_t s = 0; s < statement->spans.count; s++)
        if (statement->spans.items[s].by == by && statement->spans.items[s].var == var)
            return &statement->spans.items[s];
    return NULL;
}

static EntrySpan *add_span(const Search *search, SearchStatement *statement, int by, int var) {
    const int64_t extent = statement->extents[by], length = max_i64(1, ceil_div(extent, MOST_BLOCKS));
    const int64_t blocks = max_i64(1, ceil_div(extent, length));
    EntrySpan span = {.by = by,
                      .var = var,
                      .length = length,
                      .first = arena_array(search->arena, int64_t, blocks),
                      .last = arena_array(search->arena, int64_t, blocks)};
    for (int64_t b = 0; b < blocks; b++)
        span.first[b] = INT64_MAX;
    array_push(search->arena, statement->spans, span);
    return &statement->spans.items[statement->spans.count - 1];
}

// A pair of modes, whose coordinates are the values of two variables.
static void add_entries(const Search *search, SearchStatement *statement, const Access *access, int mode,
                        int other) {
    const Entries *entries = &search->tensors[access->tensor->id].entries;
    const int by = access->vars[mode], var = access->vars[other];
    EntrySpan *span = span_of(statement, by, var);
    if (!span)
        span = add_span(search, statement, by, var);
    for (int64_t e = 0; e < entries->count; e++) {
        const int64_t block = entries->coordinates[mode][e] / span->length;
        const int64_t value = entries->coordinates[other][e];
        span->first[block] = min_i64(span->first[block], value);
        span->last[block] = max_i64(span->last[block], value + 1);
    }
}

void spans_find(const Search *search, SearchStatement *statement) {
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const Access *access = used->access;
        if (used->is_result || !tensor_is_sparse(access->tensor))
            continue;
        for (int m = 0; m < access->tensor->order; m++)
            for (int o = 0; o < access->tensor->order; o++)
                if (!access->indices[m] && !access->indices[o] && access->vars[m] != access->vars[o])
                    add_entries(search, statement, access, m, o);
    }
}

void spans_narrow(const SearchStatement *statement, int by, int64_t first, int64_t last, int var, int64_t *lo,
                  int64_t *hi) {
    const EntrySpan *span = span_of(statement, by, var);
    int64_t least = INT64_MAX, greatest = 0;
    if (!span || first >= last)
        return;
    for (int64_t b = first / span->length; b <= (last - 1) / span->length; b++) {
        least = min_i64(least, span->first[b]);
        greatest = max_i64(greatest, span->last[b]);
    }
    *lo = max_i64(*lo, min_i64(least, *hi));
    *hi = max_i64(*lo, min_i64(*hi, greatest));
}
