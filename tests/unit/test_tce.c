// SPDX-License-Identifier: BSD-3-Clause
// The cost model of the Tensor Contraction Engine against table 8 of its paper, against its closed formulas,
// and its numbers of tiles against all others.
#include "cost/tce.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct {
    double extent, processors, network, broadcast, reduce;
    double seconds[TCE_PATTERNS][TCE_METHODS];
} Entry;

static const Entry table8[] = {
    {160000, 4, 10e6, M_SQRT2, 2.8, {{281920, 259683, 318784}, {310240, 268248, 298304}}},
    {160000, 4, 200e6, M_SQRT2, 2.8, {{262464, 232168, 264307}, {120240, 123502, 243827}}},
    {640000, 16, 10e6, 2, 5.6, {{3855360, 4224000, 6018048}, {4040960, 4636610, 5690368}}},
    {640000, 16, 200e6, 2, 5.6, {{3699712, 3601408, 4274790}, {1000960, 1330921, 3947110}}},
};

static TceMachine machine_of(const Entry *entry, TceRounding rounding) {
    return (TceMachine){.processors = entry->processors,
                        .disk_bandwidth = 10e6,
                        .network_bandwidth = entry->network,
                        .memory = 1 << 29,
                        .broadcast = entry->broadcast,
                        .reduce = entry->reduce,
                        .rounding = rounding};
}

static void test_table_8(void **state) {
    (void)state;
    for (size_t e = 0; e < sizeof table8 / sizeof *table8; e++) {
        const Entry *entry = &table8[e];
        const TceContraction contraction = {entry->extent, entry->extent, entry->extent, 8};
        const TceMachine machine = machine_of(entry, TCE_REAL);
        for (int pattern = 0; pattern < TCE_PATTERNS; pattern++)
            for (int method = 0; method < TCE_METHODS; method++) {
                TceVariant best;
                assert_true(tce_best(&contraction, &machine, (TceMethod)method, (TcePattern)pattern, INFINITY,
                                     &best));
                const double seconds = floor(tce_cost(&contraction, &machine, best).seconds);
                assert_true(seconds == entry->seconds[pattern][method]);
            }
    }
}

static void assert_near(double found, double expected) {
    assert_true(fabs(found - expected) <= 1e-12 * fabs(expected));
}

// Where no group of indices is small: A, B and C in bytes, Q = sqrt(A * B * C / M).
static void test_closed_formulas(void **state) {
    (void)state;
    const TceContraction contraction = {3e5, 2e5, 4e5, 8};
    const TceMachine machine = machine_of(&table8[1], TCE_REAL);
    const double a = 3e5 * 4e5 * 8, b = 2e5 * 4e5 * 8, c = 3e5 * 2e5 * 8, p = machine.processors, side = 2;
    const double q = sqrt(a * b * c / machine.memory), ratio = 10e6 / 200e6;
    const double f = machine.broadcast, g = machine.reduce;
    const struct {
        TceVariant variant;
        double sent, on_disk; // 0: not compared
    } cases[] = {
        {{TCE_ROTATION, TCE_OUTSIDE, TCE_ABC, false}, (a + b) / side, (a + b) + a / side + sqrt(8) * q / p},
        {{TCE_ROTATION, TCE_OUTSIDE, TCE_BCA, false}, (a + b) / side, (a + b) + b / side + sqrt(8) * q / p},
        {{TCE_ROTATION, TCE_OUTSIDE, TCE_CBA, false}, (a + b) / side, (a + b) + 2 * c / side + 2 * q / p},
        {{TCE_REPLICATION, TCE_OUTSIDE, TCE_ACB, false}, f * a, 2 * a + sqrt(8) * q / p},
        {{TCE_REPLICATION, TCE_OUTSIDE, TCE_BAC, false}, f * a, a + b / p + sqrt(8) * q / p},
        {{TCE_REPLICATION, TCE_OUTSIDE, TCE_CAB, true}, f * b, b + 2 * c / p + 2 * q / p},
        {{TCE_ACCUMULATION, TCE_OUTSIDE, TCE_ABC, false}, g * c, c + a / p + sqrt(8) * q / p},
        {{TCE_ACCUMULATION, TCE_OUTSIDE, TCE_CAB, false}, g * c, 3 * c + 2 * q / p},
        {{TCE_ROTATION, TCE_INSIDE, TCE_CAB, false}, 2 * q / p, 2 * c / p + 2 * q / (side * p)},
        {{TCE_REPLICATION, TCE_INSIDE, TCE_ABC, false}, f * a, a / p + sqrt(8) * q / p},
        {{TCE_ACCUMULATION, TCE_INSIDE, TCE_CAB, false}, g * c, 2 * c + 2 * q / p},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const TceCost cost = tce_cost(&contraction, &machine, cases[i].variant);
        assert_near(cost.sent, cases[i].sent);
        assert_near(cost.on_disk, cases[i].on_disk);
        assert_near(cost.seconds, cost.on_disk / 10e6 + cost.sent / 200e6);
    }
    // The volume in effect of replication inside, which is what its tiles are chosen for.
    TceCost cost =
        tce_cost(&contraction, &machine, (TceVariant){TCE_REPLICATION, TCE_INSIDE, TCE_CAB, false});
    assert_near(cost.on_disk + ratio * cost.sent, 2 * c / p + 2 * sqrt((1 + ratio * f * p) / p) * q / p);
    cost = tce_cost(&contraction, &machine, (TceVariant){TCE_ACCUMULATION, TCE_INSIDE, TCE_ABC, false});
    assert_near(cost.on_disk + ratio * cost.sent, a / p + 2 * sqrt(2 + ratio * g) * q / p);
}

