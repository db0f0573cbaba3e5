// SPDX-License-Identifier: BSD-3-Clause
// The plan: bytes, patterns and homes of the matrix multiplications against a model that counts elements one
// by one, on grids and extents that divide nothing; and the verifier on many placements.
#include "planned.h"

static const TensorFigures *figures(const StatementPlan *plan, const char *tensor) {
    const StatementFigures *all = plan_figures(plan);
    for (int t = 0; t < all->tensor_count; t++)
        if (strcmp(all->tensors[t].tensor->name, tensor) == 0)
            return &all->tensors[t];
    return NULL;
}

// The model: blocks of ceil(extent / size) coordinates, elements counted one by one.
static bool in_block(int64_t coordinate, int64_t extent, int64_t size, int64_t block) {
    int64_t length = (extent + size - 1) / size;
    return coordinate / length == block;
}

typedef struct {
    int64_t gx, gy, gz, m, n, k;
} Problem;

static const Problem problems[] = {{2, 2, 1, 12, 8, 10}, {2, 3, 1, 13, 7, 11}, {3, 1, 1, 5, 11, 7},
                                   {1, 4, 1, 7, 3, 13},  {3, 2, 1, 2, 5, 3},   {4, 3, 1, 11, 13, 17},
                                   {2, 2, 2, 13, 7, 11}, {2, 3, 2, 7, 5, 3},   {1, 2, 3, 5, 7, 11},
                                   {3, 2, 2, 1, 2, 3},   {3, 3, 1, 10, 11, 13}};

static const char head[] = "tensor A(m, n): f64; tensor B(m, q): f64; tensor C(q, n): f64\n";

static void write_program(char *text, size_t size, const Problem *p, const char *rest) {
    snprintf(text, size,
             "param m = %d, n = %d, q = %d, gx = %d, gy = %d, gz = %d, chunk = 3\nmachine M = grid(gx, gy, "
             "gz)\n%s%s",
             (int)p->m, (int)p->n, (int)p->k, (int)p->gx, (int)p->gy, (int)p->gz, head, rest);
}

// Whether P(x, y) has a row and a column to compute.
static bool works(const Problem *p, int64_t x, int64_t y) {
    return x * ((p->m + p->gx - 1) / p->gx) < p->m && y * ((p->n + p->gy - 1) / p->gy) < p->n;
}

// Bytes of B that P(x, y, z) lacks when it needs row block x and k_lo <= k < k_hi.
static int64_t lacks_b(const Problem *p, int64_t x, int64_t y, int64_t z, int64_t k_lo, int64_t k_hi) {
    int64_t bytes = 0;
    if (!works(p, x, y))
        return 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t k = k_lo; k < k_hi; k++)
            if (in_block(i, p->m, p->gx, x) && !(in_block(k, p->k, p->gy, y) && z == 0))
                bytes += 8;
    return bytes;
}

static int64_t lacks_c(const Problem *p, int64_t x, int64_t y, int64_t z, int64_t k_lo, int64_t k_hi) {
    int64_t bytes = 0;
    if (!works(p, x, y))
        return 0;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t k = k_lo; k < k_hi; k++)
            if (in_block(j, p->n, p->gy, y) && !(in_block(k, p->k, p->gx, x) && z == 0))
                bytes += 8;
    return bytes;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#define PLACED_ON_FACE                                                                                       \
    "place A(x, y) -> M(x, y, 0); place B(x, y) -> M(x, y, 0); place C(x, y) -> M(x, y, 0)\n"                \
    "A(i, j) = B(i, k) * C(k, j)\n"

static void summa_counts(void **state) {
    (void)state;
    for (size_t q = 0; q < sizeof problems / sizeof *problems; q++) {
        const Problem *p = &problems[q];
        char text[1024];
        write_program(text, sizeof text, p,
                      PLACED_ON_FACE
                      "schedule A { divide(i, io, ii, gx); divide(j, jo, ji, gy); reorder({io, jo, ii, ji})\n"
                      "distribute({io, jo}); split(k, ko, ki, chunk); reorder({ko, ii, ji, ki})\n"
                      "communicate(A, jo); communicate({B, C}, ko) }");
        if (p->gz != 1 || p->gx == p->gy)
            continue; // distribute by hand binds by size: only where sizes tell the dimensions apart
        Arena *arena = arena_create();
        StatementPlan *plan = planned(arena, text, (PlanOptions){0});
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            int64_t x = rank / p->gy, y = rank % p->gy, b = 0, c = 0;
            for (int64_t k = 0; k < p->k; k += 3) {
                b += lacks_b(p, x, y, 0, k, smaller(k + 3, p->k));
                c += lacks_c(p, x, y, 0, k, smaller(k + 3, p->k));
            }
            assert_int_equal(figures(plan, "B")->bytes_received[rank], b);
            assert_int_equal(figures(plan, "C")->bytes_received[rank], c);
            assert_int_equal(figures(plan, "A")->bytes_received[rank], 0);
        }
        arena_free(arena);
    }
}

