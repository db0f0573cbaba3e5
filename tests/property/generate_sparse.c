// SPDX-License-Identifier: BSD-3-Clause
// Programs with sparse tensors: drawn statements whose tensors get levels of any kind and entries of any
// pattern.
#include "automatic.h"
#include "generate.h"
#include "sparse_input.h"

#include "base/integer.h"

#include <string.h>

enum {
    HUGE_PERCENT = 40,
    PLACED_PERCENT = 50,
    COMMON_PERCENT = 40,
    WIDE_PERCENT = 50,
    LEADING_PERCENT = 30,
    MAX_WIDE_POINTS = 100000,
    GATHERS = 5,   // one program of as many
    EMPTY_SUMS = 9 // one of as many of the others
};
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

void draw_usual_levels(Random *random, DraftTensor *tensor) {
    const int kind = random_below(random, 3);
    tensor->formats = true;
    for (int l = 0; l < tensor->order; l++)
        tensor->levels[l] = kind == 0   ? (l == 0 && tensor->order > 1 ? NULL : "compressed")
                            : kind == 1 ? "compressed"
                            : l == 0    ? (tensor->order == 1 ? "compressed" : "compressed(nonunique)")
                            : l + 1 == tensor->order ? "singleton"
                                                     : "singleton(nonunique)";
}

void draw_storage_levels(Random *random, DraftTensor *tensor) {
    if (random_chance(random, 50))
        draw_usual_levels(random, tensor);
    else
        draw_levels(random, tensor);
}

static void draw_storage(Random *random, DraftTensor *tensor) {
    static const int fills[] = {[FILL_NONE] = 6,   [FILL_ONE] = 6,   [FILL_ROW] = 8, [FILL_FEW] = 18,
                                [FILL_TENTH] = 24, [FILL_HALF] = 26, [FILL_ALL] = 12};
    draw_mode_order(random, 30, tensor);
    tensor->fill = random_weighted(random, fills, FILL_COUNT);
    if (tensor->order > 0 && random_chance(random, 68))
        draw_storage_levels(random, tensor);
}

// The result gets the first levels of an operand that has all of its modes, in the order of the result.
static void draw_leading_levels(Draft *draft, const DraftStatement *statement) {
    DraftTensor *target = &draft->tensors[statement->target], *from = NULL;
    const char *vars = NULL;
    for (int n = 0; n < statement->node_count; n++) {
        const DraftNode *at = &statement->nodes[n];
        if (at->kind == NODE_ACCESS && draft_is_sparse(&draft->tensors[at->tensor])) {
            from = &draft->tensors[at->tensor];
            vars = at->vars;
        }
    }
    if (!from || from == target || target->order == 0 || target->order >= from->order)
        return;
    int order[DRAFT_ORDER], count = 0;
    bool taken[DRAFT_ORDER] = {false};
    for (int l = 0; l < target->order; l++)
        for (int m = 0; m < from->order; m++)
            if (!taken[m] && count <= l && vars[m] == statement->vars[target->mode_order[l]]) {
                taken[m] = true;
                order[count++] = m;
            }
    const char *last = from->levels[target->order - 1];
    if (count < target->order || (last && strstr(last, "nonunique")))
        return;
    for (int m = 0; m < from->order; m++)
        if (!taken[m])
            order[count++] = m;
    memcpy(from->mode_order, order, sizeof order);
    from->reordered = true;
    memcpy(target->levels, from->levels, sizeof from->levels[0] * (size_t)target->order);
    target->formats = true;
}

void draft_make_dense(DraftTensor *tensor) {
    memset(tensor->levels, 0, sizeof tensor->levels);
    tensor->formats = false;
}

static bool zero_at_zero(const char *function) {
    static const char *const names[] = {"sqrt", "abs", "sin", "tanh", "erf"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], function) == 0)
            return true;
    return false;
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
        return left && zero_at_zero(at->function);
    default:
        return false;
    }
}

