// SPDX-License-Identifier: BSD-3-Clause
#include "draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAKEN_OFF = 2 }; // by SIZE_DIFFERENCE

const char *draft_size_text(const Draft *draft, int size, char *buffer) {
    const DraftSize *at = &draft->sizes[size];
    if (at->form == SIZE_LITERAL)
        snprintf(buffer, 32, "%" PRId64, at->value);
    else if (at->form == SIZE_RANKS)
        snprintf(buffer, 32, "ranks");
    else if (at->form == SIZE_PARAM)
        snprintf(buffer, 32, "%c%d", at->letter, size);
    else if (at->form == SIZE_HALF)
        snprintf(buffer, 32, "(%c%d - 1) / 2", at->letter, size);
    else
        snprintf(buffer, 32, "%c%d - %d", at->letter, size, TAKEN_OFF);
    return buffer;
}

const char *const draft_machine_names[] = {"M", "N"};

int64_t draft_processors(const DraftMachine *machine, const Draft *draft) {
    int64_t product = 1;
    for (int d = 0; d < machine->order; d++)
        product *= draft->sizes[machine->sizes[d]].value;
    return product;
}

static bool node_uses(const DraftStatement *statement, int node, int tensor) {
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_ACCESS)
        return at->tensor == tensor;
    return at->kind != NODE_NUMBER && (node_uses(statement, at->left, tensor) ||
                                       (at->right >= 0 && node_uses(statement, at->right, tensor)));
}

static bool node_has_size(const DraftStatement *statement, int node, int size) {
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER)
        return at->kind == NODE_NUMBER && !*at->number && at->size == size;
    return node_has_size(statement, at->left, size) ||
           (at->right >= 0 && node_has_size(statement, at->right, size));
}

bool draft_uses_tensor(const Draft *draft, int tensor) {
    for (int s = 0; s < draft->statement_count; s++)
        if (draft->statements[s].target == tensor ||
            node_uses(&draft->statements[s], draft->statements[s].root, tensor))
            return true;
    return false;
}

static bool mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if (at[length] < '0' || at[length] > '9')
            return true;
    return false;
}

static bool size_is_used(const Draft *draft, int size) {
    char name[16];
    snprintf(name, sizeof name, "%c%d", draft->sizes[size].letter, size);
    for (int m = 0; m < 2; m++)
        for (int d = 0; d < draft->machines[m].order; d++)
            if (draft->machines[m].sizes[d] == size)
                return true;
    for (int t = 0; t < draft->tensor_count; t++)
        for (int m = 0; m < draft->tensors[t].order && draft_uses_tensor(draft, t); m++)
            if (draft->tensors[t].extents[m] == size)
                return true;
    for (int s = 0; s < draft->statement_count; s++) {
        const DraftStatement *statement = &draft->statements[s];
        for (int c = 0; c < statement->command_count; c++)
            if (mentions(statement->commands[c].text, name))
                return true;
        if (node_has_size(statement, statement->root, size))
            return true;
    }
    for (int r = 0; r < draft->repetition_count; r++)
        if (draft->repetitions[r].count == size)
            return true;
    return false;
}

bool draft_is_sparse(const DraftTensor *tensor) {
    for (int l = 0; l < tensor->order; l++)
        if (tensor->levels[l])
            return true;
    return false;
}

static void print_params(const Draft *draft, Text *to) {
    int count = 0;
    for (int s = 0; s < draft->size_count; s++) {
        const DraftSize *size = &draft->sizes[s];
        if (size->form == SIZE_LITERAL || size->form == SIZE_RANKS || !size_is_used(draft, s))
            continue;
        const int64_t value = size->form == SIZE_DIFFERENCE ? size->value + TAKEN_OFF
                              : size->form == SIZE_HALF     ? 2 * size->value + 2
                                                            : size->value;
        text_printf(to, "%s%c%d = %" PRId64, count++ ? ", " : "param ", size->letter, s, value);
    }
    if (count)
        text_append(to, "\n");
}

static void print_machine(const Draft *draft, int index, Text *to) {
    const DraftMachine *machine = &draft->machines[index];
    char buffer[32];
    if (machine->level_count == 0)
        return;
    text_printf(to, "machine %s = ", draft_machine_names[index]);
    for (int l = 0, d = 0; l < machine->level_count; l++) {
        text_printf(to, "%s%s%sgrid(", l ? ", " : "", machine->levels[l], *machine->levels[l] ? " " : "");
        for (int k = 0; k < machine->level_order[l]; k++, d++)
            text_printf(to, "%s%s", k ? ", " : "", draft_size_text(draft, machine->sizes[d], buffer));
        text_append(to, ")");
    }
    text_append(to, "\n");
}

