// SPDX-License-Identifier: BSD-3-Clause
#include "plan/home.h"

#include "base/integer.h"
#include "format/level_list.h"
#include "memory/disk.h"
#include "plan/ranks.h"

#include <string.h>

static void start(Home *home, HomeKind kind, const Tensor *tensor, const int64_t *extents, int64_t ranks,
                  Arena *arena) {
    *home = (Home){.known = true,
                   .kind = kind,
                   .tensor = tensor,
                   .order = tensor->order,
                   .ranks = ranks,
                   .per_rank = 1,
                   .arena = arena};
    if (tensor->placement)
        home->memory = tensor->placement->memory;
    memcpy(home->extents, extents, sizeof(int64_t) * (size_t)tensor->order);
}

typedef struct {
    int64_t distance; // in processor numbers, from the first replica to the last
    int64_t per_rank;
    bool crosses;
} Crossing;

static bool find_crossing(void *context, int64_t processor, const Rect *part) {
    (void)part;
    Crossing *crossing = context;
    crossing->crosses =
        processor / crossing->per_rank != (processor + crossing->distance) / crossing->per_rank;
    return !crossing->crosses;
}

// Whether two ranks hold the same: the replicas of some block are not all of one rank.
static bool is_replicated(const Home *home) {
    const Layout *layout = &home->layout;
    const int64_t first[MAX_MACHINE_ORDER] = {0};
    int64_t last[MAX_MACHINE_ORDER] = {0};
    for (int d = 0; d < layout->grid.order; d++)
        if (layout->dims[d].kind == PLACE_REPLICATE)
            last[d] = layout->grid.extents[d] - 1;
    Crossing crossing = {grid_index(&layout->grid, last), home->per_rank, false};
    if (home->ranks == 1 || crossing.distance == 0)
        return false;
    const Rect whole = rect_whole(home->order, home->extents);
    Arena *scratch = arena_create_within(home->arena);
    layout_holders(layout, &whole, first, scratch, find_crossing, &crossing);
    arena_free(scratch);
    return crossing.crosses;
}

void home_from_layout(Home *home, const Tensor *tensor, const int64_t *extents, const Layout *layout,
                      int64_t ranks, Arena *arena) {
    start(home, HOME_LAYOUT, tensor, extents, ranks, arena);
    home->layout = *layout;
    home->per_rank = processors_per_rank(grid_size(&layout->grid), ranks);
    home->replicated = is_replicated(home);
}

void home_put_in_file(Home *home, HomeFile file) {
    home->file = file;
    if (file != FILE_SHARED_WRITTEN)
        return;
    for (int d = 0; d < home->layout.grid.order; d++)
        if (home->layout.dims[d].kind == PLACE_REPLICATE) {
            home->layout.dims[d].kind = PLACE_FIX;
            home->layout.dims[d].coordinate = 0;
        }
    home->replicated = false;
}

FileLayout home_file_layout(const Home *home, const Rect *piece, Rect *whole) {
    const LevelList levels = tensor_levels(home->tensor);
    if (home->file == FILE_OF_RANK)
        return (FileLayout){piece, levels, home->tile[0] > 0 ? home->tile : NULL};
    *whole = rect_whole(home->order, home->extents);
    return (FileLayout){whole, levels, NULL};
}

void home_everywhere(Home *home, const Tensor *tensor, const int64_t *extents, int64_t ranks, Arena *arena) {
    start(home, HOME_EVERYWHERE, tensor, extents, ranks, arena);
    home->replicated = ranks > 1;
}

void home_on_first_rank(Home *home, const Tensor *tensor, const int64_t *extents, int64_t ranks,
                        Arena *arena) {
    Layout layout = {.order = tensor->order};
    memcpy(layout.extents, extents, sizeof(int64_t) * (size_t)tensor->order);
    home_from_layout(home, tensor, extents, &layout, ranks, arena);
}

void home_induced(Home *home, const Tensor *tensor, const int64_t *extents, int use_count,
                  const Footprints *const *uses, int64_t ranks, Arena *arena) {
    start(home, HOME_INDUCED, tensor, extents, ranks, arena);
    home->use_count = use_count;
    home->uses = uses;
    induced_find_unused(home);
}