// Divisors are dense, most of them: a quotient by what is not stored says little.
static void draw_divisors(Random *random, Draft *draft, const DraftStatement *statement) {
    for (int n = 0; n < statement->node_count; n++) {
        const DraftNode *at = &statement->nodes[n];
        if (at->kind != NODE_DIV || random_chance(random, 30))
            continue;
        for (const DraftNode *divisor = &statement->nodes[at->right];;
             divisor = &statement->nodes[divisor->right]) {
            if (divisor->kind == NODE_ACCESS)
                draft_make_dense(&draft->tensors[divisor->tensor]);
            if (divisor->kind == NODE_ACCESS || divisor->kind == NODE_NUMBER || divisor->right < 0)
                break;
        }
    }
}

// Whether the left side vanishes, for certain, where no sparse tensor has an entry, itself among them where
// it counts. A maximum over a variable may not.
static bool may_be_sparse(const Draft *draft, const DraftStatement *statement) {
    const bool sums = !statement->reducer[0] || strcmp(statement->reducer, "sum") == 0;
    if (!sums && statement->accumulate && strcmp(statement->reducer, "prod") == 0)
        return true;
    return (sums || (statement->accumulate && !draft_sums(draft, statement))) &&
           vanishes(draft, statement, statement->root);
}

// A sparse result has to vanish with its operands; the statements that read it may then have other results.
static void draw_results(Draft *draft) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int s = 0; s < draft->statement_count; s++) {
            const DraftStatement *statement = &draft->statements[s];
            DraftTensor *target = &draft->tensors[statement->target];
            if (!draft_is_sparse(target) || may_be_sparse(draft, statement))
                continue;
            draft_make_dense(target);
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

// Whether a sum or a call of two arguments brings operands together.
static bool merges_operands(const DraftStatement *statement) {
    bool merges = false;
    for (int n = 0; n < statement->node_count; n++) {
        const DraftNode *at = &statement->nodes[n];
        merges = merges || at->kind == NODE_ADD || at->kind == NODE_SUB ||
                 (at->kind == NODE_CALL && at->right >= 0);
    }
    return merges;
}

// Loops are over entries where the index is a variable, or one that is moved, but not where it is a multiple.
// `merges`: nor where it is moved by another variable, over which the loop may be inside.
static bool access_allows(int size, const DraftTensor *tensor, const char *vars, const DraftIndex *indices,
                          Letters bound, bool merges) {
    for (int l = 0; l < tensor->order; l++) {
        const int mode = tensor->mode_order[l];
        if (tensor->extents[mode] != size)
            continue;
        const char *level = tensor->levels[l];
        if (!level || strcmp(level, "bitmap") == 0 || !(bound & letter_of(vars[mode])) ||
            (indices[mode].form == INDEX_SUM &&
             (indices[mode].times != 1 || (merges && indices[mode].other))))
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
        const bool merges = merges_operands(statement);
        if (statement->has_schedule || statement->reducer[0] ||
            !access_allows(size, &draft->tensors[statement->target], statement->vars, statement->indices,
                           bound, merges))
            return false;
        for (int n = 0; n < statement->node_count; n++) {
            const DraftNode *at = &statement->nodes[n];
            if (at->kind == NODE_REDUCE)
                return false; // a workspace may be stored in full
            if (at->kind != NODE_ACCESS)
                continue;
            const DraftTensor *tensor = &draft->tensors[at->tensor];
            for (int m = 0; m < tensor->order; m++)
                used |= tensor->extents[m] == size;
            if (!access_allows(size, tensor, at->vars, at->indices, bound, merges))
                return false;
        }
    }
    return used;
}

// Of indices that are sums, the values fit into 62 bits as well.
static void draw_huge_extents(Random *random, Draft *draft) {
    static const int64_t extents[] = {(int64_t)1 << 31, ((int64_t)1 << 31) + 1, 1000003, (int64_t)1 << 40,
                                      (int64_t)1 << 62};
    bool sums = false;
    for (int s = 0; s < draft->statement_count; s++)
        sums |= draft->statements[s].has_indices;
    for (int size = 0; size < draft->size_count; size++)
        if (draft->sizes[size].letter == 'n' && may_be_huge(draft, size) &&
            random_chance(random, HUGE_PERCENT))
            draft->sizes[size] = (DraftSize){'n', random_chance(random, 50) ? SIZE_LITERAL : SIZE_PARAM,
                                             extents[random_below(random, sums ? 4 : 5)]};
}

// How many points a statement has where one extent is `value`. Tensors that lack a mode without coordinates
// have elements.
static int64_t points_with(const Draft *draft, const DraftStatement *statement, int size, int64_t value) {
    const char *const left = statement->vars;
    Letters counted = 0;
    int64_t points = 1;
    for (int n = -1; n < statement->node_count; n++) {
        if (n >= 0 && statement->nodes[n].kind != NODE_ACCESS)
            continue;
        const DraftTensor *tensor = &draft->tensors[n < 0 ? statement->target : statement->nodes[n].tensor];
        const char *vars = n < 0 ? left : statement->nodes[n].vars;
        for (int m = 0; m < tensor->order; m++) {
            const int64_t extent =
                tensor->extents[m] == size ? value : draft->sizes[tensor->extents[m]].value;
            if (!(counted & letter_of(vars[m])) && points <= MAX_WIDE_POINTS)
                points = saturated_mul(points, max_i64(extent, 1));
            counted |= letter_of(vars[m]);
        }
    }
    return points;
}

// Extents of several blocks of registers, with and without a remainder.
static void draw_wide_extents(Random *random, Draft *draft) {
    static const int64_t extents[] = {16, 31, 32, 37, 40, 64, 67, 130};
    for (int size = 0; size < draft->size_count; size++) {
        const int64_t value = extents[random_below(random, 8)];
        bool fits = draft->sizes[size].letter == 'n' && draft->sizes[size].value > 0 &&
                    random_chance(random, WIDE_PERCENT);
        for (int s = 0; s < draft->statement_count; s++)
            fits = fits && !draft_multiplies(&draft->statements[s]) &&
                   points_with(draft, &draft->statements[s], size, value) <= MAX_WIDE_POINTS;
        if (fits)
            draft->sizes[size].value = value;
    }
}

// What a schedule may do to loops over entries is less than to others: it may be refused. Where tensors are
// placed, more schedules have steps in which dense operands are communicated.
void draw_sparse_schedules(Random *random, Draft *draft, bool placed) {
    const int with_workspaces = placed ? 62 : 75;
    for (int s = 0; s < draft->statement_count; s++) {
        const int kind = random_below(random, 100);
        if (kind < 35 || (kind < 55 && draw_positions(random, draft, s)))
            continue;
        (kind < with_workspaces      ? draw_workspaces
         : random_chance(random, 25) ? draw_rotations
                                     : draw_schedule)(random, draft, s);
        for (int c = 0; c < draft->statements[s].command_count; c++)
            draft->statements[s].commands[c].may_be_refused = true;
    }
}

// Each dimension of the machine partitions the modes that one variable of the statement indexes, in sparse
// tensors always: then none of their entries move.
static void draw_common_placements(Random *random, Draft *draft, const DraftStatement *statement) {
    const DraftMachine *machine = &draft->machines[0];
    int with_indices[DRAFT_TENSORS], count = 0;
    for (int t = 0; t < draft->tensor_count; t++)
        if (draft_is_sparse(&draft->tensors[t]) && draft_indices(statement, t))
            with_indices[count++] = t;
    if (count == 0)
        return;
    const bool of_result = draft_is_sparse(&draft->tensors[statement->target]);
    const int from = of_result ? statement->target : with_indices[random_below(random, count)];
    char letters[DRAFT_DIMS];
    for (int d = 0; d < machine->order; d++)
        letters[d] = draft_indices(statement, from)[random_below(random, draft->tensors[from].order)];
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        const char *indices = draft_indices(statement, t);
        if (!indices || (!draft_is_sparse(tensor) && random_chance(random, 50)))
            continue;
        tensor->placed = true;
        tensor->machine = 0;
        memset(tensor->cycles, 0, sizeof tensor->cycles);
        memset(tensor->balance, 0, sizeof tensor->balance);
        for (int l = 0, d = 0; l < machine->level_count; l++) {
            bool used[DRAFT_ORDER] = {false};
            for (int k = 0; k < machine->level_order[l]; k++, d++) {
                tensor->entries[d] = ENTRY_REPLICATE;
                for (int m = 0; m < tensor->order; m++)
                    if (indices[m] == letters[d] && !used[m] && tensor->entries[d] == ENTRY_REPLICATE) {
                        used[m] = true;
                        tensor->entries[d] = m;
                    }
            }
        }
    }
}

