// SPDX-License-Identifier: BSD-3-Clause
#include "plan/transfer_figures.h"

#include "base/integer.h"
#include "plan/neighbours.h"

#include <string.h>

// The footprints of one step, by hash, for the next one to find its own among them.
typedef struct {
    int64_t key; // class
    uint64_t hash;
    int64_t next;     // of the same slot: index + 1
    bool is_interval; // the region is one rectangle of intervals: its corners are kept
} Used;

typedef struct {
    Used *items;
    int64_t count;
    int64_t *corners; // of each footprint, lo and hi of each mode
    int64_t *slots;   // index + 1 of the first
    int64_t slot_count;
} StepTable;

typedef struct {
    TransferFigurer figurer;
    FigureClass *classes;
    int64_t class_count;
    StepTable tables[2]; // of the current step, and the one before
    int64_t local;
    Arena *local_arena; // while the members of classes are the same
} Sweep;

// The classes of the processors that ranks run as their number `local`, with the members that have
// iterations.
static void find_classes(Sweep *sweep, int64_t iteration) {
    const Footprints *footprints = sweep->figurer.planner.footprints;
    Arena *arena = sweep->local_arena;
    int64_t *index = arena_array(arena, int64_t, footprints->class_keys); // by class key: index + 1
    int64_t *class_of = arena_array(arena, int64_t, footprints->ranks);   // the same
    int64_t *ranks = arena_array(arena, int64_t, footprints->ranks);
    Array(FigureClass) classes = {0};
    for (int64_t rank = 0; rank < footprints->ranks; rank++) {
        Worker worker;
        if (!footprints_worker(footprints, rank, sweep->local, &worker) ||
            !footprint_exists(footprints, worker.coordinates, iteration, arena))
            continue;
        if (index[worker.class_key] == 0) {
            array_push(arena, classes,
                       (FigureClass){.key = worker.class_key, .worker = worker, .in_place = -1});
            index[worker.class_key] = classes.count;
        }
        class_of[rank] = index[worker.class_key];
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the class has just been found or added
        classes.items[class_of[rank] - 1].ranks.capacity++;
    }
    for (int64_t c = 0; c < classes.count; c++) {
        classes.items[c].ranks.items = ranks;
        ranks += classes.items[c].ranks.capacity;
    }
    for (int64_t rank = 0; rank < footprints->ranks; rank++)
        if (class_of[rank] > 0) {
            RankArray *members = &classes.items[class_of[rank] - 1].ranks;
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set for all classes above
            members->items[members->count++] = rank;
        }
    sweep->classes = classes.items;
    sweep->class_count = classes.count;
}

static StepTable step_table_create(const Footprints *footprints, Arena *arena) {
    const int64_t most = min_i64(footprints->class_keys, footprints->ranks);
    StepTable table = {.items = arena_array(arena, Used, most),
                       .corners = arena_array(arena, int64_t, most * 2 * footprints->access.tensor->order),
                       .slot_count = 16};
    while (table.slot_count < 2 * most)
        table.slot_count *= 2;
    table.slots = arena_array(arena, int64_t, table.slot_count);
    return table;
}

// Whether the region is one rectangle of intervals, with these corners.
static bool find_corners(const Footprint *footprint, int64_t *corners) {
    const Rect *rect = footprint->region.rects.items;
    bool is_interval = footprint->region.rects.count == 1;
    for (int m = 0; m < rect->order && is_interval; m++) {
        corners[2 * m] = rect->lo[m];
        corners[2 * m + 1] = rect->hi[m];
        is_interval = !rect->periodic[m];
    }
    return is_interval;
}

static void step_table_add(StepTable *table, int64_t key, const Footprint *footprint) {
    int64_t *slot = &table->slots[footprint->hash & (uint64_t)(table->slot_count - 1)];
    int64_t *corners = &table->corners[table->count * 2 * footprint->bounds.order];
    table->items[table->count] = (Used){key, footprint->hash, *slot, find_corners(footprint, corners)};
    *slot = ++table->count;
}

static void step_table_clear(StepTable *table) {
    table->count = 0;
    memset(table->slots, 0, sizeof *table->slots * (size_t)table->slot_count);
}

static void key_coordinates(const Footprints *footprints, int64_t key, Worker *worker) {
    *worker = (Worker){.class_key = key};
    for (int d = footprints->grid.order - 1; d >= 0; d--)
        if (footprints->related_dims[d]) {
            worker->coordinates[d] = key % footprints->grid.extents[d];
            key /= footprints->grid.extents[d];
        }
}