Home home_copy(const Home *home, const Tensor *tensor, Arena *arena) {
    Home copy = *home;
    copy.tensor = tensor;
    copy.arena = arena;
    copy.stored_entries = copy.stored_bytes = NULL;
    if (home->kind == HOME_INDUCED) {
        const Footprints **uses = arena_array(arena, const Footprints *, home->use_count);
        for (int u = 0; u < home->use_count; u++)
            uses[u] = footprints_copy(home->uses[u], tensor, arena);
        copy.uses = uses;
        induced_copy_unused(&copy, arena);
    }
    if (home->kind == HOME_LAYOUT)
        copy.layout = layout_copy(&home->layout, arena);
    return copy;
}

bool home_cuts_fibers(const Home *home) {
    const Tensor *tensor = home->tensor;
    Arena *scratch = arena_create_within(home->arena);
    bool cuts = false;
    for (int l = tensor->order - 1; l >= 0 && level_is_padded(tensor->order, tensor->levels, l); l--) {
        const int mode = tensor->mode_order[l];
        for (int64_t rank = 0; rank < home->ranks && !cuts; rank++) {
            arena_reset(scratch);
            const Region pieces = home_pieces(home, rank, scratch);
            for (int64_t i = 0; i < pieces.rects.count && !cuts; i++)
                cuts = rect_count(&pieces.rects.items[i], mode) < home->extents[mode];
        }
    }
    arena_free(scratch);
    return cuts;
}

bool home_equal(const Home *a, const Home *b) {
    if (a->kind != b->kind || a->ranks != b->ranks || a->order != b->order)
        return false;
    Arena *scratch = arena_create_within(a->arena);
    bool equal = true;
    for (int64_t rank = 0; rank < a->ranks && equal; rank++) {
        arena_reset(scratch);
        const Region left = home_pieces(a, rank, scratch), right = home_pieces(b, rank, scratch);
        equal = region_equal(&left, &right);
    }
    arena_free(scratch);
    return equal;
}

// The last processor before this one that holds the same part; -1 if there is none.
static int64_t replica_before(const Layout *layout, const int64_t *coordinates) {
    int64_t before[MAX_MACHINE_ORDER];
    memcpy(before, coordinates, sizeof *before * (size_t)layout->grid.order);
    for (int d = layout->grid.order - 1; d >= 0; d--) {
        if (layout->dims[d].kind != PLACE_REPLICATE)
            continue;
        if (before[d] > 0) {
            before[d]--;
            return grid_index(&layout->grid, before);
        }
        before[d] = layout->grid.extents[d] - 1;
    }
    return -1;
}

// Parts of processors that are no replicas of each other are disjoint.
static Region layout_pieces(const Home *home, int64_t rank, Arena *arena) {
    const Grid *grid = &home->layout.grid;
    const int64_t first = rank * home->per_rank, last = min_i64(first + home->per_rank, grid_size(grid));
    Region pieces = {0};
    for (int64_t processor = first; processor < last; processor++) {
        int64_t coordinates[MAX_MACHINE_ORDER];
        grid_coordinates(grid, processor, coordinates);
        if (replica_before(&home->layout, coordinates) < first)
            layout_rects(&home->layout, coordinates, arena, &pieces.rects);
    }
    region_coalesce(&pieces);
    return pieces;
}

Region home_pieces(const Home *home, int64_t rank, Arena *arena) {
    if (home->kind == HOME_LAYOUT)
        return layout_pieces(home, rank, arena);
    if (home->kind == HOME_INDUCED)
        return induced_pieces(home, rank, arena);
    const Rect whole = rect_whole(home->order, home->extents);
    Region pieces = {0};
    if (!rect_is_empty(&whole))
        array_push(arena, pieces.rects, whole);
    return pieces;
}

StoredTensor home_stored_empty(const Home *home) {
    const Tensor *tensor = home->tensor;
    StoredTensor empty = {.type = tensor->type, .order = tensor->order};
    memcpy(empty.extents, home->extents, sizeof empty.extents);
    memcpy(empty.levels, tensor->levels, sizeof empty.levels);
    memcpy(empty.mode_order, tensor->mode_order, sizeof empty.mode_order);
    return empty;
}

bool home_stores_entries(const Home *home, int64_t piece_count) {
    const Rect whole = rect_whole(home->order, home->extents);
    return piece_count > 0 || rect_is_empty(&whole);
}

