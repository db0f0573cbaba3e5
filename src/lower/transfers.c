// SPDX-License-Identifier: BSD-3-Clause
#include "lower/transfers.h"

#include <string.h>

int sequential_loops(const Cin *cin, const Nest *nest, int *loops) {
    int count = 0;
    for (int i = 0; i < nest->loop_count; i++)
        if (!cin_relation(cin, REL_DISTRIBUTE, nest->loops[i]))
            loops[count++] = nest->loops[i];
    return count;
}

// The variable of the loop that transfers of `tensor` stand at, -1: outside of all loops.
static int transfer_place(const Cin *cin, const Nest *nest, const Tensor *tensor) {
    int innermost_distributed = -1, named = -1;
    for (int i = 0; i < nest->loop_count; i++) {
        if (cin_relation(cin, REL_DISTRIBUTE, nest->loops[i]))
            innermost_distributed = nest->loops[i];
        for (int64_t r = 0; r < cin->relations.count; r++) {
            const Relation *relation = cin->relations.items[r];
            if (relation->kind == REL_COMMUNICATE && relation->tensor == tensor &&
                relation->vars[0] == nest->loops[i])
                named = nest->loops[i];
        }
    }
    return named >= 0 ? named : innermost_distributed;
}

typedef struct {
    const Cin *cin;
    const Nest *nest;
    int index;
    TransferArray *transfers;
} Collector;

static void add_transfer(const Collector *collector, TransferKind kind, const Access *access) {
    const Cin *cin = collector->cin;
    const Nest *nest = collector->nest;
    Transfer transfer = {.id = (int)collector->transfers->count,
                         .kind = kind,
                         .access = access,
                         .nest = collector->index,
                         .at = transfer_place(cin, nest, access->tensor)};
    for (int i = 0; transfer.at >= 0; i++) {
        if (!cin_relation(cin, REL_DISTRIBUTE, nest->loops[i]))
            transfer.loops[transfer.loop_count++] = nest->loops[i];
        if (nest->loops[i] == transfer.at)
            break;
    }
    array_push(cin->arena, *collector->transfers, transfer);
}

static void add_fetch(void *context, const Access *access) {
    const Collector *collector = context;
    for (int64_t i = 0; i < collector->transfers->count; i++) {
        const Transfer *other = &collector->transfers->items[i];
        if (other->nest == collector->index && other->kind == TRANSFER_FETCH &&
            access_equal(other->access, access))
            return; // one tensor has one place in a nest
    }
    add_transfer(collector, TRANSFER_FETCH, access);
}

void transfers_of_nest(const Cin *cin, const Nest *nest, int index, TransferArray *transfers) {
    Collector collector = {cin, nest, index, transfers};
    add_transfer(&collector, TRANSFER_REDUCE, nest->assign->lhs);
    expr_accesses(nest->assign->rhs, add_fetch, &collector);
}

int leaf_depth(const Cin *cin, const Nest *nest) {
    TransferArray transfers = {0};
    transfers_of_nest(cin, nest, 0, &transfers);
    int depth = 0;
    for (int64_t i = 0; i < transfers.count; i++)
        if (transfers.items[i].loop_count > depth)
            depth = transfers.items[i].loop_count;
    return depth;
}
