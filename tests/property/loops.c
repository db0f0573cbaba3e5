// SPDX-License-Identifier: BSD-3-Clause
#include "loops.h"

#include <stdio.h>
#include <string.h>

static bool contains(const int *items, int count, int item) {
    for (int i = 0; i < count; i++)
        if (items[i] == item)
            return true;
    return false;
}

int loops_position(const LoopNest *nest, int var) {
    for (int i = 0; i < nest->count; i++)
        if (nest->loops[i] == var)
            return i;
    return -1;
}

bool loops_is_loop(const Loops *loops, int var) {
    for (int n = 0; n < loops->nest_count; n++)
        if (loops_position(&loops->nests[n], var) >= 0)
            return true;
    return false;
}

bool loops_share_nest(const Loops *loops, int a, int b) {
    for (int n = 0; n < loops->nest_count; n++)
        if (loops_position(&loops->nests[n], a) >= 0 && loops_position(&loops->nests[n], b) >= 0)
            return true;
    return false;
}

int loops_all(const Loops *loops, int *vars) {
    int count = 0;
    for (int v = 0; v < loops->var_count; v++)
        if (loops_is_loop(loops, v))
            vars[count++] = v;
    return count;
}

int loops_add(Loops *loops, const char *name, int64_t extent, const LoopVar *parent) {
    LoopVar *var = &loops->vars[loops->var_count];
    *var = *parent;
    snprintf(var->name, sizeof var->name, "%s", name);
    var->extent = extent;
    var->source = var->steps = false;
    var->outer = var->unit = -1;
    var->said = 0;
    return loops->var_count++;
}

void loops_replace(Loops *loops, int var, const int *by, int count) {
    for (int n = 0; n < loops->nest_count; n++) {
        LoopNest *nest = &loops->nests[n], old = *nest;
        if (loops_position(nest, var) < 0)
            continue;
        nest->count = 0;
        for (int i = 0; i < old.count; i++) {
            if (old.loops[i] != var)
                nest->loops[nest->count++] = old.loops[i];
            for (int k = 0; k < count && old.loops[i] == var; k++)
                nest->loops[nest->count++] = by[k];
        }
    }
}

void loops_reorder(Loops *loops, const int *order, int count) {
    for (int n = 0; n < loops->nest_count; n++) {
        LoopNest *nest = &loops->nests[n], old = *nest;
        for (int i = 0, next = 0; i < old.count; i++) {
            if (!contains(order, count, old.loops[i]))
                continue;
            while (loops_position(&old, order[next]) < 0)
                next++;
            nest->loops[i] = order[next++];
        }
    }
}

// Source loops, and what a distribution has left to each processor.
static bool is_passed(const Loops *loops, int var) {
    const LoopVar *at = &loops->vars[var];
    return at->source || (at->outer >= 0 && loops->vars[at->outer].said & SAID_DISTRIBUTE);
}

void loops_hoist(Loops *loops, const int *vars, int count) {
    for (int n = 0; n < loops->nest_count; n++) {
        LoopNest *nest = &loops->nests[n], old = *nest;
        int place = 0;
        while (place < old.count && !contains(vars, count, old.loops[place]))
            place++;
        while (place > 0 && is_passed(loops, old.loops[place - 1]))
            place--;
        nest->count = 0;
        for (int i = 0; i < place; i++)
            nest->loops[nest->count++] = old.loops[i];
        for (int k = 0; k < count; k++)
            if (loops_position(&old, vars[k]) >= 0)
                nest->loops[nest->count++] = vars[k];
        for (int i = place; i < old.count; i++)
            if (!contains(vars, count, old.loops[i]))
                nest->loops[nest->count++] = old.loops[i];
    }
}

// An additive term: which variables it is summed over, and what it accesses.
typedef struct {
    unsigned reduced, vars, tensors; // bits: variables by id, tensors by index
} Term;
typedef struct {
    int count;
    Term items[MAX_LOOP_NESTS];
    bool illegal; // too many, or a workspace has summed ahead what addends beside it have not
} Terms;