int64_t home_bytes(const Home *home, int64_t rank) {
    if (tensor_is_sparse(home->tensor))
        return home->stored_bytes ? home->stored_bytes[rank] : 0;
    Arena *scratch = arena_create_within(home->arena);
    const Region pieces = home_pieces(home, rank, scratch);
    const int64_t volume = region_volume(&pieces);
    arena_free(scratch);
    return volume * (int64_t)type_info(home->tensor->type)->size;
}

int64_t home_memory_bytes(const Home *home, int64_t rank) {
    return home->memory == MEMORY_HOST ? home_bytes(home, rank) : 0;
}

int64_t home_direct_bytes(const Home *home) {
    return home->known && home->memory == MEMORY_DISK && home->file == FILE_OF_RANK ? DISK_BOUNCE_BYTES : 0;
}

int64_t pieces_with(const Region *pieces, const Rect *rect) {
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

int64_t pieces_in_place(const Region *pieces, const Rect *rect) {
    const int64_t piece = pieces_with(pieces, rect);
    return piece >= 0 && is_seamless(&pieces->rects.items[piece], rect) ? piece : -1;
}

// Replicas are chosen where every rank is one processor, so that a rank which holds a part chooses itself.
static bool has_choice(const Home *home) {
    return home->kind == HOME_LAYOUT && home->replicated && home->per_rank == 1;
}

bool home_is_local(const Home *home) {
    return home->kind == HOME_LAYOUT && (!home->replicated || has_choice(home));
}

int64_t home_choice(const Home *home, int64_t taker) {
    const Grid *grid = &home->layout.grid;
    if (!has_choice(home) || taker >= grid_size(grid))
        return 0;
    int64_t coordinates[MAX_MACHINE_ORDER], choice = 0;
    grid_coordinates(grid, taker, coordinates);
    for (int d = 0; d < grid->order; d++)
        if (home->layout.dims[d].kind == PLACE_REPLICATE)
            choice = choice * grid->extents[d] + coordinates[d];
    return choice;
}

static void choice_coordinates(const Home *home, int64_t choice, int64_t *coordinates) {
    for (int d = home->layout.grid.order - 1; d >= 0; d--) {
        coordinates[d] = 0;
        if (home->layout.dims[d].kind != PLACE_REPLICATE)
            continue;
        coordinates[d] = choice % home->layout.grid.extents[d];
        choice /= home->layout.grid.extents[d];
    }
}

void home_choice_coordinates(const Home *home, int64_t choice, const Grid *grid, int64_t *coordinates) {
    const Layout *layout = &home->layout;
    bool same = has_choice(home) && layout->grid.order == grid->order;
    for (int d = 0; d < grid->order && same; d++)
        same = layout->grid.extents[d] == grid->extents[d];
    if (same)
        choice_coordinates(home, choice, coordinates);
    for (int d = 0; d < grid->order; d++)
        if (!same || layout->dims[d].kind != PLACE_REPLICATE)
            coordinates[d] = -1;
}

typedef struct {
    const Home *home;
    Arena *arena;
    HoldingArray *found;
} Collect;

static bool collect(void *context, int64_t processor, const Rect *part) {
    const Collect *at = context;
    array_push(at->arena, *at->found, (Holding){*part, processor / at->home->per_rank, 1, NULL});
    return true;
}

void pieces_find(const Region *pieces, int64_t rank, const Rect *rect, Arena *arena, HoldingArray *found) {
    for (int64_t k = 0; k < pieces->rects.count; k++) {
        Rect part;
        if (rect_intersect(&pieces->rects.items[k], rect, arena, &part))
            array_push(arena, *found, (Holding){part, rank, 1, NULL});
    }
}

static bool collect_rank(void *context, int64_t processor, const Rect *part) {
    (void)part;
    const Collect *at = context;
    const int64_t rank = processor / at->home->per_rank;
    if (at->found->count == 0 || at->found->items[at->found->count - 1].rank != rank)
        array_push(at->arena, *at->found, (Holding){.rank = rank});
    return true;
}

// Processors are visited in order, but those of a rank need not follow each other.
void home_ranks(const Home *home, const Rect *rect, Arena *arena, int64_t *count, int64_t **ranks) {
    HoldingArray found = {0};
    layout_holders(&home->layout, rect, NULL, arena, collect_rank, &(Collect){home, arena, &found});
    *ranks = arena_array(arena, int64_t, found.count);
    for (int64_t i = 0; i < found.count; i++)
        (*ranks)[i] = found.items[i].rank;
    *count = found.count;
    ranks_sort(*ranks, *count);
    *count = ranks_unique(*ranks, *count);
}

void home_find(const Home *home, const Rect *rect, int64_t choice, Arena *arena, HoldingArray *found) {
    if (!home_is_local(home)) {
        home_owners(home, rect, arena, found);
        return;
    }
    int64_t replica[MAX_MACHINE_ORDER];
    choice_coordinates(home, choice, replica);
    if (home->per_rank == 1) {
        // Holdings are large: of one that is in thousands of parts, growing the list would take most of the
        // time.
        const int64_t count = found->capacity ? 0 : layout_part_count(&home->layout, rect, arena);
        if (count > 1)
            *found = (HoldingArray){arena_array(arena, Holding, count), 0, count};
        layout_holders(&home->layout, rect, replica, arena, collect, &(Collect){home, arena, found});
        return;
    }
    // Neighbouring processors of one rank share a piece: fewer and longer parts, each in one piece.
    int64_t count, *ranks;
    home_ranks(home, rect, arena, &count, &ranks);
    for (int64_t i = 0; i < count; i++) {
        const Region pieces = layout_pieces(home, ranks[i], arena);
        pieces_find(&pieces, ranks[i], rect, arena, found);
    }
}

// The ranks of a processor and of all that differ from it in coordinates of replicated dimensions only, in
// increasing order. `processor` has coordinates 0 there.
static void set_replicas(const Home *home, int64_t processor, Arena *arena, Holding *holding) {
    const Grid *grid = &home->layout.grid;
    int64_t count = 1, stride = grid_size(grid);
    for (int d = 0; d < grid->order; d++)
        count *= home->layout.dims[d].kind == PLACE_REPLICATE ? grid->extents[d] : 1;
    int64_t *ranks = arena_array(arena, int64_t, count), known = 1;
    ranks[0] = processor;
    // Backwards, as processor i becomes `extent` processors from i * extent on.
    for (int d = 0; d < grid->order; d++) {
        const int64_t extent = home->layout.dims[d].kind == PLACE_REPLICATE ? grid->extents[d] : 1;
        stride /= grid->extents[d];
        for (int64_t i = known - 1; i >= 0; i--)
            for (int64_t c = extent - 1; c >= 0; c--)
                ranks[i * extent + c] = ranks[i] + c * stride;
        known *= extent;
    }
    for (int64_t i = 0; i < count; i++)
        ranks[i] /= home->per_rank;
    holding->holder_count = ranks_unique(ranks, count);
    holding->holders = ranks;
    holding->rank = ranks[0];
}

static bool collect_replicas(void *context, int64_t processor, const Rect *part) {
    const Collect *at = context;
    Holding holding = {.rect = *part};
    set_replicas(at->home, processor, at->arena, &holding);
    array_push(at->arena, *at->found, holding);
    return true;
}

void home_owners(const Home *home, const Rect *rect, Arena *arena, HoldingArray *found) {
    if (rect_is_empty(rect))
        return;
    if (home->kind == HOME_INDUCED) {
        induced_owners(home, rect, arena, found);
    } else if (home->kind == HOME_EVERYWHERE) {
        int64_t *ranks = arena_array(arena, int64_t, home->ranks);
        for (int64_t rank = 0; rank < home->ranks; rank++)
            ranks[rank] = rank;
        array_push(arena, *found, (Holding){*rect, 0, home->ranks, ranks});
    } else if (!home->replicated) {
        home_find(home, rect, 0, arena, found);
    } else {
        const int64_t replica[MAX_MACHINE_ORDER] = {0};
        layout_holders(&home->layout, rect, replica, arena, collect_replicas, &(Collect){home, arena, found});
    }
}

bool holding_has(const Holding *holding, int64_t rank) {
    return holding->rank == rank ||
           (holding->holders && ranks_contain(holding->holders, holding->holder_count, rank));
}

int64_t holding_count(const Holding *holding) {
    return holding->holders ? holding->holder_count : 1;
}

int64_t holding_rank(const Holding *holding, int64_t index) {
    return holding->holders ? holding->holders[index] : holding->rank;
}
