// SPDX-License-Identifier: BSD-3-Clause
// Predicted time of a statement on a described machine, from its plan: what its busiest rank computes, moves
// in memory, and sends and receives, at the rates of the machine. It needs figures (plan_figures) and, for
// what ranks compute, a few footprints of the first and of some other ranks: milliseconds for 10^5 ranks
// beyond those figures. Nothing is executed.
#ifndef DISTAL_COST_PREDICT_H
#define DISTAL_COST_PREDICT_H

#include "cost/machine_model.h"
#include "plan/plan.h"

// What time is spent on.
#define RESOURCES(ENTRY)                                                                                     \
    ENTRY(COMPUTING, "computing") /* the kernels of leaves */                                                \
    ENTRY(MEMORY, "memory")       /* what these read and write, copies of parts, results that are cleared */ \
    ENTRY(NETWORK, "network")     /* messages, in a node and between nodes */                                \
    ENTRY(DISK, "disk")
#define RESOURCE_ID(NAME, name) RESOURCE_##NAME,
typedef enum { RESOURCES(RESOURCE_ID) RESOURCE_COUNT } Resource;
#undef RESOURCE_ID
extern const char *const resource_names[RESOURCE_COUNT];

// Seconds of one execution.
typedef struct {
    bool known; // false: it depends on entries of sparse tensors that are not known, and all else is 0
    double seconds[RESOURCE_COUNT];
    double overlapped; // of these, while another of them is busy
    double total;      // their sum without what is overlapped
    Resource critical; // the one that takes most of the time
} Prediction;

// `machine` has as many ranks as the plan and the threads that it is executed with (model_ranks). A plan of
// which nothing is executed takes no time.
Prediction predict_statement(const StatementPlan *plan, const ModelRanks *machine);

// What has to move, whatever the schedule: a rank that does its share of the work reads and writes at least
// `needed` elements, less what it has at home in memory.
typedef enum {
    BOUND_NONE,    // not known
    BOUND_MEMORY,  // of a product, 2 I J K / (P sqrt(S)) + S, where memory is what limits it
    BOUND_PRODUCT, // of a product, with any memory: its share of the work needs that many elements
    BOUND_SIZES,   // of other statements: a share of each tensor
} BoundKind;
typedef struct {
    BoundKind kind;
    double i, j, k;      // of a product: the extents of its groups of indices
    double memory;       // S, elements
    double bytes;        // that the busiest rank receives, sends, reads from a disk or writes there, at least
    int64_t moved_bytes; // that it does in the plan, over all tensors; -1: not known
    int64_t disk_bytes;  // and that a rank reads and writes on a disk, which is part of what the bound is for
} LowerBound;

// `memory`: bytes of a rank.
LowerBound predict_lower_bound(const StatementPlan *plan, double memory);

#endif
