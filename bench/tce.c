// SPDX-License-Identifier: BSD-3-Clause
// Prints tables 6, 7 and 8 of Gao et al., "Performance modeling and optimization of parallel out-of-core
// tensor contractions" (PPoPP 2005): what they predict, and what the same model of src/cost/tce.h predicts.
//
// Its cluster is the one that examples/machines/itanium-cluster.machine describes, with what the tables vary:
// the columns give the bandwidths of each, and the memory where it is not that of table 8.
//
// The paper leaves some quantities open. Broadcasts and reductions move as much as fits its table 8. In table
// 7 volumes are in elements, memory is what gives its volume of inside rotation, and arrays that fit stay
// there. Its rows of accumulation, and some of replication, do not follow from one model.
#include "cost/tce.h"
#include "cost/machine_model.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const char *title;
    TceContraction contraction;
    double processors, disk, network; // bandwidths: bytes per second
    double memory;                    // 0: as described
    bool resident;
    double seconds[TCE_PATTERNS][TCE_METHODS]; // of the paper; 0: it has none
} Column;

static const Column columns[] = {
    {"table 6: 4000 x 4000 x 4000, 4 processors, 8 and 200 MB/s",
     {4000, 4000, 4000, 8},
     4,
     8e6,
     200e6,
     8e6,
     false,
     {{75.42, 56.9, 73.792}, {25.28, 24.718, 53.792}}},
    {"table 7: 4-index transform, extents of 800, 4 processors, 10 and 160 MB/s",
     {512e6, 800, 800, 8},
     4,
     10e6,
     160e6,
     256e6,
     true,
     {{829440, 245760, 778240}, {256051, 0, 466944}}},
    {"table 7: CCSD, extents of 800, 4 processors, 10 and 160 MB/s",
     {800, 800, 512e6, 8},
     4,
     10e6,
     160e6,
     256e6,
     true,
     {{839680, 438563, 163840}, {184320, 766243, 0}}},
    {"table 8: extents of 160000, 4 processors, 10 and 10 MB/s",
     {160000, 160000, 160000, 8},
     4,
     10e6,
     10e6,
     0,
     false,
     {{281920, 259683, 318784}, {310240, 268248, 298304}}},
    {"table 8: extents of 160000, 4 processors, 10 and 200 MB/s",
     {160000, 160000, 160000, 8},
     4,
     10e6,
     200e6,
     0,
     false,
     {{262464, 232168, 264307}, {120240, 123502, 243827}}},
    {"table 8: extents of 640000, 16 processors, 10 and 10 MB/s",
     {640000, 640000, 640000, 8},
     16,
     10e6,
     10e6,
     0,
     false,
     {{3855360, 4224000, 6018048}, {4040960, 4636610, 5690368}}},
    {"table 8: extents of 640000, 16 processors, 10 and 200 MB/s",
     {640000, 640000, 640000, 8},
     16,
     10e6,
     200e6,
     0,
     false,
     {{3699712, 3601408, 4274790}, {1000960, 1330921, 3947110}}},
};

static TceMachine machine_of(const Column *column, const MachineModel *cluster) {
    return (TceMachine){.processors = column->processors,
                        .disk_bandwidth = column->disk,
                        .network_bandwidth = column->network,
                        .memory = column->memory > 0 ? column->memory : cluster->levels[0].memory,
                        .broadcast = curve_at(&cluster->factors[COLLECTIVE_ALL_GATHER], column->processors),
                        .reduce = curve_at(&cluster->factors[COLLECTIVE_ALL_REDUCE], column->processors),
                        .rounding = TCE_REAL,
                        .resident = column->resident};
}

static void print_row(const Column *column, const TceMachine *machine, TceMethod method, TcePattern pattern) {
    TceVariant best;
    if (!tce_best(&column->contraction, machine, method, pattern, INFINITY, &best))
        return;
    const TceCost cost = tce_cost(&column->contraction, machine, best);
    const double paper = column->seconds[pattern][method];
    printf("  %-8s %-13s", tce_pattern_names[pattern], tce_method_names[method]);
    const int digits = cost.seconds < 1000 ? 3 : 0;
    const double seconds = digits ? cost.seconds : floor(cost.seconds); // as the paper does
    if (paper > 0)
        printf(" %10.*f %10.*f  %6.3f", digits, paper, digits, seconds, seconds / paper);
    else
        printf(" %10s %10.*f  %6s", "-", digits, seconds, "");
    printf("  %s%s\n", tce_order_names[best.order],
           method != TCE_REPLICATION ? ""
           : best.swapped            ? ", of B"
                                     : ", of A");
}

// The description in the file at `path`; false where it cannot be read, with a message.
static bool read_cluster(const char *path, Arena *arena, MachineModel *cluster) {
    Text text = text_create(arena), messages = text_create(arena);
    char buffer[4096];
    size_t count;
    FILE *file = fopen(path, "r");
    while (file && (count = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_append_n(&text, buffer, count);
    if (!file) {
        perror(path);
        return false;
    }
    fclose(file);
    const Source source = {path, text_string(&text)};
    Diagnostics *diagnostics = diagnostics_create(arena, source);
    const bool ok = machine_model_read(source, arena, cluster, diagnostics);
    diagnostics_print(diagnostics, &messages);
    fputs(text_string(&messages), stderr);
    return ok;
}

int main(int count, char **arguments) {
    Arena *arena = arena_create();
    MachineModel cluster;
    if (!arena || !read_cluster(count > 1 ? arguments[1] : DISTAL_CLUSTER, arena, &cluster))
        return 1;
    printf("%-24s %10s %10s  %6s  %s\n", "seconds", "paper", "distal", "ratio", "order of reads");
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const TceMachine machine = machine_of(&columns[c], &cluster);
        printf("\n%s\n", columns[c].title);
        for (int pattern = 0; pattern < TCE_PATTERNS; pattern++)
            for (int method = 0; method < TCE_METHODS; method++)
                print_row(&columns[c], &machine, (TceMethod)method, (TcePattern)pattern);
    }
    arena_free(arena);
    return 0;
}
