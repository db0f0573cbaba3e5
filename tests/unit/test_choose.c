// SPDX-License-Identifier: BSD-3-Clause
// Grids of matrix products against those of COSMA (Kwasniewski et al. 2019): of all grids that leave at most
// 3% of the ranks idle, the one whose ranks use the fewest elements, found by trying all.
#include "base/integer.h"
#include "choose/grids.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids), cmocka_unit_test(test_chosen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