// Cannon on one layer, 2.5D on several: each layer does its share of the steps.
static void rotated_counts(void **state) {
    (void)state;
    for (size_t q = 0; q < sizeof problems / sizeof *problems; q++) {
        const Problem *p = &problems[q];
        char text[1024];
        write_program(
            text, sizeof text, p,
            "param steps = (gx + gz - 1) / gz\n" PLACED_ON_FACE
            "schedule A { distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M); divide(ki, kio, kii, steps)\n"
            "reorder({kio, ii, ji, kii}); rotate(kio, {io, jo}, kios)\n"
            "communicate(A, jo); communicate({B, C}, kios) }");
        Arena *arena = arena_create();
        StatementPlan *plan = planned(arena, text, (PlanOptions){0});
        int64_t steps = (p->gx + p->gz - 1) / p->gz;
        int64_t outer = (p->k + p->gz - 1) / p->gz, inner = (outer + steps - 1) / steps;
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            int64_t x = rank / p->gz / p->gy, y = rank / p->gz % p->gy, z = rank % p->gz, b = 0, c = 0, a = 0;
            for (int64_t step = 0; step < steps; step++) {
                int64_t at = (step + x + y) % steps, lo = z * outer + at * inner;
                int64_t hi = smaller(smaller(lo + inner, (z + 1) * outer), p->k);
                b += lacks_b(p, x, y, z, lo, hi);
                c += lacks_c(p, x, y, z, lo, hi);
            }
            for (int64_t i = 0; i < p->m; i++)
                for (int64_t j = 0; j < p->n; j++)
                    if (in_block(i, p->m, p->gx, x) && in_block(j, p->n, p->gy, y) && z > 0 &&
                        z * outer < p->k)
                        a += 8;
            assert_int_equal(figures(plan, "A")->bytes_received[rank], a);
            // What a rank needs in two steps in a row it is brought once.
            assert_true(figures(plan, "B")->bytes_received[rank] <= b);
            assert_true(figures(plan, "C")->bytes_received[rank] <= c);
            if (steps == 1 || (p->gx == p->gy && p->gz == 1)) {
                assert_int_equal(figures(plan, "B")->bytes_received[rank], b);
                assert_int_equal(figures(plan, "C")->bytes_received[rank], c);
            }
        }
        if (p->gx == p->gy && p->gz == 1) {
            assert_string_equal(figures(plan, "B")->pattern, "shift");
            assert_string_equal(figures(plan, "C")->pattern, "shift");
        }
        arena_free(arena);
    }
}

static void johnson_counts(void **state) {
    (void)state;
    for (size_t q = 0; q < sizeof problems / sizeof *problems; q++) {
        const Problem *p = &problems[q];
        char text[1024];
        write_program(
            text, sizeof text, p,
            "place A(x, y) -> M(x, y, 0); place B(x, z) -> M(x, 0, z); place C(z, y) -> M(0, y, z)\n"
            "A(i, j) = B(i, k) * C(k, j)\n"
            "schedule A { distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M); communicate({A, B, C}, ko) "
            "}");
        Arena *arena = arena_create();
        StatementPlan *plan = planned(arena, text, (PlanOptions){0});
        for (int64_t rank = 0; rank < plan->ranks; rank++) {
            int64_t x = rank / p->gz / p->gy, y = rank / p->gz % p->gy, z = rank % p->gz;
            int64_t rows = 0, columns = 0, depth = 0;
            for (int64_t i = 0; i < p->m; i++)
                rows += in_block(i, p->m, p->gx, x);
            for (int64_t j = 0; j < p->n; j++)
                columns += in_block(j, p->n, p->gy, y);
            for (int64_t k = 0; k < p->k; k++)
                depth += in_block(k, p->k, p->gz, z);
            // A processor without iterations needs nothing.
            bool busy = rows && columns && depth;
            assert_int_equal(figures(plan, "B")->bytes_received[rank], busy && y ? 8 * rows * depth : 0);
            assert_int_equal(figures(plan, "C")->bytes_received[rank], busy && x ? 8 * depth * columns : 0);
            assert_int_equal(figures(plan, "A")->bytes_received[rank], busy && z ? 8 * rows * columns : 0);
        }
        arena_free(arena);
    }
}