// Integers take at least what real numbers take, and no more than those that are rounded up; no pair of
// integers that fits takes less.
static void test_integers(void **state) {
    (void)state;
    for (double extent = 3000; extent < 400000; extent *= 1.7) {
        const TceContraction contraction = {extent, 2 * extent, 0.7 * extent, 8};
        for (int order = 0; order < TCE_ORDERS; order++)
            for (int method = 0; method < TCE_METHODS; method++) {
                const TceVariant variant = {(TceMethod)method, TCE_OUTSIDE, (TceOrder)order, false};
                double seconds[3];
                for (int rounding = 0; rounding < 3; rounding++) {
                    const TceMachine machine = machine_of(&table8[0], (TceRounding)rounding);
                    seconds[rounding] = tce_cost(&contraction, &machine, variant).seconds;
                }
                assert_true(seconds[TCE_REAL] <= seconds[TCE_INTEGER] * (1 + 1e-12));
                assert_true(seconds[TCE_INTEGER] <= seconds[TCE_CEILING] * (1 + 1e-12));
            }
        // Replication of A, C read first: A goes over the tiles of J, B over those of I.
        const TceMachine machine = machine_of(&table8[0], TCE_INTEGER);
        const TceCost cost =
            tce_cost(&contraction, &machine, (TceVariant){TCE_REPLICATION, TCE_OUTSIDE, TCE_CAB, false});
        const double a = contraction.i * contraction.k * 8, b = contraction.j * contraction.k * 8,
                     c = contraction.i * contraction.j * 8, tiles = c / (4.0 * (1 << 29));
        double least = INFINITY;
        for (double u = 1; u <= ceil(tiles); u++)
            for (double v = fmax(1, ceil(tiles / u)); v <= ceil(tiles / u) + 2; v++)
                least = fmin(least, a + 2 * c / 4 + a * v + b / 4 * u);
        assert_near(cost.on_disk, least);
        assert_true(cost.i_tiles * cost.j_tiles >= tiles);
    }
}

// The best variant is none that takes more than the space, and no other takes less time.
static void test_best(void **state) {
    (void)state;
    const TceContraction contraction = {5e4, 1e5, 3e5, 8};
    const TceMachine machine = machine_of(&table8[3], TCE_INTEGER);
    for (double space = 1e8; space < 1e13; space *= 2)
        for (int pattern = 0; pattern < TCE_PATTERNS; pattern++)
            for (int method = 0; method < TCE_METHODS; method++) {
                TceVariant best;
                const bool fits =
                    tce_best(&contraction, &machine, (TceMethod)method, (TcePattern)pattern, space, &best);
                const TceCost chosen =
                    fits ? tce_cost(&contraction, &machine, best) : (TceCost){.seconds = INFINITY};
                assert_true(!fits || chosen.space <= space);
                for (int order = 0; order < TCE_ORDERS; order++)
                    for (int swapped = 0; swapped <= (method == TCE_REPLICATION); swapped++) {
                        const TceCost cost = tce_cost(
                            &contraction, &machine,
                            (TceVariant){(TceMethod)method, (TcePattern)pattern, (TceOrder)order, swapped});
                        assert_true(cost.space > space || cost.seconds >= chosen.seconds);
                    }
            }
}

// An operand that fits into memory is not copied to the disk, and a result is written once.
static void test_resident(void **state) {
    (void)state;
    const TceContraction contraction = {512e6, 800, 800, 8};
    TceMachine machine = machine_of(&table8[0], TCE_REAL);
    const TceVariant variant = {TCE_REPLICATION, TCE_OUTSIDE, TCE_ABC, true};
    const double b = 800 * 800 * 8.0;
    const double copied = tce_cost(&contraction, &machine, variant).on_disk;
    machine.resident = true;
    assert_near(copied - tce_cost(&contraction, &machine, variant).on_disk, b);
    const TceContraction reduction = {800, 800, 512e6, 8};
    const TceCost cost =
        tce_cost(&reduction, &machine, (TceVariant){TCE_ACCUMULATION, TCE_OUTSIDE, TCE_ABC, false});
    assert_near(cost.on_disk, 2 * 800 * 512e6 * 8 / 4 + b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_8),  cmocka_unit_test(test_closed_formulas),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_best),
        cmocka_unit_test(test_resident),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
