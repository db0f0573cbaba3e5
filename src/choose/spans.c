// SPDX-License-Identifier: BSD-3-Clause
#include "choose/spans.h"

#include "base/integer.h"

// The values of a variable are divided into at most this many blocks of equal length.
enum { MOST_BLOCKS = 1024 };

static EntrySpan *span_of(const SearchStatement *statement, int nest, int by, int var) {
    for (int64_t s = 0; s < statement->spans.count; s++) {
        EntrySpan *span = &statement->spans.items[s];
        if (span->nest == nest && span->by == by && span->var == var)
            return span;
    }
    return NULL;
}

static EntrySpan *add_span(const Search *search, SearchStatement *statement, int nest, int by, int var) {
    const int64_t extent = statement->extents[by], length = max_i64(1, ceil_div(extent, MOST_BLOCKS));
    const int64_t blocks = max_i64(1, ceil_div(extent, length));
    EntrySpan span = {.nest = nest,
                      .by = by,
                      .var = var,
                      .length = length,
                      .lo = arena_array(search->arena, int64_t, blocks),
                      .hi = arena_array(search->arena, int64_t, blocks)};
    for (int64_t b = 0; b < blocks; b++)
        span.lo[b] = INT64_MAX;
    array_push(search->arena, statement->spans, span);
    return &statement->spans.items[statement->spans.count - 1];
}

// Extends the ranges of one mode by the entries of an operand, in blocks of another mode.
static void add_entries(const Search *search, SearchStatement *statement, const UsedAccess *used, int by_mode,
                        int mode) {
    const Access *access = used->access;
    const Entries *entries = &search->tensors[access->tensor->id].entries;
    const int by = access->vars[by_mode], var = access->vars[mode];
    EntrySpan *span = span_of(statement, used->nest, by, var);
    if (!span)
        span = add_span(search, statement, used->nest, by, var);
    for (int64_t e = 0; e < entries->count; e++) {
        const int64_t block = entries->coordinates[by_mode][e] / span->length;
        const int64_t value = entries->coordinates[mode][e];
        span->lo[block] = min_i64(span->lo[block], value);
        span->hi[block] = max_i64(span->hi[block], value + 1);
    }
}

void spans_find(const Search *search, SearchStatement *statement) {
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const Access *access = used->access;
        if (used->is_result || !tensor_is_sparse(access->tensor))
            continue;
        for (int by = 0; by < access->tensor->order; by++)
            for (int m = 0; m < access->tensor->order; m++)
                if (!access->indices[by] && !access->indices[m] && access->vars[by] != access->vars[m])
                    add_entries(search, statement, used, by, m);
    }
}

void spans_narrow(const SearchStatement *statement, int nest, int by, int64_t by_lo, int64_t by_hi, int var,
                  int64_t *lo, int64_t *hi) {
    const EntrySpan *span = span_of(statement, nest, by, var);
    int64_t least = INT64_MAX, end = 0;
    if (!span || by_lo >= by_hi)
        return;
    for (int64_t b = by_lo / span->length; b <= (by_hi - 1) / span->length; b++) {
        least = min_i64(least, span->lo[b]);
        end = max_i64(end, span->hi[b]);
    }
    *lo = max_i64(*lo, min_i64(least, *hi));
    *hi = max_i64(*lo, min_i64(*hi, end));
}