// Without the patterns, and with short messages, the same bytes move.
static void patterns_change_no_bytes(void **state) {
    (void)state;
    char text[1024];
    write_program(
        text, sizeof text, &(Problem){3, 3, 1, 10, 11, 13},
        "param steps = gx\n" PLACED_ON_FACE
        "schedule A { distribute({i, j, k}, {io, jo, kx}, {ii, ji, ki}, M); divide(ki, ko, kii, steps)\n"
        "reorder({ko, ii, ji, kii}); rotate(ko, {io}, kos); communicate(A, jo); communicate({B, C}, kos) }");
    Arena *arena = arena_create();
    StatementPlan *plain = planned(arena, text, (PlanOptions){0});
    assert_string_equal(figures(plain, "B")->pattern, "broadcast");
    assert_string_equal(figures(plain, "C")->pattern, "shift");
    const unsigned shift = OPERATION_BIT(OPERATION_SHIFT), broadcast = OPERATION_BIT(OPERATION_BROADCAST);
    PlanOptions others[] = {
        {.without = shift}, {.without = broadcast}, {.without = shift | broadcast}, {.message_limit = 32}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        StatementPlan *other = planned(arena, text, others[i]);
        for (int64_t rank = 0; rank < plain->ranks; rank++)
            for (int t = 0; t < plan_figures(plain)->tensor_count; t++) {
                const TensorFigures *a = &plan_figures(plain)->tensors[t];
                const TensorFigures *b = &plan_figures(other)->tensors[t];
                assert_int_equal(a->bytes_received[rank], b->bytes_received[rank]);
                if (others[i].message_limit)
                    assert_true(b->messages_received[rank] * 32 >= b->bytes_received[rank]);
            }
    }
    arena_free(arena);
}

// Every placement of a source against every placement of a target: a redistribution brings what is missing,
// no more.
static void redistributions(void **state) {
    (void)state;
    static const char *const places[] = {"x, y, *", "y, x, 0", "x, *, y", "1, x, y",
                                         "*, *, x", "y, 0, 1", "0, 0, 0"};
    const int count = sizeof places / sizeof *places;
    for (int from = 0; from < count; from++)
        for (int to = 0; to < count; to++)
            for (int64_t ranks = 1; ranks <= 12; ranks++) {
                char text[512];
                if (12 % ranks)
                    continue;
                snprintf(text, sizeof text,
                         "machine M = grid(2, 3, 2); tensor A(7, 5): f32; tensor B(7, 5): f32\n"
                         "place A(x, y) -> M(%s); place B(x, y) -> M(%s)\nA(i, j) = B(i, j)",
                         places[to], places[from]);
                Arena *arena = arena_create();
                StatementPlan *plan = planned(arena, text, (PlanOptions){.ranks = ranks});
                int64_t moved = 0, total = 0;
                for (int64_t rank = 0; rank < ranks; rank++) {
                    moved += figures(plan, "B")->bytes_received[rank];
                    total += figures(plan, "A")->home_bytes[rank];
                }
                assert_true(moved <= total);
                if (from == to || ranks == 1)
                    assert_int_equal(moved, 0);
                arena_free(arena);
            }
}

