// SPDX-License-Identifier: BSD-3-Clause
// Plans of real programs, executed: a kernel that walks the SPMD program checks that every fetch brings
// exactly the elements that are needed, adds known numbers where results are accumulated, and compares what
// arrives at the owners. Counted bytes and messages must be those of the plan. No C compiler takes part.
// ranks: 12
#include "io/generate.h"
#include "pipeline/pipeline.h"
#include "plan/verify.h"
#include "report.h"
#include "runtime/execution.h"
#include "runtime/load.h"
#include "runtime/neighbours.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

// One statement each; gx * gy and cx * cy * cz are the number of ranks.
static const struct {
    const char *name, *text;
} programs[] = {
    {"summa", "param n = 13, gx = 1, gy = 1\nmachine M = grid(gx, gy)\n"
              "tensor A(n, n + 4): f64\ntensor B(n, n + 2): f64\ntensor C(n + 2, n + 4): f64, order(1, 0)\n"
              "place A(x, y) -> M(x, y)\nplace B(x, y) -> M(x, y)\nplace C(x, y) -> M(x, y)\n"
              "A(i, j) = B(i, k) * C(k, j)\n"
              "schedule A {\n distribute({i, j}, {io, jo}, {ii, ji}, M)\n split(k, ko, ki, 4)\n"
              " reorder({ko, ii, ji, ki})\n communicate(A, jo)\n communicate({B, C}, ko)\n}\n"},
    {"cannon", "param n = 11, gx = 1, gy = 1\nmachine M = grid(gx, gy)\n"
               "tensor A(n, n + 2): f64\ntensor B(n, n + 6): f64\ntensor C(n + 6, n + 2): f64\n"
               "place A(x, y) -> M(x, y)\nplace B(x, y) -> M(x, y)\nplace C(x, y) -> M(x, y)\n"
               "A(i, j) = B(i, k) * C(k, j)\n"
               "schedule A {\n distribute({i, j}, {io, jo}, {ii, ji}, M)\n divide(k, ko, ki, gx)\n"
               " reorder({ko, ii, ji, ki})\n rotate(ko, {io, jo}, kos)\n communicate(A, jo)\n"
               " communicate({B, C}, kos)\n}\n"},
    {"pumma", "param n = 11, gx = 1, gy = 1\nmachine M = grid(gx, gy)\n"
              "tensor A(n, n + 2): c64\ntensor B(n, n + 6): c64\ntensor C(n + 6, n + 2): c64\n"
              "place A(x, y) -> M(x, y)\nplace B(x, y) -> M(x, y)\nplace C(x, y) -> M(x, y)\n"
              "A(i, j) = B(i, k) * C(k, j)\n"
              "schedule A {\n distribute({i, j}, {io, jo}, {ii, ji}, M)\n divide(k, ko, ki, gx)\n"
              " reorder({ko, ii, ji, ki})\n rotate(ko, {io}, kos)\n communicate(A, jo)\n"
              " communicate({B, C}, kos)\n}\n"},
    {"johnson", "param n = 7, cx = 1, cy = 1, cz = 1\nmachine M = grid(cx, cy, cz)\n"
                "tensor A(n, n + 2): i64\ntensor B(n, n + 4): i64\ntensor C(n + 4, n + 2): i64\n"
                "place A(x, y) -> M(x, y, 0)\nplace B(x, z) -> M(x, 0, z)\nplace C(z, y) -> M(0, y, z)\n"
                "A(i, j) = B(i, k) * C(k, j)\n"
                "schedule A {\n distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
                " communicate({A, B, C}, ko)\n}\n"},
    {"johnson, replicated result", "param n = 7, cx = 1, cy = 1, cz = 1\nmachine M = grid(cx, cy, cz)\n"
                                   "tensor A(n, n + 2): c128, order(1, 0)\ntensor B(n, n + 4): c128\n"
                                   "tensor C(n + 4, n + 2): c128\nplace A(x, y) -> M(x, *, *)\n"
                                   "place B(x, z) -> M(x, 0, z)\nplace C(z, y) -> M(0, y, z)\n"
                                   "A(i, j) = B(i, k) * C(k, j)\n"
                                   "schedule A {\n distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
                                   " communicate({A, B, C}, ko)\n}\n"},
    {"solomonik", "param n = 9, cx = 1, cy = 1, cz = 1\nmachine M = grid(cx, cy, cz)\n"
                  "tensor A(n, n + 2): f32\ntensor B(n, n + 4): f32\ntensor C(n + 4, n + 2): f32\n"
                  "place A(x, y) -> M(x, y, 0)\nplace B(x, y) -> M(x, y, 0)\nplace C(x, y) -> M(x, y, 0)\n"
                  "A(i, j) = B(i, k) * C(k, j)\n"
                  "schedule A {\n distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
                  " divide(ki, kio, kii, cx)\n reorder({kio, ii, ji, kii})\n rotate(kio, {io, jo}, kios)\n"
                  " communicate(A, jo)\n communicate({B, C}, kios)\n}\n"},
    {"cosma", "param n = 9, cx = 1, cy = 1, cz = 1\nmachine M = grid(cx, cy, cz)\n"
              "tensor A(n, n + 2): f64\ntensor B(n, n + 4): f64\ntensor C(n + 4, n + 2): f64\n"
              "A(i, j) = B(i, k) * C(k, j)\n"
              "schedule A {\n distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
              " divide(ki, kio, kii, 3)\n reorder({kio, ii, ji, kii})\n communicate(A, ko)\n"
              " communicate({B, C}, kio)\n}\n"},
    {"mttkrp", "param n = 6, cx = 1, cy = 1, cz = 1\nmachine M = grid(cx, cy, cz)\n"
               "tensor A(n, 3): f64\ntensor B(n, n + 1, n + 2): f64, order(2, 0, 1)\n"
               "tensor C(n + 1, 3): f64\ntensor D(n + 2, 3): f64\n"
               "place B(x, y, z) -> M(x, y, z)\nplace A(x, l) -> M(x, 0, 0)\nplace C(y, l) -> M(0, y, 0)\n"
               "place D(z, l) -> M(0, 0, z)\nA(i, l) = B(i, j, k) * C(j, l) * D(k, l)\n"
               "schedule A {\n distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)\n"
               " communicate({A, B, C, D}, ko)\n}\n"},
    {"inner product", "param n = 6, gx = 1, gy = 1\nmachine M = grid(gx, gy)\n"
                      "tensor a: f64\ntensor B(n, n + 1, 4): f64\ntensor C(n, n + 1, 4): f64\n"
                      "place B(x, y, z) -> M(x, y)\nplace C(x, y, z) -> M(x, y)\n"
                      "a = B(i, j, k) * C(i, j, k)\n"
                      "schedule a {\n distribute({i, j}, {io, jo}, {ii, ji}, M)\n}\n"},
    {"redistribution", "param n = 10, gx = 1, gy = 1\nmachine M = grid(gx, gy)\nmachine R = grid(ranks)\n"
                       "tensor A(n, n + 3, 2): i32, order(1, 0, 2)\ntensor B(n, n + 3, 2): i32\n"
                       "place A(x, y, z) -> M(y, x)\nplace B(x, y, z) -> R(x)\n"
                       "A(i, j, k) = B(i, j, k)\n"},
    {"transpose onto one rank", "param n = 10\nmachine R = grid(ranks)\n"
                                "tensor A(n, n + 3): f64\ntensor B(n + 3, n): f64\n"
                                "place A(x, y) -> R(0)\nplace B(x, y) -> R(x)\n"
                                "A(i, j) += B(j, i)\n"},
    {"over-decomposition", "param n = 17\nmachine R = grid(3 * ranks)\n"
                           "tensor A(n, 5): f64\ntensor B(n, 7): f64\ntensor C(7, 5): f64\n"
                           "place A(x, y) -> R(y)\nplace B(x, y) -> R(x)\nplace C(x, y) -> R(x)\n"
                           "A(i, j) = B(i, k) * C(k, j)\n"
                           "schedule A {\n distribute({i}, {io}, {ii}, R)\n split(k, ko, ki, 2)\n"
                           " reorder({ko, ii, j, ki})\n communicate(A, ko)\n communicate({B, C}, ko)\n}\n"},
    {"two terms", "param n = 8\nmachine R = grid(ranks)\n"
                  "tensor a(n): f64\ntensor b(n): f64\ntensor B(n, n + 1): f64\ntensor c(n + 1): f64\n"
                  "place a(x) -> R(x)\nplace b(x) -> R(0)\nplace B(x, y) -> R(y)\nplace c(x) -> R(x)\n"
                  "a(i) = b(i) + B(i, j) * c(j)\n"},
};

