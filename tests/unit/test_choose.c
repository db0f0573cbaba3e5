// SPDX-License-Identifier: BSD-3-Clause
// Grids of matrix products against those of COSMA (Kwasniewski et al. 2019): of all grids that leave at most
// 3% of the ranks idle, the one whose ranks use the fewest elements, found by trying all.
#include "base/integer.h"
#include "choose/grids.h"
#include "choose/sequence.h"
#include "choose/tiling.h"
#include "cost/tce.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    int64_t m, n, k;
} Product;

static const Product products[] = {{4000, 4000, 4000}, {16000, 800, 800}, {700, 900, 40000}, {97, 1009, 313}};

// Elements of the blocks of one rank; and those of them that it does not have where each lies once on the
// ranks that use it.
typedef struct {
    double surface, moved;
} Volume;

static Volume volume_of(const Product *product, int64_t gm, int64_t gn, int64_t gk) {
    const double m = (double)ceil_div(product->m, gm), n = (double)ceil_div(product->n, gn),
                 k = (double)ceil_div(product->k, gk);
    return (Volume){m * n + m * k + k * n, m * n * (1 - 1 / (double)gk) + m * k * (1 - 1 / (double)gn) +
                                               k * n * (1 - 1 / (double)gm)};
}

static Volume cosma(const Product *product, int64_t ranks) {
    Volume best = {INFINITY, INFINITY};
    for (int64_t used = (int64_t)ceil(0.97 * (double)ranks); used <= ranks; used++)
        for (int64_t gm = 1; gm <= used; gm++)
            for (int64_t gn = 1; used % gm == 0 && gn <= used / gm; gn++) {
                const int64_t gk = used / gm / gn;
                if (used / gm % gn != 0 || gm > product->m || gn > product->n || gk > product->k)
                    continue;
                const Volume volume = volume_of(product, gm, gn, gk);
                if (volume.surface < best.surface)
                    best = volume;
            }
    return best;
}

static const Program *product_program(Arena *arena, const Product *product) {
    const char *text = arena_printf(
        arena,
        "param m = %d, n = %d, k = %d\ntensor A(m, n): f64\ntensor B(m, k): f64\ntensor C(k, n): "
        "f64\nA(i, j) = B(i, l) * C(l, j)\n",
        (int)product->m, (int)product->n, (int)product->k);
    const Source source = {"product.distal", text};
    return program_parse(arena, source, NULL, 0, 0, diagnostics_create(arena, source));
}

// A network on which nothing but the bytes counts.
static MachineModel slow_network(void) {
    MachineModel model = machine_model_default();
    model.overhead = model.overlap = 0;
    for (int l = 0; l < model.level_count; l++) {
        model.levels[l].latency = 1e-12;
        model.levels[l].bandwidth = curve_constant(1);
        model.levels[l].link = 0;
    }
    return model;
}

// The parts of the variables i, j and l.
static Volume candidate_volume(const Product *product, const Candidate *candidate) {
    int64_t sizes[3] = {1, 1, 1};
    for (int d = 0; d < candidate->count; d++)
        sizes[candidate->vars[d]] = candidate->sizes[d];
    return volume_of(product, sizes[0], sizes[1], sizes[2]);
}

// The best of the candidates, by formula.
static Volume least_candidate(Arena *arena, const Product *product, int64_t ranks) {
    const MachineModel model = slow_network();
    const Program *program = product_program(arena, product);
    const ChooseOptions options = {.ranks = ranks, .model = &model};
    Search search = {.arena = arena, .program = program, .options = &options};
    assert_true(search_create(&search, diagnostics_create(arena, program->source)));
    grids_find(&search, &search.statements[0]);
    Volume least = {INFINITY, INFINITY};
    const CandidateArray *candidates = &search.statements[0].candidates;
    for (int64_t c = 0; c < candidates->count; c++) {
        const Volume volume = candidate_volume(product, &candidates->items[c]);
        least.surface = fmin(least.surface, volume.surface);
        least.moved = fmin(least.moved, volume.moved);
    }
    return least;
}

static void test_grids(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof products / sizeof *products; p++)
        for (int64_t ranks = 2; ranks <= 1000; ranks++) {
            Arena *arena = arena_create();
            const Volume known = cosma(&products[p], ranks);
            const Volume found = least_candidate(arena, &products[p], ranks);
            if (found.moved > known.moved || found.surface > known.surface * (1 + 1e-12))
                fail_msg("product %d on %d ranks: %g of %g elements, COSMA's grid %g of %g", (int)p,
                         (int)ranks, found.moved, found.surface, known.moved, known.surface);
            arena_free(arena);
        }
}

