// SPDX-License-Identifier: BSD-3-Clause
// Figures of a transfer in a loop that coordinates of processors rotate (rotation.h). The classes of a place
// use the same footprints in cyclic order, so what a footprint costs a class that owns nothing of it is
// counted once, and added up over all turns; owners get the difference. Classes of equal places are counted
// once as well.
//
// A footprint comes from a rank that used it in the step before, where there is one (a shift), but for the
// first turn of a rank, which depends on its offset; or else from homes.
#include "base/integer.h"
#include "plan/indexed.h"
#include "plan/neighbours.h"
#include "plan/ranks.h"
#include "plan/rotation.h"
#include "plan/transfer_figures.h"

#include <stdlib.h>
#include <string.h>

// What one footprint of the current place costs a rank that has nothing of it at home.
typedef struct {
    bool used; // it is not empty
    int64_t volume;
    Cost shift, home;
} Turn;

// A rank that has part of a footprint at home, and how that changes its cost.
typedef struct {
    int64_t offset_class; // of the rank
    int64_t rank;
    int64_t turn;           // index of Turn
    Cost more;              // of a shift
    bool in_place, nothing; // nothing: is shifted
} Owner;

// Coordinates in the dimensions that only rotate the loop.
typedef struct {
    int64_t coordinates[MAX_MACHINE_ORDER];
    int64_t offset;
    int64_t distance; // of ranks from the one with coordinates 0
    bool shifts;      // what it uses was used by another one in the step before
    int64_t source;   // index of that one in `by_offset`
} OffsetClass;

typedef struct {
    int64_t place, offset, distance;
} Place;

typedef struct {
    TransferFigurer *figurer; // of the transfer
    TransferFigurer own;      // of the members of one class, zeros elsewhere
    Rotation rotation;
    int64_t others; // iterations of the other loops: a turn is at index turn * others + iteration of these
    Place *places;  // those with the same sample follow each other, by offset
    OffsetClass *classes;
    int64_t class_count;
    int64_t *by_offset; // classes by offset, then distance
    int64_t *fetching;  // those that do not shift
    int64_t fetching_count;
    int64_t *owns; // by class: the last turn, plus one, of which it has part at home
    Turn *turns;
    int64_t turn_count;
    Array(Owner) owners; // of footprints of the current place, by class, rank, turn
    uint64_t *known;     // hashes of footprints, open addressing; 0: free
    int64_t known_count, known_slots;
    Arena *arena, *place_arena, *scratch;
} Counting;

static uint64_t *find_hash(const Counting *counting, uint64_t hash) {
    uint64_t at = (hash * 0x9e3779b97f4a7c15u >> 16) & (uint64_t)(counting->known_slots - 1);
    while (counting->known[at] && counting->known[at] != hash)
        at = (at + 1) & (uint64_t)(counting->known_slots - 1);
    return &counting->known[at];
}

// False where a footprint with this hash is known already.
static bool add_hash(Counting *counting, uint64_t hash) {
    hash += hash == 0;
    if (2 * counting->known_count >= counting->known_slots) {
        const uint64_t *before = counting->known;
        const int64_t count = counting->known_slots;
        counting->known_slots = count ? 2 * count : 1024;
        counting->known = arena_array(counting->arena, uint64_t, counting->known_slots);
        for (int64_t i = 0; i < count; i++)
            if (before[i])
                *find_hash(counting, before[i]) = before[i];
    }
    uint64_t *slot = find_hash(counting, hash);
    if (*slot)
        return false;
    *slot = hash;
    counting->known_count++;
    return true;
}

static int64_t stride_of(const Grid *grid, int dim) {
    int64_t stride = 1;
    for (int d = dim + 1; d < grid->order; d++)
        stride *= grid->extents[d];
    return stride;
}

// How far the ranks of these coordinates in dimensions of one kind are from those with coordinates 0.
static int64_t distance_of(const Rotation *rotation, const int64_t *coordinates, RotationDim of) {
    const Grid *grid = &rotation->footprints->grid;
    int64_t distance = 0;
    for (int d = 0; d < grid->order; d++)
        if (rotation->dims[d] == of)
            distance += coordinates[d] * stride_of(grid, d);
    return distance;
}

