// SPDX-License-Identifier: BSD-3-Clause
#include "shrink.h"

#include "sparse_input.h"

#include <string.h>

enum { MAX_ATTEMPTS = 250 };

// Each simplification has a number of choices; it makes choice `which`, or returns false where there are not
// so many. It may leave the draft as it was, or make one that is not legal: both are passed over.
typedef bool (*Simplification)(Draft *draft, int which);

static bool drop_statement(Draft *draft, int which) {
    if (which >= draft->statement_count || draft->statement_count == 1)
        return false;
    int drop = draft->statement_count - 1 - which;
    for (int s = drop; s + 1 < draft->statement_count; s++)
        draft->statements[s] = draft->statements[s + 1];
    draft->statement_count--;
    for (int r = 0; r < draft->repetition_count; r++) {
        draft->repetitions[r].first -= drop < draft->repetitions[r].first;
        draft->repetitions[r].last -= drop < draft->repetitions[r].last;
    }
    return true;
}

static bool drop_repetition(Draft *draft, int which) {
    if (which >= draft->repetition_count)
        return false;
    for (int r = which; r + 1 < draft->repetition_count; r++)
        draft->repetitions[r] = draft->repetitions[r + 1];
    draft->repetition_count--;
    return true;
}

static bool drop_condition(Draft *draft, int which) {
    if (which >= draft->repetition_count)
        return false;
    draft->repetitions[which].scalar = -1;
    return true;
}

static bool drop_schedule(Draft *draft, int which) {
    if (which >= draft->statement_count)
        return false;
    draft->statements[which].has_schedule = false;
    draft->statements[which].command_count = 0;
    return true;
}

// From the last command on, as later ones depend on earlier ones.
static bool drop_command(Draft *draft, int which) {
    for (int s = 0; s < draft->statement_count; s++) {
        DraftStatement *statement = &draft->statements[s];
        if (which < statement->command_count) {
            for (int c = statement->command_count - 1 - which; c + 1 < statement->command_count; c++)
                statement->commands[c] = statement->commands[c + 1];
            statement->command_count--;
            return true;
        }
        which -= statement->command_count;
    }
    return false;
}

// The statement and one of its nodes, by number.
static DraftStatement *find_node(Draft *draft, int which, int *node) {
    for (int s = 0; s < draft->statement_count; s++) {
        if (which < draft->statements[s].node_count) {
            *node = which;
            return &draft->statements[s];
        }
        which -= draft->statements[s].node_count;
    }
    return NULL;
}

static bool plain_index(Draft *draft, int which) {
    int node;
    DraftStatement *statement = find_node(draft, which / DRAFT_ORDER, &node);
    if (!statement)
        return false;
    statement->nodes[node].indices[which % DRAFT_ORDER] = (DraftIndex){0};
    return true;
}

static bool plain_left_index(Draft *draft, int which) {
    if (which >= draft->statement_count * DRAFT_ORDER)
        return false;
    draft->statements[which / DRAFT_ORDER].indices[which % DRAFT_ORDER] = (DraftIndex){0};
    return true;
}

static bool drop_range(Draft *draft, int which) {
    if (which >= draft->statement_count * DRAFT_RANGES)
        return false;
    DraftStatement *statement = &draft->statements[which / DRAFT_RANGES];
    const int at = which % DRAFT_RANGES;
    for (int r = at; r + 1 < statement->range_count; r++)
        statement->ranges[r] = statement->ranges[r + 1];
    statement->range_count -= at < statement->range_count;
    return true;
}

static bool drop_node(Draft *draft, int which) {
    int node;
    DraftStatement *statement = find_node(draft, which / 2, &node);
    if (!statement)
        return false;
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER || (at->right < 0 && which % 2))
        return true;
    statement->nodes[node] = statement->nodes[which % 2 ? at->right : at->left];
    return true;
}

static bool access_to_number(Draft *draft, int which) {
    int node;
    DraftStatement *statement = find_node(draft, which, &node);
    if (statement && statement->nodes[node].kind == NODE_ACCESS)
        statement->nodes[node] = (DraftNode){.kind = NODE_NUMBER, .number = "1"};
    return statement != NULL;
}

static bool drop_accumulation(Draft *draft, int which) {
    if (which >= draft->statement_count)
        return false;
    draft->statements[which].accumulate = false;
    draft->statements[which].reducer[0] = '\0';
    return true;
}

static bool drop_placement(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].placed = false;
    return true;
}

static bool out_of_disk(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].in_disk = false;
    return true;
}

static bool in_files_of_ranks(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].in_one_file = false;
    return true;
}

static bool out_of_gpu(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].in_gpu = false;
    return true;
}

static bool simpler_entry(Draft *draft, int which) {
    if (which >= draft->tensor_count * DRAFT_DIMS)
        return false;
    int *entry = &draft->tensors[which / DRAFT_DIMS].entries[which % DRAFT_DIMS];
    *entry = *entry < ENTRY_FIX ? ENTRY_FIX : ENTRY_REPLICATE;
    return true;
}

static bool contiguous(Draft *draft, int which) {
    if (which >= draft->tensor_count * DRAFT_DIMS)
        return false;
    DraftTensor *tensor = &draft->tensors[which / DRAFT_DIMS];
    tensor->cycles[which % DRAFT_DIMS] = 0;
    if (!balance_is_by_entries(tensor->balance[which % DRAFT_DIMS]))
        tensor->balance[which % DRAFT_DIMS] = BALANCE_NONE;
    return true;
}

