// SPDX-License-Identifier: BSD-3-Clause
#include "machine/positions.h"

#include "base/integer.h"

static const PositionSet nothing;

static bool is_empty(PositionSet set) {
    return set.lo >= set.hi;
}

// The last segment that starts at or below `offset` of a period, or the first.
static const Segment *segment_by_offset(const Periodic *periodic, int64_t offset) {
    int64_t low = 0, high = periodic->count - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (periodic->segments[middle].lo <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return &periodic->segments[low];
}

static const Segment *segment_by_number(const Periodic *periodic, int64_t number) {
    int64_t low = 0, high = periodic->count - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (periodic->segments[middle].before <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return &periodic->segments[low];
}

// Members are numbered in increasing order; number 0 is the first one at or after the origin. The number of
// the first one at or after x, and the member with a number.
static int64_t number_of(const Periodic *periodic, int64_t x) {
    const int64_t periods = floor_div(x - periodic->origin, periodic->period);
    const int64_t offset = x - periodic->origin - periods * periodic->period;
    const Segment *segment = segment_by_offset(periodic, offset);
    const int64_t inside = max_i64(0, min_i64(offset, segment->hi) - segment->lo);
    return periods * periodic->size + segment->before + inside;
}

static int64_t numbered(const Periodic *periodic, int64_t number) {
    const int64_t periods = floor_div(number, periodic->size), rest = number - periods * periodic->size;
    const Segment *segment = segment_by_number(periodic, rest);
    return periodic->origin + periods * periodic->period + segment->lo + rest - segment->before;
}

bool periodic_equal(const Periodic *a, const Periodic *b) {
    if (a == b)
        return true;
    if (!a || !b || a->period != b->period || a->size != b->size || a->count != b->count ||
        a->origin != b->origin)
        return false;
    for (int64_t i = 0; i < a->count; i++)
        if (a->segments[i].lo != b->segments[i].lo || a->segments[i].hi != b->segments[i].hi)
            return false;
    return true;
}

Periodic *periodic_copy(const Periodic *periodic, Arena *arena) {
    Periodic *copy = arena_copy(arena, periodic, sizeof *periodic);
    copy->segments = arena_copy(arena, periodic->segments, sizeof(Segment) * (size_t)periodic->count);
    return copy;
}

int64_t positions_count(PositionSet set) {
    if (is_empty(set))
        return 0;
    return set.periodic ? number_of(set.periodic, set.hi) - number_of(set.periodic, set.lo) : set.hi - set.lo;
}

int64_t positions_index(PositionSet set, int64_t x) {
    return set.periodic ? number_of(set.periodic, x) - number_of(set.periodic, set.lo) : x - set.lo;
}

int64_t positions_at(PositionSet set, int64_t position) {
    return set.periodic ? numbered(set.periodic, number_of(set.periodic, set.lo) + position)
                        : set.lo + position;
}

// Restricts lo and hi to the first member and behind the last one.
static PositionSet tight(PositionSet set) {
    if (is_empty(set))
        return nothing;
    if (!set.periodic)
        return set;
    const int64_t first = number_of(set.periodic, set.lo), end = number_of(set.periodic, set.hi);
    if (first == end)
        return nothing;
    return (PositionSet){numbered(set.periodic, first), numbered(set.periodic, end - 1) + 1, set.periodic};
}

PositionSet positions_clip(PositionSet set, int64_t lo, int64_t hi) {
    return tight((PositionSet){max_i64(set.lo, lo), min_i64(set.hi, hi), set.periodic});
}

PositionSet positions_slice(PositionSet set, int64_t first, int64_t last) {
    if (first >= last)
        return nothing;
    return (PositionSet){positions_at(set, first), positions_at(set, last - 1) + 1, set.periodic};
}

PositionSet positions_run(PositionSet set, int64_t x) {
    x = max_i64(x, set.lo);
    if (x >= set.hi)
        return nothing;
    if (!set.periodic)
        return (PositionSet){x, set.hi, NULL};
    const int64_t lo = numbered(set.periodic, number_of(set.periodic, x));
    if (lo >= set.hi)
        return nothing;
    // The last segment of a period may continue in the first one of the next.
    int64_t hi = lo;
    for (int64_t next = lo; next == hi && hi < set.hi;
         next = numbered(set.periodic, number_of(set.periodic, hi))) {
        const int64_t offset = floor_mod(next - set.periodic->origin, set.periodic->period);
        hi = next - offset + segment_by_offset(set.periodic, offset)->hi;
    }
    return (PositionSet){lo, min_i64(hi, set.hi), NULL};
}

// A periodic set while its segments are found, in increasing order.
typedef struct {
    Arena *arena;
    int64_t origin, period, size;
    Array(Segment) segments;
} PeriodicBuilder;

static void add_run(PeriodicBuilder *builder, int64_t lo, int64_t hi) {
    if (lo >= hi)
        return;
    lo -= builder->origin;
    hi -= builder->origin;
    if (builder->segments.count > 0 && builder->segments.items[builder->segments.count - 1].hi == lo)
        builder->segments.items[builder->segments.count - 1].hi = hi;
    else
        array_push(builder->arena, builder->segments, (Segment){lo, hi, builder->size});
    builder->size += hi - lo;
}

// The members of the periodic set from lo to hi.
static PositionSet finish(const PeriodicBuilder *builder, int64_t lo, int64_t hi) {
    if (builder->size == 0)
        return nothing;
    if (builder->size == builder->period)
        return (PositionSet){lo, hi, NULL};
    const Periodic periodic = {.origin = builder->origin,
                               .period = builder->period,
                               .size = builder->size,
                               .count = builder->segments.count,
                               .segments = builder->segments.items};
    return tight((PositionSet){lo, hi, arena_copy(builder->arena, &periodic, sizeof periodic)});
}

// The least common multiple of both periods, but at most `most`, beyond which nothing repeats.
static int64_t common_period(int64_t a, int64_t b, int64_t most) {
    int64_t common;
    return checked_mul(a / common_divisor(a, b), b, &common) ? min_i64(common, most) : most;
}

static int64_t period_of(PositionSet set) {
    return set.periodic ? set.periodic->period : 1;
}

// Runs that both have, added to `builder` unless that is NULL; returns the number of their members.
static int64_t common_runs(PositionSet a, PositionSet b, PeriodicBuilder *builder) {
    int64_t count = 0;
    PositionSet run_a = positions_run(a, a.lo), run_b = positions_run(b, b.lo);
    while (!is_empty(run_a) && !is_empty(run_b)) {
        const int64_t lo = max_i64(run_a.lo, run_b.lo), hi = min_i64(run_a.hi, run_b.hi);
        if (lo < hi)
            count += hi - lo;
        if (builder)
            add_run(builder, lo, hi);
        if (run_a.hi <= run_b.hi)
            run_a = positions_run(a, run_a.hi);
        else
            run_b = positions_run(b, run_b.hi);
    }
    return count;
}

// Whether both have the same periodic set, or only one of them has one.
static bool have_one_period_at_most(PositionSet a, PositionSet b) {
    return !a.periodic || !b.periodic || periodic_equal(a.periodic, b.periodic);
}

// Whether two periodic sets of one period are disjoint, as those of different processors. May return false
// for other disjoint sets.
static bool are_apart(const Periodic *a, const Periodic *b) {
    if (a->period != b->period || a->origin != b->origin)
        return false;
    for (int64_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->segments[i].hi <= b->segments[k].lo)
            i++;
        else if (b->segments[k].hi <= a->segments[i].lo)
            k++;
        else
            return false;
    }
    return true;
}

PositionSet positions_intersect(PositionSet a, PositionSet b, Arena *arena) {
    const int64_t lo = max_i64(a.lo, b.lo), hi = min_i64(a.hi, b.hi);
    if (lo >= hi)
        return nothing;
    if (have_one_period_at_most(a, b))
        return tight((PositionSet){lo, hi, a.periodic ? a.periodic : b.periodic});
    if (are_apart(a.periodic, b.periodic))
        return nothing;
    PeriodicBuilder builder = {.arena = arena, .origin = lo};
    builder.period = common_period(a.periodic->period, b.periodic->period, hi - lo);
    common_runs((PositionSet){lo, lo + builder.period, a.periodic},
                (PositionSet){lo, lo + builder.period, b.periodic}, &builder);
    return finish(&builder, lo, hi);
}

int64_t positions_common(PositionSet a, PositionSet b) {
    const int64_t lo = max_i64(a.lo, b.lo), hi = min_i64(a.hi, b.hi);
    if (lo >= hi)
        return 0;
    if (have_one_period_at_most(a, b))
        return positions_count((PositionSet){lo, hi, a.periodic ? a.periodic : b.periodic});
    if (are_apart(a.periodic, b.periodic))
        return 0;
    const int64_t period = common_period(a.periodic->period, b.periodic->period, hi - lo),
                  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): periods are positive
        times = (hi - lo) / period;
    const int64_t rest = lo + times * period;
    return times * common_runs((PositionSet){lo, lo + period, a.periodic},
                               (PositionSet){lo, lo + period, b.periodic}, NULL) +
           common_runs((PositionSet){rest, hi, a.periodic}, (PositionSet){rest, hi, b.periodic}, NULL);
}

