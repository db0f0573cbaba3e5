// SPDX-License-Identifier: BSD-3-Clause
#include "machine/coords.h"

#include "base/integer.h"

static const Coords nothing;

static bool is_empty(Coords set) {
    return set.lo >= set.hi;
}

// The last tooth that starts at or below `offset` of a period, or the first.
static const Tooth *tooth_by_offset(const Comb *comb, int64_t offset) {
    int64_t low = 0, high = comb->count - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (comb->teeth[middle].lo <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return &comb->teeth[low];
}

static const Tooth *tooth_by_number(const Comb *comb, int64_t number) {
    int64_t low = 0, high = comb->count - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (comb->teeth[middle].before <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return &comb->teeth[low];
}

// Coordinates are numbered in increasing order, 0 the first from the origin on. The number of the first one
// at or after x, and the coordinate that has one.
static int64_t number_of(const Comb *comb, int64_t x) {
    const int64_t periods = floor_div(x - comb->origin, comb->period);
    const int64_t offset = x - comb->origin - periods * comb->period;
    const Tooth *tooth = tooth_by_offset(comb, offset);
    const int64_t inside = max_i64(0, min_i64(offset, tooth->hi) - tooth->lo);
    return periods * comb->size + tooth->before + inside;
}

static int64_t numbered(const Comb *comb, int64_t number) {
    const int64_t periods = floor_div(number, comb->size), rest = number - periods * comb->size;
    const Tooth *tooth = tooth_by_number(comb, rest);
    return comb->origin + periods * comb->period + tooth->lo + rest - tooth->before;
}

bool comb_equal(const Comb *a, const Comb *b) {
    if (a == b)
        return true;
    if (!a || !b || a->period != b->period || a->size != b->size || a->count != b->count ||
        a->origin != b->origin)
        return false;
    for (int64_t i = 0; i < a->count; i++)
        if (a->teeth[i].lo != b->teeth[i].lo || a->teeth[i].hi != b->teeth[i].hi)
            return false;
    return true;
}

Comb *comb_copy(const Comb *comb, Arena *arena) {
    Comb *copy = arena_copy(arena, comb, sizeof *comb);
    copy->teeth = arena_copy(arena, comb->teeth, sizeof(Tooth) * (size_t)comb->count);
    return copy;
}

int64_t coords_count(Coords set) {
    if (is_empty(set))
        return 0;
    return set.comb ? number_of(set.comb, set.hi) - number_of(set.comb, set.lo) : set.hi - set.lo;
}

int64_t coords_position(Coords set, int64_t x) {
    return set.comb ? number_of(set.comb, x) - number_of(set.comb, set.lo) : x - set.lo;
}

int64_t coords_at(Coords set, int64_t position) {
    return set.comb ? numbered(set.comb, number_of(set.comb, set.lo) + position) : set.lo + position;
}

// With lo and hi drawn in to the first and behind the last coordinate.
static Coords tight(Coords set) {
    if (is_empty(set))
        return nothing;
    if (!set.comb)
        return set;
    const int64_t first = number_of(set.comb, set.lo), end = number_of(set.comb, set.hi);
    if (first == end)
        return nothing;
    return (Coords){numbered(set.comb, first), numbered(set.comb, end - 1) + 1, set.comb};
}

Coords coords_clip(Coords set, int64_t lo, int64_t hi) {
    return tight((Coords){max_i64(set.lo, lo), min_i64(set.hi, hi), set.comb});
}

Coords coords_take(Coords set, int64_t first, int64_t last) {
    if (first >= last)
        return nothing;
    return (Coords){coords_at(set, first), coords_at(set, last - 1) + 1, set.comb};
}

Coords coords_run(Coords set, int64_t x) {
    x = max_i64(x, set.lo);
    if (x >= set.hi)
        return nothing;
    if (!set.comb)
        return (Coords){x, set.hi, NULL};
    const int64_t lo = numbered(set.comb, number_of(set.comb, x));
    if (lo >= set.hi)
        return nothing;
    // The last tooth of a period may go on in the first of the next.
    int64_t hi = lo;
    for (int64_t next = lo; next == hi && hi < set.hi; next = numbered(set.comb, number_of(set.comb, hi))) {
        const int64_t offset = floor_mod(next - set.comb->origin, set.comb->period);
        hi = next - offset + tooth_by_offset(set.comb, offset)->hi;
    }
    return (Coords){lo, min_i64(hi, set.hi), NULL};
}

// A comb while its teeth are found, in increasing order.
typedef struct {
    Arena *arena;
    int64_t origin, period, size;
    Array(Tooth) teeth;
} Builder;

static void add_run(Builder *builder, int64_t lo, int64_t hi) {
    if (lo >= hi)
        return;
    lo -= builder->origin;
    hi -= builder->origin;
    if (builder->teeth.count > 0 && builder->teeth.items[builder->teeth.count - 1].hi == lo)
        builder->teeth.items[builder->teeth.count - 1].hi = hi;
    else
        array_push(builder->arena, builder->teeth, (Tooth){lo, hi, builder->size});
    builder->size += hi - lo;
}

// What the comb has from lo to hi.
static Coords finish(const Builder *builder, int64_t lo, int64_t hi) {
    if (builder->size == 0)
        return nothing;
    if (builder->size == builder->period)
        return (Coords){lo, hi, NULL};
    const Comb comb = {.origin = builder->origin,
                       .period = builder->period,
                       .size = builder->size,
                       .count = builder->teeth.count,
                       .teeth = builder->teeth.items};
    return tight((Coords){lo, hi, arena_copy(builder->arena, &comb, sizeof comb)});
}

// The least number that both periods divide; `most` where that is smaller: then nothing repeats.
static int64_t common_period(int64_t a, int64_t b, int64_t most) {
    int64_t x = a, y = b, common;
    while (y != 0) {
        const int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return checked_mul(a / x, b, &common) ? min_i64(common, most) : most;
}

static int64_t period_of(Coords set) {
    return set.comb ? set.comb->period : 1;
}

// Runs that both have, added to `builder` unless that is NULL; how many coordinates they hold.
static int64_t common_runs(Coords a, Coords b, Builder *builder) {
    int64_t count = 0;
    Coords run_a = coords_run(a, a.lo), run_b = coords_run(b, b.lo);
    while (!is_empty(run_a) && !is_empty(run_b)) {
        const int64_t lo = max_i64(run_a.lo, run_b.lo), hi = min_i64(run_a.hi, run_b.hi);
        if (lo < hi)
            count += hi - lo;
        if (builder)
            add_run(builder, lo, hi);
        if (run_a.hi <= run_b.hi)
            run_a = coords_run(a, run_a.hi);
        else
            run_b = coords_run(b, run_b.hi);
    }
    return count;
}

// Whether what they have in common is the part of the one comb that both have, or that one of them has.
static bool has_one_comb(Coords a, Coords b) {
    return !a.comb || !b.comb || comb_equal(a.comb, b.comb);
}

// Whether two combs of one period never meet, as those of different processors. False where that is not seen
// at a glance.
static bool are_apart(const Comb *a, const Comb *b) {
    if (a->period != b->period || a->origin != b->origin)
        return false;
    for (int64_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->teeth[i].hi <= b->teeth[k].lo)
            i++;
        else if (b->teeth[k].hi <= a->teeth[i].lo)
            k++;
        else
            return false;
    }
    return true;
}

Coords coords_intersect(Coords a, Coords b, Arena *arena) {
    const int64_t lo = max_i64(a.lo, b.lo), hi = min_i64(a.hi, b.hi);
    if (lo >= hi)
        return nothing;
    if (has_one_comb(a, b))
        return tight((Coords){lo, hi, a.comb ? a.comb : b.comb});
    if (are_apart(a.comb, b.comb))
        return nothing;
    Builder builder = {.arena = arena, .origin = lo};
    builder.period = common_period(a.comb->period, b.comb->period, hi - lo);
    common_runs((Coords){lo, lo + builder.period, a.comb}, (Coords){lo, lo + builder.period, b.comb},
                &builder);
    return finish(&builder, lo, hi);
}

int64_t coords_common(Coords a, Coords b) {
    const int64_t lo = max_i64(a.lo, b.lo), hi = min_i64(a.hi, b.hi);
    if (lo >= hi)
        return 0;
    if (has_one_comb(a, b))
        return coords_count((Coords){lo, hi, a.comb ? a.comb : b.comb});
    if (are_apart(a.comb, b.comb))
        return 0;
    const int64_t period = common_period(a.comb->period, b.comb->period, hi - lo), times = (hi - lo) / period;
    const int64_t rest = lo + times * period;
    return times * common_runs((Coords){lo, lo + period, a.comb}, (Coords){lo, lo + period, b.comb}, NULL) +
           common_runs((Coords){rest, hi, a.comb}, (Coords){rest, hi, b.comb}, NULL);
}

// a \ b where b ends nowhere within a, so that the difference repeats as both do.
static Coords without(Coords a, const Comb *b, Arena *arena) {
    if (!b || is_empty(a))
        return nothing;
    Builder builder = {.arena = arena, .origin = a.lo};
    builder.period = common_period(period_of(a), b->period, a.hi - a.lo);
    const int64_t end = a.lo + builder.period;
    const Coords from = {a.lo, end, a.comb}, holes = {a.lo, end, b};
    for (Coords run = coords_run(from, a.lo); !is_empty(run); run = coords_run(from, run.hi)) {
        int64_t at = run.lo;
        for (Coords hole = coords_run(holes, at); !is_empty(hole) && hole.lo < run.hi;
             hole = coords_run(holes, at)) {
            add_run(&builder, at, hole.lo);
            at = hole.hi;
        }
        add_run(&builder, at, run.hi);
    }
    return finish(&builder, a.lo, a.hi);
}

int coords_subtract(Coords a, Coords b, Arena *arena, Coords rest[3]) {
    if (is_empty(b) || b.hi <= a.lo || a.hi <= b.lo) {
        rest[0] = a;
        return !is_empty(a);
    }
    int64_t lo = b.lo, hi = b.hi;
    // Where its comb has nothing more, b may as well end with a.
    if (b.comb && number_of(b.comb, min_i64(a.lo, lo)) == number_of(b.comb, lo))
        lo = min_i64(a.lo, lo);
    if (b.comb && number_of(b.comb, max_i64(a.hi, hi)) == number_of(b.comb, hi))
        hi = max_i64(a.hi, hi);
    const Coords parts[] = {coords_clip(a, a.lo, lo), without(coords_clip(a, lo, hi), b.comb, arena),
                            coords_clip(a, hi, a.hi)};
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (!is_empty(parts[i]))
            rest[count++] = parts[i];
    return count;
}

bool coords_contain(Coords outer, Coords inner) {
    return is_empty(inner) || (outer.lo <= inner.lo && outer.hi >= inner.hi &&
                               (!outer.comb || coords_common(outer, inner) == coords_count(inner)));
}

bool coords_equal(Coords a, Coords b) {
    if (a.lo != b.lo || a.hi != b.hi)
        return is_empty(a) && is_empty(b);
    if (comb_equal(a.comb, b.comb))
        return true;
    const int64_t count = coords_count(a);
    return count == coords_count(b) && coords_common(a, b) == count;
}

int coords_compare(Coords a, Coords b) {
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    if (comb_equal(a.comb, b.comb))
        return 0;
    Coords run_a = coords_run(a, a.lo), run_b = coords_run(b, b.lo);
    while (!is_empty(run_a) && run_a.lo == run_b.lo && run_a.hi == run_b.hi) {
        run_a = coords_run(a, run_a.hi);
        run_b = coords_run(b, run_b.hi);
    }
    if (run_a.lo != run_b.lo)
        return run_a.lo < run_b.lo ? -1 : 1;
    return run_a.hi < run_b.hi ? -1 : run_a.hi > run_b.hi;
}

Coords coords_shift(Coords set, int64_t by, Arena *arena) {
    Comb *comb = NULL;
    if (set.comb) {
        comb = arena_copy(arena, set.comb, sizeof *comb);
        comb->origin += by;
    }
    return (Coords){set.lo + by, set.hi + by, comb};
}

Coords coords_scale(Coords set, int64_t block, Arena *arena) {
    const Coords result = {set.lo * block, set.hi * block, NULL};
    if (!set.comb)
        return result;
    Builder builder = {
        .arena = arena, .origin = set.comb->origin * block, .period = set.comb->period * block};
    for (int64_t i = 0; i < set.comb->count; i++)
        add_run(&builder, builder.origin + set.comb->teeth[i].lo * block,
                builder.origin + set.comb->teeth[i].hi * block);
    return finish(&builder, result.lo, result.hi);
}

Coords coords_repeat(Coords set, int64_t block, Coords outer, Arena *arena) {
    if (is_empty(set) || is_empty(outer))
        return nothing;
    Builder builder = {.arena = arena, .period = block};
    add_run(&builder, set.lo, set.hi);
    return finish(&builder, outer.lo * block + set.lo, (outer.hi - 1) * block + set.hi);
}

static int64_t dealt(int64_t position, int64_t block, int64_t size, int64_t which) {
    return (position / block * size + which) * block + position % block;
}

Coords coords_deal(Coords set, int64_t block, int64_t size, int64_t which, Arena *arena) {
    if (is_empty(set))
        return nothing;
    const int64_t lo = dealt(set.lo, block, size, which), hi = dealt(set.hi - 1, block, size, which) + 1;
    // From the start of a block on, as many coordinates as repeat; all of them where nothing does.
    const int64_t start = set.comb ? set.lo / block * block : 0;
    int64_t length = block;
    if (set.comb)
        length = common_period(set.comb->period, block, ceil_div(set.hi - start, block) * block);
    const Coords from = {start, start + length, set.comb};
    Builder builder = {.arena = arena, .origin = start * size, .period = length * size};
    for (Coords run = coords_run(from, start); !is_empty(run); run = coords_run(from, run.hi))
        for (int64_t at = run.lo, end; at < run.hi; at = end) {
            end = min_i64(run.hi, (at / block + 1) * block);
            const int64_t image = dealt(at, block, size, which);
            add_run(&builder, image, image + end - at);
        }
    return finish(&builder, lo, hi);
}
