// SPDX-License-Identifier: BSD-3-Clause
#include "cost/machine_model.h"

#include <math.h>
#include <stdio.h>

#define COLLECTIVE_NAME(NAME, name) name,
const char *const collective_names[COLLECTIVE_COUNT] = {"", COLLECTIVES(COLLECTIVE_NAME)};

Curve curve_constant(double value) {
    return (Curve){.count = 1, .sizes = {1}, .values = {value}};
}

double curve_at(const Curve *curve, double size) {
    int after = 0;
    while (after < curve->count && curve->sizes[after] < size)
        after++;
    if (curve->count == 0)
        return NAN;
    if (after == 0)
        return curve->values[0];
    if (after == curve->count)
        return curve->values[after - 1];
    const double low = curve->values[after - 1], high = curve->values[after];
    const double part =
        log(size / curve->sizes[after - 1]) / log(curve->sizes[after] / curve->sizes[after - 1]);
    return low * pow(high / low, part);
}

static ModelLevel level_of(const char *name, int64_t count) {
    ModelLevel level = {.count = count};
    snprintf(level.name, sizeof level.name, "%s", name);
    return level;
}

MachineModel machine_model_default(void) {
    MachineModel model = {.level_count = 2,
                          .single = 2,
                          .parallel = 0.9,
                          .oversubscribed = 0.75,
                          .overhead = 5e-7,
                          .overlap = 0.5};
    snprintf(model.name, sizeof model.name, "nodes of two 32-core sockets, 100 Gbit/s");
    ModelLevel *node = &model.levels[0], *core = &model.levels[1];
    *node = level_of("node", 4096);
    node->memory = 256e9;
    node->copy = curve_constant(300e9);
    node->latency = 1.5e-6;
    node->bandwidth = curve_constant(11e9);
    node->link = 12.5e9;
    *core = level_of("core", 64);
    core->copy = (Curve){3, {1 << 18, 1 << 21, 1 << 26}, {60e9, 40e9, 12e9}};
    core->latency = 4e-7;
    core->bandwidth = curve_constant(5e9);
    model.rates[MODEL_GEMM] = model.rates[MODEL_PANELS] = model.rates[MODEL_CONTRACTION] =
        (Curve){5, {8, 32, 128, 512, 2048}, {1e9, 8e9, 24e9, 32e9, 35e9}};
    model.rates[MODEL_VECTOR] = model.rates[MODEL_LOOPS] = curve_constant(4e9);
    model.rates[MODEL_SPARSE] = curve_constant(1e9);
    model.rates[MODEL_MERGE] = curve_constant(2e8);
    model.disk_read = curve_constant(2e9);
    model.disk_write = curve_constant(1e9);
    for (int c = COLLECTIVE_NONE + 1; c < COLLECTIVE_COUNT; c++)
        model.factors[c] = curve_constant(1);
    model.factors[COLLECTIVE_BROADCAST] = (Curve){2, {2, 1024}, {1, 2}};
    model.factors[COLLECTIVE_REDUCE] = (Curve){2, {2, 1024}, {1.3, 2.5}};
    model.factors[COLLECTIVE_ALL_REDUCE] = (Curve){2, {2, 1024}, {1.3, 2.5}};
    return model;
}

// Units of a level in one of the first level.
static double units_in_node(const MachineModel *machine, int level) {
    double units = 1;
    for (int l = 1; l <= level; l++)
        units *= (double)machine->levels[l].count;
    return units;
}

// Ranks fill the nodes one after the other; where there are more than all nodes have places, all get as many.
ModelRanks model_ranks(const MachineModel *machine, int64_t ranks, int64_t threads) {
    const double cores = units_in_node(machine, machine->level_count - 1);
    const double nodes = (double)machine->levels[0].count;
    const double places = machine->ranks > 0 ? (double)machine->ranks : cores;
    const double in_node = fmax(fmin(places, (double)ranks), ceil((double)ranks / nodes));
    ModelRanks placed = {.machine = machine, .ranks = ranks, .memory = INFINITY, .disk = INFINITY};
    placed.threads = threads > 0 ? (double)threads : fmax(1, floor(cores / in_node));
    placed.core_share = fmin(1, cores / (in_node * placed.threads));
    for (int l = 0; l < machine->level_count; l++) {
        placed.in_unit[l] = in_node / units_in_node(machine, l);
        if (machine->levels[l].memory > 0)
            placed.memory = machine->levels[l].memory / fmax(1, placed.in_unit[l]);
    }
    if (machine->disk_space > 0)
        placed.disk = machine->disk_space / fmax(1, placed.in_unit[0]);
    return placed;
}

// Where ranks share cores: what is left of the rate of each core.
static double crowding(const ModelRanks *ranks) {
    return ranks->core_share < 1 ? ranks->machine->oversubscribed : 1;
}

// Cores of a node that compute.
static double busy_cores(const ModelRanks *ranks) {
    return fmax(1, ranks->in_unit[0] * ranks->threads * ranks->core_share);
}

double model_rate(const ModelRanks *ranks, ModelKernel kernel, double size, int real_bytes) {
    const MachineModel *machine = ranks->machine;
    const double busy = busy_cores(ranks);
    const double of_core =
        curve_at(&machine->rates[kernel], size) * (1 + machine->parallel * (busy - 1)) / busy;
    return of_core * ranks->threads * ranks->core_share * crowding(ranks) *
           (real_bytes == 4 ? machine->single : 1);
}

double model_product_rate(const ModelRanks *ranks, ModelKernel kernel, const double extents[3],
                          int real_bytes) {
    const Curve *curve = &ranks->machine->rates[kernel];
    const double least = 3 / (1 / extents[0] + 1 / extents[1] + 1 / extents[2]);
    const double most = cbrt(extents[0] * extents[1] * extents[2]);
    double rate =
        fmin(model_rate(ranks, kernel, least, real_bytes), model_rate(ranks, kernel, most, real_bytes));
    for (int i = 0; i < curve->count; i++)
        if (curve->sizes[i] > least && curve->sizes[i] < most)
            rate = fmin(rate, model_rate(ranks, kernel, curve->sizes[i], real_bytes));
    return rate;
}

// The least of what the levels allow: of a unit with several ranks, the share of one; of several units of one
// rank, those that its threads are in.
double model_copy_rate(const ModelRanks *ranks, double bytes) {
    const MachineModel *machine = ranks->machine;
    const double cores = units_in_node(machine, machine->level_count - 1);
    const double of_thread = bytes / ranks->threads;
    double rate = INFINITY;
    for (int l = 0; l < machine->level_count; l++) {
        if (machine->levels[l].copy.count == 0)
            continue;
        const double own = 1 / ranks->in_unit[l], used = ranks->threads * units_in_node(machine, l) / cores;
        rate = fmin(rate, curve_at(&machine->levels[l].copy, of_thread) * fmin(own, fmax(1, used)));
    }
    return rate * crowding(ranks);
}

double model_disk_rate(const ModelRanks *ranks, bool writes, double request) {
    const MachineModel *machine = ranks->machine;
    return curve_at(writes ? &machine->disk_write : &machine->disk_read, request) /
           fmax(1, ranks->in_unit[0]);
}

double model_message_seconds(const ModelRanks *ranks, int level, double share, double bytes) {
    const ModelLevel *of = &ranks->machine->levels[level];
    double rate = curve_at(&of->bandwidth, bytes);
    if (of->link > 0)
        rate = fmin(rate, of->link / fmax(1, ranks->in_unit[level] * share));
    return bytes / (rate * ranks->core_share);
}