static int compare_places(const void *left, const void *right) {
    const Place *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->distance < b->distance ? -1 : a->distance > b->distance;
}

static void list_places(Counting *counting) {
    const Rotation *rotation = &counting->rotation;
    counting->places = arena_array(counting->arena, Place, rotation->place_count);
    for (int64_t place = 0; place < rotation->place_count; place++) {
        int64_t coordinates[MAX_MACHINE_ORDER] = {0};
        rotation_set_place(rotation, place, coordinates);
        counting->places[place] =
            (Place){rotation->sample[place], rotation_offset(rotation, coordinates, DIM_PLACE),
                    distance_of(rotation, coordinates, DIM_PLACE)};
    }
    qsort(counting->places, (size_t)rotation->place_count, sizeof(Place), compare_places);
}

// Those that have iterations.
static void list_classes(Counting *counting) {
    const Rotation *rotation = &counting->rotation;
    const Grid *grid = &rotation->footprints->grid;
    int64_t count = 1, coordinates[MAX_MACHINE_ORDER] = {0};
    for (int d = 0; d < grid->order; d++)
        count *= rotation->dims[d] == DIM_OFFSET ? grid->extents[d] : 1;
    counting->classes = arena_array(counting->arena, OffsetClass, count);
    for (int64_t i = 0; i < count; i++) {
        arena_reset(counting->scratch);
        if (rotation_exists(rotation, coordinates, counting->scratch)) {
            OffsetClass *class = &counting->classes[counting->class_count++];
            memcpy(class->coordinates, coordinates, sizeof coordinates);
            class->offset = rotation_offset(rotation, coordinates, DIM_OFFSET);
            class->distance = distance_of(rotation, coordinates, DIM_OFFSET);
        }
        for (int d = grid->order - 1; d >= 0; d--) {
            if (rotation->dims[d] != DIM_OFFSET)
                continue;
            if (++coordinates[d] < grid->extents[d])
                break;
            coordinates[d] = 0;
        }
    }
}