void generate_sparse_draft(uint64_t seed, int64_t index, Draft *draft) {
    static const int statement_weights[] = {80, 15, 5};
    static const ElementType types[] = {TYPE_F64,  TYPE_F64, TYPE_F64, TYPE_F32, TYPE_C64,
                                        TYPE_C128, TYPE_I32, TYPE_I64, TYPE_I64};
    if (index % GATHERS == GATHERS - 1) {
        generate_gather_draft(seed, index, draft);
        return;
    }
    if (index % EMPTY_SUMS == EMPTY_SUMS - 1) {
        generate_empty_draft(seed, index, draft);
        return;
    }
    Random random = random_stream(seed ^ 0x5A5A5A5Au, (uint64_t)index);
    *draft = (Draft){
        .space = sparse_space, .seed = seed, .index = index, .input_seed = seed * 37 + (uint64_t)index * 2};
    const bool placed = random_chance(&random, PLACED_PERCENT);
    if (placed)
        draw_processors(&random, draft);
    else
        draft->ranks =
            random_chance(&random, 90) ? random_between(&random, 1, 3) : random_between(&random, 4, 12);
    const ElementType type = types[random_below(&random, 9)];
    const bool mixed = random_chance(&random, 12);
    const int count = 1 + random_weighted(&random, statement_weights, 3);
    for (int s = 0; s < count; s++) {
        draft->statement_count = s + 1;
        draw_statement(&random, draft, s, type, mixed);
        draw_reductions(&random, draft, &draft->statements[s]);
        draw_update(&random, draft, &draft->statements[s]);
    }
    for (int t = 0; t < draft->tensor_count; t++)
        draw_storage(&random, &draft->tensors[t]);
    if (random_chance(&random, LEADING_PERCENT))
        draw_leading_levels(draft, &draft->statements[0]);
    for (int s = 0; s < count; s++)
        draw_divisors(&random, draft, &draft->statements[s]);
    for (int s = 0; s < count; s++)
        draw_updated_entries(&random, draft, &draft->statements[s]);
    draw_results(draft);
    draw_repetitions(&random, draft);
    draw_wide_extents(&random, draft);
    for (int s = 0; s < count; s++)
        if (!draft_reads_target(&draft->statements[s], draft->statements[s].root) &&
            !(draft->statements[s].reducer[0] &&
              draft_is_sparse(&draft->tensors[draft->statements[s].target])))
            draw_indices(&random, draft, s, merges_operands(&draft->statements[s]) ? 50 : 25);
    for (int t = 0; placed && t < draft->tensor_count; t++)
        draw_placement(&random, draft, &draft->tensors[t]);
    if (placed && draft->machines[0].order > 0 && random_chance(&random, COMMON_PERCENT))
        draw_common_placements(&random, draft, &draft->statements[0]);
    for (int t = 0; placed && t < draft->tensor_count; t++)
        draw_fibers(&random, draft, &draft->tensors[t]);
    draw_params(draft);
    if (placed && draft->machines[0].order > 0 && random_chance(&random, 60))
        draw_nonzero_placements(&random, draft);
    else
        draw_sparse_schedules(&random, draft, placed);
    draw_huge_extents(&random, draft);
    draw_idle_ranks(draft);
    draw_automatic(draft);
}
