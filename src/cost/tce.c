// SPDX-License-Identifier: BSD-3-Clause
#include "cost/tce.h"

#include <math.h>

const char *const tce_method_names[TCE_METHODS] = {"rotation", "replication", "accumulation"};
const char *const tce_pattern_names[TCE_PATTERNS] = {"outside", "inside"};
const char *const tce_order_names[TCE_ORDERS] = {"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"};

// Of the three arrays: bytes, and bytes of one pass over each, which count what is written too, and what is
// sent in proportion to the bandwidths. `room` is what fits into memory of it at a time, on all processors
// that have a part of the tile.
typedef struct {
    double bytes, pass, room;
    double once;      // bytes that do not depend on the number of tiles
    bool is_resident; // it stays in memory
} Array3[3];
enum { A, B, C };

// Two numbers of tiles.
typedef struct {
    double first, second;
} Pair;

static double pair_cost(double p, double q, Pair pair) {
    return p * pair.first + q * pair.second;
}

// More pairs of integers than this are not tried; the cost of neighbours then hardly differs.
#define MOST_PAIRS 1e6

// The pair of numbers u, v >= 1 with u * v >= tiles and the least p * u + q * v.
static Pair best_pair(double p, double q, double tiles, TceRounding rounding) {
    if (tiles <= 1)
        return (Pair){1, 1};
    Pair best = {sqrt(tiles * q / p), sqrt(tiles * p / q)};
    if (best.first < 1)
        best = (Pair){1, tiles};
    if (best.second < 1)
        best = (Pair){tiles, 1};
    if (rounding == TCE_REAL)
        return best;
    best = (Pair){ceil(best.first), ceil(best.second)};
    if (rounding == TCE_CEILING)
        return best;
    const int64_t most = (int64_t)fmin(ceil(tiles), MOST_PAIRS);
    for (int64_t u = 1; u <= most; u++) {
        const Pair pair = {(double)u, ceil(tiles / (double)u)};
        if (pair_cost(p, q, pair) < pair_cost(p, q, best))
            best = pair;
    }
    return best;
}

// The reads of the outermost array happen once. Each of the others is repeated with the tiles of the index
// group that it lacks, and the tiles of the outermost array have to fit into memory.
static void choose_tiles(const Array3 arrays, TceOrder order, TceRounding rounding, TceCost *cost) {
    const double tiles = arrays[order / 2].bytes / arrays[order / 2].room;
    switch (order / 2) {
    case A: {
        const Pair pair = best_pair(arrays[B].pass, arrays[C].pass, tiles, rounding);
        cost->i_tiles = pair.first;
        cost->k_tiles = pair.second;
        break;
    }
    case B: {
        const Pair pair = best_pair(arrays[A].pass, arrays[C].pass, tiles, rounding);
        cost->j_tiles = pair.first;
        cost->k_tiles = pair.second;
        break;
    }
    default: {
        const Pair pair = best_pair(arrays[B].pass, arrays[A].pass, tiles, rounding);
        cost->i_tiles = pair.first;
        cost->j_tiles = pair.second;
    }
    }
}

// Bytes of all passes.
static double passes(const Array3 arrays, const TceCost *cost) {
    return arrays[A].pass * cost->j_tiles + arrays[B].pass * cost->i_tiles + arrays[C].pass * cost->k_tiles +
           arrays[C].once;
}

// Bytes that are written to a disk and read from it before the computation where `bytes` of an array come.
static double copied_by(const Array3 arrays, int array, double bytes) {
    return arrays[array].is_resident ? 0 : bytes;
}

// Of a result that stays in memory each element is written once.
static void write_once(Array3 arrays, double written) {
    if (arrays[C].is_resident) {
        arrays[C].once = written;
        arrays[C].pass = 0;
    }
}

static void copy_then_compute(Array3 arrays, const TceMachine *machine, TceVariant variant, TceCost *cost) {
    const double processors = machine->processors, side = sqrt(processors);
    double copied = 0; // bytes that come to the disk of a processor, beside its part of the arrays
    switch (variant.method) {
    case TCE_ROTATION:
        cost->sent = (arrays[A].bytes + arrays[B].bytes) / side;
        copied = cost->sent;
        for (int array = A; array <= B; array++)
            cost->on_disk += copied_by(arrays, array, 2 * arrays[array].bytes / side);
        for (int array = A; array <= C; array++)
            arrays[array].pass = (array == C ? 2 : 1) * arrays[array].bytes / side;
        write_once(arrays, arrays[C].bytes / processors);
        break;
    case TCE_REPLICATION:
        cost->sent = machine->broadcast * arrays[A].bytes;
        copied = arrays[A].bytes;
        cost->on_disk = copied_by(arrays, A, copied);
        arrays[A].pass = arrays[A].bytes;
        arrays[A].room = machine->memory;
        write_once(arrays, arrays[C].bytes / processors);
        break;
    case TCE_ACCUMULATION:
        cost->sent = machine->reduce * arrays[C].bytes;
        copied = arrays[C].bytes;
        cost->on_disk = copied_by(arrays, C, copied);
        arrays[C].pass = 2 * arrays[C].bytes;
        arrays[C].room = machine->memory;
        write_once(arrays, arrays[C].bytes);
        break;
    }
    choose_tiles(arrays, variant.order, machine->rounding, cost);
    cost->on_disk += passes(arrays, cost);
    cost->space += copied;
}

