// SPDX-License-Identifier: BSD-3-Clause
#include "spmd/spmd.h"

int spmd_processor_numbers(const Spmd *spmd, int *vars) {
    int count = 0;
    for (int64_t r = 0; r < spmd->cin->relations.count; r++) {
        const Relation *relation = spmd->cin->relations.items[r];
        if (relation->kind->balanced) {
            vars[count++] = relation->longest;
            vars[count++] = relation->begin;
            vars[count++] = relation->length;
        }
        if (cin_positions_are_distributed(spmd->cin, relation)) {
            vars[count++] = relation->count;
            vars[count++] = relation->begin;
            vars[count++] = relation->end;
        }
    }
    return count;
}

bool transfer_serves(const Transfer *transfer, const Access *access) {
    bool serves = access_equal(transfer->access, access);
    for (int i = 0; i < transfer->near_count; i++)
        serves = serves || access_equal(transfer->near[i], access);
    return serves;
}
