// SPDX-License-Identifier: BSD-3-Clause
#include "spmd/spmd.h"

#include <string.h>

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

// Inserts a tensor by id, unless it is there.
static void insert_tensor(const Tensor *tensor, const Tensor **tensors, int *count) {
    int at = 0;
    while (at < *count && tensors[at]->id < tensor->id)
        at++;
    if (at < *count && tensors[at] == tensor)
        return;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    memmove(&tensors[at + 1], &tensors[at], sizeof *tensors * (size_t)(*count - at));
    tensors[at] = tensor;
    (*count)++;
}

int spmd_tensors(const Spmd *spmd, const Tensor **tensors) {
    int count = 0;
    for (int t = 0; t < spmd->transfer_count; t++)
        insert_tensor(spmd->transfers[t].statement_access->tensor, tensors, &count);
    for (int r = 0; r < spmd->row_count; r++)
        insert_tensor(spmd->rows[r].tensor, tensors, &count);
    return count;
}

const Leaf *spmd_leaf(const SpmdNode *node) {
    const Leaf *leaf = NULL;
    for (; node && !leaf; node = node->next)
        leaf = node->kind == SPMD_LEAF ? node->leaf : node->kind == SPMD_LOOP ? spmd_leaf(node->body) : NULL;
    return leaf;
}
