// SPDX-License-Identifier: BSD-3-Clause
// Plan: the SPMD program with numbers put in. For every transfer and every turn of its loops: the rectangle
// that each rank needs, who holds it, and so the messages; behind them a pattern, which picks the MPI
// operation. Pure arithmetic, no MPI: one process plans, prints and costs thousands of ranks.
#ifndef DISTAL_PLAN_PLAN_H
#define DISTAL_PLAN_PLAN_H

#include "index/provenance.h"
#include "plan/home.h"
#include "plan/rank_plan.h"
#include "spmd/spmd.h"

// Where several appear, the last of them in this order is the pattern of the whole.
typedef enum {
    PATTERN_NONE,
    PATTERN_LOCAL,
    PATTERN_GATHER,
    PATTERN_BROADCAST,
    PATTERN_SHIFT,
    PATTERN_REDUCE
} PatternName;
extern const char *const pattern_names[]; // by PatternName: "none", "local", ...

typedef struct {
    int64_t ranks;
    int64_t message_limit; // bytes; longer messages are split. 0: PLAN_MESSAGE_LIMIT
    int64_t work_limit;    // what takes longer to plan is refused. 0: PLAN_WORK_LIMIT
    unsigned without;      // operations that are not to be used, as OPERATION_BIT; results are the same
    const Home *homes;     // that tensors without a placement have already, by tensor id; NULL: none
    int64_t threads;       // of each rank, of which some take memory for copies of what they add to. 0: 1
    int64_t
        largest; // processors of the largest machine that there is beside those of the statements; 0: none
} PlanOptions;
#define PLAN_MESSAGE_LIMIT ((int64_t)1 << 30)
// Steps on all ranks together, and pairs of processors of one rank: a microsecond each, about. More of them
// are a mistake, such as an extent where a number of blocks was meant.
#define PLAN_WORK_LIMIT ((int64_t)100000000)
// Ranks that a plan can be made for: beyond that its figures, which are by rank, take all of a node's memory.
#define PLAN_MAX_RANKS ((int64_t)1 << 22)

// Figures of one transfer; arrays by rank.
typedef struct {
    const Transfer *transfer;
    PatternName pattern;
    int64_t steps;               // turns of its loops on one rank, all its processors together
    const int64_t *bytes;        // TRANSFER_FETCH: received; TRANSFER_REDUCE: partial results sent
    const int64_t *messages;     // the same, counted
    const int64_t *buffer_bytes; // beyond the homes: buffers and scratch
    const int64_t *copy_bytes;   // beyond that, for each thread but the first
    bool in_place;               // no rank ever uses a buffer
    bool double_buffered;
} TransferPlan;

// Figures of one tensor in one statement, over its transfers; arrays by rank.
typedef struct {
    const Tensor *tensor;
    PatternName pattern;
    const char *at; // loop variable of its transfer, "" where it is outside of all loops
    int64_t steps;
    const int64_t *bytes_received, *messages_received, *home_bytes;
    const int64_t *buffer_bytes; // copies of threads included
} TensorFigures;

typedef struct StatementPlan StatementPlan;
struct StatementPlan {
    const Spmd *spmd;
    const Tensor *target;
    Provenance *provenance;
    Grid grid; // execution grid
    int64_t processors, per_rank;
    int64_t ranks;
    const int64_t *params;
    PlanOptions options;
    int64_t flop;
    int zeroed_count; // tensors whose homes are set to zero first: of the target and of workspaces
    const Tensor **zeroed;
    TransferPlan *transfers;
    Array(Group) groups;
    int tensor_count;
    const TensorFigures *tensors; // by tensor id: of the program in order of declaration, then workspaces
    const int64_t *peak_bytes;    // by rank
    double seconds;               // that planning took
    const Home *homes;            // by tensor id, of the whole program
    Arena *arena;
};

typedef struct {
    Arena *arena;
    PlanOptions options;
    int tensor_count;
    const Tensor *const *tensors; // by id
    Home *homes;                  // the same
    int64_t largest;              // number of processors of the largest machine in use
    int statement_count;
    StatementPlan **statements;
} Plan;

// Plans a program: `spmds` are its statements in order, `tensors` all of its tensors and workspaces by id,
// `params` values by index. NULL with a diagnostic: processors that are no multiple of ranks, more of them,
// of ranks or of steps than can be planned. Lives in the arena.
Plan *plan_create(Arena *arena, int tensor_count, const Tensor *const *tensors, int statement_count,
                  const Spmd *const *spmds, const int64_t *params, PlanOptions options,
                  Diagnostics *diagnostics);

// Figures for another number of threads.
void plan_count_threads(Plan *plan, int64_t threads);

// As many ranks as the program needs: the largest number of processors over its machines and statements; 1
// without any.
int64_t plan_natural_ranks(int machine_count, const Machine *const *machines, int statement_count,
                           const Spmd *const *spmds, const int64_t *params);
// The largest number of ranks up to `most` (at least 1) that can share the processors of these machines.
int64_t plan_fewer_ranks(int64_t most, int machine_count, const Machine *const *machines,
                         const int64_t *params);

// One step of a transfer over all ranks: what each needs, and the messages between them. A walk goes through
// the steps in order; it is how figures are summed and how the part of one rank is found.
typedef struct {
    Region region;
    // Around it, without gaps in the values of the variables that the transfer's access finds elements by;
    // this and what follows are unspecified where the region is empty.
    Rect bounds;
    int64_t first[MAX_ORDER]; // values of these variables, of the first element of the bounding box
    int64_t volume;           // of the bounding box
    uint64_t hash;            // of the region
    int64_t index;            // among the demands of the step, from 0
} Demand;                     // shared by ranks of which the plan can tell that they need the same

typedef struct {
    const Demand *demand; // what the rank needs in this step
    // Home piece that holds all of it, and nothing between what a packed mode has: it is used in place there;
    // -1: it goes into a buffer.
    int64_t piece;
    bool kept; // the buffer already holds it from the step before
} Need;

// The same rectangle from one rank to others, each of which gets one message where there is no group.
typedef struct {
    int64_t source;
    Array(int64_t) targets; // ranks in increasing order
    PatternName pattern;    // that made it
    bool from_view;         // what the source used in the step before, not its home
    int64_t group;          // broadcast: index into groups (source and all targets); -1: none
    Rect rect;
} Delivery;

// Partial results for one rectangle, added up at all ranks that own it.
typedef struct {
    Rect rect;
    int64_t contributor_count, owner_count;
    const int64_t *contributors, *owners; // in increasing order
    int64_t group; // of the union of both; -1: one contributor, one owner, not the same rank
} Combination;

typedef struct {
    StatementPlan *plan;
    const Transfer *transfer;
    int64_t step;                    // of the last walk_next
    const Need *needs, *previous;    // by rank
    Array(Delivery) deliveries;      // TRANSFER_FETCH
    Array(Combination) combinations; // TRANSFER_REDUCE
} Walk;

// Registers groups in the plan as they are met: the same order on every rank. Freed with walk_free.
Walk *walk_create(StatementPlan *plan, int transfer);
bool walk_next(Walk *walk); // false after the last step
void walk_free(Walk *walk);

// The part of `rank` in a transfer, ready to be executed.
const RankTransfer *plan_rank_transfer(StatementPlan *plan, int transfer, int64_t rank);

#endif