static const struct {
    const char *name;
    PlanOptions options;
    int64_t neighbours; // ranks of a node, 0: all; -1: none reads from another one
    // Ranks are late at random, and change all elements between runs, which nothing but the runs orders.
    bool delayed;
} variants[] = {
    {"", {0}, -1, false},
    {", short messages", {.message_limit = 48}, -1, false},
    {", pipelined", {.pipelined = true}, -1, false},
    {", no patterns", {.without = ~0u}, -1, false},
    {", one node", {0}, 0, false},
    {", nodes of 2", {0}, 2, false},
    {", nodes of 3, pipelined", {.pipelined = true}, 3, false},
    {", nodes of 2, short messages", {.message_limit = 48}, 2, false},
    {", nodes of 2, no patterns", {.without = ~0u}, 2, false},
    {", one node, delayed", {0}, 0, true},
    {", nodes of 3, pipelined, delayed", {.pipelined = true}, 3, true},
};

// What is being run.
static struct {
    StatementPlan *plan;
    int rank;
    Region **needs; // of this rank, by transfer and step
    int64_t *step;  // of the kernel, by transfer
    int64_t round;
    uint64_t random; // of this rank
} now;
static size_t now_program, now_variant;

static void delay(void) {
    now.random = now.random * 6364136223846793005u + 1442695040888963407u;
    if (variants[now_variant].delayed && now.random >> 62 == 0)
        usleep((useconds_t)(now.random >> 32) % 500);
}

