// SPDX-License-Identifier: BSD-3-Clause
#include "plan/transfer_figures.h"

#include "base/integer.h"

#include <string.h>

// What is kept of the footprints of a step for the next one: enough to tell whether one is the same.
typedef struct {
    int64_t class_count;
    const int64_t *keys; // classes
    uint64_t *hashes;
    bool *used;           // the class has a footprint and members
    int64_t *corners;     // lo and hi of each mode, where the region is one rectangle of intervals
    bool *simple;         // it is
    int64_t *head, *next; // chains by hash: index + 1
    int64_t slots;
} StepTable;

typedef struct {
    FigureClass *items;
    int64_t count;
    int64_t *class_of; // by rank: index, -1: no part
} ClassTable;

// Largest views of a class, and ranks that do without a buffer in some of those steps.
typedef struct {
    int64_t *largest, *times;           // by class: volume, and in how many steps
    int64_t *in_place, *in_place_times; // by rank, of the steps in which it works in place
} ViewTable;

typedef struct {
    TransferFigurer figurer;
    ClassTable classes;
    StepTable tables[2];
    ViewTable views;
    int64_t local;
    Arena *local_arena;
} Sweep;

// The classes of the processors that ranks run as their number `local`, with the members that have
// iterations.
static void find_classes(Sweep *sweep, int64_t iteration) {
    const Footprints *footprints = sweep->figurer.planner.footprints;
    Arena *arena = sweep->local_arena;
    int64_t keys = 1;
    for (int d = 0; d < footprints->grid.order; d++)
        if (footprints->related_dims[d])
            keys *= footprints->grid.extents[d];
    int64_t *index = arena_array(arena, int64_t, keys); // by class key: index + 1
    Array(FigureClass) classes = {0};
    sweep->classes.class_of = arena_array(arena, int64_t, footprints->ranks);
    for (int64_t rank = 0; rank < footprints->ranks; rank++) {
        Worker worker;
        sweep->classes.class_of[rank] = -1;
        if (!footprints_worker(footprints, rank, sweep->local, &worker) ||
            !footprint_exists(footprints, worker.coordinates, iteration, arena))
            continue;
        if (index[worker.class_key] == 0) {
            array_push(arena, classes, (FigureClass){.key = worker.class_key, .worker = worker});
            index[worker.class_key] = classes.count;
        }
        FigureClass *class = &classes.items[index[worker.class_key] - 1];
        class->ranks.count++;
        sweep->classes.class_of[rank] = index[worker.class_key] - 1;
    }
    int64_t *ranks = arena_array(arena, int64_t, footprints->ranks), next = 0;
    for (int64_t c = 0; c < classes.count; c++) {
        FigureClass *class = &classes.items[c];
        class->ranks.items = &ranks[next];
        class->ranks.capacity = class->ranks.count;
        next += class->ranks.count;
        class->ranks.count = 0;
    }
    for (int64_t rank = 0; rank < footprints->ranks; rank++)
        if (sweep->classes.class_of[rank] >= 0) {
            FigureClass *class = &classes.items[sweep->classes.class_of[rank]];
            class->ranks.items[class->ranks.count++] = rank;
        }
    sweep->classes.items = classes.items;
    sweep->classes.count = classes.count;
}

static void step_table_create(Sweep *sweep, StepTable *table, Arena *arena) {
    const int64_t count = sweep->classes.count;
    int64_t *keys = arena_array(arena, int64_t, count);
    for (int64_t c = 0; c < count; c++)
        keys[c] = sweep->classes.items[c].key;
    table->class_count = count;
    table->keys = keys;
    table->hashes = arena_array(arena, uint64_t, count);
    table->used = arena_array(arena, bool, count);
    table->simple = arena_array(arena, bool, count);
    table->corners = arena_array(arena, int64_t, count * 2 * sweep->figurer.planner.home->order);
    for (table->slots = 16; table->slots < 2 * count;)
        table->slots *= 2;
    table->head = arena_array(arena, int64_t, table->slots);
    table->next = arena_array(arena, int64_t, count);
}

static bool is_simple(const Footprint *footprint) {
    if (footprint->region.rects.count != 1)
        return false;
    const Rect *rect = footprint->region.rects.items;
    for (int m = 0; m < rect->order; m++)
        if (rect->periodic[m])
            return false;
    return true;
}

