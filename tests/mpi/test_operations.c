// SPDX-License-Identifier: BSD-3-Clause
// Each operation of a transfer, from plans put together by hand, so that also those are executed that few
// programs need: on any number of ranks, with empty parts, in all element types, from pieces with gaps, in
// several steps, waiting in MPI or asleep. ranks: 12
#include "base/integer.h"
#include "plan/scratch.h"
#include "report.h"
#include "runtime/execution.h"

#include <inttypes.h>
#include <stdlib.h>

// Whose home is what: blocks of rows or columns of each rank, everything of the last rank, or of each even
// rank.
typedef enum { BY_ROWS, BY_COLUMNS, AT_LAST, AT_EVEN } Homes;

typedef struct {
    int rank, ranks;
    int64_t extents[2];
    Arena *arena;
    Diagnostics *diagnostics;
    Tensor tensor;
    Access access;
    Transfer transfer;
    Home home;
    void *memory; // of a home piece with gaps
    Storage *storage;
    Array(Group) groups;
    Array(RankStep) steps;
    Array(RankOperation) operations;
    int64_t (*added)(int64_t contributor, const int64_t *x); // to element x by a rank in all steps together
} Case;

// What varies in all cases.
static struct {
    ElementType type;
    bool gaps, fetch_in_one, awake;
} variant;
static Case *now; // for the kernels

static Rect box(int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
    return (Rect){.order = 2, .lo = {row, column}, .hi = {row_end, column_end}};
}

static Rect rows_of(const Case *test, int64_t rank) {
    const int64_t block = ceil_div(test->extents[0], test->ranks);
    const int64_t first = min_i64(rank * block, test->extents[0]);
    return box(first, min_i64(first + block, test->extents[0]), 0, test->extents[1]);
}

static Rect columns_of(const Case *test, int64_t rank) {
    const int64_t block = ceil_div(test->extents[1], test->ranks);
    const int64_t first = min_i64(rank * block, test->extents[1]);
    return box(0, test->extents[0], first, min_i64(first + block, test->extents[1]));
}

static Rect whole_of(const Case *test) {
    return box(0, test->extents[0], 0, test->extents[1]);
}

// Small enough for sums in every type to be exact.
static int64_t initial(const int64_t *x) {
    return (7 * x[0] + 3 * x[1]) % 50 + 1;
}

static char *element(const Piece *piece, const int64_t *x) {
    const Rect rect = box(x[0], x[0] + 1, x[1], x[1] + 1);
    return piece_element(piece, &rect);
}

static void set(const Piece *piece, const int64_t *x, int64_t value) {
    type_conversion(TYPE_I64, variant.type)(element(piece, x), 1, &value, 1, 1);
}

static bool is(const Piece *piece, const int64_t *x, int64_t value) {
    char expected[16];
    type_conversion(TYPE_I64, variant.type)(expected, 1, &value, 1, 1);
    return memcmp(expected, element(piece, x), type_info(variant.type)->size) == 0;
}

#define EACH_ELEMENT(rect, x)                                                                                \
    for (int64_t x[2] = {(rect)->lo[0]}; x[0] < (rect)->hi[0]; x[0]++)                                       \
        for (x[1] = (rect)->lo[1]; x[1] < (rect)->hi[1]; x[1]++)

static Rect home_of(const Case *test, Homes homes, int64_t rank) {
    switch (homes) {
    case BY_ROWS:
        return rows_of(test, rank);
    case BY_COLUMNS:
        return columns_of(test, rank);
    case AT_LAST:
        return rank == test->ranks - 1 ? whole_of(test) : box(0, 0, 0, 0);
    default:
        return rank % 2 == 0 ? whole_of(test) : box(0, 0, 0, 0);
    }
}

