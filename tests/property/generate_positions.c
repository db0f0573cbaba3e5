// SPDX-License-Identifier: BSD-3-Clause
// Schedules about loops over entries: loops over the levels of a sparse operand become one, over coordinates
// or over positions, and that is divided, reordered, and given to threads. Whatever does not fit may be
// refused.
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Random *random;
    DraftStatement *statement;
    char vars[32]; // letters of the loops, as far as they are source loops
    int parts;     // for names
} Positions;

static void command(Positions *positions, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void command(Positions *positions, const char *format, ...) {
    DraftStatement *statement = positions->statement;
    if (statement->command_count >= DRAFT_COMMANDS)
        return;
    DraftCommand *next = &statement->commands[statement->command_count++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(next->text, sizeof next->text, format, arguments);
    va_end(arguments);
    next->may_be_refused = true;
}

static void add_vars(Positions *positions, const char *vars, int count) {
    for (int i = 0; i < count; i++)
        if (!memchr(positions->vars, vars[i], strlen(positions->vars)))
            positions->vars[strlen(positions->vars)] = vars[i];
}

// An access of a sparse tensor; -1 where there is none.
static int draw_access(Random *random, const Draft *draft, const DraftStatement *statement) {
    int nodes[DRAFT_NODES], count = 0;
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_ACCESS &&
            draft_is_sparse(&draft->tensors[statement->nodes[n].tensor]))
            nodes[count++] = n;
    return count ? nodes[random_below(random, count)] : -1;
}

// The loops in the order of storage: those of the access first.
static void reorder(Positions *positions, const char *stored, int order) {
    char text[DRAFT_TEXT];
    size_t length = (size_t)snprintf(text, sizeof text, "reorder({");
    char all[32] = {0};
    for (int l = 0; l < order; l++)
        if (!strchr(all, stored[l]))
            all[strlen(all)] = stored[l];
    for (const char *var = positions->vars; *var; var++)
        if (!strchr(all, *var))
            all[strlen(all)] = *var;
    for (const char *var = all; *var && length + 8 < sizeof text; var++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%c", var == all ? "" : ", ", *var);
    command(positions, "%s})", text);
}

// What threads, lanes and copies of the body do with a loop.
static void draw_execution(Positions *positions, const char *loop) {
    static const char *const races[] = {"", ", atomic", ", reduction", ", temporary"};
    const int kind = random_below(positions->random, 10);
    if (kind < 7)
        command(positions, "parallelize(%s, cpu_thread%s)", loop, races[random_below(positions->random, 4)]);
    else if (kind < 8)
        command(positions, "parallelize(%s, cpu_vector)", loop);
    else
        command(positions, "unroll(%s, %d)", loop, random_between(positions->random, 1, 4));
}

// The loop in parts, and what becomes of these.
static void draw_parts(Positions *positions, const char *loop) {
    char outer[24], inner[24];
    snprintf(outer, sizeof outer, "%.20so", loop);
    snprintf(inner, sizeof inner, "%.20si", loop);
    command(positions, "%s(%s, %s, %s, %d)", random_chance(positions->random, 60) ? "divide" : "split", loop,
            outer, inner, random_between(positions->random, 1, 9));
    if (random_chance(positions->random, 15))
        command(positions, "reorder({%s, %s})", inner, outer);
    if (positions->parts++ < 1 && random_chance(positions->random, 30))
        draw_parts(positions, random_chance(positions->random, 70) ? inner : outer);
    if (random_chance(positions->random, 75))
        draw_execution(positions, random_chance(positions->random, 75) ? outer : inner);
    if (random_chance(positions->random, 20))
        draw_execution(positions, inner);
}

// The loop in one part for each of some processors, and one of the other loops, whose letter is not among
// `stored`, as well.
static void draw_distribution(Positions *positions, const char *loop, const char *stored, int count,
                              int ranks) {
    char others[32] = {0};
    for (const char *var = positions->vars; *var; var++)
        if (!memchr(stored, *var, (size_t)count))
            others[strlen(others)] = *var;
    int parts = ranks * random_between(positions->random, 1, 2), own = 1;
    if (!others[0] || random_chance(positions->random, 40)) {
        command(positions, "divide(%s, do, di, %d)", loop, parts);
        command(positions, "distribute(do)");
        return;
    }
    for (int factor = 2; factor <= parts; factor++)
        if (parts % factor == 0 && random_chance(positions->random, 50))
            parts /= factor, own *= factor;
    const char other = others[random_below(positions->random, (int)strlen(others))];
    command(positions, "divide(%s, do, di, %d)", loop, parts);
    command(positions, "divide(%c, eo, ei, %d)", other, own);
    command(positions, "reorder({do, eo, di, ei})");
    command(positions,
            random_chance(positions->random, 50) ? "distribute({do, eo})" : "distribute({eo, do})");
}

bool draw_positions(Random *random, Draft *draft, int at) {
    DraftStatement *statement = &draft->statements[at];
    const int node = draw_access(random, draft, statement);
    if (node < 0)
        return false;
    const DraftNode *access = &statement->nodes[node];
    const DraftTensor *tensor = &draft->tensors[access->tensor];
    Positions positions = {.random = random, .statement = statement};
    char stored[DRAFT_ORDER], loop[24];
    statement->has_schedule = true;
    add_vars(&positions, statement->vars, draft->tensors[statement->target].order);
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_ACCESS)
            add_vars(&positions, statement->nodes[n].vars, draft->tensors[statement->nodes[n].tensor].order);
    for (int l = 0; l < tensor->order; l++)
        stored[l] = access->vars[tensor->mode_order[l]];
    if (random_chance(random, 75))
        reorder(&positions, stored, tensor->order);
    const int last = random_below(random, 100) < 70 ? tensor->order - 1 : random_below(random, tensor->order);
    const int first = random_below(random, 100) < 60 ? 0 : random_between(random, 0, last);
    snprintf(loop, sizeof loop, "%c", stored[first]);
    for (int l = first + 1; l <= last; l++) {
        char fused[24];
        snprintf(fused, sizeof fused, "f%d", l);
        command(&positions, "collapse(%s, %c, %s)", loop, stored[l], fused);
        snprintf(loop, sizeof loop, "%s", fused);
    }
    if (random_chance(random, 80)) {
        char text[3 * DRAFT_ORDER] = "";
        for (int m = 0; m < tensor->order; m++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c", m ? ", " : "", access->vars[m]);
        command(&positions, "pos(%s, p, %s(%s))", loop, tensor->name, text);
        snprintf(loop, sizeof loop, "p");
    }
    if (draft->ranks > 1 && random_chance(random, 40))
        draw_distribution(&positions, loop, &stored[first], last + 1 - first, draft->ranks);
    else if (random_chance(random, 75))
        draw_parts(&positions, loop);
    else if (random_chance(random, 70))
        draw_execution(&positions, loop);
    return true;
}
