// SPDX-License-Identifier: BSD-3-Clause
// Operations: the ways in which data moves between ranks in one step of a transfer, for what is read and for
// what is reduced alike. An operation is one file, src/operation/NAME.c, and one line of the list below:
// plans and figures ask its record which situations it is for and what it costs, executions carry it out.
#ifndef DISTAL_PLAN_OPERATION_H
#define DISTAL_PLAN_OPERATION_H

#include "spmd/spmd.h"

// From the most general to the most special: of those that a situation could be moved with the last one is
// taken, and a transfer has the name of the last one that occurs in it. Each can be switched off
// (PlanOptions), with equal results, but for those that serve everything.
#define OPERATIONS(ENTRY)                                                                                    \
    ENTRY(LOCAL, local)                                                                                      \
    ENTRY(GATHER, gather)                                                                                    \
    ENTRY(EXCHANGE, exchange)                                                                                \
    ENTRY(ALL_GATHER, all_gather)                                                                            \
    ENTRY(BROADCAST, broadcast)                                                                              \
    ENTRY(SHIFT, shift)                                                                                      \
    ENTRY(ACCUMULATE, accumulate)                                                                            \
    ENTRY(REDUCE, reduce)                                                                                    \
    ENTRY(REDUCE_SCATTER, reduce_scatter)                                                                    \
    ENTRY(ALL_REDUCE, all_reduce)                                                                            \
    ENTRY(REPLICATE, replicate)

#define OPERATION_ID(NAME, name) OPERATION_##NAME,
typedef enum { OPERATIONS(OPERATION_ID) OPERATION_COUNT } OperationId;
#undef OPERATION_ID
#define OPERATION_BIT(id) (1u << (id))

// The collective operations of MPI of which the description of a machine says how long they take.
#define COLLECTIVES(ENTRY)                                                                                   \
    ENTRY(BROADCAST, "broadcast")                                                                            \
    ENTRY(ALL_GATHER, "all-gather")                                                                          \
    ENTRY(REDUCE, "reduce")                                                                                  \
    ENTRY(REDUCE_SCATTER, "reduce-scatter")                                                                  \
    ENTRY(ALL_REDUCE, "all-reduce")
#define COLLECTIVE_ID(NAME, name) COLLECTIVE_##NAME,
typedef enum { COLLECTIVE_NONE, COLLECTIVES(COLLECTIVE_ID) COLLECTIVE_COUNT } CollectiveId;
#undef COLLECTIVE_ID

// What has to move (plan/situation.h), the share of one rank in an operation, and elements at one end of it
// (plan/rank_plan.h).
typedef struct Planner Planner;
typedef struct Situation Situation;
typedef struct RankOperation RankOperation;
typedef struct Part Part;

// Finds parts in memory: where the elements of a part, which is not empty, follow each other in the order in
// which the tensor is stored, the offset of the first of them in the home piece or view that has them; else
// -1.
typedef struct {
    const void *context;
    int64_t (*locate)(const void *context, const Part *part);
    bool on_gpu; // in memory of a GPU
} Locator;

// What an operation costs one rank: what it receives from other ranks or, of a reduction, contributes to
// them.
typedef struct {
    int64_t elements, messages;
} Cost;

// One operation of one step in an execution, with what it needs of MPI (runtime/call.h).
typedef struct OperationCall OperationCall;

// How many parts of a situation an operation moves, and between whom.
typedef enum {
    SHAPE_MESSAGES, // one part, between two ranks; all such messages of a step are one operation of a rank
    SHAPE_PART,     // one part, in a group: its owner or owners, and the other ranks
    SHAPE_MEMBERS,  // all parts of a class, in a group of its ranks, of which each owns one part or nothing
} OperationShape;

typedef struct {
    OperationId id;
    const char *name; // as in plans and reports: "all-gather"
    TransferKind kind;
    OperationShape shape;
    bool serves_all;       // recognizes everything of this kind and shape, so it is never switched off
    bool from_contributor; // the root of its group is the only rank that contributes, not the first owner
    bool sums;             // members of a group combine partial results: in memory of GPUs, DeviceSums does
    CollectiveId timed_as; // COLLECTIVE_NONE: it takes as long as its messages, from rank to rank

    // Whether it can move this; NULL: it is never chosen.
    bool (*recognize)(const Situation *situation);
    // Of SHAPE_MESSAGES: whether the messages of a step are better one collective operation of all ranks,
    // which then take part in it in every step; NULL: they are not.
    bool (*is_collective)(const Planner *planner);
    // What that costs a rank that lacks or contributes the parts, where `own` of them are at home there.
    Cost (*count)(const Situation *situation, Cost own);
    // Elements of scratch memory that a rank needs for its parts in a view and at home. What it needs for all
    // of them is what it needs for both apart, but for SHAPE_PART; NULL: none.
    int64_t (*scratch)(const RankOperation *operation, const Locator *locator);

    // Execution. `prepare` describes the messages of the call; false where there is no memory. `start` begins
    // them without waiting, `finish` follows when all requests of the step are complete; NULL: nothing to do.
    bool (*prepare)(OperationCall *call);
    void (*start)(OperationCall *call);
    void (*finish)(OperationCall *call);
} Operation;

#define OPERATION_RECORD(NAME, name) extern const Operation operation_##name;
OPERATIONS(OPERATION_RECORD)
#undef OPERATION_RECORD

// By OperationId.
extern const Operation *const operations[OPERATION_COUNT];

#endif
