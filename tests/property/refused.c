// SPDX-License-Identifier: BSD-3-Clause
#include "refused.h"

#include "generate.h"
#include "pipeline/pipeline.h"
#include "trial.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_summed(const Draft *draft, const DraftStatement *statement, int node) {
    const DraftNode *at = &statement->nodes[node];
    for (int m = 0; at->kind == NODE_ACCESS && m < draft->tensors[at->tensor].order; m++)
        if (!memchr(statement->vars, at->vars[m], (size_t)draft->tensors[statement->target].order))
            return true;
    return false;
}

// The nodes that the right side has; others were given up.
static void mark_used(const DraftStatement *statement, int node, bool *used) {
    const DraftNode *at = &statement->nodes[node];
    used[node] = true;
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER || at->kind == NODE_REDUCE)
        return; // what is inside of an explicit reduction has one reading
    mark_used(statement, at->left, used);
    if (at->right >= 0)
        mark_used(statement, at->right, used);
}

// An access that is summed over becomes 2 * (access + 3).
static bool add_number(Random *random, const Draft *draft, DraftStatement *statement) {
    bool used[DRAFT_NODES] = {false};
    int nodes[DRAFT_NODES], count = 0;
    mark_used(statement, statement->root, used);
    for (int n = 0; n < statement->node_count; n++)
        if (used[n] && is_summed(draft, statement, n))
            nodes[count++] = n;
    if (count == 0 || statement->node_count + 4 > DRAFT_NODES)
        return false;
    const int at = nodes[random_below(random, count)], first = statement->node_count;
    DraftNode *nodes_end = &statement->nodes[first];
    nodes_end[0] = statement->nodes[at];
    nodes_end[1] = (DraftNode){.kind = NODE_NUMBER, .number = "3"};
    nodes_end[2] = (DraftNode){.kind = NODE_ADD, .left = first, .right = first + 1};
    nodes_end[3] = (DraftNode){.kind = NODE_NUMBER, .number = "2"};
    statement->nodes[at] = (DraftNode){.kind = NODE_MUL, .left = first + 3, .right = first + 2};
    statement->node_count += 4;
    return true;
}

// The program with `by` in the place of the text `part`.
static const char *with(Arena *arena, const char *program, const char *part, const char *by) {
    const char *at = strstr(program, part);
    return arena_printf(arena, "%.*s%s%s", (int)(at - program), program, by, at + strlen(part));
}

static Pipeline *compile(Arena *arena, const char *program, int ranks, bool *ok) {
    Pipeline *pipeline = pipeline_create(arena, (Source){"refused.distal", program}, NULL, 0, ranks);
    *ok = pipeline_run(pipeline, PASS_C);
    return pipeline;
}

static const char *check_readings(Arena *arena, const char *program, const char *statement, int ranks) {
    bool ok;
    const Diagnostics *diagnostics = compile(arena, program, ranks, &ok)->diagnostics;
    if (ok || diagnostics->errors != 1 || diagnostics->list.count != 3)
        return "a sum of unlike addends is not refused with two readings";
    for (int i = 1; i < 3; i++) {
        const char *reading = strstr(diagnostics->list.items[i].message, "write: ");
        if (!reading)
            return "a reading is missing";
        Pipeline *read = compile(arena, with(arena, program, statement, reading + 7), ranks, &ok);
        Text text = text_create(arena);
        diagnostics_print(read->diagnostics, &text);
        if (!ok && !trial_is_refused_on_gpu(text_string(&text)))
            return arena_printf(arena, "a reading is refused: %s\n%s", reading + 7, text_string(&text));
    }
    return NULL;
}

// The first index on the right becomes a coordinate that no tensor has; NULL where there is none.
static const char *index_beyond(Arena *arena, const char *statement) {
    const char *at = strchr(statement, '=');
    while (*at && !(*at == '(' && isupper((unsigned char)at[-1])))
        at++;
    return *at ? arena_printf(arena, "%.*s1000000%s", (int)(at + 1 - statement), statement,
                              at + strcspn(at, ",)"))
               : NULL;
}

static const char *check_beyond(Arena *arena, const char *program, int ranks) {
    bool ok;
    const Diagnostics *diagnostics = compile(arena, program, ranks, &ok)->diagnostics;
    const char *message = ok ? "" : diagnostics->list.items[0].message;
    return strstr(message, "index 1000000 lies outside of mode 0") ||
                   strstr(message, "indexes nothing in this") // the index was its only use
               ? NULL
               : "a coordinate that a tensor does not have is an index";
}

bool refused_check(uint64_t seed, int64_t index, Text *text, void (*before)(const char *text),
                   const char **why) {
    Random random = random_stream(seed ^ 0x5EF5, (uint64_t)index);
    Draft *draft = malloc(sizeof *draft);
    *why = draft ? NULL : "no memory";
    if (!draft)
        return false;
    generate_draft(seed, index, draft);
    DraftStatement *statement = &draft->statements[random_below(&random, draft->statement_count)];
    statement->reducer[0] = '\0'; // which would leave one reading
    for (int s = 0; s < draft->statement_count; s++) {
        draft->statements[s].has_schedule = false;
        draft->statements[s].command_count = 0;
    }
    const bool unlike = random_chance(&random, 75);
    if (!unlike || add_number(&random, draft, statement)) {
        Arena *arena = text->arena;
        Text whole = text_create(arena), written = text_create(arena);
        draft_print(draft, &whole);
        draft_print_statement(draft, statement, &written);
        const char *line = text_string(&written), *by = unlike ? line : index_beyond(arena, line);
        if (by) {
            const char *program = with(arena, text_string(&whole), line, by);
            text_append(text, program);
            before(program);
            *why = unlike ? check_readings(arena, program, line, draft->ranks)
                          : check_beyond(arena, program, draft->ranks);
        }
    }
    free(draft);
    return *why == NULL;
}