static void remember(StepTable *table, int64_t c, const Footprint *footprint) {
    const bool used = footprint->region.rects.count > 0;
    table->used[c] = used;
    if (!used)
        return;
    const Rect *rect = footprint->region.rects.items;
    int64_t *slot = &table->head[footprint->hash & (uint64_t)(table->slots - 1)];
    table->hashes[c] = footprint->hash;
    table->simple[c] = is_simple(footprint);
    for (int m = 0; m < rect->order && table->simple[c]; m++) {
        table->corners[2 * (c * rect->order + m)] = rect->lo[m];
        table->corners[2 * (c * rect->order + m) + 1] = rect->hi[m];
    }
    table->next[c] = *slot;
    *slot = c + 1;
}

static void forget(StepTable *table) {
    memset(table->head, 0, sizeof(int64_t) * (size_t)table->slots);
}

static void key_coordinates(const Footprints *footprints, int64_t key, Worker *worker) {
    *worker = (Worker){.class_key = key};
    for (int d = footprints->grid.order - 1; d >= 0; d--)
        if (footprints->related_dims[d]) {
            worker->coordinates[d] = key % footprints->grid.extents[d];
            key /= footprints->grid.extents[d];
        }
}

static bool is_same(const Sweep *sweep, const StepTable *table, int64_t c, const Footprint *footprint,
                    Worker *worker) {
    const Footprints *footprints = sweep->figurer.planner.footprints;
    if (table->hashes[c] != footprint->hash)
        return false;
    key_coordinates(footprints, table->keys[c], worker);
    if (table->simple[c] != is_simple(footprint))
        return false;
    if (table->simple[c]) {
        const Rect *rect = footprint->region.rects.items;
        for (int m = 0; m < rect->order; m++)
            if (table->corners[2 * (c * rect->order + m)] != rect->lo[m] ||
                table->corners[2 * (c * rect->order + m) + 1] != rect->hi[m])
                return false;
        return true;
    }
    Footprint before;
    footprint_find(footprints, worker->coordinates, step_iteration(footprints, sweep->figurer.step - 1),
                   sweep->figurer.class_arena, &before);
    return footprint_equal(&before, footprint);
}

// As reuse_find, from the table of the step before.
static Reuse find_reuse(const Sweep *sweep, const StepTable *table, const Footprint *footprint) {
    Reuse reuse = {.step = sweep->figurer.step};
    if (sweep->figurer.step == 0)
        return reuse;
    for (int64_t at = table->head[footprint->hash & (uint64_t)(table->slots - 1)]; at;
         at = table->next[at - 1]) {
        Worker worker;
        if (is_same(sweep, table, at - 1, footprint, &worker))
            array_push(sweep->figurer.class_arena, reuse.users, worker);
    }
    return reuse;
}

// The rank whose home, not replicated, holds all of the footprint in place; -1: none of them.
static int64_t find_in_place(TransferFigurer *figurer, const FigureClass *class, const Footprint *footprint) {
    const Home *home = figurer->planner.home;
    if (footprint->region.rects.count != 1)
        return -1;
    int64_t owner = class->ranks.items[0];
    if (class->ranks.count > 1) {
        HoldingArray first = {0};
        Rect corner = footprint->bounds;
        for (int m = 0; m < corner.order; m++)
            rect_set_mode(&corner, m, (PositionSet){corner.lo[m], corner.lo[m] + 1, NULL});
        home_find(home, &corner, 0, figurer->class_arena, &first);
        owner = first.items[0].rank;
        bool is_member = false;
        int64_t low = 0, high = class->ranks.count;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (class->ranks.items[middle] < owner)
                low = middle + 1;
            else
                high = middle;
        }
        is_member = low < class->ranks.count && class->ranks.items[low] == owner;
        if (!is_member)
            return -1;
    }
    const Region pieces = planner_pieces(&figurer->planner, owner);
    return pieces_in_place(&pieces, &footprint->bounds) >= 0 ? owner : -1;
}

static int64_t copy_elements(TransferFigurer *figurer, int64_t rank, const Footprint *footprint,
                             int64_t piece) {
    // A copy of a view has the strides of what the view is in.
    const Region pieces = planner_pieces(&figurer->planner, rank);
    return piece < 0 ? footprint->volume : rect_volume(&pieces.rects.items[piece]);
}

