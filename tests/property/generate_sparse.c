// SPDX-License-Identifier: BSD-3-Clause
// Programs with sparse tensors: drawn statements whose tensors get levels of any kind and entries of any
// pattern.
#include "generate.h"
#include "sparse_input.h"

#include <string.h>

enum { HUGE_PERCENT = 40 };
const char sparse_space[] = "sparse";

static void draw_levels(Random *random, DraftTensor *tensor) {
    static const int weights[] = {30, 48, 8, 14};
    tensor->formats = true;
    for (int l = 0; l < tensor->order; l++) {
        switch (random_weighted(random, weights, 4)) {
        case 1:
            tensor->levels[l] = "compressed";
            break;
        case 2:
            tensor->levels[l] = "bitmap";
            break;
        case 3: {
            const int last = random_between(random, l, tensor->order - 1);
            tensor->levels[l] = last == l ? "compressed" : "compressed(nonunique)";
            while (l < last) {
                l++;
                tensor->levels[l] = l == last ? "singleton" : "singleton(nonunique)";
            }
        }
        }
    }
}

// As named formats have them.
static void draw_usual_levels(Random *random, DraftTensor *tensor) {
    const int kind = random_below(random, 3);
    tensor->formats = true;
    for (int l = 0; l < tensor->order; l++)
        tensor->levels[l] = kind == 0   ? (l == 0 && tensor->order > 1 ? NULL : "compressed")
                            : kind == 1 ? "compressed"
                            : l == 0    ? (tensor->order == 1 ? "compressed" : "compressed(nonunique)")
                            : l + 1 == tensor->order ? "singleton"
                                                     : "singleton(nonunique)";
}

static void draw_storage(Random *random, DraftTensor *tensor) {
    static const int fills[] = {[FILL_NONE] = 6,   [FILL_ONE] = 6,   [FILL_ROW] = 8, [FILL_FEW] = 18,
                                [FILL_TENTH] = 24, [FILL_HALF] = 26, [FILL_ALL] = 12};
    tensor->reordered = tensor->order > 1 && random_chance(random, 30);
    for (int m = 0; m < tensor->order; m++)
        tensor->mode_order[m] = m;
    if (tensor->reordered)
        random_shuffle(random, tensor->mode_order, tensor->order);
    tensor->fill = random_weighted(random, fills, FILL_COUNT);
    if (tensor->order == 0 || random_chance(random, 32))
        return;
    if (random_chance(random, 50))
        draw_usual_levels(random, tensor);
    else
        draw_levels(random, tensor);
}

static void make_dense(DraftTensor *tensor) {
    memset(tensor->levels, 0, sizeof tensor->levels);
    tensor->formats = false;
}

// Whether a part is zero, for certain, where no sparse tensor has an entry.
static bool vanishes(const Draft *draft, const DraftStatement *statement, int node) {
    const DraftNode *at = &statement->nodes[node];
    const bool left = at->kind > NODE_NUMBER && vanishes(draft, statement, at->left);
    const bool right = at->kind > NODE_NUMBER && at->right >= 0 && vanishes(draft, statement, at->right);
    switch (at->kind) {
    case NODE_ACCESS:
        return draft_is_sparse(&draft->tensors[at->tensor]);
    case NODE_ADD:
    case NODE_SUB:
        return left && right;
    case NODE_MUL:
        return left || right;
    case NODE_DIV:
        return left && !right;
    case NODE_NEG:
        return left;
    case NODE_CALL:
        if (at->right >= 0)
            return left && right && strcmp(at->function, "pow") != 0;
        return left && (strcmp(at->function, "sqrt") == 0 || strcmp(at->function, "abs") == 0);
    default:
        return false;
    }
}

// Divisors are dense, most of them: a quotient by what is not stored says little.
static void draw_divisors(Random *random, Draft *draft, const DraftStatement *statement) {
    for (int n = 0; n < statement->node_count; n++) {
        const DraftNode *at = &statement->nodes[n];
        if (at->kind != NODE_DIV || random_chance(random, 15))
            continue;
        for (const DraftNode *divisor = &statement->nodes[at->right];;
             divisor = &statement->nodes[divisor->right]) {
            if (divisor->kind == NODE_ACCESS)
                make_dense(&draft->tensors[divisor->tensor]);
            if (divisor->kind == NODE_ACCESS || divisor->kind == NODE_NUMBER || divisor->right < 0)
                break;
        }
    }
}

// A sparse result has to vanish with its operands; the statements that read it may then have other results.
static void draw_results(Draft *draft) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int s = 0; s < draft->statement_count; s++) {
            const DraftStatement *statement = &draft->statements[s];
            DraftTensor *target = &draft->tensors[statement->target];
            if (!draft_is_sparse(target) || vanishes(draft, statement, statement->root))
                continue;
            make_dense(target);
            changed = true;
        }
    }
}

