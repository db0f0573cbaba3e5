// SPDX-License-Identifier: BSD-3-Clause
#include "cost/predict.h"

#include "base/integer.h"
#include "cost/predict_data.h"

#include <math.h>

#define RESOURCE_NAME(NAME, name) name,
const char *const resource_names[RESOURCE_COUNT] = {RESOURCES(RESOURCE_NAME)};

// Ranks whose leaves are looked at: the first ones have the largest parts, unless entries balance them.
enum { SAMPLED_RANKS = 8 };

static LeafSeconds busiest_leaves(const StatementPlan *plan, const ModelRanks *machine) {
    LeafSeconds busiest = {.known = true};
    const int64_t sampled = min_i64(plan->ranks, SAMPLED_RANKS);
    for (int64_t s = 0; s < sampled; s++) {
        const LeafSeconds own = predict_leaves(plan, machine, s * plan->ranks / sampled);
        const double own_time = own.computing + own.memory - own.overlapped;
        if (!own.known || own_time > busiest.computing + busiest.memory - busiest.overlapped)
            busiest = own;
        if (!own.known)
            break;
    }
    return busiest;
}

Prediction predict_statement(const StatementPlan *plan, const ModelRanks *machine) {
    const LeafSeconds leaves = busiest_leaves(plan, machine);
    Prediction prediction = {.known = leaves.known};
    double *seconds = prediction.seconds, ahead = 0, disk_ahead = 0;
    seconds[RESOURCE_COMPUTING] = leaves.computing;
    seconds[RESOURCE_MEMORY] = leaves.memory;
    prediction.overlapped = leaves.overlapped;
    const double kernels = leaves.computing + leaves.memory - leaves.overlapped;
    for (int t = 0; t < plan->spmd->transfer_count; t++) {
        const TransferSeconds own = predict_transfer(plan, machine, t);
        prediction.known = prediction.known && own.known;
        seconds[RESOURCE_NETWORK] += own.network;
        seconds[RESOURCE_MEMORY] += own.memory;
        seconds[RESOURCE_DISK] += own.disk;
        if (!plan_pipelines(plan, t))
            continue;
        ahead += own.network;
        // The first step is waited for, or the last one.
        disk_ahead += own.disk * (1 - 1 / fmax(1, (double)plan_figures(plan)->transfers[t].steps));
    }
    if (!prediction.known)
        return (Prediction){.known = false};
    prediction.overlapped += machine->machine->overlap * fmin(ahead + disk_ahead, kernels);
    prediction.total = -prediction.overlapped;
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        prediction.total += seconds[r];
        if (seconds[r] > seconds[prediction.critical])
            prediction.critical = (Resource)r;
    }
    return prediction;
}