// As reuse_find, from the table of the step before.
static Reuse find_reuse(const Sweep *sweep, const StepTable *table, const Footprint *footprint) {
    const TransferFigurer *figurer = &sweep->figurer;
    const Footprints *footprints = figurer->planner.footprints;
    Reuse reuse = {.step = figurer->step};
    const int order = footprint->bounds.order;
    int64_t corners[2 * MAX_ORDER];
    const bool is_interval = find_corners(footprint, corners);
    for (int64_t at = table->slots[footprint->hash & (uint64_t)(table->slot_count - 1)]; at;
         at = table->items[at - 1].next) {
        const Used *used = &table->items[at - 1];
        Worker worker;
        Footprint before;
        if (used->hash != footprint->hash || used->is_interval != is_interval)
            continue;
        key_coordinates(footprints, used->key, &worker);
        if (!is_interval)
            footprint_find(footprints, worker.coordinates, step_iteration(footprints, figurer->step - 1),
                           figurer->class_arena, &before);
        if (is_interval ? memcmp(corners, &table->corners[(at - 1) * 2 * order],
                                 sizeof *corners * 2 * (size_t)order) == 0
                        : footprint_equal(&before, footprint))
            array_push(figurer->class_arena, reuse.users, worker);
    }
    return reuse;
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
    const int64_t piece = planner_piece(planner, &pieces, footprint);
    NeighbourPiece neighbour;
    if (piece < 0 && !neighbour_in_place(&figurer->planner, rank, footprint, &neighbour))
        figurer->sums.buffer[rank] = max_i64(figurer->sums.buffer[rank], footprint->volume);
    if (planner->transfer->copy_limit > 0)
        figurer->sums.copy[rank] =
            max_i64(figurer->sums.copy[rank], copy_elements(figurer, rank, footprint, piece));
}

static bool views_are_shared(const Sweep *sweep) {
    const Planner *planner = &sweep->figurer.planner;
    return planner->footprints->existence && planner->transfer->copy_limit == 0 &&
           !(planner->reads_neighbours && planner->transfer->kind == TRANSFER_FETCH) &&
           planner->home->kind == HOME_LAYOUT && !planner->home->replicated;
}

// A view of every rank of the class but `in_place`, which uses its home in place; -1: there is none.
static void count_shared_view(FigureClass *class, int64_t volume, int64_t in_place) {
    if (in_place == class->in_place) {
        class->largest = max_i64(class->largest, volume);
    } else if (volume <= class->largest) {
        class->largest_of_others = max_i64(class->largest_of_others, volume);
    } else {
        class->largest_of_others = class->largest;
        class->largest = volume;
        class->in_place = in_place;
    }
}

static void count_views(Sweep *sweep, FigureClass *class, const Footprint *footprint) {
    Planner *planner = &sweep->figurer.planner;
    if (!views_are_shared(sweep)) {
        for (int64_t i = 0; i < class->ranks.count; i++)
            count_view_of(&sweep->figurer, class->ranks.items[i], footprint);
        return;
    }
    HoldingArray first = {0};
    Rect corner = footprint->bounds;
    for (int m = 0; m < corner.order; m++)
        rect_set_mode(&corner, m, (PositionSet){corner.lo[m], corner.lo[m] + 1, NULL});
    if (class->ranks.count > 1)
        home_find(planner->home, &corner, 0, sweep->figurer.class_arena, &first);
    else // only this one can have it
        array_push(sweep->figurer.class_arena, first, (Holding){.rank = class->ranks.items[0]});
    count_shared_view(class, footprint->volume, rank_in_place(planner, footprint, &first, &class->ranks));
}

// Figures that the members of each class share go to all of them.
static void finish_classes(Sweep *sweep) {
    TransferFigurer *figurer = &sweep->figurer;
    for (int64_t c = 0; c < sweep->class_count; c++) {
        const FigureClass *class = &sweep->classes[c];
        for (int64_t i = 0; i < class->ranks.count; i++) {
            const int64_t rank = class->ranks.items[i];
            const int64_t largest = rank == class->in_place ? class->largest_of_others : class->largest;
            figurer_add(figurer, rank, class->shared);
            figurer->sums.buffer[rank] = max_i64(figurer->sums.buffer[rank], largest);
        }
    }
}

static void count_class(Sweep *sweep, FigureClass *class) {
    TransferFigurer *figurer = &sweep->figurer;
    const Planner *planner = &figurer->planner;
    const Footprints *footprints = planner->footprints;
    const int64_t iteration = step_iteration(footprints, figurer->step);
    Footprint footprint;
    arena_reset(figurer->class_arena);
    arena_reset(figurer->planner.arena);
    footprint_find(footprints, class->worker.coordinates, iteration, figurer->class_arena, &footprint);
    if (footprint.region.rects.count == 0)
        return;
    count_views(sweep, class, &footprint);
    if (planner->transfer->kind == TRANSFER_REDUCE) {
        reduce_figures(figurer, class, &footprint);
        return;
    }
    step_table_add(&sweep->tables[figurer->step % 2], class->key, &footprint);
    const Reuse reuse = find_reuse(sweep, &sweep->tables[(figurer->step + 1) % 2], &footprint);
    // Members did the same in the step before, unless those were other processors of the ranks.
    const bool same = footprints->existence && (figurer->step == 0 || iteration > 0);
    fetch_figures(figurer, class, &footprint, &reuse, same);
}

