// SPDX-License-Identifier: BSD-3-Clause
// Indices that are more than a variable: stencils, bands, convolutions, rows and columns.
#include "generate.h"

#include <string.h>

typedef struct {
    Random *random;
    Draft *draft;
    DraftStatement *statement;
    int plain[128]; // by letter: modes that it indexes alone
} Writer;

static void count_plain(Writer *writer, const char *vars, int order) {
    for (int m = 0; m < order; m++)
        writer->plain[(unsigned char)vars[m]]++;
}

// The accesses of the right side; others were given up.
static void find_accesses(const DraftStatement *statement, int node, int *nodes, int *count) {
    const DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_ACCESS)
        nodes[(*count)++] = node;
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER)
        return;
    find_accesses(statement, at->left, nodes, count);
    if (at->right >= 0)
        find_accesses(statement, at->right, nodes, count);
}

static int draw_plus(Writer *writer) {
    static const int plus[] = {1, -1, 2, -2, 3, -4, 7, 0}, weights[] = {30, 30, 10, 10, 5, 5, 3, 7};
    return plus[random_weighted(writer->random, weights, 8)];
}

static bool is_left(const Writer *writer, char var) {
    return memchr(writer->statement->vars, var,
                  (size_t)writer->draft->tensors[writer->statement->target].order);
}

static DraftIndex draw_sum(Writer *writer, bool on_left, int64_t extent) {
    static const int factors[] = {1, 2, 3, -1, -2}, weights[] = {70, 12, 5, 10, 3};
    DraftIndex index = {.form = INDEX_SUM, .times = factors[random_weighted(writer->random, weights, 5)]};
    index.plus = draw_plus(writer);
    if (index.times < 0)
        index.plus += (int)extent - 1;
    const int left = writer->draft->tensors[writer->statement->target].order;
    if (!on_left && left > 0 && random_chance(writer->random, 15))
        index.other = writer->statement->vars[random_below(writer->random, left)];
    return index;
}

static void draw_index(Writer *writer, const int *extents, const char *vars, DraftIndex *indices, int mode,
                       bool on_left) {
    const char var = vars[mode];
    const int64_t extent = writer->draft->sizes[extents[mode]].value;
    DraftIndex index = draw_sum(writer, on_left, extent);
    if (!on_left && is_left(writer, var) && extent > 0 && random_chance(writer->random, 15))
        index = (DraftIndex){.form = INDEX_CONSTANT, .plus = random_below(writer->random, (int)extent)};
    if (index.other == var || writer->plain[(unsigned char)var] < 2)
        return;
    writer->plain[(unsigned char)var]--;
    indices[mode] = index;
    writer->statement->has_indices = true;
}

void draw_indices(Random *random, Draft *draft, int at) {
    DraftStatement *statement = &draft->statements[at];
    Writer writer = {.random = random, .draft = draft, .statement = statement};
    if (!random_chance(random, 25))
        return;
    const int chance = random_chance(random, 50) ? 80 : 35, order = draft->tensors[statement->target].order;
    int nodes[DRAFT_NODES], count = 0;
    find_accesses(statement, statement->root, nodes, &count);
    count_plain(&writer, statement->vars, order);
    for (int n = 0; n < count; n++)
        count_plain(&writer, statement->nodes[nodes[n]].vars,
                    draft->tensors[statement->nodes[nodes[n]].tensor].order);
    for (int n = 0; n < count; n++) {
        DraftNode *node = &statement->nodes[nodes[n]];
        const DraftTensor *tensor = &draft->tensors[node->tensor];
        for (int m = 0; m < tensor->order; m++)
            if (random_chance(random, chance))
                draw_index(&writer, tensor->extents, node->vars, node->indices, m, false);
    }
    for (int m = 0; m < order; m++)
        if (random_chance(random, 15))
            draw_index(&writer, draft->tensors[statement->target].extents, statement->vars,
                       statement->indices, m, true);
}
