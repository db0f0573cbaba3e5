// SPDX-License-Identifier: BSD-3-Clause
// Operations: the ways in which data moves between ranks in one step of a transfer, for what is read and for
// what is reduced alike. An operation is one file, src/operation/NAME.c, and one line of the list below; it
// can be switched off (PlanOptions), and then `gather` and `reduce`, which serve everything, take its place
// with equal results.
#ifndef DISTAL_PLAN_OPERATION_H
#define DISTAL_PLAN_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

// In the order in which the operations of one step are started.
#define OPERATIONS(ENTRY)                                                                                    \
    ENTRY(LOCAL, local)                                                                                      \
    ENTRY(SHIFT, shift)                                                                                      \
    ENTRY(GATHER, gather)                                                                                    \
    ENTRY(EXCHANGE, exchange)                                                                                \
    ENTRY(BROADCAST, broadcast)                                                                              \
    ENTRY(ALL_GATHER, all_gather)                                                                            \
    ENTRY(REDUCE, reduce)                                                                                    \
    ENTRY(REDUCE_SCATTER, reduce_scatter)                                                                    \
    ENTRY(ALL_REDUCE, all_reduce)

#define OPERATION_ID(NAME, name) OPERATION_##NAME,
typedef enum { OPERATIONS(OPERATION_ID) OPERATION_COUNT } OperationId;
#undef OPERATION_ID
#define OPERATION_BIT(id) (1u << (id))

// The share of one rank in an operation, and elements at one end of it (plan/rank_plan.h).
typedef struct RankOperation RankOperation;
typedef struct Part Part;

// Finds parts in memory: where the elements of a part, which is not empty, follow each other in the order in
// which the tensor is stored, the offset of the first of them in the home piece or view that has them; else
// -1.
typedef struct {
    const void *context;
    int64_t (*locate)(const void *context, const Part *part);
} Locator;

// One operation of one step in an execution, with what it needs of MPI (runtime/call.h).
typedef struct OperationCall OperationCall;

typedef struct {
    OperationId id;
    const char *name; // as in plans and reports: "all-gather"
    // Elements of scratch memory that a rank needs for it; NULL: none.
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
