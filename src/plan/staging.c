// SPDX-License-Identifier: BSD-3-Clause
#include "plan/staging.h"

#include "base/integer.h"
#include "format/contiguous.h"

#include <stdlib.h>

// MPI has no addresses of its elements.
static bool is_staged(const RankPlanner *rank) {
    return rank->planner->home->memory != rank->planner->message_memory;
}

static bool is_fetch(const RankPlanner *rank) {
    return rank->planner->transfer->kind == TRANSFER_FETCH;
}

static bool is_at_home(const Part *part) {
    return part->piece >= 0 && !part->previous && !rect_is_empty(&part->rect);
}

static bool is_local(const RankOperation *operation) {
    return operation->operation->id == OPERATION_LOCAL;
}

// The parts that an operation has at home: of a fetch it sends them, but a local one copies them.
static PartArray home_parts(const RankPlanner *rank, const RankOperation *operation) {
    const bool sends = is_fetch(rank) && !is_local(operation);
    PartArray parts = {.items = sends ? operation->sends : operation->receives,
                       .count = sends ? operation->send_count : operation->receive_count};
    return parts;
}

// Whether the view of the step has the part before messages start.
static bool is_in_view(const RankPlanner *rank, const Part *part) {
    const Planner *planner = rank->planner;
    // A view in memory of a GPU is on the host as well where the transfer goes through the host.
    const bool on_host = planner->home->memory == MEMORY_DISK || (rank->piece < 0 && rank->through_host);
    if (!rank->takes_part || !on_host)
        return false;
    const RectArray *used = &rank->footprint.region.rects;
    for (int64_t i = 0; i < used->count && rank->kept; i++)
        if (rect_contains(&used->items[i], &part->rect))
            return true;
    const PartArray *local = &rank->messages[OPERATION_LOCAL].view;
    for (int64_t i = 0; i < local->count && !rank->kept; i++)
        if (rect_contains(&local->items[i].rect, &part->rect))
            return true;
    return false;
}

// The number of the stage of the step with this rectangle, which is added if there is none.
static int64_t stage_with(RankPlanner *rank, int64_t first, const Part *part) {
    for (int64_t s = first; s < rank->stages.count; s++)
        if (rect_equal(&rank->stages.items[s].rect, &part->rect))
            return s + 1;
    const DiskStage stage = {
        .rect = rect_copy(&part->rect, rank->kept_arena), .piece = part->piece, .reads = true};
    array_push(rank->kept_arena, rank->stages, stage);
    return rank->stages.count;
}

static void stage_fetch(RankPlanner *rank, const RankStep *step, const RankOperation *all) {
    for (int64_t i = 0; i < step->operation_count; i++) {
        const PartArray parts = home_parts(rank, &all[i]);
        if (is_local(&all[i]))
            continue;
        for (int64_t k = 0; k < parts.count; k++) {
            Part *part = &parts.items[k];
            if (!is_at_home(part))
                continue;
            // What all members receive must not be where one of them sends from.
            if (all[i].operation->shape != SHAPE_MEMBERS && is_in_view(rank, part))
                part->stage = STAGE_VIEW;
            else
                part->stage = stage_with(rank, step->first_stage, part);
        }
    }
}

// Makes the stage large enough for the rectangle, too; both are in its piece.
static void enlarge(const RankPlanner *rank, DiskStage *stage, const Rect *rect) {
    const Rect *piece = &rank->own.rects.items[stage->piece];
    Rect both = *piece;
    for (int m = 0; m < piece->order; m++)
        rect_set_mode(&both, m,
                      positions_clip(rect_mode(piece, m), min_i64(stage->rect.lo[m], rect->lo[m]),
                                     max_i64(stage->rect.hi[m], rect->hi[m])));
    stage->rect = rect_copy(&both, rank->kept_arena);
}