static void print_tensor(const Draft *draft, const DraftTensor *tensor, Text *to) {
    char buffer[32];
    text_printf(to, "tensor %s", tensor->name);
    for (int m = 0; m < tensor->order; m++)
        text_printf(to, "%s%s", m ? ", " : "(", draft_size_text(draft, tensor->extents[m], buffer));
    text_printf(to, "%s: %s", tensor->order ? ")" : "", type_info(tensor->type)->name);
    for (int l = 0; tensor->formats && l < tensor->order; l++)
        text_printf(to, "%s%s%s", l ? ", " : ", {", tensor->levels[l] ? tensor->levels[l] : "dense",
                    l + 1 == tensor->order ? "}" : "");
    for (int l = 0; tensor->reordered && l < tensor->order; l++)
        text_printf(to, "%s%d%s", l ? ", " : ", order(", tensor->mode_order[l],
                    l + 1 == tensor->order ? ")" : "");
    text_append(to, "\n");
}

static int compare_boundaries(const void *left, const void *right) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// As many as the dimension has parts, and the end: any that increase.
static void print_boundaries(const Draft *draft, const DraftTensor *tensor, int d, Text *to) {
    enum { MOST = 32 };
    int64_t boundaries[MOST + 1] = {0};
    const int64_t parts = draft->sizes[draft->machines[tensor->machine].sizes[d]].value,
                  extent = draft->sizes[tensor->extents[tensor->entries[d]]].value;
    uint64_t state = tensor->boundaries[d];
    for (int64_t p = 1; p < parts; p++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        boundaries[p] = (int64_t)((state >> 33) % ((uint64_t)extent + 1));
    }
    boundaries[parts] = extent;
    qsort(boundaries, (size_t)parts + 1, sizeof *boundaries, compare_boundaries);
    for (int64_t p = 0; p <= parts; p++)
        text_printf(to, "%s%" PRId64, p ? ", " : ", {", boundaries[p]);
    text_append(to, "}");
}

static void print_balance(const Draft *draft, const DraftTensor *tensor, int d, const char *modes, Text *to) {
    if (tensor->fused[d] > 0) {
        for (int m = 0; m < tensor->fused[d]; m++)
            text_printf(to, "%s%c", m ? ", " : "~fuse(", modes[tensor->mode_order[m]]);
        text_append(to, ")");
    } else if (!balance_is_by_entries(tensor->balance[d])) {
        const bool listed = tensor->balance[d] == BALANCE_LISTED;
        text_printf(to, listed ? "blocks(%c" : "balanced(%c", modes[tensor->entries[d]]);
        if (listed)
            print_boundaries(draft, tensor, d, to);
        text_append(to, ")");
    } else if (tensor->is_by) {
        text_printf(to, "weighted(%c, %s)", modes[tensor->entries[d]], draft->tensors[tensor->by].name);
    } else {
        text_printf(to, tensor->balance[d] == BALANCE_STORED ? "~%c" : "weighted(%c)",
                    modes[tensor->entries[d]]);
    }
}

// One arrow for each level, each with names of its own for the modes.
static void print_place(const Draft *draft, const DraftTensor *tensor, Text *to) {
    static const char *const names[] = {"xyzwuvstabcd", "abcdefghijkl"};
    const DraftMachine *machine = &draft->machines[tensor->machine];
    for (int l = 0, d = 0; l < machine->level_count; l++) {
        const char *modes = names[l % 2];
        char own[DRAFT_ORDER + 1] = {0};
        if (tensor->is_by) {
            memcpy(own, "QRSTUVWXYZMN", DRAFT_ORDER);
            for (int k = d; k < d + machine->level_order[l]; k++)
                if (tensor->balance[k] != BALANCE_NONE && tensor->entries[k] >= 0)
                    own[tensor->entries[k]] = names[0][tensor->by_mode[k]];
            modes = own;
        }
        text_printf(to, "%s%s", l ? ", " : "place ", tensor->name);
        for (int m = 0; m < tensor->order; m++)
            text_printf(to, "%s%c%s", m ? ", " : "(", modes[m], m + 1 == tensor->order ? ")" : "");
        text_printf(to, " -> %s%s%s(", draft_machine_names[tensor->machine], *machine->levels[l] ? "." : "",
                    machine->levels[l]);
        for (int k = 0; k < machine->level_order[l]; k++, d++) {
            int entry = tensor->entries[d];
            text_append(to, k ? ", " : "");
            if (entry >= 0 && tensor->balance[d] != BALANCE_NONE)
                print_balance(draft, tensor, d, modes, to);
            else if (entry >= 0 && tensor->cycles[d] > 0)
                text_printf(to, "cyclic(%c, %d)", modes[entry], tensor->cycles[d]);
            else if (entry >= 0)
                text_printf(to, "%c", modes[entry]);
            else if (entry == ENTRY_REPLICATE)
                text_append(to, "*");
            else
                text_printf(to, "%d", ENTRY_FIX - entry);
        }
        text_append(to, ")");
    }
    text_append(to, tensor->in_disk   ? tensor->in_one_file ? " in disk # in a shared file\n" : " in disk\n"
                    : tensor->in_gpu  ? " in gpu\n"
                    : tensor->in_host ? " in host\n"
                                      : "\n");
}

