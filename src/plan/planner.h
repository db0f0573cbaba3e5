// SPDX-License-Identifier: BSD-3-Clause
// What the files of plan/ share while they plan one transfer: its footprints, the home of its tensor, and how
// what a rank lacks in a step reaches it. Every question is answered for one rank or one class of ranks, by
// arithmetic that gives the same answer on all ranks: so each plans its own part, and the parts agree.
//
// In a step a rank *keeps* its footprint where its buffer holds it from the step before; else it takes it
// over from a rank that used it then (shift); else it *lacks* what it does not have at home, and its class
// gets that from the homes.
#ifndef DISTAL_PLAN_PLANNER_H
#define DISTAL_PLAN_PLANNER_H

#include "plan/home.h"
#include "plan/plan.h"

typedef Array(int64_t) RankArray;
typedef Array(Worker) WorkerArray;

struct Planner {
    const StatementPlan *plan;
    const Transfer *transfer;
    const Footprints *footprints;
    const Home *home;
    int64_t element_size;
    int64_t message_elements; // longer messages are cut
    bool indexed;             // parts follow from structures (indexed.h): in messages only
    bool reads_neighbours;    // in place of messages (neighbours.h)
    MemoryId message_memory;  // the first value of RankTransfer.message_memory; stage_finish may change that
    bool many_to_many;        // several ranks take, several own: messages are an exchange, not a gather
    // Pieces of an induced home, or of ranks with many processors, by rank, made on demand: open addressing.
    struct KnownPieces *known;
    int64_t known_count, known_slots;
    Arena *arena;   // of one class in one step
    Arena *scratch; // of one step
    Arena *lasting; // of the transfer
};

// For the transfer of a statement whose footprints and homes are known. The arenas are within `arena`, to be
// freed with planner_free.
Planner planner_create(const StatementPlan *plan, int transfer, Arena *arena);
void planner_free(Planner *planner);
// The home pieces of a rank; they hold for the class.
Region planner_pieces(Planner *planner, int64_t rank);
// home_find, with these.
void planner_find(Planner *planner, const Rect *rect, int64_t choice, Arena *arena, HoldingArray *found);
// Whether an operation may be used.
bool planner_uses(const Planner *planner, OperationId operation);

// Who used a footprint in the step before: classes whose footprint was the same then.
typedef struct {
    int64_t step; // in which it is used again
    WorkerArray users;
} Reuse;
Reuse reuse_find(const Planner *planner, const Footprint *footprint, int64_t step, Arena *arena);

typedef enum { REUSE_NONE, REUSE_KEPT, REUSE_SHIFT } ReuseKind;
// How `rank`, which runs `member` in this step, comes to have the footprint again. REUSE_SHIFT: from
// `*source`, the nearest of the ranks that used it with the same coordinates in the dimensions that are not
// related: first in the hierarchy of the machine, then in cyclic order of ranks.
ReuseKind reuse_of(const Planner *planner, const Reuse *reuse, const Worker *member, int64_t *source);

// Reuse of one footprint by many members that have the same coordinates in the dimensions that are not
// related, and existed in the step before if one did: who used it then among ranks with these coordinates.
typedef struct {
    int64_t step;
    RankArray classes, sources; // in increasing order
} SortedReuse;
SortedReuse reuse_sort(const Planner *planner, const Reuse *reuse, const Worker *member, Arena *arena);
// The same as reuse_of.
ReuseKind reuse_of_sorted(const Planner *planner, const SortedReuse *reuse, const Worker *member,
                          int64_t *source);
// Whether it is known that each rank which uses the footprint in a step keeps it or takes it over.
bool reuse_by_all(const Planner *planner, const Footprint *footprint, int64_t step);

// The ranks of the class of `worker` that lack its footprint in a step and take from the replicas of this
// choice, in increasing order.
RankArray lacking_ranks(const Planner *planner, const Worker *worker, const Reuse *reuse, int64_t step,
                        int64_t choice, Arena *arena);
// The ranks of the class that have iterations in a step, in increasing order.
RankArray existing_ranks(const Planner *planner, const Worker *worker, int64_t step, Arena *arena);

// The parts of a region and their owners, each no longer than a message may be, in order of
// rect_compare. `reduced`: with all holders.
HoldingArray holdings_of(Planner *planner, const Region *region, int64_t choice, bool reduced, Arena *arena);
// Those of them that `rank`, with these pieces at home, gives to ranks of its own choice.
HoldingArray holdings_by(Planner *planner, const Region *region, int64_t rank, const Region *pieces,
                         bool reduced, Arena *arena);

// Appends a holding in parts that messages may have.
void holding_cut(const Planner *planner, const Holding *holding, Arena *arena, HoldingArray *parts);
// A worker of the class of `to`, with the coordinates of `worker` in the dimensions that are not related.
Worker worker_with_class(const Footprints *footprints, const Worker *worker, const Worker *to);

// Whether a rank may send in a step what it has got in the one before.
bool planner_may_pass_on(const Planner *planner);

// Whether a footprint can be used in a piece that contains its bounds: what is read, or one rectangle, and
// not in disk.
bool planner_in_place(const Planner *planner, const Footprint *footprint);
// That one of these pieces; -1: there is none.
int64_t planner_piece(const Planner *planner, const Region *pieces, const Footprint *footprint);
// The rank among the members of a class that has its footprint in place in its home; -1: none. `parts` are
// those of the footprint, or any of them.
int64_t rank_in_place(Planner *planner, const Footprint *footprint, const HoldingArray *parts,
                      const RankArray *members);

RankArray ranks_without(const RankArray *ranks, int64_t rank, Arena *arena);

#endif