// The home as this rank sees it.
static void place(Case *test, Homes homes) {
    Layout layout = {.grid = {1, {test->ranks}}, .order = 2};
    const int mode = homes == BY_COLUMNS;
    memcpy(layout.extents, test->extents, sizeof test->extents);
    layout.dims[0].kind = homes == BY_ROWS || homes == BY_COLUMNS ? PLACE_PARTITION : PLACE_FIX;
    layout.dims[0].mode = mode;
    layout.dims[0].length = test->extents[mode];
    layout.dims[0].block = ceil_div(test->extents[mode], test->ranks);
    const Rect own = home_of(test, homes, test->rank);
    layout.dims[0].coordinate = rect_is_empty(&own) ? (test->rank + 1) % test->ranks : test->rank;
    home_from_layout(&test->home, &test->tensor, test->extents, &layout, test->ranks, test->arena);
}

static void create_storage(Case *test) {
    test->storage = storage_create(&test->home, test->rank, true, (Scratch){0}, test->diagnostics);
    if (variant.gaps && test->storage->piece_count) {
        Piece piece = test->storage->pieces[0];
        piece.stride[0] += 3;
        test->memory =
            calloc((size_t)(rect_count(&piece.rect, 0) * piece.stride[0]), type_info(variant.type)->size);
        piece.data = test->memory;
        storage_free(test->storage);
        test->storage = storage_wrap(&test->home, test->rank, &piece);
    }
    for (int64_t i = 0; i < test->storage->piece_count; i++)
        EACH_ELEMENT(&test->storage->pieces[i].rect, x)
    set(&test->storage->pieces[i], x, initial(x));
}

static void start_case(Case *test, int rank, int ranks, TransferKind kind, Homes homes, int64_t rows,
                       int64_t columns) {
    Arena *arena = arena_create();
    *test = (Case){.rank = rank, .ranks = ranks, .extents = {rows, columns}, .arena = arena};
    test->diagnostics = diagnostics_create(arena, (Source){"test", NULL});
    test->tensor = (Tensor){.name = "T", .type = variant.type, .order = 2, .mode_order = {0, 1}};
    test->tensor.levels[0] = test->tensor.levels[1] = level_type_dense();
    test->access = (Access){.tensor = &test->tensor};
    test->transfer =
        (Transfer){.kind = kind, .access = &test->access, .statement_access = &test->access, .at = -1};
    place(test, homes);
    create_storage(test);
}

static void end_case(Case *test) {
    storage_free(test->storage);
    free(test->memory);
    arena_free(test->arena);
}

// The group of the ranks for which `takes_part` holds, from this rank's side.
static int64_t add_group(Case *test, bool (*takes_part)(const Case *test, int64_t rank)) {
    int64_t *members = arena_array(test->arena, int64_t, test->ranks);
    Group group = {0, members};
    for (int64_t r = 0; r < test->ranks; r++)
        if (takes_part(test, r))
            members[group.count++] = r;
    array_push(test->arena, test->groups, group);
    return test->groups.count - 1;
}

static bool everyone(const Case *test, int64_t rank) {
    (void)test, (void)rank;
    return true;
}

static void add_step(Case *test, Rect view) {
    array_push(test->arena, test->steps,
               (RankStep){.empty = rect_is_empty(&view),
                          .view = view,
                          .piece = -1,
                          .first_operation = test->operations.count});
}

typedef Array(Part) Parts;

// In a home piece (at_home) or in the view.
static void add_part(Case *test, Parts *parts, Rect rect, int64_t peer, bool at_home) {
    const bool in_piece = at_home && !rect_is_empty(&rect);
    array_push(test->arena, *parts, (Part){.rect = rect, .peer = peer, .piece = in_piece ? 0 : -1});
}

static RankOperation *add_operation(Case *test, const Operation *operation, int64_t group, const Parts *sends,
                                    const Parts *receives) {
    array_push(test->arena, test->operations,
               (RankOperation){.operation = operation,
                               .group = group,
                               .root = -1,
                               .send_count = sends->count,
                               .sends = sends->items,
                               .receive_count = receives->count,
                               .receives = receives->items});
    test->steps.items[test->steps.count - 1].operation_count++;
    return &test->operations.items[test->operations.count - 1];
}