static void print_index(char var, const DraftIndex *index, Text *to) {
    if (index->form == INDEX_PLAIN) {
        text_printf(to, "%c", var);
        return;
    }
    if (index->form == INDEX_CONSTANT) {
        text_printf(to, "%d", index->plus);
        return;
    }
    if (index->times != 1)
        text_printf(to, index->times == -1 ? "-" : "%d * ", index->times);
    text_printf(to, "%c", var);
    if (index->other)
        text_printf(to, " + %c", index->other);
    if (index->plus)
        text_printf(to, index->plus < 0 ? " - %d" : " + %d", abs(index->plus));
}

static void print_access(const Draft *draft, int tensor, const char *vars, const DraftIndex *indices,
                         Text *to) {
    text_append(to, draft->tensors[tensor].name);
    for (int m = 0; m < draft->tensors[tensor].order; m++) {
        text_append(to, m ? ", " : "(");
        print_index(vars[m], &indices[m], to);
    }
    text_append(to, draft->tensors[tensor].order > 0 ? ")" : "");
}

// 0: a sum, 1: a product, 2: a sign, 3: an atom
static int precedence(NodeKind kind) {
    return kind == NODE_ADD || kind == NODE_SUB   ? 0
           : kind == NODE_MUL || kind == NODE_DIV ? 1
           : kind == NODE_NEG                     ? 2
                                                  : 3;
}

// "max({i, j}, "
static void print_reduction(const char *reducer, const char *vars, Text *to) {
    text_append(to, reducer);
    for (int v = 0; vars[v]; v++)
        text_printf(to, "%s%c", v ? ", " : "({", vars[v]);
    text_append(to, "}, ");
}

void draft_print_node(const Draft *draft, const DraftStatement *statement, int node, int at_least, Text *to) {
    static const char *const signs[] = {
        [NODE_ADD] = " + ", [NODE_SUB] = " - ", [NODE_MUL] = " * ", [NODE_DIV] = " / "};
    const DraftNode *at = &statement->nodes[node];
    int own = precedence(at->kind);
    if (own < at_least)
        text_append(to, "(");
    if (at->kind == NODE_ACCESS) {
        print_access(draft, at->tensor, at->vars, at->indices, to);
    } else if (at->kind == NODE_NUMBER) {
        char buffer[32];
        text_append(to, *at->number ? at->number : draft_size_text(draft, at->size, buffer));
    } else if (at->kind == NODE_NEG) {
        text_append(to, "-");
        draft_print_node(draft, statement, at->left, 3, to);
    } else if (at->kind == NODE_REDUCE) {
        print_reduction(at->function, at->vars, to);
        draft_print_node(draft, statement, at->left, 0, to);
        text_append(to, ")");
    } else if (at->kind == NODE_CALL) {
        text_printf(to, "%s(", at->function);
        draft_print_node(draft, statement, at->left, 0, to);
        if (at->right >= 0) {
            text_append(to, ", ");
            draft_print_node(draft, statement, at->right, 0, to);
        }
        text_append(to, ")");
    } else {
        draft_print_node(draft, statement, at->left, own, to);
        text_append(to, signs[at->kind]);
        draft_print_node(draft, statement, at->right, own + 1, to);
    }
    if (own < at_least)
        text_append(to, ")");
}

unsigned draft_letters(const Draft *draft, const DraftStatement *statement, int node) {
    const DraftNode *at = &statement->nodes[node];
    unsigned letters = 0;
    if (at->kind == NODE_NUMBER)
        return 0;
    if (at->kind == NODE_ACCESS) {
        for (int m = 0; m < draft->tensors[at->tensor].order; m++)
            letters |= 1u << (at->vars[m] - 'a');
        return letters;
    }
    letters = draft_letters(draft, statement, at->left) |
              (at->right < 0 ? 0 : draft_letters(draft, statement, at->right));
    for (int v = 0; at->kind == NODE_REDUCE && at->vars[v]; v++)
        letters &= ~(1u << (at->vars[v] - 'a'));
    return letters;
}