// Joins the last stage with those of the step that it overlaps with, also when it has grown. No two of the
// others overlap.
static void join_last(RankPlanner *rank, int64_t first) {
    DiskStage *stages = rank->stages.items, last = stages[--rank->stages.count];
    for (int64_t s = first; s < rank->stages.count;)
        if (rect_common(&stages[s].rect, &last.rect) > 0) {
            enlarge(rank, &last, &stages[s].rect);
            stages[s] = stages[--rank->stages.count];
            s = first;
        } else {
            s++;
        }
    stages[rank->stages.count++] = last;
}

static bool overlaps_stage(const RankPlanner *rank, int64_t first, const Rect *rect) {
    bool overlaps = false;
    for (int64_t s = first; s < rank->stages.count && !overlaps; s++)
        overlaps = rect_common(&rank->stages.items[s].rect, rect) > 0;
    return overlaps;
}

// The number of the stage of the step that contains the rectangle; STAGE_FILE: none.
static int64_t stage_of(const RankPlanner *rank, int64_t first, const Rect *rect) {
    for (int64_t s = first; s < rank->stages.count; s++)
        if (rect_contains(&rank->stages.items[s].rect, rect))
            return s + 1;
    return STAGE_FILE;
}

// Stages what operations with other ranks add to, or what local ones add to a part of a stage only; returns
// whether anything was.
static bool add_stages(RankPlanner *rank, const RankStep *step, const RankOperation *all, bool local) {
    const int64_t first = step->first_stage;
    bool added = false;
    for (int64_t i = 0; i < step->operation_count; i++) {
        const PartArray parts = home_parts(rank, &all[i]);
        if (is_local(&all[i]) != local)
            continue;
        for (int64_t k = 0; k < parts.count; k++) {
            const Rect *rect = &parts.items[k].rect;
            if (!is_at_home(&parts.items[k]) || stage_of(rank, first, rect) != STAGE_FILE ||
                (local && !overlaps_stage(rank, first, rect)))
                continue;
            stage_with(rank, first, &parts.items[k]);
            join_last(rank, first);
            added = true;
        }
    }
    return added;
}

// What operations with other ranks add to, and what is added there locally in the same step. A stage that
// grows may overlap with further local parts.
static void stage_reduce(RankPlanner *rank, const RankStep *step, const RankOperation *all) {
    add_stages(rank, step, all, false);
    while (add_stages(rank, step, all, true))
        continue;
    for (int64_t i = 0; i < step->operation_count; i++) {
        const PartArray parts = home_parts(rank, &all[i]);
        for (int64_t k = 0; k < parts.count; k++)
            if (is_at_home(&parts.items[k]))
                parts.items[k].stage = stage_of(rank, step->first_stage, &parts.items[k].rect);
    }
}

void stage_step(RankPlanner *rank, RankStep *step, RankTransfer *result, RankOperation *all) {
    step->first_stage = rank->stages.count;
    if (!is_staged(rank))
        return;
    if (is_fetch(rank))
        stage_fetch(rank, step, all);
    else
        stage_reduce(rank, step, all);
    step->stage_count = rank->stages.count - step->first_stage;
    int64_t elements = 0;
    for (int64_t s = step->first_stage; s < rank->stages.count; s++) {
        rank->stages.items[s].offset = elements;
        elements = saturated_add(elements, rect_volume(&rank->stages.items[s].rect));
    }
    result->stage_elements = max_i64(result->stage_elements, elements);
}

// What is written in a step: a stage, or a part that is written from the view.
typedef struct {
    int64_t order; // of time
    const Rect *rect;
    bool *reads, *fresh; // one of them is NULL
} Write;
typedef Array(Write) WriteArray;