static void fetch_kernel(distal_execution *execution, const int64_t *params) {
    (void)params;
    for (int64_t s = 0; s < now->steps.count; s++) {
        const RankStep *step = &now->steps.items[s];
        if (!variant.fetch_in_one)
            distal_start(execution, 0);
        const distal_view *view =
            variant.fetch_in_one ? distal_fetch(execution, 0) : distal_wait(execution, 0);
        CHECK(step->empty == !view->values, "step %" PRId64 ": a view for nothing, or none", s);
        const Piece piece = {.rect = step->view,
                             .stride = {view->stride[0], view->stride[1]},
                             .type = variant.type,
                             .data = view->values};
        if (!step->empty)
            EACH_ELEMENT(&step->view, x)
        CHECK(is(&piece, x, initial(x)), "step %" PRId64 ", element (%" PRId64 ", %" PRId64 ")", s, x[0],
              x[1]);
    }
}

static int64_t partial(int64_t rank, const int64_t *x) {
    return (rank + 1) * (x[0] % 3 + x[1] % 4 + 1);
}

static void reduce_kernel(distal_execution *execution, const int64_t *params) {
    (void)params;
    for (int64_t s = 0; s < now->steps.count; s++) {
        const RankStep *step = &now->steps.items[s];
        const distal_view *view = distal_accumulate(execution, 0);
        const Piece piece = {.rect = step->view,
                             .stride = {view->stride[0], view->stride[1]},
                             .type = variant.type,
                             .data = view->values};
        if (!step->empty)
            EACH_ELEMENT(&step->view, x)
        set(&piece, x, partial(now->rank, x));
        distal_reduce(execution, 0);
    }
}

static int64_t scratch_elements(const Case *test) {
    int64_t most = 0;
    for (int64_t s = 0; s < test->steps.count; s++) {
        const RankStep *step = &test->steps.items[s];
        const Region own = home_pieces(&test->home, test->rank, test->arena);
        const PackedMemory memory = {
            .view = &step->view, .pieces = own.rects.items, .levels = tensor_levels(&test->tensor)};
        int64_t elements = 0;
        for (int64_t i = 0; i < step->operation_count; i++)
            elements += operation_scratch(&test->operations.items[step->first_operation + i], &memory);
        most = max_i64(most, elements);
    }
    return most;
}

// What home pieces hold after `runs` executions.
static void check_home(const Case *test, int64_t runs) {
    const bool reduces = test->transfer.kind == TRANSFER_REDUCE;
    for (int64_t i = 0; i < test->storage->piece_count; i++)
        EACH_ELEMENT(&test->storage->pieces[i].rect, x) {
            int64_t value = initial(x);
            for (int64_t r = 0; reduces && r < test->ranks; r++)
                value += runs * test->added(r, x);
            CHECK(is(&test->storage->pieces[i], x, value),
                  "element (%" PRId64 ", %" PRId64 ") is not %" PRId64, x[0], x[1], value);
        }
    const char *memory = test->memory;
    if (!memory)
        return;
    const Piece *piece = &test->storage->pieces[0];
    const int64_t size = (int64_t)type_info(variant.type)->size;
    for (int64_t row = 0; row < rect_count(&piece->rect, 0); row++)
        for (int64_t byte = rect_count(&piece->rect, 1) * size; byte < piece->stride[0] * size; byte++)
            CHECK(memory[row * piece->stride[0] * size + byte] == 0, "the gap in row %" PRId64, row);
}

