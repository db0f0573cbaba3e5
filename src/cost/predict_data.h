// SPDX-License-Identifier: BSD-3-Clause
// What the files that predict the time of a statement share.
#ifndef DISTAL_COST_PREDICT_DATA_H
#define DISTAL_COST_PREDICT_DATA_H

#include "cost/predict.h"

// Sequential loops and loops of leaves around something, each of which is looked at in its first iteration.
typedef struct {
    int count;
    int loops[MAX_VARS];
    double steps; // of these of the SPMD program: how often each processor executes it
} Around;

// How many values each variable of a nest has on a processor, while the loops in `around` have one value.
// False where it takes no part in the nest or has no iteration. Those of variables that are not in the nest
// are 1.
bool nest_counts(const StatementPlan *plan, int nest, int64_t processor, const Around *around,
                 double counts[MAX_VARS]);
// Elements that an access reaches.
double access_elements(const Access *access, const double counts[MAX_VARS]);

// Seconds of a rank in one execution: its kernels, and what these read and write in memory, of which parts go
// on at the same time.
typedef struct {
    bool known;
    double computing, memory, overlapped;
} LeafSeconds;
LeafSeconds predict_leaves(const StatementPlan *plan, const ModelRanks *machine, int64_t rank);

// Seconds of one transfer on its busiest rank: messages, and copies in memory.
typedef struct {
    bool known;
    double network, memory, disk;
} TransferSeconds;
TransferSeconds predict_transfer(const StatementPlan *plan, const ModelRanks *machine, int transfer);

#endif
