// SPDX-License-Identifier: BSD-3-Clause
#include "plan/home.h"

#include "base/integer.h"

#include <string.h>

static void start(Home *home, const Tensor *tensor, const int64_t *extents, int64_t ranks) {
    *home = (Home){.tensor = tensor, .order = tensor->order, .ranks = ranks, .known = true};
    memcpy(home->extents, extents, sizeof(int64_t) * (size_t)tensor->order);
}

static void set_pieces(Home *home, Region *pieces) {
    int64_t volume = 0;
    for (int64_t rank = 0; rank < home->ranks; rank++) {
        region_coalesce(&pieces[rank]);
        volume = saturated_add(volume, region_volume(&pieces[rank]));
    }
    Rect whole = rect_whole(home->order, home->extents);
    home->replicated = volume > rect_volume(&whole);
    home->pieces = pieces;
}

void home_from_layout(Home *home, const Tensor *tensor, const int64_t *extents, const Layout *layout,
                      int64_t ranks, Arena *arena) {
    start(home, tensor, extents, ranks);
    home->has_layout = true;
    home->layout = *layout;
    int64_t processors = grid_size(&layout->grid);
    home->per_rank = processors_per_rank(processors, ranks);
    Region *pieces = arena_array(arena, Region, ranks);
    for (int64_t processor = 0; processor < processors; processor++) {
        int64_t coordinates[MAX_MACHINE_ORDER];
        grid_coordinates(&layout->grid, processor, coordinates);
        Region *own = &pieces[processor / home->per_rank];
        Rect rect;
        if (layout_rect(layout, coordinates, &rect) && !region_contains(own, &rect))
            array_push(arena, own->rects, rect);
    }
    set_pieces(home, pieces);
}

void home_from_table(Home *home, const Tensor *tensor, const int64_t *extents, const Region *pieces,
                     int64_t ranks, Arena *arena) {
    start(home, tensor, extents, ranks);
    set_pieces(home, arena_copy(arena, pieces, sizeof(Region) * (size_t)ranks));
}

int64_t home_piece_with(const Home *home, int64_t rank, const Rect *rect) {
    const Region *pieces = &home->pieces[rank];
    for (int64_t i = 0; i < pieces->rects.count; i++)
        if (rect_contains(&pieces->rects.items[i], rect))
            return i;
    return -1;
}

static bool is_seamless(const Rect *piece, const Rect *rect) {
    for (int m = 0; m < rect->order; m++)
        if (positions_count(positions_clip(rect_mode(piece, m), rect->lo[m], rect->hi[m])) !=
            rect_count(rect, m))
            return false;
    return true;
}

int64_t home_piece_in_place(const Home *home, int64_t rank, const Rect *rect) {
    const int64_t piece = home_piece_with(home, rank, rect);
    return piece >= 0 && is_seamless(&home->pieces[rank].rects.items[piece], rect) ? piece : -1;
}

typedef struct {
    const Home *home;
    Arena *arena;
    HolderArray *holders;
} Collect;

static bool collect(void *context, int64_t processor, const Rect *part) {
    const Collect *at = context;
    int64_t rank = processor / at->home->per_rank;
    array_push(at->arena, *at->holders, (Holder){rank, *part});
    return true;
}

// The same rank by rank instead of processor by processor: what its pieces have of `rect`. Neighbouring
// processors of one rank share a piece, so these are fewer and longer parts, and each lies in one piece.
static void join_parts(const Home *home, const Rect *rect, Arena *arena, HolderArray *holders,
                       int64_t first) {
    const HolderArray found = {arena_copy(arena, holders->items, sizeof(Holder) * (size_t)holders->count),
                               holders->count, holders->count};
    holders->count = first;
    for (int64_t i = first; i < found.count; i++) {
        const int64_t rank = found.items[i].rank;
        if (i > first && found.items[i - 1].rank == rank)
            continue;
        for (int64_t k = 0; k < home->pieces[rank].rects.count; k++) {
            Rect part;
            if (rect_intersect(&home->pieces[rank].rects.items[k], rect, arena, &part))
                array_push(arena, *holders, (Holder){rank, part});
        }
    }
}

void home_holders(const Home *home, const Rect *rect, int64_t taker, Arena *arena, HolderArray *holders) {
    if (home->has_layout) {
        // The replica with the taker's own coordinates is the nearest, and spreads the work over all
        // replicas.
        int64_t replica[MAX_MACHINE_ORDER] = {0}, processor = taker * home->per_rank, first = holders->count;
        if (taker >= 0 && processor < grid_size(&home->layout.grid))
            grid_coordinates(&home->layout.grid, processor, replica);
        layout_holders(&home->layout, rect, replica, arena, collect, &(Collect){home, arena, holders});
        if (home->per_rank > 1 && !home->replicated)
            join_parts(home, rect, arena, holders, first);
        return;
    }
    Region rest = {0};
    array_push(arena, rest.rects, *rect);
    for (int64_t rank = 0; rank < home->ranks && rest.rects.count; rank++) {
        const RectArray *pieces = &home->pieces[rank].rects;
        for (int64_t i = 0; i < pieces->count; i++) {
            for (int64_t k = 0; k < rest.rects.count; k++) {
                Rect part;
                if (rect_intersect(&pieces->items[i], &rest.rects.items[k], arena, &part))
                    array_push(arena, *holders, (Holder){rank, part});
            }
            region_subtract(&rest, &pieces->items[i], arena);
        }
    }
}

static bool collect_rank(void *context, int64_t processor, const Rect *part) {
    (void)part;
    const Collect *at = context;
    HolderArray *found = at->holders;
    int64_t rank = processor / at->home->per_rank;
    if (found->count == 0 || found->items[found->count - 1].rank != rank)
        array_push(at->arena, *found, (Holder){.rank = rank});
    return true;
}

void home_replicas(const Home *home, const Rect *part, Arena *arena, RankArray *ranks) {
    if (home->has_layout) {
        HolderArray found = {0};
        layout_holders(&home->layout, part, NULL, arena, collect_rank, &(Collect){home, arena, &found});
        for (int64_t i = 0; i < found.count; i++)
            array_push(arena, *ranks, found.items[i].rank);
        return;
    }
    for (int64_t rank = 0; rank < home->ranks; rank++)
        if (region_contains(&home->pieces[rank], part))
            array_push(arena, *ranks, rank);
}

int64_t home_bytes(const Home *home, int64_t rank) {
    return region_volume(&home->pieces[rank]) * (int64_t)type_info(home->tensor->type)->size;
}