static void execute(Case *test, MPI_Comm comm) {
    int64_t buffer = 0;
    for (int64_t s = 0; s < test->steps.count; s++)
        buffer = max_i64(buffer, rect_volume(&test->steps.items[s].view));
    const RankTransfer plan = {.rank = test->rank,
                               .transfer = &test->transfer,
                               .step_count = test->steps.count,
                               .steps = test->steps.items,
                               .operation_count = test->operations.count,
                               .operations = test->operations.items,
                               .buffer_count = buffer > 0,
                               .buffer_elements = buffer,
                               .scratch_elements = scratch_elements(test)};
    const RankTransfer *plans[] = {&plan};
    const ExecutionParts parts = {.transfer_count = 1,
                                  .transfers = plans,
                                  .storages = &test->storage,
                                  .group_count = test->groups.count,
                                  .groups = test->groups.items,
                                  .processors = test->ranks,
                                  .per_rank = 1};
    now = test;
    const bool sleeps = wait_sleeps();
    wait_set_sleep(!variant.awake);
    Communicators *communicators = communicators_create(comm);
    distal_execution *execution = execution_assemble(&parts, communicators, test->diagnostics);
    CHECK(execution, "no execution");
    for (int64_t run = 1; run <= 2 && execution; run++) {
        execution_run(execution, test->transfer.kind == TRANSFER_FETCH ? fetch_kernel : reduce_kernel, NULL);
        check_home(test, run);
    }
    execution_free(execution);
    communicators_free(communicators);
    wait_set_sleep(sleeps);
}

// Each rank has a block, all need all of it: in one step, and by halves, the second of which is in the view
// at another place.
static void gather_all(MPI_Comm comm, int rank, int ranks, Homes homes, int64_t rows, int64_t columns) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_FETCH, homes, rows, columns);
    const int64_t group = add_group(&test, everyone);
    const int64_t half = columns / 2;
    const Rect bands[] = {whole_of(&test), box(0, rows, 0, half), box(0, rows, half, columns)};
    for (int b = 0; b < 3; b++) {
        Parts sends = {0}, receives = {0};
        add_step(&test, bands[b]);
        for (int64_t r = 0; r < ranks; r++) {
            Rect part = home_of(&test, homes, r), common;
            if (!rect_intersect(&part, &bands[b], test.arena, &common))
                common = box(0, 0, 0, 0);
            if (r == rank)
                add_part(&test, &sends, common, rank, true);
            add_part(&test, &receives, common, r, false);
        }
        add_operation(&test, &operation_all_gather, group, &sends, &receives);
    }
    execute(&test, comm);
    end_case(&test);
}

static void test_all_gather(MPI_Comm comm, int rank, int ranks) {
    gather_all(comm, rank, ranks, BY_ROWS, 2 * ranks + 1, 5); // parts follow each other in the view
    gather_all(comm, rank, ranks, BY_ROWS, ranks / 2 + 1, 7); // some ranks have none
    gather_all(comm, rank, ranks, BY_COLUMNS, 5, 2 * ranks + 1);
    gather_all(comm, rank, ranks, BY_COLUMNS, 1, ranks + 1);
    gather_all(comm, rank, ranks, BY_ROWS, 0, 3);
}

// From blocks of rows to blocks of columns, two rectangles for each pair of ranks.
static void exchange(MPI_Comm comm, int rank, int ranks, bool collective) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_FETCH, BY_ROWS, 2 * ranks - 1, 2 * ranks + 3);
    const int64_t group = collective ? add_group(&test, everyone) : -1;
    for (int s = 0; s < 2; s++) {
        Parts sends = {0}, receives = {0}, own = {0}, none = {0};
        add_step(&test, columns_of(&test, rank));
        for (int64_t r = 0; r < ranks; r++) {
            const Rect mine = rows_of(&test, rank), theirs = rows_of(&test, r);
            const Rect their_view = columns_of(&test, r), my_view = columns_of(&test, rank);
            for (int64_t half = 0; half < 2; half++) {
                // The first row, and the others.
                const Rect of_mine = half ? box(mine.lo[0] + 1, mine.hi[0], 0, test.extents[1])
                                          : box(mine.lo[0], mine.lo[0] + 1, 0, test.extents[1]);
                const Rect of_theirs = half ? box(theirs.lo[0] + 1, theirs.hi[0], 0, test.extents[1])
                                            : box(theirs.lo[0], theirs.lo[0] + 1, 0, test.extents[1]);
                Rect part;
                if (!rect_is_empty(&mine) && rect_intersect(&of_mine, &their_view, test.arena, &part))
                    add_part(&test, r == rank ? &own : &sends, part, r, true);
                if (r != rank && !rect_is_empty(&theirs) &&
                    rect_intersect(&of_theirs, &my_view, test.arena, &part))
                    add_part(&test, &receives, part, r, false);
            }
        }
        add_operation(&test, &operation_exchange, group, &sends, &receives);
        add_operation(&test, &operation_local, -1, &none, &own);
    }
    execute(&test, comm);
    end_case(&test);
}