static void induced_homes(void **state) {
    (void)state;
    Arena *arena = arena_create();
    // Cannon without placements: each piece lies where the skewed first step needs it, once.
    StatementPlan *plan =
        planned(arena,
                "machine M = grid(3, 3); tensor A(7, 8): f64; tensor B(7, 11): f64; tensor C(11, 8): f64\n"
                "A(i, j) = B(i, k) * C(k, j)\n"
                "schedule A { distribute({i, j}, {io, jo}, {ii, ji}, M); divide(k, ko, ki, 3)\n"
                "reorder({ko, ii, ji, ki}); rotate(ko, {io, jo}, kos); communicate({B, C}, kos) }",
                (PlanOptions){0});
    int64_t home[3] = {0};
    for (int64_t rank = 0; rank < 9; rank++) {
        home[0] += figures(plan, "A")->home_bytes[rank];
        home[1] += figures(plan, "B")->home_bytes[rank];
        home[2] += figures(plan, "C")->home_bytes[rank];
        assert_int_equal(figures(plan, "B")->messages_received[rank], 2);
    }
    assert_int_equal(home[0], 8 * 7 * 8);
    assert_int_equal(home[1], 8 * 7 * 11);
    assert_int_equal(home[2], 8 * 11 * 8);
    // A scalar is everywhere.
    plan =
        planned(arena, "machine M = grid(4); tensor a: f64; tensor b(5): f64; place b(x) -> M(x)\na = b(i)",
                (PlanOptions){0});
    for (int64_t rank = 0; rank < 4; rank++)
        assert_int_equal(figures(plan, "a")->home_bytes[rank], 8);
    assert_string_equal(figures(plan, "a")->pattern, "all-reduce");
    arena_free(arena);
}

// Ranks with many processors: each has every element of its processors at home, once, although some hold the
// same.
static void homes_of_many_processors(void **state) {
    (void)state;
    enum { P = 24, Q = 20, N = 50 };
    static const char text[] =
        "param n = 50, m = n, p = 24, q = 20\nmachine M = grid(p, q)\n"
        "tensor A(n, m): f64; tensor B(n, m): f64; tensor C(n, m): f64; tensor D(n, m): f64\n"
        "place A(x, y) -> M(x, y); place B(x, y) -> M(x, *); place C(x, y) -> M(*, x); place D(x, y) -> M(3, "
        "y)\n"
        "A(i, j) = B(i, j) * C(i, j) * D(i, j)\n";
    for (int ranks = 2; ranks <= P * Q; ranks *= 2) {
        if (P * Q % ranks != 0)
            continue;
        Arena *arena = arena_create();
        const StatementPlan *plan = planned(arena, text, (PlanOptions){.ranks = ranks});
        const int per_rank = P * Q / ranks;
        for (int tensor = 0; tensor < 4; tensor++)
            for (int rank = 0; rank < ranks; rank++) {
                const Region pieces = home_pieces(&plan->homes[tensor], rank, arena);
                for (int e = 0; e < N * N; e++) {
                    const int i = e / N, j = e % N;
                    bool held = false;
                    for (int at = rank * per_rank; at < (rank + 1) * per_rank; at++) {
                        const int x = at / Q, y = at % Q;
                        held |= tensor == 0   ? in_block(i, N, P, x) && in_block(j, N, Q, y)
                                : tensor == 1 ? in_block(i, N, P, x)
                                : tensor == 2 ? in_block(i, N, Q, y)
                                              : x == 3 && in_block(j, N, Q, y);
                    }
                    int count = 0;
                    for (int64_t k = 0; k < pieces.rects.count; k++)
                        count +=
                            rect_has(&pieces.rects.items[k], 0, i) && rect_has(&pieces.rects.items[k], 1, j);
                    assert_int_equal(count, held);
                }
            }
        arena_free(arena);
    }
}

// SUMMA over 2 x 2 nodes, Cannon's algorithm inside each: what a core passes on stays in its node, and only
// what another node has at home crosses between them, once for each block of k and core.
static void shifts_stay_in_the_node(void **state) {
    (void)state;
    Arena *arena = arena_create();
    StatementPlan *plan = planned(
        arena,
        "machine L = node grid(2, 2), core grid(3, 3); tensor A(12, 12): f64; tensor B(12, 12): f64\n"
        "tensor C(12, 12): f64; place B(x, y) -> L.node(x, y), B(u, v) -> L.core(u, v)\n"
        "place C(x, y) -> L.node(x, y), C(u, v) -> L.core(u, v)\n"
        "A(i, j) = B(i, k) * C(k, j)\n"
        "schedule A { distribute({i, j}, {in, jn}, {il, jl}, L.node)\n"
        "distribute({il, jl}, {ic, jc}, {ii, ji}, L.core); divide(k, kn, kl, 2); divide(kl, kc, ki, 3)\n"
        "reorder({kn, kc, ii, ji, ki}); rotate(kc, {ic, jc}, kcs); communicate({B, C}, kcs) }",
        (PlanOptions){0});
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        if (plan->spmd->transfers[t].kind != TRANSFER_FETCH)
            continue;
        int64_t across[36] = {0}, shifted[36] = {0};
        for (int rank = 0; rank < 36; rank++) {
            const RankTransfer *part = plan_rank_transfer(plan, t, rank);
            const RankStep *last = &part->steps[part->step_count - 1];
            for (int64_t o = 0; o < last->first_operation + last->operation_count; o++) {
                const RankOperation *operation = &part->operations[o];
                const bool shifts = operation->operation->id == OPERATION_SHIFT;
                if (operation->operation->id == OPERATION_LOCAL)
                    continue;
                for (int64_t i = 0; i < operation->receive_count; i++) {
                    const bool leaves = operation->receives[i].peer / 9 != rank / 9;
                    assert_false(shifts && leaves);
                    across[rank] += leaves;
                    shifted[rank] += shifts;
                }
            }
        }
        for (int rank = 0; rank < 36; rank++) {
            assert_int_equal(across[rank], 1);
            assert_in_range(shifted[rank], 3, 4); // in its own node's block one of the tiles is at home
        }
    }
    arena_free(arena);
}