// What is chosen moves no more than COSMA's ranks use, where only that counts.
static void test_chosen(void **state) {
    static const int64_t counts[] = {2, 3, 6, 7, 8, 12, 13, 27, 60, 64, 97, 128, 343};
    (void)state;
    for (size_t p = 0; p < sizeof products / sizeof *products; p++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            Arena *arena = arena_create();
            const MachineModel model = slow_network();
            const ChooseOptions options = {.ranks = counts[c], .model = &model};
            const Program *program = product_program(arena, &products[p]);
            bool fits;
            const Chosen *chosen =
                choose(arena, program, &options, &fits, diagnostics_create(arena, program->source));
            assert_non_null(chosen);
            const double known = 8 * cosma(&products[p], counts[c]).surface;
            if ((double)chosen->alternatives[0].items[0].bytes > known)
                fail_msg("product %d on %d ranks moves %g bytes, COSMA's ranks use %g", (int)p,
                         (int)counts[c], (double)chosen->alternatives[0].items[0].bytes, known);
            arena_free(arena);
        }
}

// A machine on which nothing but the bytes counts, of disks and of the network.
static MachineModel disk_machine(double disk, double network) {
    MachineModel model = machine_model_default();
    model.overhead = model.overlap = 0;
    model.level_count = 1;
    model.levels[0] = (ModelLevel){.name = "node",
                                   .count = 64,
                                   .copy = curve_constant(1e18),
                                   .latency = 1e-12,
                                   .bandwidth = curve_constant(network)};
    for (int k = 0; k < MODEL_KERNEL_COUNT; k++)
        model.rates[k] = curve_constant(1e18);
    model.ranks = 1;
    model.disk_read = model.disk_write = curve_constant(disk);
    return model;
}

// Bytes that one processor reads and writes, with these tiles and the order in which loops stand.
static double disk_bytes(const int64_t *extents, const int64_t *lengths, const int *order) {
    static const bool has[3][3] = {{true, true, false}, {true, false, true}, {false, true, true}}; // i, j, l
    double bytes = 0;
    for (int a = 0; a < 3; a++) {
        double passes = 1, repeated = 1, elements = 8;
        for (int v = 0; v < 3; v++) {
            const double count = (double)ceil_div(extents[order[v]], lengths[order[v]]);
            elements *= has[a][v] ? (double)extents[v] : 1;
            if (!has[a][order[v]])
                repeated *= count;
            else if (count > 1)
                passes = repeated;
        }
        bytes += elements * (a == 0 ? 2 * passes - 1 : passes);
    }
    return bytes;
}

static double tile_bytes(const int64_t *lengths) {
    return 8 * (double)(lengths[0] * lengths[1] + lengths[0] * lengths[2] + lengths[1] * lengths[2]);
}

// Against all tiles in all orders.
static void test_tiles(void **state) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const Product small[] = {{24, 24, 24}, {47, 13, 29}, {5, 60, 31}, {31, 7, 60}};
    (void)state;
    for (size_t p = 0; p < sizeof small / sizeof *small; p++)
        for (double memory = 200; memory < 40000; memory *= 3) {
            const int64_t extents[] = {small[p].m, small[p].n, small[p].k};
            int64_t lengths[3];
            double least = INFINITY;
            for (int o = 0; o < 6; o++)
                for (lengths[0] = 1; lengths[0] <= extents[0]; lengths[0]++)
                    for (lengths[1] = 1; lengths[1] <= extents[1]; lengths[1]++)
                        for (lengths[2] = 1; lengths[2] <= extents[2]; lengths[2]++)
                            if (tile_bytes(lengths) <= memory)
                                least = fmin(least, disk_bytes(extents, lengths, orders[o]));
            Arena *arena = arena_create();
            const MachineModel model = disk_machine(1, 1e18);
            const Program *program = product_program(arena, &small[p]);
            const ChooseOptions options = {.ranks = 1, .memory_limit = (int64_t)memory, .model = &model};
            Search search = {.arena = arena, .program = program, .options = &options, .spills = true};
            assert_true(search_create(&search, diagnostics_create(arena, program->source)));
            for (int t = 0; t < 3; t++)
                search.tensors[t].in_disk = true;
            grids_find(&search, &search.statements[0]);
            Tiling tiling;
            sequence_prepare(&search);
            unsigned char places[3] = {0};
            assert_int_equal(tiling_find(&search, &search.statements[0],
                                         &search.statements[0].candidates.items[0], places, memory, -1, 1, 0,
                                         &tiling, 1),
                             1);
            assert_true(tiling.fits);
            if (tiling.seconds > 1.01 * least)
                fail_msg("product %d in %g bytes: tiles that move %g bytes, at best %g", (int)p, memory,
                         tiling.seconds, least);
            arena_free(arena);
        }
}