static void test_exchange(MPI_Comm comm, int rank, int ranks) {
    exchange(comm, rank, ranks, false);
    exchange(comm, rank, ranks, true);
}

// Everything, and two columns of it, from the last rank to all.
static void test_broadcast(MPI_Comm comm, int rank, int ranks) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_FETCH, AT_LAST, 9, 5);
    const int64_t group = add_group(&test, everyone);
    const Rect views[] = {whole_of(&test), box(2, 9, 1, 3)};
    for (int s = 0; s < 2; s++) {
        Parts sends = {0}, receives = {0}, none = {0};
        add_step(&test, views[s]);
        add_part(&test, &sends, views[s], ranks - 1, true);
        add_part(&test, &receives, views[s], ranks - 1, false);
        const bool owner = rank == ranks - 1;
        add_operation(&test, &operation_broadcast, group, owner ? &sends : &none, owner ? &none : &receives)
            ->root = ranks - 1;
        if (owner)
            add_operation(&test, &operation_local, -1, &none, &sends);
    }
    execute(&test, comm);
    end_case(&test);
}

static int64_t added_by_all(int64_t contributor, const int64_t *x) {
    return partial(contributor, x);
}

static int64_t added_twice_by_all(int64_t contributor, const int64_t *x) {
    return 2 * partial(contributor, x);
}

// Both steps, the second without the last rank.
static int64_t added_less_by_last(int64_t contributor, const int64_t *x) {
    return (contributor == now->ranks - 1 ? 1 : 2) * partial(contributor, x);
}

// Adds a sum over `rect` at the home of the last rank.
static void add_sum(Case *test, int64_t group, Rect rect, bool contributes, bool exclusive) {
    Parts sends = {0}, receives = {0};
    if (contributes)
        add_part(test, &sends, rect, test->ranks - 1, false);
    if (test->rank == test->ranks - 1)
        add_part(test, &receives, rect, test->rank, true);
    RankOperation *sum = add_operation(test, &operation_reduce, group, &sends, &receives);
    sum->root = test->ranks - 1;
    sum->contributes = contributes;
    sum->exclusive = exclusive;
}

static void test_reduce(MPI_Comm comm, int rank, int ranks) {
    const bool owner = rank == ranks - 1;
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, AT_LAST, 7, 6);
    test.added = added_less_by_last;
    const int64_t group = add_group(&test, everyone);
    const Rect whole = whole_of(&test);
    // All contribute to the whole, then all but the owner to its two halves, which are not contiguous.
    add_step(&test, whole);
    add_sum(&test, group, whole, true, true);
    add_step(&test, owner ? box(0, 0, 0, 0) : whole);
    add_sum(&test, group, box(0, 7, 0, 2), !owner, true);
    add_sum(&test, group, box(0, 7, 2, 6), !owner, true);
    execute(&test, comm);
    end_case(&test);
}

static bool is_even_or_last(const Case *test, int64_t rank) {
    return rank % 2 == 0 || rank == test->ranks - 1;
}

static bool is_odd_or_last(const Case *test, int64_t rank) {
    return rank % 2 == 1 || rank == test->ranks - 1;
}

static int64_t added_in_part(int64_t contributor, const int64_t *x) {
    const bool adds = contributor % 2 == 0 ? x[0] < 5 : x[0] >= 3;
    return adds ? partial(contributor, x) : 0;
}