// Threads that add to the same elements: each but the first has a copy of what lies at home or in the buffer.
static void copies_of_threads(void **state) {
    (void)state;
    Arena *arena = arena_create();
    static const char text[] =
        "machine M = grid(2); tensor A(10): f64; tensor B(10, 8): f64; place A(x) -> M(0)\n"
        "place B(x, y) -> M(y)\nA(j) = B(j, i)\n"
        "schedule A { divide(i, io, ii, 2); reorder({io, ii, j}); distribute(io)\n"
        "parallelize(ii, cpu_thread, reduction) }";
    const StatementPlan *one = planned(arena, text, (PlanOptions){0});
    const StatementPlan *four = planned(arena, text, (PlanOptions){.threads = 4});
    for (int64_t rank = 0; rank < 2; rank++) {
        // 80 bytes take two lines of the cache.
        const int64_t copies = 3 * 128;
        assert_int_equal(figures(one, "A")->buffer_bytes[rank], 80);
        assert_int_equal(figures(four, "A")->buffer_bytes[rank], 80 + copies);
        assert_int_equal(figures(four, "B")->buffer_bytes[rank], 0);
        assert_int_equal(plan_figures(four)->peak_bytes[rank], plan_figures(one)->peak_bytes[rank] + copies);
    }
    arena_free(arena);
}

// Blocks, warps and threads of a GPU that add to the same elements: as many copies as a launch has of them,
// or fit, and none that no unit has.
static void copies_of_units(void **state) {
    static const struct {
        const char *commands;
        int64_t elements, copies;
    } cases[] = {{"parallelize(i, gpu_block, temporary)", 10, 1024},
                 {"parallelize(i, gpu_thread, reduction)", 10, 256},
                 {"parallelize(i, gpu_warp, reduction)", 10, 8},
                 {"split(i, io, ii, 300); reorder({ii, io, j}); parallelize(ii, gpu_block, atomic)\n"
                  "parallelize(io, gpu_thread, temporary)",
                  10, 10},
                 {"split(i, io, ii, 5); reorder({io, ii, j}); parallelize(io, gpu_block, reduction)\n"
                  "parallelize(ii, gpu_block, reduction)",
                  10, 5 * 204},
                 {"split(i, io, ii, 40); reorder({io, ii, j}); parallelize(io, gpu_block, reduction)\n"
                  "parallelize(ii, gpu_thread, reduction); parallelize(j, gpu_thread)",
                  10, 75 * 8},
                 {"parallelize(i, gpu_block, temporary)", 1 << 20, 32},
                 {"split(i, io, ii, 300); reorder({io, ii, j}); parallelize(io, gpu_block, reduction)\n"
                  "parallelize(ii, gpu_warp, reduction); parallelize(j, gpu_thread)",
                  1 << 22, 8}};
    (void)state;
    Arena *arena = arena_create();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        StatementPlan *plan = planned(
            arena,
            arena_printf(arena,
                         "machine M = grid(1); tensor A(%lld): f64; tensor B(3000, %lld): f64\n"
                         "place A(x) -> M(0) in gpu; place B(x, y) -> M(0) in gpu\nA(j) = B(i, j)\n"
                         "schedule A { reorder({i, j}); %s }",
                         (long long)cases[c].elements, (long long)cases[c].elements, cases[c].commands),
            (PlanOptions){0});
        for (int t = 0; t < plan->spmd->transfer_count; t++)
            if (plan->spmd->transfers[t].kind == TRANSFER_REDUCE)
                assert_int_equal(plan_rank_transfer(plan, t, 0)->gpu_partial_count, cases[c].copies);
    }
    arena_free(arena);
}