// a \ b where b does not end within a, so that the difference is periodic as well.
static PositionSet without(PositionSet a, const Periodic *b, Arena *arena) {
    if (!b || is_empty(a))
        return nothing;
    PeriodicBuilder builder = {.arena = arena, .origin = a.lo};
    builder.period = common_period(period_of(a), b->period, a.hi - a.lo);
    const int64_t end = a.lo + builder.period;
    const PositionSet from = {a.lo, end, a.periodic}, holes = {a.lo, end, b};
    for (PositionSet run = positions_run(from, a.lo); !is_empty(run); run = positions_run(from, run.hi)) {
        int64_t at = run.lo;
        for (PositionSet hole = positions_run(holes, at); !is_empty(hole) && hole.lo < run.hi;
             hole = positions_run(holes, at)) {
            add_run(&builder, at, hole.lo);
            at = hole.hi;
        }
        add_run(&builder, at, run.hi);
    }
    return finish(&builder, a.lo, a.hi);
}

int positions_subtract(PositionSet a, PositionSet b, Arena *arena, PositionSet rest[3]) {
    if (is_empty(b) || b.hi <= a.lo || a.hi <= b.lo) {
        rest[0] = a;
        return !is_empty(a);
    }
    int64_t lo = b.lo, hi = b.hi;
    // If its periodic set has no more members in a, b can be treated as if it ended with a.
    if (b.periodic && number_of(b.periodic, min_i64(a.lo, lo)) == number_of(b.periodic, lo))
        lo = min_i64(a.lo, lo);
    if (b.periodic && number_of(b.periodic, max_i64(a.hi, hi)) == number_of(b.periodic, hi))
        hi = max_i64(a.hi, hi);
    const PositionSet parts[] = {positions_clip(a, a.lo, lo),
                                 without(positions_clip(a, lo, hi), b.periodic, arena),
                                 positions_clip(a, hi, a.hi)};
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (!is_empty(parts[i]))
            rest[count++] = parts[i];
    return count;
}