// Blocks of A and B go round once for each tile of the index group that they lack. Tiles of C that take
// the least of that are the paper's choice; then A and B are read as often as their tiles need.
static void rotate_tiles(const Array3 arrays, const TceMachine *machine, TceOrder order, TceCost *cost) {
    const double side = sqrt(machine->processors);
    choose_tiles(arrays, TCE_CAB, machine->rounding, cost);
    cost->sent = (arrays[A].bytes * cost->j_tiles + arrays[B].bytes * cost->i_tiles) / side;
    if (order == TCE_CAB || order == TCE_CBA) {
        cost->on_disk = passes(arrays, cost);
        return;
    }
    // With the loop over tiles of C in the middle, one more loop over tiles of K inside of it lets tiles of
    // the innermost operand fit.
    double k_tiles = 1;
    if (order != TCE_BCA)
        k_tiles = fmax(k_tiles, arrays[A].bytes / (arrays[A].room * cost->i_tiles));
    if (order != TCE_ACB)
        k_tiles = fmax(k_tiles, arrays[B].bytes / (arrays[B].room * cost->j_tiles));
    cost->k_tiles = machine->rounding == TCE_REAL ? k_tiles : ceil(k_tiles);
    TceCost read = *cost;
    if (order == TCE_ABC || order == TCE_ACB)
        read.j_tiles = 1;
    else
        read.i_tiles = 1;
    cost->on_disk = passes(arrays, &read);
}

static void send_tiles(Array3 arrays, const TceMachine *machine, TceVariant variant, TceCost *cost) {
    const double ratio = machine->disk_bandwidth / machine->network_bandwidth;
    if (variant.method == TCE_ROTATION) {
        rotate_tiles(arrays, machine, variant.order, cost);
        return;
    }
    // What is sent in a pass counts as that much on disk.
    const int moved = variant.method == TCE_REPLICATION ? A : C;
    const double sent =
        arrays[moved].bytes * (moved == A ? machine->broadcast : machine->reduce); // in one pass
    if (moved == C)
        arrays[C].pass = 2 * arrays[C].bytes;
    const double on_disk = arrays[moved].pass;
    arrays[moved].pass += ratio * sent;
    arrays[moved].room = machine->memory;
    choose_tiles(arrays, variant.order, machine->rounding, cost);
    cost->sent = sent * (moved == A ? cost->j_tiles : cost->k_tiles);
    arrays[moved].pass = on_disk;
    cost->on_disk = passes(arrays, cost);
}

TceCost tce_cost(const TceContraction *contraction, const TceMachine *machine, TceVariant variant) {
    // The other operand is replicated where the operands change places, and I and J with them.
    const double i = variant.swapped ? contraction->j : contraction->i;
    const double j = variant.swapped ? contraction->i : contraction->j;
    const double size = contraction->element_bytes, processors = machine->processors;
    const double bytes[] = {i * contraction->k * size, j * contraction->k * size, i * j * size};
    Array3 arrays = {{0}};
    TceCost cost = {.i_tiles = 1, .j_tiles = 1, .k_tiles = 1};
    for (int array = A; array <= C; array++) {
        arrays[array].bytes = bytes[array];
        arrays[array].pass = (array == C ? 2 : 1) * bytes[array] / processors;
        arrays[array].room = machine->memory * processors;
        arrays[array].is_resident = machine->resident && bytes[array] <= machine->memory;
        cost.space += bytes[array] / processors;
    }
    if (variant.pattern == TCE_OUTSIDE)
        copy_then_compute(arrays, machine, variant, &cost);
    else
        send_tiles(arrays, machine, variant, &cost);
    cost.seconds = cost.on_disk / machine->disk_bandwidth + cost.sent / machine->network_bandwidth;
    if (variant.swapped) {
        const double i_tiles = cost.i_tiles;
        cost.i_tiles = cost.j_tiles;
        cost.j_tiles = i_tiles;
    }
    return cost;
}

bool tce_best(const TceContraction *contraction, const TceMachine *machine, TceMethod method,
              TcePattern pattern, double space, TceVariant *best) {
    TceCost least = {.seconds = INFINITY};
    for (int order = 0; order < TCE_ORDERS; order++)
        for (int swapped = 0; swapped < (method == TCE_REPLICATION ? 2 : 1); swapped++) {
            const TceVariant variant = {method, pattern, (TceOrder)order, swapped};
            const TceCost cost = tce_cost(contraction, machine, variant);
            if (cost.space > space || cost.seconds > least.seconds ||
                (cost.seconds == least.seconds && cost.on_disk >= least.on_disk))
                continue;
            least = cost;
            *best = variant;
        }
    return isfinite(least.seconds);
}