// Even ranks add to the first five rows, odd ones to those after the third.
static void test_overlapping_sums(MPI_Comm comm, int rank, int ranks) {
    const bool even = rank % 2 == 0;
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, AT_LAST, 7, 6);
    test.added = added_in_part;
    const int64_t evens = add_group(&test, is_even_or_last), odds = add_group(&test, is_odd_or_last);
    const Rect first = box(0, 5, 0, 6), second = box(3, 7, 0, 6);
    add_step(&test, even ? first : second);
    if (is_odd_or_last(&test, rank))
        add_sum(&test, odds, second, !even, false);
    if (is_even_or_last(&test, rank))
        add_sum(&test, evens, first, even, false);
    execute(&test, comm);
    end_case(&test);
}

static void test_reduce_messages(MPI_Comm comm, int rank, int ranks) {
    const bool owner = rank == ranks - 1;
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, AT_LAST, 7, 6);
    test.added = added_by_all;
    Parts sends = {0}, receives = {0}, own = {0}, none = {0};
    const Rect parts[] = {box(0, 7, 0, 4), box(0, 7, 4, 6)};
    add_step(&test, whole_of(&test));
    for (int p = 0; p < 2; p++) {
        if (!owner)
            add_part(&test, &sends, parts[p], ranks - 1, false);
        else
            add_part(&test, &own, parts[p], rank, true);
    }
    for (int64_t r = 0; owner && r < ranks - 1; r++)
        for (int p = 0; p < 2; p++)
            add_part(&test, &receives, parts[p], r, true);
    add_operation(&test, &operation_accumulate, -1, &sends, &receives);
    add_operation(&test, &operation_local, -1, &none, &own);
    execute(&test, comm);
    end_case(&test);
}

static int64_t added_but_by_first(int64_t contributor, const int64_t *x) {
    return (contributor == 0 ? 1 : 2) * partial(contributor, x);
}

static void sum_everywhere(MPI_Comm comm, int rank, int ranks, int64_t rows, bool exclusive) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, AT_EVEN, rows, 6);
    test.added = added_but_by_first;
    const int64_t group = add_group(&test, everyone);
    const Rect parts[] = {whole_of(&test), box(0, rows, 0, 4), box(0, rows, 4, 6)};
    for (int p = 0; p < 3; p++) {
        // All contribute to the whole, then all but the first owner to its two parts.
        const bool contributes = p == 0 || rank > 0;
        Parts sends = {0}, receives = {0};
        if (p < 2)
            add_step(&test, contributes ? whole_of(&test) : box(0, 0, 0, 0));
        if (contributes)
            add_part(&test, &sends, parts[p], 0, false);
        if (rank % 2 == 0)
            add_part(&test, &receives, parts[p], rank, true);
        RankOperation *sum = add_operation(&test, &operation_all_reduce, group, &sends, &receives);
        sum->root = 0;
        sum->contributes = contributes;
        sum->exclusive = exclusive;
    }
    execute(&test, comm);
    end_case(&test);
}

static void test_all_reduce(MPI_Comm comm, int rank, int ranks) {
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        sum_everywhere(comm, rank, ranks, 5, exclusive);
        sum_everywhere(comm, rank, ranks, 3001, exclusive); // MPI takes other algorithms for long messages
    }
}

static int64_t last_even(const Case *test) {
    return (test->ranks - 1) / 2 * 2;
}

static int64_t added_by_two(int64_t contributor, const int64_t *x) {
    return ((contributor == 0) + (contributor == last_even(now))) * partial(contributor, x);
}

static bool is_even(const Case *test, int64_t rank) {
    (void)test;
    return rank % 2 == 0;
}