bool positions_contain(PositionSet outer, PositionSet inner) {
    return is_empty(inner) || (outer.lo <= inner.lo && outer.hi >= inner.hi &&
                               (!outer.periodic || positions_common(outer, inner) == positions_count(inner)));
}

bool positions_equal(PositionSet a, PositionSet b) {
    if (a.lo != b.lo || a.hi != b.hi)
        return is_empty(a) && is_empty(b);
    if (periodic_equal(a.periodic, b.periodic))
        return true;
    const int64_t count = positions_count(a);
    return count == positions_count(b) && positions_common(a, b) == count;
}

int positions_compare(PositionSet a, PositionSet b) {
    if (a.lo != b.lo)
        return a.lo < b.lo ? -1 : 1;
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    if (periodic_equal(a.periodic, b.periodic))
        return 0;
    PositionSet run_a = positions_run(a, a.lo), run_b = positions_run(b, b.lo);
    while (!is_empty(run_a) && run_a.lo == run_b.lo && run_a.hi == run_b.hi) {
        run_a = positions_run(a, run_a.hi);
        run_b = positions_run(b, run_b.hi);
    }
    if (run_a.lo != run_b.lo)
        return run_a.lo < run_b.lo ? -1 : 1;
    return run_a.hi < run_b.hi ? -1 : run_a.hi > run_b.hi;
}

PositionSet positions_every(PositionSet interval, int64_t period, Arena *arena) {
    if (is_empty(interval))
        return nothing;
    if (interval.hi - interval.lo <= period)
        return (PositionSet){interval.lo, interval.lo + 1, NULL};
    PeriodicBuilder builder = {.arena = arena, .origin = interval.lo, .period = period};
    add_run(&builder, interval.lo, interval.lo + 1);
    return finish(&builder, interval.lo, interval.hi);
}

PositionSet positions_shift(PositionSet set, int64_t by, Arena *arena) {
    Periodic *periodic = NULL;
    if (set.periodic) {
        periodic = arena_copy(arena, set.periodic, sizeof *periodic);
        periodic->origin += by;
    }
    return (PositionSet){set.lo + by, set.hi + by, periodic};
}

PositionSet positions_reflect(PositionSet set, int64_t from, Arena *arena) {
    Periodic *periodic = NULL;
    if (set.periodic) {
        const Periodic *of = set.periodic;
        Segment *segments = arena_array(arena, Segment, of->count);
        int64_t before = 0;
        for (int64_t s = 0; s < of->count; s++) {
            const Segment *segment = &of->segments[of->count - 1 - s];
            segments[s] = (Segment){of->period - segment->hi, of->period - segment->lo, before};
            before += segment->hi - segment->lo;
        }
        periodic = arena_copy(arena, of, sizeof *of);
        periodic->origin = from - of->origin - (of->period - 1);
        periodic->segments = segments;
    }
    return (PositionSet){from - set.hi + 1, from - set.lo + 1, periodic};
}