static int64_t position(const Home *home, const int64_t *coordinates) {
    int64_t at = 0;
    for (int d = 0; d < home->order; d++)
        at = at * home->extents[d] + coordinates[d];
    return at;
}

// Small enough that sums are exact in every type.
static double initial(int64_t at) {
    return (double)(at % 1000 + 1 + now.round);
}

static double contribution(int64_t rank, int64_t step, int64_t at) {
    return (double)(1 + (rank * 3 + step * 5 + at) % 11);
}

static double get(const void *data, int64_t index, ElementType type) {
    double value = 0;
    const char *element = (const char *)data + index * (int64_t)type_info(type)->size;
    if (type_info(type)->is_complex) {
        double _Complex both;
        type_conversion(type, TYPE_C128)(&both, 1, element, 1, 1);
        return __real__ both;
    }
    type_conversion(type, TYPE_F64)(&value, 1, element, 1, 1);
    return value;
}

static void set(void *data, int64_t index, ElementType type, double value) {
    char *element = (char *)data + index * (int64_t)type_info(type)->size;
    int64_t integer = (int64_t)value;
    if (type_info(type)->is_integer)
        type_conversion(TYPE_I64, type)(element, 1, &integer, 1, 1);
    else
        type_conversion(TYPE_F64, type)(element, 1, &value, 1, 1);
}

// Calls `visit` for every coordinate of a rectangle.
static void each(const Rect *rect, void (*visit)(void *context, const int64_t *coordinates), void *context) {
    int64_t x[MAX_ORDER];
    if (rect_is_empty(rect))
        return;
    memcpy(x, rect->lo, sizeof x);
    for (;;) {
        visit(context, x);
        int d = rect->order - 1;
        for (; d >= 0 && ++x[d] == rect->hi[d]; d--)
            x[d] = rect->lo[d];
        if (d < 0)
            return;
    }
}