static WriteArray list_writes(const RankPlanner *rank, const RankTransfer *result, Arena *arena) {
    WriteArray writes = {0};
    int64_t next = 0;
    for (int64_t s = 0; s < result->step_count; s++) {
        const RankStep *step = &result->steps[s];
        for (int64_t k = step->first_stage; k < step->first_stage + step->stage_count; k++)
            array_push(arena, writes,
                       ((Write){next++, &rank->stages.items[k].rect, &rank->stages.items[k].reads, NULL}));
        for (int64_t i = 0; i < step->operation_count; i++) {
            const RankOperation *operation = &result->operations[step->first_operation + i];
            const PartArray parts = home_parts(rank, operation);
            if (!is_local(operation))
                continue;
            for (int64_t k = 0; k < parts.count; k++)
                if (is_at_home(&parts.items[k]) && parts.items[k].stage == STAGE_FILE)
                    array_push(arena, writes,
                               ((Write){next++, &parts.items[k].rect, NULL, &parts.items[k].fresh}));
        }
    }
    return writes;
}

static int compare_writes(const void *left, const void *right) {
    const Write *a = left, *b = right;
    const int order = rect_compare(a->rect, b->rect);
    return order ? order : (a->order > b->order) - (a->order < b->order);
}

static bool is_first(const WriteArray *writes, int64_t index) {
    return index == 0 || !rect_equal(writes->items[index].rect, writes->items[index - 1].rect);
}

typedef struct {
    int64_t lo, hi; // in one mode
    const Rect *rect;
} Extent;

static int by_lo(const void *left, const void *right) {
    const Extent *a = left, *b = right;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

// Whether no two rectangles intersect. They are sorted along `mode`, and each group whose extents overlap
// there is checked along the next mode. A group that no mode divides is compared pair by pair. `together`:
// the number of modes compared last that did not divide it.
static bool extents_disjoint(Extent *extents, int64_t count, int mode, int together) {
    const int order = count > 0 ? extents[0].rect->order : 0;
    if (count < 2 || together == order) {
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = 0; k < i; k++)
                if (rect_common(extents[i].rect, extents[k].rect) > 0)
                    return false;
        return true;
    }
    for (int64_t i = 0; i < count; i++) {
        extents[i].lo = extents[i].rect->lo[mode];
        extents[i].hi = extents[i].rect->hi[mode];
    }
    qsort(extents, (size_t)count, sizeof(Extent), by_lo);
    for (int64_t first = 0, next = 0; first < count; first = next) {
        int64_t hi = extents[first].hi;
        for (next = first + 1; next < count && extents[next].lo < hi; next++)
            hi = max_i64(hi, extents[next].hi);
        const bool all = next - first == count;
        if (!extents_disjoint(extents + first, next - first, (mode + 1) % order, all ? together + 1 : 0))
            return false;
    }
    return true;
}

// Whether those that are not equal are disjoint; equal ones are neighbours.
static bool are_disjoint(const WriteArray *writes, Arena *arena) {
    Extent *extents = arena_array(arena, Extent, writes->count);
    int64_t count = 0;
    for (int64_t i = 0; i < writes->count; i++)
        if (is_first(writes, i))
            extents[count++].rect = writes->items[i].rect;
    return extents_disjoint(extents, count, 0, 0);
}

// Whether the statement sets the home to the identity of the reducer: it does not add to what is there.
// *only: no other transfer writes the tensor; *first: none before.
static bool begins_anew(const RankPlanner *rank, bool *only, bool *first) {
    const Spmd *spmd = rank->plan->spmd;
    const Tensor *tensor = rank->planner->transfer->access->tensor;
    *only = *first = true;
    for (int t = 0; t < spmd->transfer_count; t++) {
        const Transfer *other = &spmd->transfers[t];
        if (other->kind != TRANSFER_REDUCE || other->access->tensor != tensor ||
            other == rank->planner->transfer)
            continue;
        *only = false;
        *first = *first && t > rank->planner->transfer->id;
    }
    return tensor != rank->plan->target || !assignment_reads_target(spmd->cin->assignment);
}