typedef struct {
    const Draft *draft;
    const DraftStatement *statement;
    Loops *loops;
    unsigned left; // variables of the left side
    int part_count;
    const Part *parts;
    unsigned kept[MAX_PARTS]; // variables of their workspaces
    int within;               // the part that is read; -1: the right side
} Reader;

char part_letter(int part) {
    return "wv"[part];
}

bool part_has(const Part *part, int node) {
    return contains(part->nodes, part->node_count, node) || contains(part->copies, part->copy_count, node);
}

bool part_is_read_at(const Part *part, int node) {
    return node == part->nodes[0] || contains(part->copies, part->copy_count, node);
}

static void add_term(Terms *terms, Term term) {
    for (int i = 0; i < terms->count; i++)
        if (terms->items[i].reduced == term.reduced) {
            terms->items[i].vars |= term.vars;
            terms->items[i].tensors |= term.tensors;
            return;
        }
    if (terms->count == MAX_LOOP_NESTS)
        terms->illegal = true;
    else
        terms->items[terms->count++] = term;
}

// The variable of that letter, which is there.
static int find_var(const Loops *loops, char letter) {
    int v = 0;
    while (loops->vars[v].name[0] != letter)
        v++;
    return v;
}

// The variable of that letter, new where it occurs for the first time, in that mode of the tensor.
static int var_of_mode(Reader *reader, char letter, int tensor, int mode) {
    Loops *loops = reader->loops;
    const Draft *draft = reader->draft;
    LoopVar *next = &loops->vars[loops->var_count];
    *next = (LoopVar){.name = {letter},
                      .source = true,
                      .outer = -1,
                      .extent = draft->sizes[draft->tensors[tensor].extents[mode]].value};
    const int var = find_var(loops, letter);
    loops->var_count += var == loops->var_count;
    return var;
}

static Term access_term(Reader *reader, int tensor, const char *letters) {
    Term term = {.tensors = 1u << tensor};
    for (int m = 0; m < reader->draft->tensors[tensor].order; m++)
        term.vars |= 1u << var_of_mode(reader, letters[m], tensor, m);
    term.reduced = term.vars & ~reader->left;
    return term;
}

static Term all_together(const Terms *left, const Terms *right) {
    const Terms *const arguments[] = {left, right};
    Term all = {0};
    for (int a = 0; a < 2; a++)
        for (int i = 0; i < arguments[a]->count; i++) {
            all.reduced |= arguments[a]->items[i].reduced;
            all.vars |= arguments[a]->items[i].vars;
            all.tensors |= arguments[a]->items[i].tensors;
        }
    return all;
}

static Terms single(Term term) {
    return (Terms){.count = 1, .items = {term}};
}

// Operands of a product, a quotient or a function: each is summed over the same variables in all of its
// addends, so they are one term.
static Terms operands(const Terms *left, const Terms *right) {
    Terms terms = single(all_together(left, right));
    terms.illegal = left->illegal || right->illegal || left->count > 1 || right->count > 1;
    return terms;
}

static Terms read_node(Reader *reader, int node) {
    const DraftNode *at = &reader->statement->nodes[node];
    for (int p = 0; p < reader->part_count; p++)
        if (reader->parts[p].within == reader->within && part_has(&reader->parts[p], node))
            return single(
                part_is_read_at(&reader->parts[p], node)
                    ? (Term){reader->kept[p] & ~reader->left, reader->kept[p], 1u << (WORKSPACE + p)}
                    : (Term){0});
    if (at->kind == NODE_NUMBER)
        return single((Term){0});
    if (at->kind == NODE_ACCESS)
        return single(access_term(reader, at->tensor, at->vars));
    Terms left = read_node(reader, at->left), right = {0};
    if (at->kind == NODE_NEG || at->kind == NODE_REDUCE)
        return left;
    if (at->right >= 0)
        right = read_node(reader, at->right);
    if (at->kind == NODE_CALL || at->kind == NODE_MUL || at->kind == NODE_DIV)
        return operands(&left, &right);
    Terms terms = {.illegal = left.illegal || right.illegal};
    for (int i = 0; i < left.count; i++)
        add_term(&terms, left.items[i]);
    for (int k = 0; k < right.count; k++)
        add_term(&terms, right.items[k]);
    return terms;
}

