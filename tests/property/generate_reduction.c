// SPDX-License-Identifier: BSD-3-Clause
// Explicit reductions of drawn statements: the whole right side, or the statement itself (`max=`), and
// operands, each of which becomes a reduction over further variables.
#include "generate.h"

#include <stdio.h>
#include <string.h>

enum { STATEMENT_PERCENT = 12, COMBINED_PERCENT = 50, OPERAND_PERCENT = 10, MAX_PRODUCT = 12, LETTERS = 26 };

// The size of each letter of a statement, bound ones too; -1 of others.
typedef struct {
    int sizes[LETTERS];
    unsigned used;
} LetterSizes;

static void add_letters(const Draft *draft, int tensor, const char *vars, LetterSizes *letters) {
    for (int m = 0; m < draft->tensors[tensor].order; m++) {
        letters->sizes[vars[m] - 'a'] = draft->tensors[tensor].extents[m];
        letters->used |= 1u << (vars[m] - 'a');
    }
}

static LetterSizes letters_of(const Draft *draft, const DraftStatement *statement) {
    LetterSizes letters = {.used = 0};
    add_letters(draft, statement->target, statement->vars, &letters);
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_ACCESS)
            add_letters(draft, statement->nodes[n].tensor, statement->nodes[n].vars, &letters);
    return letters;
}

// Values of long products overflow.
static const char *draw_reducer(Random *random, bool ordered, bool sums, int64_t points) {
    const char *names[4];
    int count = 0;
    if (ordered) {
        names[count++] = "max";
        names[count++] = "min";
    }
    if (points <= MAX_PRODUCT)
        names[count++] = "prod";
    if (sums)
        names[count++] = "sum";
    return count ? names[random_below(random, count)] : "";
}

static void draw_whole(Random *random, Draft *draft, DraftStatement *statement) {
    const LetterSizes letters = letters_of(draft, statement);
    int64_t points = 1;
    for (int l = 0; l < LETTERS; l++)
        if (letters.used >> l & 1 &&
            !memchr(statement->vars, 'a' + l, (size_t)draft->tensors[statement->target].order))
            points *= draft->sizes[letters.sizes[l]].value;
    strcpy(
        statement->reducer,
        draw_reducer(random, !type_info(draft->tensors[statement->target].type)->is_complex, true, points));
    if (statement->reducer[0] && strcmp(statement->reducer, "sum") != 0 &&
        random_chance(random, COMBINED_PERCENT))
        statement->accumulate = true;
}

// Accesses that are reached through sums and products: others must keep clear of zero.
static int find_operands(const DraftStatement *statement, int node, int *found, int count) {
    const DraftNode *at = &statement->nodes[node];
    switch (at->kind) {
    case NODE_ACCESS:
        found[count] = node;
        return count + 1;
    case NODE_ADD:
    case NODE_SUB:
    case NODE_MUL:
        count = find_operands(statement, at->left, found, count);
        return find_operands(statement, at->right, found, count);
    case NODE_NEG:
        return find_operands(statement, at->left, found, count);
    default:
        return count;
    }
}

static int draw_bound(Random *random, Draft *draft, LetterSizes *letters) {
    int l = random_below(random, LETTERS);
    while (!(letters->used >> l & 1) != random_chance(random, 50))
        l = random_below(random, LETTERS);
    if (!(letters->used >> l & 1)) {
        letters->sizes[l] = draw_size(random, draft, 'n', random_between(random, 0, 7));
        letters->used |= 1u << l;
    }
    return l;
}

// An access becomes a reduction of another tensor, which has its variables and further ones.
static void draw_operand(Random *random, Draft *draft, DraftStatement *statement) {
    int operands[DRAFT_NODES];
    const int count = find_operands(statement, statement->root, operands, 0);
    LetterSizes letters = letters_of(draft, statement);
    if (count == 0 || draft->tensor_count == DRAFT_TENSORS || draft->size_count + 2 > DRAFT_SIZES ||
        statement->node_count + 4 > DRAFT_NODES)
        return;
    DraftNode *reduction = &statement->nodes[operands[random_below(random, count)]];
    const DraftTensor *old = &draft->tensors[reduction->tensor];
    DraftTensor *tensor = &draft->tensors[draft->tensor_count];
    unsigned free_vars = 0, bound = 0;
    int vars[LETTERS], order = 0;
    for (int m = 0; m < old->order; m++)
        free_vars |= 1u << (reduction->vars[m] - 'a');
    for (int wanted = random_between(random, 1, 2); wanted > 0; wanted--)
        bound |= 1u << draw_bound(random, draft, &letters);
    bound &= ~free_vars;
    int64_t points = 1;
    for (int l = 0; l < LETTERS; l++) {
        if ((free_vars | bound) >> l & 1)
            vars[order++] = l;
        if (bound >> l & 1)
            points *= draft->sizes[letters.sizes[l]].value;
    }
    if (!bound || order > DRAFT_ORDER)
        return;
    random_shuffle(random, vars, order);
    *tensor = (DraftTensor){.type = old->type, .order = order};
    snprintf(tensor->name, sizeof tensor->name, "%c", "ABCDEFGHIJKLPQRSTUVW"[draft->tensor_count]);
    DraftNode access = {.kind = NODE_ACCESS, .tensor = draft->tensor_count++, .left = -1, .right = -1};
    for (int m = 0; m < order; m++) {
        tensor->extents[m] = letters.sizes[vars[m]];
        access.vars[m] = (char)('a' + vars[m]);
    }
    const bool ordered = !type_info(old->type)->is_complex;
    *reduction = (DraftNode){.kind = NODE_REDUCE, .left = statement->node_count, .right = -1};
    strcpy(reduction->function, draw_reducer(random, ordered, true, points));
    for (int l = 0, at = 0; l < LETTERS; l++)
        if (bound >> l & 1)
            reduction->vars[at++] = (char)('a' + l);
    statement->nodes[statement->node_count++] = access;
    unsigned left = 0;
    for (int m = 0; m < draft->tensors[statement->target].order; m++)
        left |= 1u << (statement->vars[m] - 'a');
    // 2 + the access: addends may differ in the variables that the reduction binds alone.
    if (!(free_vars & ~left) && random_chance(random, 60)) {
        const int operand = reduction->left;
        reduction->left = statement->node_count + 1;
        statement->nodes[statement->node_count++] = (DraftNode){.kind = NODE_NUMBER, .number = "2"};
        statement->nodes[statement->node_count++] =
            (DraftNode){.kind = NODE_ADD, .left = statement->node_count - 2, .right = operand};
    }
}

void draw_reductions(Random *random, Draft *draft, DraftStatement *statement) {
    if (random_chance(random, OPERAND_PERCENT))
        draw_operand(random, draft, statement);
    if (random_chance(random, STATEMENT_PERCENT))
        draw_whole(random, draft, statement);
}

bool draft_multiplies(const DraftStatement *statement) {
    bool found = strcmp(statement->reducer, "prod") == 0;
    for (int n = 0; n < statement->node_count; n++)
        found = found || (statement->nodes[n].kind == NODE_REDUCE &&
                          strcmp(statement->nodes[n].function, "prod") == 0);
    return found;
}