// What is written first where nothing has been written before needs no reading, if later writes are of the
// same rectangles or others.
static void find_fresh(RankPlanner *rank, RankTransfer *result) {
    Arena *scratch = arena_create_within(rank->kept_arena);
    bool only, first;
    const bool anew = begins_anew(rank, &only, &first);
    WriteArray writes = list_writes(rank, result, scratch);
    if (writes.count > 0)
        qsort(writes.items, (size_t)writes.count, sizeof(Write), compare_writes);
    if (anew && only && are_disjoint(&writes, scratch)) {
        int64_t elements = 0;
        for (int64_t i = 0; i < writes.count; i++) {
            if (!is_first(&writes, i))
                continue;
            elements = saturated_add(elements, rect_volume(writes.items[i].rect));
            if (writes.items[i].fresh)
                *writes.items[i].fresh = true;
            else
                *writes.items[i].reads = false;
        }
        result->covers = elements == region_volume(&rank->own);
    }
    // Elements that replace others come from one source, in the rectangles of that.
    for (int64_t i = 0; i < writes.count && rank->planner->transfer->replaces; i++)
        if (writes.items[i].fresh)
            *writes.items[i].fresh = true;
    result->clears = anew && first && !result->covers && rank->own.rects.count > 0;
    arena_free(scratch);
}

// `memory` is packed.
static int64_t count_runs(const RankPlanner *rank, int64_t piece, const Rect *rect, const Rect *memory) {
    const LevelList levels = tensor_levels(rank->planner->home->tensor);
    int64_t stride[MAX_ORDER] = {0};
    Rect whole;
    const FileLayout file = home_file_layout(rank->planner->home, &rank->own.rects.items[piece], &whole);
    packed_strides(memory, levels, stride);
    return contiguous_count(rect, &file, &(Frame){memory, stride});
}

static void count(const RankPlanner *rank, IoCounts *io, int64_t piece, const Rect *rect, const Rect *memory,
                  bool reads, bool writes) {
    const int64_t bytes = rect_volume(rect) * rank->planner->element_size;
    const int64_t runs = count_runs(rank, piece, rect, memory);
    io->bytes_read += reads ? bytes : 0;
    io->bytes_written += writes ? bytes : 0;
    io->reads += reads ? runs : 0;
    io->writes += writes ? runs : 0;
}

static void count_io(const RankPlanner *rank, RankTransfer *result) {
    const bool fetches = is_fetch(rank);
    IoCounts *io = &result->io;
    for (int64_t s = 0; s < result->step_count; s++) {
        const RankStep *step = &result->steps[s];
        for (int64_t k = step->first_stage; k < step->first_stage + step->stage_count; k++) {
            const DiskStage *stage = &rank->stages.items[k];
            count(rank, io, stage->piece, &stage->rect, &stage->rect, stage->reads, !fetches);
        }
        for (int64_t i = 0; i < step->operation_count; i++) {
            const RankOperation *operation = &result->operations[step->first_operation + i];
            const PartArray parts = home_parts(rank, operation);
            if (!is_local(operation))
                continue;
            for (int64_t k = 0; k < parts.count; k++) {
                const Part *part = &parts.items[k];
                if (is_at_home(part) && part->stage == STAGE_FILE)
                    count(rank, io, part->piece, &part->rect, &step->view, fetches || !part->fresh, !fetches);
            }
        }
    }
    for (int64_t i = 0; i < rank->own.rects.count && result->clears; i++) {
        const Rect *piece = &rank->own.rects.items[i];
        io->bytes_written += rect_volume(piece) * rank->planner->element_size;
        io->writes += rank->planner->home->file == FILE_OF_RANK ? 1 : count_runs(rank, i, piece, piece);
    }
}

// What is copied between memory of the host and of a GPU for what operations do in a step; `local`: for those
// with the home of this rank.
static int64_t received_elements(const RankTransfer *result, const RankStep *step, bool local) {
    int64_t elements = 0;
    for (int64_t i = 0; i < step->operation_count; i++) {
        const RankOperation *operation = &result->operations[step->first_operation + i];
        for (int64_t k = 0; k < operation->receive_count && is_local(operation) == local; k++)
            if (!local || operation->receives[k].piece >= 0)
                elements = saturated_add(elements, rect_volume(&operation->receives[k].rect));
    }
    return elements;
}