typedef struct {
    const Transfer *transfer;
    const Home *home;
    const distal_view *view;
    int64_t rank, step;
    bool once;
    double *expected;
} Site;

static int64_t element(const Site *site, const int64_t *x) {
    int64_t at = 0;
    for (int d = 0; d < site->home->order; d++)
        at += (x[d] - site->view->lo[d]) * site->view->stride[d];
    return at;
}

static void check_element(void *context, const int64_t *x) {
    const Site *site = context;
    const Tensor *tensor = site->home->tensor;
    double value = get(site->view->values, element(site, x), tensor->type);
    double right = initial(position(site->home, x));
    CHECK(value == right, "step %" PRId64 " of transfer %d, tensor %s, position %" PRId64 ": %g is not %g",
          site->step, site->transfer->id, tensor->name, position(site->home, x), value, right);
}

static void add_element(void *context, const int64_t *x) {
    const Site *site = context;
    ElementType type = site->home->tensor->type;
    double value = contribution(site->rank, site->step, position(site->home, x));
    if (!site->once)
        value += get(site->view->values, element(site, x), type);
    set(site->view->values, element(site, x), type, value);
}

static void expect_element(void *context, const int64_t *x) {
    const Site *site = context;
    int64_t at = position(site->home, x);
    site->expected[at] += contribution(site->rank, site->step, at);
}

static void touch(const distal_view *view, const Transfer *transfer, int64_t step,
                  void (*visit)(void *context, const int64_t *coordinates)) {
    const Region *need = &now.needs[transfer->id][step];
    Site site = {.transfer = transfer,
                 .home = &now.plan->homes[transfer->access->tensor->id],
                 .view = view,
                 .rank = now.rank,
                 .step = step,
                 .once = !now.plan->spmd->nests[transfer->nest].assign->accumulate};
    CHECK(view->values || need->rects.count == 0, "step %" PRId64 " of transfer %d has no view", step,
          transfer->id);
    for (int64_t i = 0; i < need->rects.count && view->values; i++)
        each(&need->rects.items[i], visit, &site);
}

static void run_nodes(distal_execution *execution, const SpmdNode *node) {
    for (; node; node = node->next) {
        const Transfer *transfer = &now.plan->spmd->transfers[node->transfer];
        delay();
        if (node->kind == SPMD_LOOP) {
            for (int64_t i = 0; i < provenance_extent(now.plan->provenance, node->var); i++)
                run_nodes(execution, node->body);
        } else if (node->kind == SPMD_FETCH) {
            const int64_t step = now.step[transfer->id]++;
            // One transfer waits in the call that starts it, the next does not.
            if (transfer->id % 2 == 0)
                distal_start(execution, transfer->id);
            const distal_view *view = transfer->id % 2 == 0 ? distal_wait(execution, transfer->id)
                                                            : distal_fetch(execution, transfer->id);
            if (transfer->ahead)
                distal_start_next(execution, transfer->id);
            delay();
            touch(view, transfer, step, check_element);
        } else if (node->kind == SPMD_ACCUMULATE) {
            touch(distal_accumulate(execution, transfer->id), transfer, now.step[transfer->id]++,
                  add_element);
        } else if (node->kind == SPMD_REDUCE) {
            distal_reduce(execution, transfer->id);
        }
    }
}

static void kernel(distal_execution *execution, const int64_t *params) {
    (void)params;
    memset(now.step, 0, sizeof(int64_t) * (size_t)now.plan->spmd->transfer_count);
    for (int n = 0; n < now.plan->spmd->nest_count; n++)
        for (int64_t p = 0; p < distal_processor_count(execution); p++)
            run_nodes(execution, now.plan->spmd->nests[n].body);
}