static void count_view_of(TransferFigurer *figurer, int64_t rank, const Footprint *footprint) {
    const Planner *planner = &figurer->planner;
    arena_reset(planner->arena);
    const Region pieces = planner_pieces(&figurer->planner, rank);
    int64_t piece = -1;
    if (footprint->region.rects.count == 1 &&
        (planner->transfer->kind == TRANSFER_FETCH || !planner->home->replicated))
        piece = pieces_in_place(&pieces, &footprint->bounds);
    if (piece < 0)
        figurer->sums.buffer[rank] = max_i64(figurer->sums.buffer[rank], footprint->volume);
    if (planner->transfer->thread_copies)
        figurer->sums.copy[rank] =
            max_i64(figurer->sums.copy[rank], copy_elements(figurer, rank, footprint, piece));
}

static void count_largest(int64_t volume, int64_t *largest, int64_t *times) {
    if (volume > *largest) {
        *largest = volume;
        *times = 0;
    }
    *times += volume == *largest;
}

static bool views_are_shared(const Sweep *sweep) {
    const Planner *planner = &sweep->figurer.planner;
    return planner->footprints->existence && !planner->transfer->thread_copies &&
           planner->home->kind == HOME_LAYOUT && !planner->home->replicated;
}

static void count_views(Sweep *sweep, int64_t c, const Footprint *footprint) {
    FigureClass *class = &sweep->classes.items[c];
    if (!views_are_shared(sweep)) {
        for (int64_t i = 0; i < class->ranks.count; i++)
            count_view_of(&sweep->figurer, class->ranks.items[i], footprint);
        return;
    }
    const int64_t owner = find_in_place(&sweep->figurer, class, footprint);
    count_largest(footprint->volume, &sweep->views.largest[c], &sweep->views.times[c]);
    if (owner >= 0)
        count_largest(footprint->volume, &sweep->views.in_place[owner], &sweep->views.in_place_times[owner]);
}

// The largest view that is not in place, step by step.
static int64_t walk_views(Sweep *sweep, int64_t rank) {
    TransferFigurer *figurer = &sweep->figurer;
    const Footprints *footprints = figurer->planner.footprints;
    int64_t largest = 0;
    for (int64_t i = 0; i < footprints->iterations; i++) {
        Worker worker;
        Footprint footprint;
        arena_reset(figurer->class_arena);
        arena_reset(figurer->planner.arena);
        if (!footprint_of_rank(footprints, rank, sweep->local * footprints->iterations + i,
                               figurer->class_arena, &worker, &footprint) ||
            footprint.volume <= largest)
            continue;
        const Region pieces = planner_pieces(&figurer->planner, rank);
        if (footprint.region.rects.count != 1 || pieces_in_place(&pieces, &footprint.bounds) < 0)
            largest = footprint.volume;
    }
    return largest;
}

// Figures that the members of each class share go to all of them.
static void finish_classes(Sweep *sweep) {
    TransferFigurer *figurer = &sweep->figurer;
    const ViewTable *views = &sweep->views;
    for (int64_t c = 0; c < sweep->classes.count; c++) {
        const FigureClass *class = &sweep->classes.items[c];
        for (int64_t i = 0; i < class->ranks.count; i++) {
            const int64_t rank = class->ranks.items[i];
            figurer_add(figurer, rank, class->shared);
            int64_t largest = views->largest ? views->largest[c] : 0;
            if (largest > 0 && views->in_place[rank] == largest &&
                views->in_place_times[rank] == views->times[c])
                largest = walk_views(sweep, rank);
            figurer->sums.buffer[rank] = max_i64(figurer->sums.buffer[rank], largest);
        }
    }
}

static void count_class(Sweep *sweep, int64_t c) {
    TransferFigurer *figurer = &sweep->figurer;
    const Planner *planner = &figurer->planner;
    const Footprints *footprints = planner->footprints;
    FigureClass *class = &sweep->classes.items[c];
    const int64_t iteration = step_iteration(footprints, figurer->step);
    Footprint footprint;
    arena_reset(figurer->class_arena);
    arena_reset(figurer->planner.arena);
    footprint_find(footprints, class->worker.coordinates, iteration, figurer->class_arena, &footprint);
    StepTable *table = &sweep->tables[figurer->step % 2];
    const StepTable *before = &sweep->tables[(figurer->step + 1) % 2];
    if (footprints->steps > 1)
        remember(table, c, &footprint);
    if (footprint.region.rects.count == 0)
        return;
    count_views(sweep, c, &footprint);
    if (planner->transfer->kind == TRANSFER_REDUCE) {
        reduce_figures(figurer, class, &footprint);
        return;
    }
    const Reuse reuse = find_reuse(sweep, before, &footprint);
    // Members did the same in the step before, unless those were other processors of the ranks.
    const bool same = footprints->existence && (figurer->step == 0 || iteration > 0);
    fetch_figures(figurer, class, &footprint, &reuse, same);
}