// The first index of `by_offset` whose class has at least this offset and distance.
static int64_t first_class(const Counting *counting, int64_t offset, int64_t distance) {
    int64_t lo = 0, hi = counting->class_count;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        const OffsetClass *class = &counting->classes[counting->by_offset[middle]];
        if (class->offset < offset || (class->offset == offset && class->distance < distance))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// Puts classes, which are in order of distance, in order of offset as well.
static void sort_by_offset(Counting *counting) {
    const int64_t turns = counting->rotation.turns;
    int64_t *start = arena_array(counting->scratch, int64_t, turns + 1);
    counting->by_offset = arena_array(counting->arena, int64_t, counting->class_count);
    for (int64_t i = 0; i < counting->class_count; i++)
        start[counting->classes[i].offset + 1]++;
    for (int64_t t = 0; t < turns; t++)
        start[t + 1] += start[t];
    for (int64_t i = 0; i < counting->class_count; i++)
        counting->by_offset[start[counting->classes[i].offset]++] = i;
}

// Of the classes with an offset, as an index of `by_offset`, that whose ranks are nearest to those of a
// class, as reuse_of says: those that share most levels of the machine, and of these the next one, or else
// the first; -1: there is none.
static int64_t nearest_class(const Counting *counting, const OffsetClass *class, int64_t offset) {
    const Rotation *rotation = &counting->rotation;
    const Grid *grid = &rotation->footprints->grid;
    const Spmd *spmd = counting->figurer->planner.plan->spmd;
    const Machine *machine = spmd->dim_count > 0 ? spmd->dims[0].machine : NULL;
    for (int level = machine ? machine->level_count - 1 : 0; level >= 0; level--) {
        // Classes with the same coordinates in the levels before this one follow each other.
        const int dims = level > 0 ? machine->levels[level].first : 0;
        int64_t base = 0, stride = 1;
        for (int d = 0; d < dims; d++)
            base += rotation->dims[d] == DIM_OFFSET ? class->coordinates[d] * stride_of(grid, d) : 0;
        for (int d = dims; d < grid->order; d++)
            stride *= grid->extents[d];
        const int64_t first = first_class(counting, offset, base),
                      last = first_class(counting, offset, base + stride),
                      next = first_class(counting, offset, class->distance + 1);
        if (first < last)
            return next < last ? next : first;
    }
    return -1;
}

// A rank at offset x uses in a step what those at x + 1 used in the step before.
static void find_sources(Counting *counting) {
    const Planner *planner = &counting->figurer->planner;
    const bool shifts = counting->rotation.inner == 1 && planner_uses(planner, OPERATION_SHIFT);
    sort_by_offset(counting);
    counting->owns = arena_array(counting->arena, int64_t, counting->class_count);
    counting->fetching = arena_array(counting->arena, int64_t, counting->class_count);
    for (int64_t i = 0; i < counting->class_count; i++) {
        OffsetClass *class = &counting->classes[i];
        const int64_t offset = (class->offset + 1) % counting->rotation.turns;
        class->source = shifts ? nearest_class(counting, class, offset) : -1;
        class->shifts = class->source >= 0;
        if (!class->shifts)
            counting->fetching[counting->fetching_count++] = i;
    }
}

// A class of a place, with its members; false where it has none.
static bool find_class(Counting *counting, int64_t place, const OffsetClass *of, FigureClass *class) {
    const Rotation *rotation = &counting->rotation;
    const Footprints *footprints = rotation->footprints;
    Worker worker = {0};
    rotation_set_place(rotation, place, worker.coordinates);
    for (int d = 0; d < footprints->grid.order; d++) {
        if (rotation->dims[d] == DIM_OFFSET)
            worker.coordinates[d] = of->coordinates[d];
        if (footprints->vars[d] < 0)
            worker.coordinates[d] = footprints->fixed[d];
        if (worker.coordinates[d] < 0 || worker.coordinates[d] >= footprints->grid.extents[d])
            return false;
    }
    worker_locate(footprints, &worker);
    *class = (FigureClass){.key = worker.class_key, .worker = worker, .in_place = -1};
    class->ranks = existing_ranks(&counting->figurer->planner, &worker, 0, counting->place_arena);
    return class->ranks.count > 0;
}

static void find_turn(Counting *counting, const FigureClass *class, int64_t turn, Footprint *footprint) {
    const Rotation *rotation = &counting->rotation;
    const int64_t other = turn % counting->others;
    const int64_t offset = (rotation_offset(rotation, class->worker.coordinates, DIM_PLACE) +
                            rotation_offset(rotation, class->worker.coordinates, DIM_OFFSET)) %
                           rotation->turns;
    counting->own.step = rotation_iteration(rotation, other / rotation->inner, turn / counting->others,
                                            other % rotation->inner, offset);
    arena_reset(counting->own.class_arena);
    arena_reset(counting->own.planner.arena);
    arena_reset(counting->own.planner.scratch);
    footprint_find(rotation->footprints, class->worker.coordinates, counting->own.step,
                   counting->own.class_arena, footprint);
}

// Adds what the class gets from homes to its shared cost, and for its owners to the sums.
static void count_homes(Counting *counting, FigureClass *class, const Footprint *footprint) {
    fetch_figures(&counting->own, class, footprint, &(Reuse){.step = counting->own.step}, true);
}

static void clear_sums(Counting *counting, const FigureClass *class) {
    Sums *sums = &counting->own.sums;
    for (int64_t i = 0; i < class->ranks.count; i++) {
        const int64_t rank = class->ranks.items[i];
        sums->elements[rank] = sums->messages[rank] = sums->scratch[rank] = 0;
        counting->own.scratch_step[rank] = 0;
    }
}

// The ranks of the current place that have part of a footprint at home; and the index of the class of each.
static void add_owners(Counting *counting, int64_t place, int64_t turn, const Footprint *footprint) {
    const Rotation *rotation = &counting->rotation;
    Planner *planner = &counting->own.planner;
    const HoldingArray parts = holdings_of(planner, &footprint->region, 0, false, counting->own.class_arena);
    for (int64_t i = 0; i < parts.count; i++) {
        Worker worker;
        const int64_t rank = parts.items[i].rank;
        if (!footprints_worker(rotation->footprints, rank, 0, &worker) ||
            rotation_place(rotation, worker.coordinates) != place ||
            !footprint_exists(rotation->footprints, worker.coordinates, 0, counting->own.planner.scratch))
            continue;
        const int64_t distance = distance_of(rotation, worker.coordinates, DIM_OFFSET);
        const int64_t at =
            first_class(counting, rotation_offset(rotation, worker.coordinates, DIM_OFFSET), distance);
        if (at >= counting->class_count || counting->classes[counting->by_offset[at]].distance != distance)
            continue;
        const int64_t class = counting->by_offset[at];
        counting->owns[class] = turn + 1;
        array_push(counting->place_arena, counting->owners, (Owner){class, rank, turn, {0}, false, false});
    }
}

// A class that does not shift and owns nothing of the footprint; -1: there is none.
static int64_t class_without(const Counting *counting, int64_t turn) {
    for (int64_t i = 0; i < counting->fetching_count; i++)
        if (counting->owns[counting->fetching[i]] != turn + 1)
            return counting->fetching[i];
    return -1;
}

static int compare_owners(const void *left, const void *right) {
    const Owner *a = left, *b = right;
    if (a->offset_class != b->offset_class)
        return a->offset_class < b->offset_class ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->turn < b->turn ? -1 : a->turn > b->turn;
}

// How the cost of a shift differs for an owner.
static void count_owner(Counting *counting, const FigureClass *class, Owner *owner) {
    Planner *planner = &counting->own.planner;
    Footprint footprint;
    find_turn(counting, class, owner->turn, &footprint);
    const Region pieces = planner_pieces(planner, owner->rank);
    owner->in_place = planner_piece(planner, &pieces, &footprint) >= 0;
    const Situation shift = situation_of_shift(planner, counting->own.step, &footprint, owner->rank, -1);
    const Cost other = counting->turns[owner->turn].shift;
    owner->more = (Cost){shift.elements - other.elements, shift.part_count - other.messages};
    owner->nothing = shift.part_count == 0;
}

// What the footprints of a place cost a class that owns nothing of them, and their owners. False where two of
// them are the same, or scratch memory depends on them.
static bool count_turns(Counting *counting, int64_t place) {
    FigureClass class, without;
    int64_t of = -1;
    memset(&counting->owners, 0, sizeof counting->owners);
    memset(counting->owns, 0, sizeof *counting->owns * (size_t)counting->class_count);
    memset(counting->turns, 0, sizeof *counting->turns * (size_t)counting->turn_count);
    if (counting->class_count == 0 || !find_class(counting, place, &counting->classes[0], &class))
        return true;
    for (int64_t t = 0; t < counting->turn_count; t++) {
        Turn *turn = &counting->turns[t];
        Footprint footprint;
        find_turn(counting, &class, t, &footprint);
        if (footprint.region.rects.count == 0)
            continue;
        if (!add_hash(counting, footprint.hash))
            return false;
        HoldingArray parts = {0};
        for (int64_t i = 0; i < footprint.region.rects.count; i++)
            holding_cut(&counting->own.planner, &(Holding){.rect = footprint.region.rects.items[i]},
                        counting->own.class_arena, &parts);
        *turn = (Turn){.used = true,
                       .volume = footprint.volume,
                       .shift = {region_volume(&footprint.region), parts.count}};
        if (turn->shift.elements > INT64_MAX / 4 / counting->turn_count)
            return false;
        add_owners(counting, place, t, &footprint);
        const int64_t other = class_without(counting, t);
        if (other < 0)
            continue;
        if (other != of && !find_class(counting, place, &counting->classes[other], &without))
            return false;
        of = other;
        without.shared = (Cost){0};
        count_homes(counting, &without, &footprint);
        turn->home = without.shared;
        if (without.ranks.count == 1) { // which is counted alone
            const int64_t rank = without.ranks.items[0];
            turn->home.elements += counting->own.sums.elements[rank];
            turn->home.messages += counting->own.sums.messages[rank];
        }
        for (int64_t i = 0; i < without.ranks.count; i++)
            if (counting->own.sums.scratch[without.ranks.items[i]])
                return false;
        clear_sums(counting, &without);
    }
    if (counting->owners.count > 1)
        qsort(counting->owners.items, (size_t)counting->owners.count, sizeof(Owner), compare_owners);
    int64_t kept = 0;
    for (int64_t i = 0; i < counting->owners.count; i++)
        if (kept == 0 || compare_owners(&counting->owners.items[kept - 1], &counting->owners.items[i]) != 0)
            counting->owners.items[kept++] = counting->owners.items[i];
    counting->owners.count = kept;
    return true;
}

static Cost cost_add(Cost a, Cost b) {
    return (Cost){a.elements + b.elements, a.messages + b.messages};
}

static Cost cost_subtract(Cost a, Cost b) {
    return (Cost){a.elements - b.elements, a.messages - b.messages};
}

// The largest view that is not in place with these owners, those of one rank.
static int64_t largest_view(const Counting *counting, const Owner *owners, int64_t count) {
    int64_t largest = 0;
    for (int64_t t = 0, k = 0; t < counting->turn_count; t++) {
        while (k < count && owners[k].turn < t)
            k++;
        if (!(k < count && owners[k].turn == t && owners[k].in_place))
            largest = max_i64(largest, counting->turns[t].volume);
    }
    return largest;
}

// The first of owners, by turn, with at least this turn.
static int64_t first_owner(const Owner *owners, int64_t count, int64_t turn) {
    int64_t lo = 0, hi = count;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (owners[middle].turn < turn)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// Owners of one rank, and what they add to its shifts.
typedef struct {
    const Owner *owners;
    int64_t count, largest;
    Cost more;
    int64_t nothing; // turns in which nothing is shifted
} Member;

typedef struct {
    Cost shift, home;
    int64_t used;
    int64_t largest, largest_count;
} Total;

static Total add_turns(const Turn *turns, int64_t count) {
    Total total = {.largest = 0};
    for (int64_t t = 0; t < count; t++) {
        if (!turns[t].used)
            continue;
        total.shift = cost_add(total.shift, turns[t].shift);
        total.home = cost_add(total.home, turns[t].home);
        total.used++;
        if (turns[t].volume > total.largest) {
            total.largest = turns[t].volume;
            total.largest_count = 0;
        }
        total.largest_count += turns[t].volume == total.largest;
    }
    return total;
}

static Member find_member(const Counting *counting, const Total *total, const Owner *owners, int64_t count) {
    Member member = {owners, count, total->largest, {0}, 0};
    int64_t largest_in_place = 0;
    for (int64_t k = 0; k < count; k++) {
        member.more = cost_add(member.more, owners[k].more);
        member.nothing += owners[k].nothing;
        largest_in_place += owners[k].in_place && counting->turns[owners[k].turn].volume == total->largest;
    }
    if (largest_in_place == total->largest_count)
        member.largest = largest_view(counting, owners, count);
    return member;
}

// Adds what member `index` of the class costs in all steps to its ranks, of the places from `first` on.
static void add_to_ranks(Counting *counting, const OffsetClass *of, const FigureClass *class, int64_t index,
                         const Place *first, const Place *last, Cost cost, const Member *member,
                         bool passes_on) {
    Sums *sums = &counting->figurer->sums;
    const int64_t sample = class->ranks.items[index];
    const int64_t base = distance_of(&counting->rotation, class->worker.coordinates, DIM_PLACE);
    const int64_t source =
        of->shifts ? counting->classes[counting->by_offset[of->source]].distance - of->distance : 0;
    for (const Place *place = first; place < last; place++) {
        const int64_t rank = sample + place->distance - base;
        sums->elements[rank] = saturated_add(sums->elements[rank], cost.elements);
        sums->messages[rank] += cost.messages;
        sums->buffer[rank] = max_i64(sums->buffer[rank], member->largest);
        sums->scratch[rank] = max_i64(sums->scratch[rank], counting->own.sums.scratch[sample]);
        if (passes_on)
            sums->passes_on[rank + source] = 1;
    }
}

static Cost own_cost(const Counting *counting, const FigureClass *class, int64_t index) {
    const int64_t rank = class->ranks.items[index];
    return (Cost){saturated_add(class->shared.elements, counting->own.sums.elements[rank]),
                  class->shared.messages + counting->own.sums.messages[rank]};
}

// A class that gets all footprints from homes.
static void count_fetching(Counting *counting, const OffsetClass *of, FigureClass *class, const Total *total,
                           const Member *members, const Place *first, const Place *last) {
    Array(int64_t) owned = {0};
    class->shared = total->home;
    for (int64_t i = 0; i < class->ranks.count; i++)
        for (int64_t k = 0; k < members[i].count; k++)
            array_push(counting->place_arena, owned, members[i].owners[k].turn);
    ranks_sort(owned.items, owned.count);
    owned.count = owned.items ? ranks_unique(owned.items, owned.count) : 0;
    for (int64_t k = 0; k < owned.count; k++) {
        Footprint footprint;
        class->shared = cost_subtract(class->shared, counting->turns[owned.items[k]].home);
        find_turn(counting, class, owned.items[k], &footprint);
        count_homes(counting, class, &footprint);
    }
    for (int64_t i = 0; i < class->ranks.count; i++)
        add_to_ranks(counting, of, class, i, first, last, own_cost(counting, class, i), &members[i], false);
    clear_sums(counting, class);
}

// A class that gets its first turns from homes, and the others from ranks that have used them. The places
// have the same offset, and so the same first turns.
static void count_shifting(Counting *counting, const OffsetClass *of, FigureClass *class, const Total *total,
                           const Member *members, const Place *first, const Place *last) {
    const int64_t turn = (first->offset + of->offset) % counting->rotation.turns * counting->others;
    Cost shift = total->shift;
    int64_t used = total->used;
    class->shared = (Cost){0};
    for (int64_t t = turn; t < turn + counting->others; t++) {
        Footprint footprint;
        if (!counting->turns[t].used)
            continue;
        shift = cost_subtract(shift, counting->turns[t].shift);
        used--;
        find_turn(counting, class, t, &footprint);
        count_homes(counting, class, &footprint);
    }
    for (int64_t i = 0; i < class->ranks.count; i++) {
        const Member *member = &members[i];
        Cost own = cost_add(shift, member->more);
        int64_t shifted = used - member->nothing;
        for (int64_t k = first_owner(member->owners, member->count, turn);
             k < member->count && member->owners[k].turn < turn + counting->others; k++) {
            own = cost_subtract(own, member->owners[k].more);
            shifted += member->owners[k].nothing;
        }
        if (shifted > 0 && counting->figurer->pattern < OPERATION_SHIFT)
            counting->figurer->pattern = OPERATION_SHIFT;
        add_to_ranks(counting, of, class, i, first, last, cost_add(own, own_cost(counting, class, i)), member,
                     shifted > 0);
    }
    clear_sums(counting, class);
}

// The places from `first` on have one sample.
static bool count_places(Counting *counting, const Place *first, const Place *last) {
    arena_reset(counting->place_arena);
    if (!count_turns(counting, first->place))
        return false;
    const Total total = add_turns(counting->turns, counting->turn_count);
    int64_t next = 0; // of the owners
    if (total.used == 0)
        return true;
    for (int64_t c = 0; c < counting->class_count; c++) {
        const OffsetClass *of = &counting->classes[c];
        FigureClass class;
        if (!find_class(counting, first->place, of, &class))
            continue;
        Member *members = arena_array(counting->place_arena, Member, class.ranks.count);
        for (int64_t i = 0; i < class.ranks.count; i++) {
            const int64_t begin = next;
            for (; next < counting->owners.count && counting->owners.items[next].offset_class == c &&
                   counting->owners.items[next].rank == class.ranks.items[i];
                 next++)
                count_owner(counting, &class, &counting->owners.items[next]);
            members[i] = find_member(counting, &total, counting->owners.items + begin, next - begin);
        }
        if (!of->shifts) {
            count_fetching(counting, of, &class, &total, members, first, last);
            continue;
        }
        for (const Place *begin = first, *end; begin < last; begin = end) {
            for (end = begin; end < last && end->offset == begin->offset; end++)
                ;
            count_shifting(counting, of, &class, &total, members, begin, end);
        }
    }
    return true;
}

static bool count_samples(Counting *counting) {
    const int64_t count = counting->rotation.place_count;
    bool fine = true;
    for (int64_t first = 0, end; first < count && fine; first = end) {
        for (end = first; end < count && counting->places[end].place == counting->places[first].place; end++)
            ;
        fine = count_places(counting, counting->places + first, counting->places + end);
    }
    return fine;
}

static void clear_all(TransferFigurer *figurer) {
    const size_t ranks = (size_t)figurer->planner.footprints->ranks;
    memset(figurer->sums.elements, 0, ranks * sizeof(int64_t));
    memset(figurer->sums.messages, 0, ranks * sizeof(int64_t));
    memset(figurer->sums.buffer, 0, ranks * sizeof(int64_t));
    memset(figurer->sums.scratch, 0, ranks * sizeof(int64_t));
    memset(figurer->sums.passes_on, 0, ranks);
    figurer->pattern = OPERATION_LOCAL;
}

// What needs no look at footprints.
static bool is_rotated(const StatementPlan *plan, int transfer, Arena *arena, Rotation *rotation) {
    const Transfer *of = &plan->spmd->transfers[transfer];
    const Home *home = &plan->homes[of->access->tensor->id];
    return home->known && !neighbours_read(plan, transfer) && of->copy_limit == 0 &&
           rotation_find(plan->footprints[transfer], home, arena, rotation);
}

int64_t transfer_work(const StatementPlan *plan, int transfer) {
    const Footprints *footprints = plan->footprints[transfer];
    const int64_t work = saturated_mul(footprints->steps, min_i64(footprints->class_keys, footprints->ranks));
    Arena *scratch = arena_create_within(plan->arena);
    Rotation rotation;
    // Where boxes are exact, no two turns have the same footprint. With entries, each rank is looked at.
    const bool rotated = work > plan->options.work_limit && footprints->exact &&
                         !tensor_is_sparse(footprints->access.tensor) &&
                         transfer_indexed_by(plan, transfer) < 0 &&
                         is_rotated(plan, transfer, scratch, &rotation);
    arena_free(scratch);
    return rotated ? saturated_mul(footprints->iterations, rotation.sample_count) : work;
}

bool rotated_figures(TransferFigurer *figurer, Arena *arena) {
    const Planner *planner = &figurer->planner;
    const int64_t ranks = planner->footprints->ranks;
    Counting counting = {.figurer = figurer,
                         .own = *figurer,
                         .arena = arena_create_within(arena),
                         .place_arena = arena_create_within(arena),
                         .scratch = arena_create_within(arena)};
    bool fine = is_rotated(planner->plan, planner->transfer->id, counting.arena, &counting.rotation);
    if (fine) {
        counting.others = counting.rotation.outer * counting.rotation.inner;
        counting.turn_count = counting.rotation.turns * counting.others;
        counting.turns = arena_array(counting.arena, Turn, counting.turn_count);
        counting.own.sums = (Sums){.elements = arena_array(counting.arena, int64_t, ranks),
                                   .messages = arena_array(counting.arena, int64_t, ranks),
                                   .buffer = arena_array(counting.arena, int64_t, ranks),
                                   .scratch = arena_array(counting.arena, int64_t, ranks),
                                   .copy = arena_array(counting.arena, int64_t, ranks),
                                   .passes_on = arena_array(counting.arena, unsigned char, ranks)};
        list_places(&counting);
        list_classes(&counting);
        find_sources(&counting);
        fine = count_samples(&counting);
        if (counting.own.pattern > figurer->pattern)
            figurer->pattern = counting.own.pattern;
        if (!fine)
            clear_all(figurer);
    }
    arena_free(counting.arena);
    arena_free(counting.place_arena);
    arena_free(counting.scratch);
    return fine;
}