// What this rank needs in every step, and what the target holds at the end.
static void expect(StatementPlan *plan, int rank, double *expected) {
    now.needs = arena_array(plan->arena, Region *, plan->spmd->transfer_count);
    now.step = arena_array(plan->arena, int64_t, plan->spmd->transfer_count);
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const Transfer *transfer = &plan->spmd->transfers[t];
        const Footprints *footprints = plan->footprints[t];
        now.needs[t] = arena_array(plan->arena, Region, footprints->steps);
        for (int64_t step = 0; step < footprints->steps; step++)
            for (int r = 0; r < plan->ranks; r++) {
                Worker worker;
                Footprint used;
                footprint_of_rank(footprints, r, step, plan->arena, &worker, &used);
                const RectArray *rects = &used.region.rects;
                Site site = {.transfer = transfer,
                             .home = &plan->homes[transfer->access->tensor->id],
                             .rank = r,
                             .step = step,
                             .expected = expected};
                if (r == rank)
                    now.needs[t][step] = used.region;
                for (int64_t i = 0; i < rects->count && transfer->kind == TRANSFER_REDUCE; i++)
                    each(&rects->items[i], expect_element, &site);
            }
    }
}

static void fill_element(void *context, const int64_t *x) {
    const Storage *storage = context;
    for (int64_t i = 0; i < storage->piece_count; i++) {
        const Piece *piece = &storage->pieces[i];
        Rect one = {.order = piece->rect.order};
        for (int d = 0; d < one.order; d++) {
            one.lo[d] = x[d];
            one.hi[d] = x[d] + 1;
        }
        if (rect_contains(&piece->rect, &one))
            set(piece_element(piece, &one), 0, storage->type, initial(position(storage->home, x)));
    }
}

static void fill(Storage *storage) {
    for (int64_t i = 0; i < storage->piece_count; i++)
        each(&storage->pieces[i].rect, fill_element, storage);
}

static void compare_target(const Storage *target, const double *expected, bool accumulates, MPI_Comm comm,
                           Diagnostics *diagnostics) {
    const Home *home = target->home;
    Rect whole = rect_whole(home->order, home->extents);
    void *values = storage_gather(target, comm, diagnostics);
    CHECK(values, "no memory for the result");
    for (int64_t at = 0; at < rect_volume(&whole) && values; at++) {
        double right = expected[at] + (accumulates ? initial(at) : 0);
        CHECK(get(values, at, target->type) == right, "result at %" PRId64 " is %g, not %g", at,
              get(values, at, target->type), right);
    }
    free(values);
}

static void check_figures(const distal_execution *execution, StatementPlan *plan, int rank) {
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferFigures *figures = &plan_figures(plan)->transfers[t];
        CHECK(execution_bytes(execution, t) == figures->bytes[rank],
              "transfer %d: %" PRId64 " bytes, planned %" PRId64, t, execution_bytes(execution, t),
              figures->bytes[rank]);
        CHECK(execution_messages(execution, t) == figures->messages[rank],
              "transfer %d: %" PRId64 " messages, planned %" PRId64, t, execution_messages(execution, t),
              figures->messages[rank]);
    }
}

// Where ranks are delayed, comparing would make them wait for each other: only the last result is compared.
static void run_rounds(distal_execution *execution, StatementPlan *plan, Storage *const *storages,
                       const double *expected, MPI_Comm comm, Diagnostics *diagnostics) {
    enum { ROUNDS = 2, DELAYED_ROUNDS = 7 };
    const bool accumulates = plan->spmd->cin->assignment->accumulate, delayed = variants[now_variant].delayed;
    const int rounds = delayed ? DELAYED_ROUNDS : ROUNDS;
    for (now.round = 0; now.round < rounds; now.round++) {
        for (int t = 0; t < plan->plan->tensor_count; t++)
            fill(storages[t]);
        execution_run(execution, kernel, plan->params);
        if (!delayed || now.round == rounds - 1)
            compare_target(storages[plan->target->id], expected, accumulates, comm, diagnostics);
        check_figures(execution, plan, now.rank);
    }
    now.round = 0;
}