// The first owner has computed the whole, then the last one its two parts, which are not contiguous.
static void replicate(MPI_Comm comm, int rank, int ranks, int64_t rows, bool exclusive) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, AT_EVEN, rows, 6);
    test.added = added_by_two;
    const int64_t group = add_group(&test, is_even), last = last_even(&test);
    const Rect parts[] = {whole_of(&test), box(0, rows, 0, 4), box(0, rows, 4, 6)};
    for (int p = 0; p < 3; p++) {
        const int64_t root = p == 0 ? 0 : last;
        const bool contributes = rank == root;
        Parts sends = {0}, receives = {0};
        if (p < 2)
            add_step(&test, contributes ? whole_of(&test) : box(0, 0, 0, 0));
        if (rank % 2 != 0)
            continue;
        if (contributes)
            add_part(&test, &sends, parts[p], root, false);
        add_part(&test, &receives, parts[p], rank, true);
        RankOperation *sum = add_operation(&test, &operation_replicate, group, &sends, &receives);
        sum->root = root;
        sum->contributes = contributes;
        sum->exclusive = exclusive;
    }
    execute(&test, comm);
    end_case(&test);
}

static void test_replicate(MPI_Comm comm, int rank, int ranks) {
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        replicate(comm, rank, ranks, 5, exclusive);
        replicate(comm, rank, ranks, 3001, exclusive);
    }
}

static void scatter(MPI_Comm comm, int rank, int ranks, Homes homes, int64_t rows, int64_t columns,
                    bool exclusive) {
    Case test;
    start_case(&test, rank, ranks, TRANSFER_REDUCE, homes, rows, columns);
    test.added = added_twice_by_all;
    const int64_t group = add_group(&test, everyone);
    for (int s = 0; s < 2; s++) {
        Parts sends = {0}, receives = {0};
        add_step(&test, whole_of(&test));
        for (int64_t r = 0; r < ranks; r++)
            add_part(&test, &sends, home_of(&test, homes, r), r, false);
        add_part(&test, &receives, home_of(&test, homes, rank), rank, true);
        RankOperation *sum = add_operation(&test, &operation_reduce_scatter, group, &sends, &receives);
        sum->contributes = true;
        sum->exclusive = exclusive;
    }
    execute(&test, comm);
    end_case(&test);
}

static void test_reduce_scatter(MPI_Comm comm, int rank, int ranks) {
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        scatter(comm, rank, ranks, BY_ROWS, 2 * ranks + 1, 3,
                exclusive); // parts follow each other in the view
        scatter(comm, rank, ranks, BY_ROWS, ranks / 2 + 1, 3, exclusive); // some ranks own nothing
        scatter(comm, rank, ranks, BY_COLUMNS, 3, 2 * ranks + 1, exclusive);
    }
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {
        {"all-gather", test_all_gather},
        {"exchange", test_exchange},
        {"broadcast", test_broadcast},
        {"reduce", test_reduce},
        {"sums that overlap", test_overlapping_sums},
        {"reduce between two ranks", test_reduce_messages},
        {"all-reduce", test_all_reduce},
        {"replicate", test_replicate},
        {"reduce-scatter", test_reduce_scatter},
    };
    report_start(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int count = 1; count <= ranks; count++)
            for (int type = 0; type < TYPE_COUNT; type++)
                for (int bits = 0; bits < 8; bits++) {
                    // All types on few ranks. As many as there are cores, mostly, wait in MPI. On many, with
                    // and without gaps and in one call, but not all four combinations.
                    const bool usual = type == count % TYPE_COUNT, awake = bits & 4;
                    const bool odd = (bits + (bits >> 1) + count + (int)i) % 2 != 0;
                    if ((count > 3 && !usual) || (awake && (count > 2 || !usual)) || (count > 6 && odd))
                        continue;
                    variant.type = (ElementType)type;
                    variant.gaps = bits & 1;
                    variant.fetch_in_one = bits & 2;
                    variant.awake = awake;
                    char name[REPORT_LENGTH];
                    snprintf(name, sizeof name, "%s of %s%s%s%s", cases[i].name,
                             type_info(variant.type)->name, variant.gaps ? ", gaps" : "",
                             variant.fetch_in_one ? ", in one call" : "", awake ? ", awake" : "");
                    run_case(name, count, cases[i].test);
                }
    return report_end();
}