static bool has_messages(const RankTransfer *result, const RankStep *step) {
    bool has = false;
    for (int64_t i = 0; i < step->operation_count; i++)
        has = has || !is_local(&result->operations[step->first_operation + i]);
    return has;
}

static DeviceCounts copies_of_step(const RankPlanner *rank, const RankTransfer *result,
                                   const RankStep *step) {
    const MemoryId home = rank->planner->home->memory;
    const bool in_buffer = !step->empty && step_is_buffered(step);
    DeviceCounts copied = {0};
    for (int64_t s = step->first_stage; s < step->first_stage + step->stage_count && home == MEMORY_GPU;
         s++) {
        const int64_t elements = rect_volume(&rank->stages.items[s].rect);
        copied.from_device += elements;
        copied.to_device += is_fetch(rank) ? 0 : elements;
    }
    if (!is_fetch(rank)) {
        if (home == MEMORY_HOST && !result->through_host)
            copied.from_device += received_elements(result, step, true);
        else if (in_buffer && (result->through_host || has_messages(result, step)))
            copied.from_device += rect_volume(&step->view);
        return copied;
    }
    if (home == MEMORY_GPU && result->through_host)
        copied.from_device += received_elements(result, step, true);
    if (home == MEMORY_HOST && !result->through_host)
        copied.to_device += received_elements(result, step, true);
    if (in_buffer && !step->kept)
        copied.to_device +=
            result->through_host ? rect_volume(&step->view) : received_elements(result, step, false);
    return copied;
}

static void count_device_copies(const RankPlanner *rank, RankTransfer *result) {
    DeviceCounts all = {0};
    for (int64_t s = 0; s < result->step_count; s++)
        all = device_counts_add(all, copies_of_step(rank, result, &result->steps[s]));
    result->copied.to_device = saturated_mul(all.to_device, rank->planner->element_size);
    result->copied.from_device = saturated_mul(all.from_device, rank->planner->element_size);
}

static bool all_local(const RankTransfer *result) {
    bool all = true;
    for (int64_t i = 0; i < result->operation_count; i++)
        all = all && is_local(&result->operations[i]);
    return all;
}

// Whether a step sends what the one before has got.
static bool passes_on(const RankTransfer *result) {
    for (int64_t i = 0; i < result->operation_count; i++)
        for (int64_t k = 0; k < result->operations[i].send_count; k++)
            if (result->operations[i].sends[k].previous)
                return true;
    return false;
}

static bool all_fresh(const RankTransfer *result) {
    for (int64_t i = 0; i < result->operation_count; i++) {
        const RankOperation *operation = &result->operations[i];
        for (int64_t k = 0; k < operation->receive_count; k++)
            if (is_at_home(&operation->receives[k]) && !operation->receives[k].fresh)
                return false;
    }
    return true;
}

// Between memory of a GPU and a home on the host, elements are copied straight where nothing else on the host
// uses them: what is not passed on, and results that nothing is added to.
static void avoid_host(RankPlanner *rank, RankTransfer *result) {
    const bool local = all_local(result);
    if (rank->planner->home->memory == MEMORY_HOST && is_fetch(rank)) {
        result->through_host = passes_on(result);
    } else if (rank->planner->home->memory == MEMORY_HOST && local) {
        find_fresh(rank, result);
        result->clears = false; // kernels say
        result->through_host = !all_fresh(result);
    }
    if (local && !result->through_host)
        result->message_memory = MEMORY_GPU;
}

void stage_finish(RankPlanner *rank, RankTransfer *result) {
    if (rank->plan->spmd->on_gpu && result->message_memory == MEMORY_HOST) {
        avoid_host(rank, result);
        count_device_copies(rank, result);
    }
    if (!is_staged(rank))
        return;
    if (!is_fetch(rank) && rank->planner->home->memory == MEMORY_DISK)
        find_fresh(rank, result);
    result->stage_count = rank->stages.count;
    result->stages = rank->stages.items;
    if (rank->planner->home->memory == MEMORY_DISK)
        count_io(rank, result);
}