static void factor(int64_t ranks, ParamOverride *overrides) {
    int64_t g[3] = {1, 1, 1}, rest = ranks;
    for (int64_t prime = 5, next = 0; prime >= 2; prime--)
        for (; rest % prime == 0; rest /= prime, next = (next + 1) % 3)
            g[next] *= prime;
    g[0] *= rest;
    const ParamOverride all[] = {{"gx", g[0]}, {"gy", g[1] * g[2]}, {"cx", g[1]}, {"cy", g[2]}, {"cz", g[0]}};
    memcpy(overrides, all, sizeof all);
}

static void test_program(MPI_Comm comm, int rank, int ranks) {
    Arena *arena = arena_create();
    const char *text = programs[now_program].text;
    ParamOverride all[5], used[5];
    int used_count = 0;
    factor(ranks, all);
    for (int i = 0; i < 5; i++)
        if (strstr(text, all[i].name))
            used[used_count++] = all[i];
    Pipeline *pipeline = pipeline_create(arena, (Source){"test", text}, used, used_count, ranks);
    if (!pipeline_run(pipeline, PASS_SPMD)) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail("%s", text_string(&why));
        arena_free(arena);
        return;
    }
    PlanOptions options = variants[now_variant].options;
    options.ranks = ranks;
    const int64_t most = variants[now_variant].neighbours;
    Neighbours *neighbours = most >= 0 ? neighbours_create(comm, most) : NULL;
    options.nodes = neighbours ? neighbours_nodes(neighbours) : NULL;
    const Program *program = pipeline->program;
    Plan *plan = plan_create(arena, program->tensor_count, program->tensors, 1, &pipeline->statements[0].spmd,
                             pipeline->params, options, pipeline->diagnostics);
    if (!plan) {
        Text why = text_create(arena);
        diagnostics_print(pipeline->diagnostics, &why);
        fail("%s", text_string(&why));
        arena_free(arena);
        return;
    }
    now.plan = plan->statements[0];
    now.rank = rank;
    now.random = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15u;
    const Home *home = &plan->homes[now.plan->target->id];
    Rect whole = rect_whole(home->order, home->extents);
    double *expected = arena_array(arena, double, rect_volume(&whole));
    expect(now.plan, rank, expected);
    neighbours_share(neighbours, plan);
    const char *why = "";
    CHECK(plan_verify(now.plan, &why), "%s", why);
    Storage **storages = arena_array(arena, Storage *, program->tensor_count);
    for (int t = 0; t < program->tensor_count; t++)
        storages[t] = storage_create(&plan->homes[t], rank, false, (Scratch){0}, pipeline->diagnostics);
    Communicators *communicators = communicators_create(comm);
    communicators_set_neighbours(communicators, neighbours);
    communicators_set_progress(communicators, true); // where it is pipelined
    distal_execution *execution = execution_create(now.plan, storages, communicators, pipeline->diagnostics);
    CHECK(execution, "no execution");
    if (execution)
        run_rounds(execution, now.plan, storages, expected, comm, pipeline->diagnostics);
    execution_free(execution);
    communicators_free(communicators);
    neighbours_free(neighbours);
    for (int t = 0; t < program->tensor_count; t++)
        storage_free(storages[t]);
    arena_free(arena);
}

// All pairs of a program and a variant are run on all small numbers of ranks, and on two of the larger ones:
// others for the next pair.
static bool is_run(int ranks) {
    enum { SMALL = 6, SHARE = 3 };
    return ranks <= SMALL || (now_program + now_variant + (size_t)ranks) % SHARE == 0;
}

int main(int argc, char **argv) {
    report_start(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (now_program = 0; now_program < sizeof programs / sizeof *programs; now_program++)
        for (now_variant = 0; now_variant < sizeof variants / sizeof *variants; now_variant++)
            for (int count = 1; count <= ranks; count++) {
                char name[REPORT_LENGTH];
                if (!is_run(count))
                    continue;
                snprintf(name, sizeof name, "plan of %s%s", programs[now_program].name,
                         variants[now_variant].name);
                run_case(name, count, test_program);
            }
    return report_end();
}