static bool row_major(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].reordered = draft->tensors[which].formats = draft->tensors[which].in_host = false;
    return true;
}

// Every level of a tensor, then each: first as dense, then as the plainest sparse one.
static bool plain_levels(Draft *draft, int which) {
    enum { CHOICES = 1 + 2 * DRAFT_ORDER };
    DraftTensor *tensor = &draft->tensors[which / CHOICES];
    const int choice = which % CHOICES;
    if (which >= draft->tensor_count * CHOICES)
        return false;
    for (int l = 0; l < DRAFT_ORDER; l++)
        if (choice == 0 || (choice - 1) / 2 == l)
            tensor->levels[l] = choice == 0 || choice % 2 || !tensor->levels[l] ? NULL : "compressed";
    return true;
}

static bool plain_fill(Draft *draft, int which) {
    if (which >= draft->tensor_count)
        return false;
    draft->tensors[which].fill = FILL_ALL;
    return true;
}

static bool fewer_ranks(Draft *draft, int which) {
    if (which + 1 >= draft->ranks)
        return false;
    draft->ranks = which + 1;
    return true;
}

static bool drop_machine(Draft *draft, int which) {
    if (which > 1)
        return false;
    draft->machines[1 - which] = (DraftMachine){0};
    return true;
}

static bool smaller_size(Draft *draft, int which) {
    DraftSize *size = &draft->sizes[which / 4];
    if (which / 4 >= draft->size_count)
        return false;
    const int64_t values[] = {1, 2, size->value / 2, size->value - 1};
    if (values[which % 4] < size->value && values[which % 4] > 0)
        size->value = values[which % 4];
    return true;
}

static bool literal_size(Draft *draft, int which) {
    if (which >= draft->size_count)
        return false;
    draft->sizes[which].form = SIZE_LITERAL;
    return true;
}

static bool double_type(Draft *draft, int which) {
    if (which > draft->tensor_count)
        return false;
    for (int t = 0; t < draft->tensor_count; t++)
        if (which == 0 || which == t + 1)
            draft->tensors[t].type = TYPE_F64;
    return true;
}

static bool by_hand(Draft *draft, int which) {
    if (which > 0)
        return false;
    draft->automatic = false;
    return true;
}

static const Simplification simplifications[] = {
    drop_statement, drop_schedule,     drop_command,      drop_node,       drop_placement,   out_of_disk,
    out_of_gpu,     fewer_ranks,       drop_machine,      smaller_size,    access_to_number, row_major,
    contiguous,     double_type,       drop_accumulation, simpler_entry,   literal_size,     plain_levels,
    plain_fill,     plain_index,       plain_left_index,  drop_repetition, drop_condition,   drop_range,
    by_hand,        in_files_of_ranks,
};
enum { SIMPLIFICATION_COUNT = sizeof simplifications / sizeof *simplifications };

// A diagnostic without the names and numbers in it.
static void normalize(const char *why, char *to, size_t size) {
    size_t length = 0;
    const char *at = strstr(why, "error:");
    for (at = at ? at : why; *at && *at != '\n' && length + 1 < size; at++) {
        if (*at == '\'' || *at == '(') {
            const char *end = strchr(at + 1, *at == '(' ? ')' : '\'');
            at = end ? end : at;
        } else if (*at < '0' || *at > '9') {
            to[length++] = *at;
        }
    }
    to[length] = '\0';
}

static bool same_failure(const Trial *a, const Trial *b) {
    char why_a[200], why_b[200];
    if (a->verdict != b->verdict)
        return false;
    if (a->verdict != TRIAL_DIAGNOSED && a->verdict != TRIAL_C)
        return true;
    normalize(a->why, why_a, sizeof why_a);
    normalize(b->why, why_b, sizeof why_b);
    return strcmp(why_a, why_b) == 0;
}

static bool same_text(const Draft *draft, const Trial *trial) {
    Arena *arena = arena_create();
    Text text = text_create(arena);
    draft_print(draft, &text);
    bool same = strcmp(text_string(&text), trial->text) == 0;
    arena_free(arena);
    return same;
}

typedef struct {
    Trial *best;
    int attempts;
    void (*before)(const Trial *trial);
} Shrinking;

// Whether the draft fails in the same way; then it is the best one.
static bool attempt(Shrinking *shrinking, const Draft *draft) {
    if (same_text(draft, shrinking->best) || shrinking->attempts >= MAX_ATTEMPTS)
        return false;
    Trial *trial = trial_create(draft, 0);
    if (trial->verdict == TRIAL_PASSED) {
        // Only what compiles counts: the rest is free.
        shrinking->attempts++;
        shrinking->before(trial);
        trial_finish(trial);
    }
    bool same = same_failure(trial, shrinking->best);
    trial_free(same ? shrinking->best : trial);
    if (same)
        shrinking->best = trial;
    return same;
}

Trial *shrink(const Trial *failing, void (*before)(const Trial *trial)) {
    Shrinking shrinking = {trial_create(&failing->draft, 0), 0, before};
    shrinking.best->verdict = failing->verdict;
    memcpy(shrinking.best->why, failing->why, sizeof failing->why);
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (int s = 0; s < SIMPLIFICATION_COUNT; s++) {
            for (int which = 0;;) {
                Draft draft = shrinking.best->draft;
                if (!simplifications[s](&draft, which))
                    break;
                bool taken = attempt(&shrinking, &draft);
                smaller |= taken;
                which += !taken;
            }
        }
    }
    return shrinking.best;
}