// Sums that do not fit into 64 bits are the largest number that does; what would be cut into very many
// messages is planned all the same.
static void figures_do_not_overflow(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const StatementPlan *plan =
        planned(arena,
                "param n = 1000000000; machine M = grid(4); tensor A(n, n): f64; tensor B(n, n): f64\n"
                "tensor C(n, n): f64; place A(x, y) -> M(x); place B(x, y) -> M(x); place C(x, y) -> M(x)\n"
                "A(i, j) = B(i, k) * C(k, j)",
                (PlanOptions){0});
    const int64_t quarter = 2000000000000000000;
    for (int64_t rank = 0; rank < 4; rank++) {
        assert_int_equal(figures(plan, "B")->home_bytes[rank], quarter);
        assert_int_equal(figures(plan, "C")->bytes_received[rank], 3 * quarter);
        assert_int_equal(plan_figures(plan)->peak_bytes[rank], INT64_MAX);
    }
    assert_int_equal(plan->flop, INT64_MAX);
    arena_free(arena);
}

// What entries that are not known index is in the peak that a rank has at most, and not in what is known.
static void known_peaks(void **state) {
    (void)state;
    Arena *arena = arena_create();
    const StatementPlan *plan =
        planned(arena,
                "param n = 1000000000000000000; machine M = grid(4); tensor a(4): f64\n"
                "tensor B(4, n): f64, csr; tensor c(n): f64; tensor D(4, n): f64, csr; tensor e(n): f64\n"
                "place a(x) -> M(x); place B(x, y) -> M(x); place D(x, y) -> M(x)\n"
                "place c(x) -> M(x); place e(x) -> M(x); a(i) = B(i, j) * c(j) + D(i, j) * e(j)",
                (PlanOptions){0});
    for (int64_t rank = 0; rank < 4; rank++) {
        assert_int_equal(plan_figures(plan)->peak_bytes[rank], INT64_MAX);
        assert_int_equal(figures(plan, "c")->known_buffer_bytes[rank], 0);
        assert_int_equal(plan_figures(plan)->known_peak_bytes[rank], 2 * 2000000000000000000 + 8);
    }
    arena_free(arena);
}

// Every fourth coordinate in a step: one message, without what lies between.
static void strided_needs(void **state) {
    (void)state;
    static const struct {
        int n;
        int64_t bytes, messages;
    } cases[] = {{4000, 8 * 2000, 4}, {80000, 8 * 40000, 4}, {80000003, 8 * 40000001, 4}};
    Arena *arena = arena_create();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const StatementPlan *plan =
            planned(arena,
                    arena_printf(arena,
                                 "param n = %d; machine M = grid(2); tensor A(n): f64; tensor B(n): f64\n"
                                 "place A(x) -> M(x); place B(x) -> M(x)\nA(i) = B(i)\n"
                                 "schedule A { split(i, io, ii, 4); reorder({ii, io}); communicate(B, ii) }",
                                 cases[c].n),
                    (PlanOptions){.ranks = 2});
        assert_int_equal(figures(plan, "B")->bytes_received[0], cases[c].bytes);
        assert_int_equal(figures(plan, "B")->messages_received[0], cases[c].messages);
    }
    arena_free(arena);
}

// Where a need falls into too many boxes, planning takes more than is needed; what a processor has of a
// block-cyclic mode stays what it is, as its buffer has no room for more.
static void many_boxes_of_cyclic_rows(void **state) {
    (void)state;
    Arena *arena = arena_create();
    planned(arena,
            "param n = 2046\nmachine M = grid(2)\ntensor A(n, 4): f64; tensor B(n, 4): f64\n"
            "place A(x, y) -> M(cyclic(x, 1)); place B(x, y) -> M(x)\nA(i, j) = B(i, j)\n"
            "schedule A {\n distribute({i}, {io}, {ii}, A)\n divide(j, jo, ji, 4)\n rotate(jo, {ii}, jos)\n"
            " divide(jos, jso, jsi, 2)\n reorder({jso, ii, jsi})\n communicate(A, io)\n"
            " communicate(B, jso)\n}\n",
            (PlanOptions){.message_limit = INT64_MAX});
    arena_free(arena);
}