// The letters of the right side that the left side lacks.
static void find_summed(const Draft *draft, const DraftStatement *statement, char *summed) {
    const unsigned letters = draft_letters(draft, statement, statement->root);
    for (int l = 0; l < 26; l++)
        if (letters >> l & 1 &&
            !memchr(statement->vars, 'a' + l, (size_t)draft->tensors[statement->target].order))
            *summed++ = (char)('a' + l);
    *summed = '\0';
}

void draft_print_statement(const Draft *draft, const DraftStatement *statement, Text *to) {
    print_access(draft, statement->target, statement->vars, statement->indices, to);
    char summed[27] = "";
    const bool sums = strcmp(statement->reducer, "sum") == 0;
    if (statement->reducer[0] && (sums || !statement->accumulate))
        find_summed(draft, statement, summed);
    if (statement->reducer[0] && !sums && statement->accumulate)
        text_printf(to, " %s= ", strcmp(statement->reducer, "prod") == 0 ? "*" : statement->reducer);
    else
        text_append(to, statement->accumulate ? " += " : " = ");
    if (summed[0])
        print_reduction(statement->reducer, summed, to);
    draft_print_node(draft, statement, statement->root, 0, to);
    text_append(to, summed[0] ? ")" : "");
    for (int r = 0; r < statement->range_count; r++) {
        const DraftRange *range = &statement->ranges[r];
        text_printf(to, "%s%c in %d : %d", r ? ", " : " for ", range->var, range->first, range->last);
    }
}

static void print_scheduled(const Draft *draft, const DraftStatement *statement, Text *to) {
    draft_print_statement(draft, statement, to);
    text_append(to, "\n");
    if (!statement->has_schedule)
        return;
    text_printf(to, "schedule %s {\n", draft->tensors[statement->target].name);
    for (int c = 0; c < statement->command_count; c++)
        text_printf(to, "  %s\n", statement->commands[c].text);
    text_append(to, "}\n");
}

static void print_repeat(const Draft *draft, int statement, Text *to) {
    char buffer[32];
    for (int r = 0; r < draft->repetition_count; r++)
        if (draft->repetitions[r].first == statement)
            text_printf(to, "repeat %s {\n", draft_size_text(draft, draft->repetitions[r].count, buffer));
}

static void print_until(const Draft *draft, int statement, Text *to) {
    static const char *const forms[] = {
        [CONDITION_PLAIN] = "%s", [CONDITION_NEGATED] = "-%s", [CONDITION_ABS] = "abs(%s)"};
    for (int r = draft->repetition_count - 1; r >= 0; r--) {
        const DraftRepetition *repetition = &draft->repetitions[r];
        if (repetition->last != statement + 1)
            continue;
        text_append(to, "}");
        if (repetition->scalar >= 0) {
            text_append(to, " until ");
            text_printf(to, forms[repetition->form], draft->tensors[repetition->scalar].name);
            text_printf(to, " < %s", repetition->limit);
        }
        text_append(to, "\n");
    }
}

void draft_print(const Draft *draft, Text *to) {
    text_printf(
        to, "# drawn with --seed %" PRIu64 " %s%s%s--only %" PRId64 "\n# distal run %sFILE -n %d --check\n",
        draft->seed, draft->space ? "--space " : "", draft->space ? draft->space : "",
        draft->space ? " " : "", draft->index, draft->automatic ? "--auto " : "", draft->ranks);
    print_params(draft, to);
    print_machine(draft, 0, to);
    print_machine(draft, 1, to);
    for (int t = 0; t < draft->tensor_count; t++)
        if (draft_uses_tensor(draft, t))
            print_tensor(draft, &draft->tensors[t], to);
    for (int t = 0; t < 2 * draft->tensor_count; t++) {
        const DraftTensor *tensor = &draft->tensors[t % draft->tensor_count];
        if (draft_uses_tensor(draft, t % draft->tensor_count) && tensor->placed &&
            tensor->is_by == (t >= draft->tensor_count))
            print_place(draft, tensor, to);
    }
    for (int s = 0; s < draft->statement_count; s++) {
        print_repeat(draft, s, to);
        print_scheduled(draft, &draft->statements[s], to);
        print_until(draft, s, to);
    }
}