static void begin_local(Sweep *sweep, int64_t iteration) {
    const Footprints *footprints = sweep->figurer.planner.footprints;
    sweep->local_arena = arena_create_within(sweep->figurer.arena);
    find_classes(sweep, iteration);
    sweep->views = (ViewTable){0};
    if (!views_are_shared(sweep))
        return;
    int64_t *by_class = arena_array(sweep->local_arena, int64_t, 2 * sweep->classes.count);
    int64_t *by_rank = arena_array(sweep->local_arena, int64_t, 2 * footprints->ranks);
    sweep->views =
        (ViewTable){by_class, by_class + sweep->classes.count, by_rank, by_rank + footprints->ranks};
}

static void run_sweep(Sweep *sweep) {
    TransferFigurer *figurer = &sweep->figurer;
    const Footprints *footprints = figurer->planner.footprints;
    Arena *tables[] = {arena_create_within(figurer->arena), arena_create_within(figurer->arena)};
    const bool varies = !footprints->existence;
    int64_t built[2] = {-1, -1}; // which members the tables are for
    int64_t members = -1;
    for (figurer->step = 0; figurer->step < footprints->steps; figurer->step++) {
        const int64_t local = step_local(footprints, figurer->step),
                      iteration = step_iteration(footprints, figurer->step);
        const int t = (int)(figurer->step % 2);
        if (varies || iteration == 0) {
            if (sweep->local_arena) {
                finish_classes(sweep);
                arena_free(sweep->local_arena);
            }
            sweep->local = local;
            begin_local(sweep, iteration);
            members = figurer->step;
        }
        if (footprints->steps > 1 && built[t] != members) {
            arena_reset(tables[t]);
            step_table_create(sweep, &sweep->tables[t], tables[t]);
            built[t] = members;
        } else if (footprints->steps > 1) {
            forget(&sweep->tables[t]);
        }
        arena_reset(figurer->planner.scratch);
        for (int64_t c = 0; c < sweep->classes.count; c++)
            count_class(sweep, c);
    }
    if (sweep->local_arena) {
        finish_classes(sweep);
        arena_free(sweep->local_arena);
    }
    arena_free(tables[0]);
    arena_free(tables[1]);
}

static int64_t *zeros(Arena *arena, int64_t count) {
    return arena_array(arena, int64_t, count);
}

static TransferFigures finish_figures(const Sweep *sweep, int64_t size) {
    const TransferFigurer *figurer = &sweep->figurer;
    const Sums *sums = &figurer->sums;
    const int64_t ranks = figurer->planner.footprints->ranks;
    for (int64_t rank = 0; rank < ranks; rank++) {
        const int64_t buffers = saturated_mul(sums->buffer[rank], sums->passes_on[rank] ? 2 : 1);
        sums->buffer[rank] = saturated_mul(saturated_add(buffers, sums->scratch[rank]), size);
        sums->elements[rank] = saturated_mul(sums->elements[rank], size);
        // Copies begin at a line of the cache.
        sums->copy[rank] = saturated_mul(ceil_div(saturated_mul(sums->copy[rank], size), 64), 64);
    }
    return (TransferFigures){.transfer = figurer->planner.transfer,
                             .pattern = figurer->pattern,
                             .steps = figurer->planner.footprints->steps,
                             .bytes = sums->elements,
                             .messages = sums->messages,
                             .buffer_bytes = sums->buffer,
                             .copy_bytes = sums->copy};
}

TransferFigures transfer_figures(const StatementPlan *plan, int transfer) {
    Arena *scratch = arena_create_within(plan->arena);
    const int64_t ranks = plan->ranks;
    Sweep sweep = {
        .figurer = {.planner = planner_create(plan, transfer, scratch),
                    .sums = {zeros(plan->arena, ranks), zeros(plan->arena, ranks), zeros(plan->arena, ranks),
                             zeros(scratch, ranks), zeros(plan->arena, ranks),
                             arena_array(scratch, unsigned char, ranks)},
                    .pattern = OPERATION_LOCAL,
                    .scratch_step = zeros(scratch, ranks),
                    .step_scratch = zeros(scratch, ranks),
                    .arena = scratch,
                    .class_arena = arena_create_within(scratch)}};
    TransferFigurer *figurer = &sweep.figurer;
    run_sweep(&sweep);
    const TransferFigures figures = finish_figures(&sweep, figurer->planner.element_size);
    arena_free(scratch);
    return figures;
}
