// SPDX-License-Identifier: BSD-3-Clause
// Updates: drawn statements that read the tensor that they assign, where an element is computed, or anywhere
// in explicit reductions.
#include "generate.h"

#include <string.h>

enum { UPDATE_PERCENT = 12, ENTRIES_PERCENT = 30 };

static int add_node(DraftStatement *statement, DraftNode node) {
    statement->nodes[statement->node_count] = node;
    return statement->node_count++;
}

static DraftNode operation(NodeKind kind, int left, int right) {
    return (DraftNode){.kind = kind, .left = left, .right = right};
}

static DraftNode target_node(const DraftStatement *statement) {
    DraftNode node = {.kind = NODE_ACCESS, .tensor = statement->target, .left = -1, .right = -1};
    memcpy(node.vars, statement->vars, sizeof node.vars);
    return node;
}

// The sum or product of all elements of the left side.
static int add_reduction(Random *random, const Draft *draft, DraftStatement *statement) {
    const DraftTensor *target = &draft->tensors[statement->target];
    DraftNode node = {.kind = NODE_REDUCE, .right = -1};
    node.left = add_node(statement, target_node(statement));
    memcpy(node.vars, statement->vars, (size_t)target->order);
    const bool ordered = !type_info(target->type)->is_complex;
    strcpy(node.function, ordered && random_chance(random, 50) ? "max" : "sum");
    return add_node(statement, node);
}

// A factor that is reached through terms and products becomes the left side.
static bool replace_factor(Random *random, DraftStatement *statement) {
    DraftNode *at = &statement->nodes[statement->root];
    bool in_product = false;
    while (at->kind == NODE_MUL || at->kind == NODE_NEG ||
           (!in_product && (at->kind == NODE_ADD || at->kind == NODE_SUB))) {
        in_product = in_product || at->kind == NODE_MUL;
        at = &statement->nodes[at->right >= 0 && random_chance(random, 50) ? at->right : at->left];
    }
    if (at->kind != NODE_ACCESS)
        return false;
    *at = target_node(statement);
    return true;
}

void draw_update(Random *random, const Draft *draft, DraftStatement *statement) {
    const NodeKind root = statement->nodes[statement->root].kind;
    const bool sum = root == NODE_ADD || root == NODE_SUB || root == NODE_NEG;
    if (!random_chance(random, UPDATE_PERCENT) || statement->node_count + 4 > DRAFT_NODES)
        return;
    const int how = random_below(random, 4);
    if (how == 0 && replace_factor(random, statement))
        return;
    if (how == 1 && !sum && draft->tensors[statement->target].order > 0) {
        const int factor = add_reduction(random, draft, statement);
        statement->root = add_node(statement, operation(NODE_MUL, statement->root, factor));
        return;
    }
    const int old = add_node(statement, target_node(statement));
    const NodeKind kind = how == 2 && !sum ? NODE_MUL : random_chance(random, 70) ? NODE_ADD : NODE_SUB;
    statement->root = add_node(statement, random_chance(random, 50) ? operation(kind, statement->root, old)
                                                                    : operation(kind, old, statement->root));
}

// Whether a part reads a tensor outside of reductions; makes the others that it reads there dense.
static bool reads(Draft *draft, const DraftStatement *statement, int node, bool makes_dense) {
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_NUMBER || at->kind == NODE_REDUCE)
        return false;
    if (at->kind == NODE_ACCESS) {
        if (makes_dense && at->tensor != statement->target)
            draft_make_dense(&draft->tensors[at->tensor]);
        return at->tensor == statement->target;
    }
    const bool left = reads(draft, statement, at->left, makes_dense);
    return (at->right >= 0 && reads(draft, statement, at->right, makes_dense)) || left;
}

bool draft_reads_target(const DraftStatement *statement, int node) {
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_NUMBER || at->kind == NODE_ACCESS)
        return at->kind == NODE_ACCESS && at->tensor == statement->target;
    return draft_reads_target(statement, at->left) ||
           (at->right >= 0 && draft_reads_target(statement, at->right));
}

bool draft_sums(const Draft *draft, const DraftStatement *statement) {
    unsigned left = 0;
    for (int m = 0; m < draft->tensors[statement->target].order; m++)
        left |= 1u << (statement->vars[m] - 'a');
    return draft_letters(draft, statement, statement->root) & ~left;
}

void draw_updated_entries(Random *random, Draft *draft, const DraftStatement *statement) {
    const DraftTensor *target = &draft->tensors[statement->target];
    if (draft_is_sparse(target) && !draft_sums(draft, statement) &&
        reads(draft, statement, statement->root, false) && random_chance(random, ENTRIES_PERCENT))
        reads(draft, statement, statement->root, true);
}