static void run_sweep(Sweep *sweep, Arena *arena) {
    TransferFigurer *figurer = &sweep->figurer;
    const Footprints *footprints = figurer->planner.footprints;
    for (int t = 0; t < 2; t++)
        sweep->tables[t] = step_table_create(footprints, arena);
    for (figurer->step = 0; figurer->step < footprints->steps; figurer->step++) {
        const int64_t iteration = step_iteration(footprints, figurer->step);
        if (!footprints->existence || iteration == 0) {
            finish_classes(sweep);
            arena_reset(sweep->local_arena);
            sweep->local = step_local(footprints, figurer->step);
            find_classes(sweep, iteration);
        }
        step_table_clear(&sweep->tables[figurer->step % 2]);
        arena_reset(figurer->planner.scratch);
        for (int64_t c = 0; c < sweep->class_count; c++)
            count_class(sweep, &sweep->classes[c]);
    }
    finish_classes(sweep);
}

static int64_t *zeros(Arena *arena, int64_t count) {
    return arena_array(arena, int64_t, count);
}

static TransferFigures finish_figures(const Sweep *sweep, int64_t size) {
    const TransferFigurer *figurer = &sweep->figurer;
    const Sums *sums = &figurer->sums;
    const int64_t ranks = figurer->planner.footprints->ranks;
    const bool pipelined = plan_pipelines(figurer->planner.plan, figurer->planner.transfer->id);
    for (int64_t rank = 0; rank < ranks; rank++) {
        const int64_t buffers = saturated_mul(sums->buffer[rank], pipelined || sums->passes_on[rank] ? 2 : 1);
        sums->buffer[rank] = saturated_mul(saturated_add(buffers, sums->scratch[rank]), size);
        sums->elements[rank] = saturated_mul(sums->elements[rank], size);
        sums->copy[rank] =
            transfer_copy_bytes(figurer->planner.transfer, saturated_mul(sums->copy[rank], size));
    }
    return (TransferFigures){.transfer = figurer->planner.transfer,
                             .pattern = figurer->pattern,
                             .steps = figurer->planner.footprints->steps,
                             .bytes = sums->elements,
                             .messages = sums->messages,
                             .buffer_bytes = sums->buffer,
                             .copy_bytes = sums->copy};
}

// Of a home or a leaf that is not in memory of the host, what is staged, read, written and copied depends on
// what else a rank does in a step: from its part.
static void add_staged(const StatementPlan *plan, int transfer, TransferFigures *figures) {
    int64_t *buffers = arena_array(plan->arena, int64_t, plan->ranks);
    int64_t *gpu = plan->spmd->on_gpu ? arena_array(plan->arena, int64_t, plan->ranks) : NULL;
    DeviceCounts *copied = gpu ? arena_array(plan->arena, DeviceCounts, plan->ranks) : NULL;
    IoCounts *io = arena_array(plan->arena, IoCounts, plan->ranks);
    Arena *scratch = arena_create_within(plan->arena);
    const bool sampled = plan->options.sampled && plan->ranks > PLAN_UNSAMPLED_RANKS;
    // An odd distance, so that they are in all rows and columns of grids.
    const int64_t distance = sampled ? plan->ranks / PLAN_SAMPLED_RANKS | 1 : 1;
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        if (rank % distance != 0) {
            buffers[rank] = buffers[rank - 1];
            io[rank] = io[rank - 1];
            if (gpu) {
                gpu[rank] = gpu[rank - 1];
                copied[rank] = copied[rank - 1];
            }
            continue;
        }
        arena_reset(scratch);
        const RankTransfer part = plan_part_figures(plan, transfer, rank, scratch);
        buffers[rank] = rank_buffer_bytes(&part);
        io[rank] = part.io;
        if (gpu) {
            gpu[rank] = rank_gpu_buffer_bytes(&part);
            copied[rank] = part.copied;
        }
    }
    arena_free(scratch);
    figures->buffer_bytes = buffers;
    figures->gpu_bytes = gpu;
    figures->copied = copied;
    if (plan->homes[figures->transfer->access->tensor->id].memory == MEMORY_DISK)
        figures->io = io;
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
                    .class_arena = arena_create_within(scratch)},
        .local_arena = arena_create_within(scratch)};
    TransferFigurer *figurer = &sweep.figurer;
    if (!rotated_figures(figurer, scratch))
        run_sweep(&sweep, scratch);
    TransferFigures figures = finish_figures(&sweep, figurer->planner.element_size);
    if (figurer->planner.home->memory != MEMORY_HOST || plan->spmd->on_gpu)
        add_staged(plan, transfer, &figures);
    arena_free(scratch);
    return figures;
}