PositionSet positions_blocks(PositionSet outer, int64_t block, PositionSet inner, Arena *arena) {
    if (is_empty(outer) || is_empty(inner))
        return nothing;
    if (outer.hi - outer.lo == 1)
        return positions_shift(inner, outer.lo * block, arena);
    const int64_t lo = outer.lo * block + inner.lo, hi = (outer.hi - 1) * block + inner.hi;
    const bool whole = !inner.periodic && inner.hi - inner.lo == block;
    const int64_t origin = outer.periodic ? outer.periodic->origin : 0;
    const PositionSet from = {origin, origin + period_of(outer), outer.periodic};
    PeriodicBuilder builder = {.arena = arena, .origin = origin * block, .period = period_of(outer) * block};
    for (PositionSet run = positions_run(from, origin); !is_empty(run); run = positions_run(from, run.hi)) {
        if (whole)
            add_run(&builder, run.lo * block, run.hi * block);
        for (int64_t x = run.lo; x < run.hi && !whole; x++)
            for (PositionSet part = positions_run(inner, inner.lo); !is_empty(part);
                 part = positions_run(inner, part.hi))
                add_run(&builder, x * block + part.lo, x * block + part.hi);
    }
    return finish(&builder, lo, hi);
}

// A set of rows, with the columns that the set has in the first of them.
static void add_rows(PositionSet set, int64_t width, PositionSet rows, Arena *arena, RowsArray *result) {
    const PositionSet first = positions_clip(set, rows.lo * width, (rows.lo + 1) * width);
    const PositionSet run = positions_run(first, first.lo);
    if (!is_empty(first))
        array_push(arena, *result,
                   (Rows){rows, positions_shift(run.hi == first.hi ? run : first, -rows.lo * width, arena)});
}

// A partial first row, whole rows of which every `period`th has the same columns, and a partial last row.
static void add_all_rows(PositionSet set, int64_t width, int64_t period, Arena *arena, RowsArray *result) {
    const int64_t lo = ceil_div(set.lo, width), hi = set.hi / width;
    if (set.lo < lo * width)
        add_rows(set, width, (PositionSet){lo - 1, lo, NULL}, arena, result);
    for (int64_t row = lo; row < min_i64(hi, lo + period); row++)
        add_rows(set, width, positions_every((PositionSet){row, hi, NULL}, period, arena), arena, result);
    if (lo <= hi && set.hi > hi * width)
        add_rows(set, width, (PositionSet){hi, hi + 1, NULL}, arena, result);
}

void positions_rows(PositionSet set, int64_t width, Arena *arena, RowsArray *result) {
    if (is_empty(set))
        return;
    // Rows repeat with the common period; where there are fewer runs than different rows, run by run.
    const int64_t period = period_of(set) / common_divisor(period_of(set), width);
    const int64_t runs = set.periodic ? (set.hi - set.lo) / period_of(set) * set.periodic->count : 1;
    if (!set.periodic || min_i64((set.hi - set.lo) / width, period) <= runs) {
        add_all_rows(set, width, period, arena, result);
        return;
    }
    for (PositionSet run = positions_run(set, set.lo); !is_empty(run); run = positions_run(set, run.hi))
        add_all_rows(run, width, 1, arena, result);
}

static int64_t cyclic_image(int64_t position, int64_t block, int64_t size, int64_t which) {
    return (position / block * size + which) * block + position % block;
}

PositionSet positions_cyclic(PositionSet set, int64_t block, int64_t size, int64_t which, Arena *arena) {
    if (is_empty(set))
        return nothing;
    const int64_t lo = cyclic_image(set.lo, block, size, which),
                  hi = cyclic_image(set.hi - 1, block, size, which) + 1;
    // One period of coordinates from the start of a block on; all coordinates if there is no period.
    const int64_t start = set.periodic ? set.lo / block * block : 0;
    int64_t length = block;
    if (set.periodic)
        length = common_period(set.periodic->period, block, ceil_div(set.hi - start, block) * block);
    const PositionSet from = {start, start + length, set.periodic};
    PeriodicBuilder builder = {.arena = arena, .origin = start * size, .period = length * size};
    for (PositionSet run = positions_run(from, start); !is_empty(run); run = positions_run(from, run.hi))
        for (int64_t at = run.lo, end; at < run.hi; at = end) {
            end = min_i64(run.hi, (at / block + 1) * block);
            const int64_t image = cyclic_image(at, block, size, which);
            add_run(&builder, image, image + end - at);
        }
    return finish(&builder, lo, hi);
}