static void add_nests(Loops *loops, const Terms *terms, unsigned left, unsigned target) {
    if (terms->illegal || loops->nest_count + terms->count > MAX_LOOP_NESTS) {
        loops->uncertain = true;
        loops->nest_count = MAX_LOOP_NESTS + 1;
        return;
    }
    for (int n = 0; n < terms->count; n++) {
        LoopNest *nest = &loops->nests[loops->nest_count++];
        *nest = (LoopNest){.tensors = terms->items[n].tensors | target};
        for (int v = 0; v < loops->var_count; v++) {
            LoopVar *var = &loops->vars[v];
            if (!((left | terms->items[n].vars) >> v & 1))
                continue;
            nest->loops[nest->count++] = v;
            var->determined = var->determined && left >> v & 1;
            var->on_left = var->on_left || left >> v & 1;
            var->reduction = var->reduction || !(left >> v & 1);
        }
    }
}

// The variables of the set that have names of their own where the workspace is filled, by these.
static unsigned renamed(const Loops *loops, const Part *part, int first, unsigned vars) {
    unsigned result = vars;
    for (int m = 0, next = first; m < part->order; m++) {
        if (!part->renamed[m])
            continue;
        for (int v = 0; v < first; v++)
            if (loops->vars[v].name[0] == part->kept[m] && vars >> v & 1)
                result = (result & ~(1u << v)) | 1u << next;
        next++;
    }
    return result;
}

static void add_filling_nests(Reader *reader, int number) {
    Loops *loops = reader->loops;
    const Part *part = &reader->parts[number];
    const int first = loops->var_count;
    reader->left = reader->kept[number];
    reader->within = number;
    Terms terms = read_node(reader, part->nodes[0]);
    for (int i = 1; i < part->node_count; i++) {
        const Terms factor = read_node(reader, part->nodes[i]);
        terms = operands(&terms, &factor);
    }
    for (int m = 0; m < part->order; m++) {
        if (!part->renamed[m])
            continue;
        const LoopVar *old = &loops->vars[find_var(loops, part->kept[m])];
        loops->vars[loops->var_count] = (LoopVar){.name = {part->kept[m], part_letter(number)},
                                                  .source = true,
                                                  .determined = true,
                                                  .outer = -1,
                                                  .extent = old->extent};
        loops->var_count++;
    }
    for (int n = 0; n < terms.count; n++)
        terms.items[n].vars = renamed(loops, part, first, terms.items[n].vars);
    add_nests(loops, &terms, renamed(loops, part, first, reader->left), 1u << (WORKSPACE + number));
}

void loops_create(const Draft *draft, const DraftStatement *statement, const Part *parts, int part_count,
                  Loops *loops) {
    *loops = (Loops){0};
    Reader reader = {.draft = draft, .statement = statement, .loops = loops, .within = -1};
    const unsigned left = access_term(&reader, statement->target, statement->vars).vars;
    reader.left = left;
    read_node(&reader, statement->root); // so that all variables are known
    for (int v = 0; v < loops->var_count; v++)
        loops->vars[v].determined = true;
    reader.part_count = part_count;
    reader.parts = parts;
    for (int p = 0; p < part_count; p++)
        for (int m = 0; m < parts[p].order; m++)
            reader.kept[p] |= 1u << find_var(loops, parts[p].kept[m]);
    for (int p = 0; p < part_count; p++)
        for (int l = 0; l < 26; l++)
            if (parts[p].around >> l & 1) {
                const int var = find_var(loops, (char)('a' + l));
                loops->vars[var].around = true;
                reader.kept[p] |= 1u << var;
            }
    for (int p = part_count - 1; p >= 0; p--)
        add_filling_nests(&reader, p);
    reader.left = left;
    reader.within = -1;
    Terms terms = read_node(&reader, statement->root);
    if (statement->reducer[0]) // the right side is one term
        terms = single(all_together(&terms, &(Terms){0}));
    add_nests(loops, &terms, left, 1u << statement->target);
    for (int v = 0; v < loops->var_count; v++)
        loops->vars[v].unit = v;
    loops->uncertain = loops->nest_count > 1;
    if (loops->nest_count > MAX_LOOP_NESTS)
        loops->nest_count = 0;
}
