// SPDX-License-Identifier: BSD-3-Clause
// Repetitions around drawn statements, and a last statement that puts a result into what the next round
// reads.
#include "generate.h"

#include <string.h>

enum { REPEATED_PERCENT = 25, FED_BACK_PERCENT = 75, NESTED_PERCENT = 30, UNTIL_PERCENT = 70 };

// What keeps clear of steep functions, of divisors near zero and of long products that overflow does so with
// the inputs that are drawn only.
static bool is_steep(const DraftStatement *statement) {
    bool steep = strcmp(statement->reducer, "prod") == 0;
    for (int n = 0; n < statement->node_count; n++) {
        const DraftNode *node = &statement->nodes[n];
        steep = steep || node->kind == NODE_DIV || node->kind == NODE_CALL ||
                (node->kind == NODE_REDUCE && strcmp(node->function, "prod") == 0);
    }
    return steep;
}

static bool reads_target(const DraftStatement *statement) {
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_ACCESS && statement->nodes[n].tensor == statement->target)
            return true;
    return false;
}

static bool is_assigned(const Draft *draft, int tensor) {
    for (int s = 0; s < draft->statement_count; s++)
        if (draft->statements[s].target == tensor)
            return true;
    return false;
}

// Where each mode of `to` has a variable of `from` of the same size. Else it repeats values, as sparse
// tensors cannot, and what `from` has more is summed.
static bool match_modes(const DraftTensor *to, const DraftTensor *from, DraftStatement *statement) {
    static const char own[] = "ijklmnpqrstu", others[] = "abcdefghvwxy";
    bool used[DRAFT_ORDER] = {false}, all = true;
    for (int m = 0; m < to->order; m++) {
        int k = 0;
        while (k < from->order && (used[k] || from->extents[k] != to->extents[m]))
            k++;
        all = all && k < from->order;
        statement->vars[m] = k < from->order ? own[k] : others[m];
        if (k < from->order)
            used[k] = true;
    }
    memcpy(statement->nodes[0].vars, own, sizeof statement->nodes[0].vars);
    return all;
}

static void draw_feedback(Random *random, Draft *draft) {
    if (draft->statement_count == DRAFT_STATEMENTS)
        return;
    for (int s = 0; s < draft->statement_count; s++)
        if (is_steep(&draft->statements[s]))
            return;
    const int source = draft->statements[random_below(random, draft->statement_count)].target;
    const DraftTensor *from = &draft->tensors[source];
    const int first = random_below(random, draft->tensor_count);
    for (int t = 0; t < draft->tensor_count; t++) {
        const int target = (first + t) % draft->tensor_count;
        const DraftTensor *to = &draft->tensors[target];
        DraftStatement *statement = &draft->statements[draft->statement_count];
        *statement = (DraftStatement){.target = target, .node_count = 1};
        statement->nodes[0] = (DraftNode){.kind = NODE_ACCESS, .tensor = source};
        const bool fits = match_modes(to, from, statement);
        if (is_assigned(draft, target) || !draft_uses_tensor(draft, target) ||
            !type_storable(from->type, to->type) || (draft_is_sparse(to) && !(fits && draft_is_sparse(from))))
            continue;
        statement->accumulate = random_chance(random, 30);
        draft->statement_count++;
        return;
    }
}

static void draw_condition(Random *random, const Draft *draft, DraftRepetition *repetition) {
    static const char *const limits[] = {"-1", "0.5", "3", "1e6"};
    repetition->scalar = -1;
    if (!random_chance(random, UNTIL_PERCENT))
        return;
    for (int s = 0; s < repetition->last; s++) {
        const int tensor = draft->statements[s].target;
        if (draft->tensors[tensor].order > 0)
            continue;
        repetition->scalar = tensor;
        repetition->form = type_info(draft->tensors[tensor].type)->is_complex
                               ? CONDITION_ABS
                               : (ConditionForm)random_below(random, CONDITION_FORMS);
        repetition->limit = limits[random_below(random, 4)];
    }
}

void draw_repetitions(Random *random, Draft *draft) {
    static const int rounds_weights[] = {15, 14, 41, 30};
    if (!random_chance(random, REPEATED_PERCENT))
        return;
    for (int s = 0; s < draft->statement_count; s++)
        if (reads_target(&draft->statements[s]) && is_steep(&draft->statements[s]))
            return;
    if (random_chance(random, FED_BACK_PERCENT))
        draw_feedback(random, draft);
    const int count = draft->statement_count;
    int first = random_below(random, count), last = random_between(random, first + 1, count);
    draft->repetition_count = random_chance(random, NESTED_PERCENT) ? 2 : 1;
    for (int r = 0; r < draft->repetition_count; r++) {
        DraftRepetition *repetition = &draft->repetitions[r];
        if (r > 0) {
            first = random_between(random, first, last - 1);
            last = random_between(random, first + 1, last);
        }
        *repetition = (DraftRepetition){
            .first = first,
            .last = last,
            .count = draw_size(random, draft, 'r', random_weighted(random, rounds_weights, 4))};
        draw_condition(random, draft, repetition);
    }
}