// The sizes that bound a part through entries: it vanishes but for as many values of their variables. By
// variable, bit c of its letter.
typedef uint32_t Letters;

static Letters letter_of(char var) {
    return 1u << (var - 'a');
}

static Letters bounded(const Draft *draft, const DraftStatement *statement, int node) {
    const DraftNode *at = &statement->nodes[node];
    Letters vars = 0;
    if (at->kind == NODE_NUMBER)
        return 0;
    if (at->kind == NODE_ACCESS) {
        const DraftTensor *tensor = &draft->tensors[at->tensor];
        for (int m = 0; m < tensor->order && draft_is_sparse(tensor); m++)
            vars |= letter_of(at->vars[m]);
        return vars;
    }
    const Letters left = bounded(draft, statement, at->left),
                  right = at->right < 0 ? left : bounded(draft, statement, at->right);
    if (at->kind == NODE_MUL)
        return left | right;
    if (at->kind == NODE_NEG || at->kind == NODE_DIV)
        return vanishes(draft, statement, node) ? left : 0;
    return vanishes(draft, statement, node) ? left & right : 0;
}

static bool access_allows(int size, const DraftTensor *tensor, const char *vars, Letters bound) {
    for (int l = 0; l < tensor->order; l++) {
        const int mode = tensor->mode_order[l];
        if (tensor->extents[mode] != size)
            continue;
        const char *level = tensor->levels[l];
        if (!level || strcmp(level, "bitmap") == 0 || !(bound & letter_of(vars[mode])))
            return false;
    }
    return true;
}

// Whether no memory and no loop is as long as this extent.
static bool may_be_huge(const Draft *draft, int size) {
    bool used = false;
    for (int s = 0; s < draft->statement_count; s++) {
        const DraftStatement *statement = &draft->statements[s];
        const Letters bound = bounded(draft, statement, statement->root);
        if (statement->has_schedule ||
            !access_allows(size, &draft->tensors[statement->target], statement->vars, bound))
            return false;
        for (int n = 0; n < statement->node_count; n++) {
            const DraftNode *at = &statement->nodes[n];
            if (at->kind != NODE_ACCESS)
                continue;
            const DraftTensor *tensor = &draft->tensors[at->tensor];
            for (int m = 0; m < tensor->order; m++)
                used |= tensor->extents[m] == size;
            if (!access_allows(size, tensor, at->vars, bound))
                return false;
        }
    }
    return used;
}

static void draw_huge_extents(Random *random, Draft *draft) {
    static const int64_t extents[] = {(int64_t)1 << 31, ((int64_t)1 << 31) + 1, (int64_t)1 << 40,
                                      (int64_t)1 << 62, 1000003};
    for (int size = 0; size < draft->size_count; size++)
        if (draft->sizes[size].letter == 'n' && may_be_huge(draft, size) &&
            random_chance(random, HUGE_PERCENT))
            draft->sizes[size] = (DraftSize){'n', random_chance(random, 50) ? SIZE_LITERAL : SIZE_PARAM,
                                             extents[random_below(random, 5)]};
}

// What a schedule may do to loops over entries is less than to others: it may be refused.
static void draw_sparse_schedules(Random *random, Draft *draft) {
    for (int s = 0; s < draft->statement_count; s++) {
        if (random_chance(random, 65))
            continue;
        draw_schedule(random, draft, s);
        for (int c = 0; c < draft->statements[s].command_count; c++)
            draft->statements[s].commands[c].may_be_refused = true;
    }
}

void generate_sparse_draft(uint64_t seed, int64_t index, Draft *draft) {
    static const int statement_weights[] = {80, 15, 5};
    static const ElementType types[] = {TYPE_F64,  TYPE_F64, TYPE_F64, TYPE_F32, TYPE_C64,
                                        TYPE_C128, TYPE_I32, TYPE_I64, TYPE_I64};
    Random random = random_stream(seed ^ 0x5A5A5A5Au, (uint64_t)index);
    *draft = (Draft){
        .space = sparse_space, .seed = seed, .index = index, .input_seed = seed * 37 + (uint64_t)index * 2};
    draft->ranks =
        random_chance(&random, 90) ? random_between(&random, 1, 3) : random_between(&random, 4, 12);
    const ElementType type = types[random_below(&random, 9)];
    const bool mixed = random_chance(&random, 12);
    const int count = 1 + random_weighted(&random, statement_weights, 3);
    for (int s = 0; s < count; s++) {
        draft->statement_count = s + 1;
        draw_statement(&random, draft, s, type, mixed);
    }
    for (int t = 0; t < draft->tensor_count; t++)
        draw_storage(&random, &draft->tensors[t]);
    for (int s = 0; s < count; s++)
        draw_divisors(&random, draft, &draft->statements[s]);
    draw_results(draft);
    draw_sparse_schedules(&random, draft);
    draw_huge_extents(&random, draft);
}