// A diagonal is one rectangle where all ranks have theirs at home, and else, where it replaces elements, each
// of them, in steps as well.
static void diagonals(void **state) {
    (void)state;
    static const struct {
        const char *place, *statement;
        int64_t fetched, reduced; // rectangles of the first rank in the first step
        bool in_place;
    } cases[] = {
        {"M(x)", "A(i, i) = 2 * A(i, i)", 1, 1, true},
        {"M(y)", "A(i, i) = 2 * A(i, i)", 1, 1, true},
        {"M(cyclic(x, 5))", "A(i, i) = 2 * A(i, i)", 50, 50, false},
        {"M(0)", "A(i, i) = 2 * A(i, i)", 50, 50, false},
        {"M(*)", "A(i, i) = 2 * A(i, i)", 1, 50, false},
        {"M(x)", "A(i, i) += 2", 0, 1, true},
        {"M(0)", "A(i, i) += 2", 0, 50, false},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_create();
        const char *text =
            arena_printf(arena,
                         "machine M = grid(2)\ntensor A(400, 400): f64\nplace A(x, y) -> %s\n%s\n"
                         "schedule A {\n distribute({i}, {io}, {ii}, M)\n split(ii, is, ik, 50)\n"
                         " communicate(A, is)\n}\n",
                         cases[c].place, cases[c].statement);
        StatementPlan *plan = planned(arena, text, (PlanOptions){0});
        for (int t = 0; t < plan->spmd->transfer_count; t++) {
            Worker worker;
            Footprint footprint;
            const bool reduces = plan->spmd->transfers[t].kind == TRANSFER_REDUCE;
            assert_true(footprint_of_rank(plan->footprints[t], 0, 0, arena, &worker, &footprint));
            assert_int_equal(footprint.region.rects.count, reduces ? cases[c].reduced : cases[c].fetched);
            if (reduces)
                assert_int_equal(plan_rank_transfer(plan, t, 0)->steps[0].piece >= 0, cases[c].in_place);
        }
        arena_free(arena);
    }
}

// Where most ranks take from most others, their messages are one operation of all ranks.
static void collective_exchanges(void **state) {
    (void)state;
    static const struct {
        const char *places;
        int64_t members; // of the group in which the exchange is, or 0
    } cases[] = {
        {"place A(x, y) -> M(x); place B(x, y) -> M(y)", 8},
        {"place A(x, y) -> M(cyclic(x, 1)); place B(x, y) -> M(cyclic(x, 3))", 0},
        {"place A(x, y) -> N(x, 0); place B(x, y) -> M(x)", 0},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        Arena *arena = arena_create();
        const char *text =
            arena_printf(arena,
                         "machine M = grid(8)\nmachine N = grid(2, 4)\n"
                         "tensor A(16, 16): f64; tensor B(16, 16): f64\n%s\nA(i, j) = B(i, j)\n",
                         cases[c].places);
        StatementPlan *plan = planned(arena, text, (PlanOptions){0});
        int64_t exchanges = 0;
        for (int64_t rank = 0; rank < plan->ranks; rank++)
            for (int t = 0; t < plan->spmd->transfer_count; t++) {
                const RankTransfer *part = plan_rank_transfer(plan, t, rank);
                for (int64_t o = 0; o < part->steps[0].operation_count; o++) {
                    const RankOperation *operation = &part->operations[o];
                    if (operation->operation->id != OPERATION_EXCHANGE)
                        continue;
                    const int64_t members =
                        operation->group < 0 ? 0 : plan->groups.items[operation->group].count;
                    assert_int_equal(members, cases[c].members);
                    exchanges++;
                }
            }
        assert_in_range(exchanges, 1, plan->ranks);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summa_counts),
        cmocka_unit_test(rotated_counts),
        cmocka_unit_test(johnson_counts),
        cmocka_unit_test(patterns_change_no_bytes),
        cmocka_unit_test(redistributions),
        cmocka_unit_test(induced_homes),
        cmocka_unit_test(homes_of_many_processors),
        cmocka_unit_test(strided_needs),
        cmocka_unit_test(shifts_stay_in_the_node),
        cmocka_unit_test(many_boxes_of_cyclic_rows),
        cmocka_unit_test(copies_of_threads),
        cmocka_unit_test(copies_of_units),
        cmocka_unit_test(diagonals),
        cmocka_unit_test(collective_exchanges),
        cmocka_unit_test(figures_do_not_overflow),
        cmocka_unit_test(known_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