// What is chosen for tensors in disk is planned, keeps the limit, and takes no longer than the methods of the
// paper with communication inside and outside of the loops, of which each has a third of the memory for a
// tile.
static void test_methods(void **state) {
    static const Product sizes[] = {{4000, 4000, 4000}, {12000, 900, 2500}, {700, 900, 40000}};
    static const double networks[] = {0.1, 2, 20};
    int outside = 0;
    (void)state;
    for (size_t p = 0; p < sizeof sizes / sizeof *sizes; p++)
        for (int64_t ranks = 1; ranks <= 4; ranks *= 4)
            for (int n = ranks == 1; n < 3; n++) {
                Arena *arena = arena_create();
                const MachineModel model = disk_machine(1, networks[n]);
                const Product *size = &sizes[p];
                const double m = (double)size->m, cols = (double)size->n, k = (double)size->k;
                const double all = 8 * (m * cols + m * k + k * cols);
                const int64_t limit = (int64_t)(all / (double)ranks / 8);
                const ChooseOptions options = {.ranks = ranks, .memory_limit = limit, .model = &model};
                const TceContraction contraction = {m, cols, k, 8};
                const double share = 1 - 1 / (double)ranks;
                const TceMachine machine = {(double)ranks, 1,     networks[n], (double)limit / 3,
                                            share,         share, TCE_INTEGER, false};
                double least = INFINITY;
                for (int method = 0; method < TCE_METHODS; method++)
                    for (int pattern = TCE_OUTSIDE; pattern <= TCE_INSIDE; pattern++) {
                        TceVariant best;
                        if (tce_best(&contraction, &machine, (TceMethod)method, (TcePattern)pattern, INFINITY,
                                     &best))
                            least = fmin(least, tce_cost(&contraction, &machine, best).seconds);
                    }
                const Program *program = product_program(arena, size);
                bool fits;
                const Chosen *chosen =
                    choose(arena, program, &options, &fits, diagnostics_create(arena, program->source));
                assert_non_null(chosen);
                assert_true(chosen->spilled && chosen->peak_bytes <= limit);
                const Alternative *best =
                    &chosen->alternatives[chosen->program->statement_count - 1].items[0];
                assert_true(best->disk_bytes > 0);
                const double seconds = (double)best->disk_bytes + (double)best->bytes / networks[n];
                if (seconds > least)
                    fail_msg(
                        "product %d on %d ranks, network %g: %g seconds (%s %s), by the paper's methods %g",
                        (int)p, (int)ranks, networks[n], seconds, best->where, best->how, least);
                outside += strstr(best->how, "copied in disk first") != NULL;
                arena_free(arena);
            }
    assert_true(outside > 0);
}

// Operands are copied only where the disks have room for it, beside what is there anyway.
static void test_disk_space(void **state) {
    const Product size = {700, 900, 400};
    const double whole = 8.0 * (double)(size.m * size.n + size.m * size.k + size.n * size.k);
    (void)state;
    for (int large = 0; large < 2; large++) {
        Arena *arena = arena_create();
        MachineModel model = disk_machine(1, 0.01);
        model.disk_space = large ? 2 * whole : 0.27 * whole;
        const ChooseOptions options = {.ranks = 4, .memory_limit = (int64_t)(whole / 32), .model = &model};
        const Program *program = product_program(arena, &size);
        bool fits, any = false;
        const Chosen *chosen =
            choose(arena, program, &options, &fits, diagnostics_create(arena, program->source));
        assert_non_null(chosen);
        const AlternativeArray *found = &chosen->alternatives[chosen->program->statement_count - 1];
        for (int64_t i = 0; i < found->count; i++)
            any = any || strstr(found->items[i].how, "copied in disk first");
        assert_int_equal(any, large);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids), cmocka_unit_test(test_chosen),
                                       cmocka_unit_test(test_tiles), cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_disk_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
