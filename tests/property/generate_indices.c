// SPDX-License-Identifier: BSD-3-Clause
// Indices that are more than a variable: stencils, bands, convolutions, rows and columns.
#include "generate.h"

#include <string.h>

typedef struct {
    Random *random;
    Draft *draft;
    DraftStatement *statement;
    bool moves;       // indices are variables plus numbers, whose entries are merged
    int plain[128];   // by letter: modes that it indexes alone
    int extents[128]; // and their extent
} Writer;

static void count_plain(Writer *writer, const char *vars, int tensor) {
    const DraftTensor *of = &writer->draft->tensors[tensor];
    for (int m = 0; m < of->order; m++) {
        writer->plain[(unsigned char)vars[m]]++;
        writer->extents[(unsigned char)vars[m]] = (int)writer->draft->sizes[of->extents[m]].value;
    }
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
    DraftIndex index = {.form = INDEX_SUM, .times = 1};
    index.plus = draw_plus(writer);
    if (writer->moves)
        return index;
    index.times = factors[random_weighted(writer->random, weights, 5)];
    if (index.times < 0)
        index.plus += (int)extent - 1;
    const int left = writer->draft->tensors[writer->statement->target].order;
    if (!on_left && left > 0 && random_chance(writer->random, 15))
        index.other = writer->statement->vars[random_below(writer->random, left)];
    return index;
}

// Whether an explicit reduction is over the variable, which then has to index something.
static bool is_reduced(const DraftStatement *statement, char var) {
    for (int n = 0; n < statement->node_count; n++)
        if (statement->nodes[n].kind == NODE_REDUCE && strchr(statement->nodes[n].vars, var))
            return true;
    return false;
}

// Of an update, what it assigns is indexed alike on both sides.
static bool is_updated(const Writer *writer, int tensor) {
    return tensor == writer->statement->target &&
           draft_reads_target(writer->statement, writer->statement->root);
}

static void draw_index(Writer *writer, const int *extents, const char *vars, DraftIndex *indices, int mode,
                       bool on_left) {
    const char var = vars[mode];
    const int64_t extent = writer->draft->sizes[extents[mode]].value;
    DraftIndex index = draw_sum(writer, on_left, extent);
    if (!on_left && !writer->moves && is_left(writer, var) && extent > 0 &&
        random_chance(writer->random, 15) && !is_reduced(writer->statement, var))
        index = (DraftIndex){.form = INDEX_CONSTANT, .plus = random_below(writer->random, (int)extent)};
    // A variable that indexes no mode alone runs as far as its indices allow.
    const bool follows = index.form == INDEX_SUM && !index.other && random_chance(writer->random, 15);
    if (index.other == var || writer->plain[(unsigned char)var] < (follows ? 1 : 2))
        return;
    writer->plain[(unsigned char)var]--;
    indices[mode] = index;
    writer->statement->has_indices = true;
}

static const DraftRange *find_range(const DraftStatement *statement, char var) {
    for (int r = 0; r < statement->range_count; r++)
        if (statement->ranges[r].var == var)
            return &statement->ranges[r];
    return NULL;
}

// The values of a variable times a factor, added to those of an index; false where it has no range, or an
// empty one.
static bool add_values(const DraftStatement *statement, char var, int times, int *least, int *most) {
    const DraftRange *range = find_range(statement, var);
    if (!range || range->first >= range->last)
        return false;
    *least += times * (times < 0 ? range->last - 1 : range->first);
    *most += times * (times < 0 ? range->first : range->last - 1);
    return true;
}

// Whether ranges keep the indices of an access, of which all variables have one, inside of its tensor.
static bool stays_inside(const Draft *draft, const DraftStatement *statement, int tensor, const char *vars,
                         const DraftIndex *indices) {
    for (int m = 0; m < draft->tensors[tensor].order; m++) {
        const DraftIndex *index = &indices[m];
        int least = index->plus, most = index->plus;
        if (index->form == INDEX_CONSTANT ||
            !add_values(statement, vars[m], index->form == INDEX_PLAIN ? 1 : index->times, &least, &most) ||
            (index->other && !add_values(statement, index->other, 1, &least, &most)))
            continue;
        if (least < 0 || most >= draft->sizes[draft->tensors[tensor].extents[m]].value)
            return false;
    }
    return true;
}

// Ranges of some variables; those that would leave a tensor are given up.
static void draw_ranges(Writer *writer, const int *nodes, int count) {
    DraftStatement *statement = writer->statement;
    for (int letter = 'a'; letter <= 'z' && statement->range_count < DRAFT_RANGES; letter++) {
        const int extent = writer->extents[letter];
        if (extent == 0 || !random_chance(writer->random, 45))
            continue;
        DraftRange *range = &statement->ranges[statement->range_count++];
        range->var = (char)letter;
        range->first = random_below(writer->random, random_chance(writer->random, 60) ? 3 : extent);
        range->last = random_chance(writer->random, 50)
                          ? extent - random_below(writer->random, 3)
                          : range->first + random_below(writer->random, extent + 1);
        bool inside =
            stays_inside(writer->draft, statement, statement->target, statement->vars, statement->indices);
        for (int n = 0; n < count; n++) {
            const DraftNode *node = &statement->nodes[nodes[n]];
            inside =
                inside && stays_inside(writer->draft, statement, node->tensor, node->vars, node->indices);
        }
        if (!inside)
            statement->range_count--;
    }
    statement->has_indices |= statement->range_count > 0;
}

// Sums that read what is assigned are refused where elements may be left out.
static bool sums_in_update(const Writer *writer) {
    const DraftStatement *statement = writer->statement;
    unsigned letters = draft_letters(writer->draft, statement, statement->root);
    for (int m = 0; m < writer->draft->tensors[statement->target].order; m++)
        letters &= ~(1u << (statement->vars[m] - 'a'));
    return letters && is_updated(writer, statement->target);
}

void draw_indices(Random *random, Draft *draft, int at, int percent) {
    DraftStatement *statement = &draft->statements[at];
    Writer writer = {.random = random, .draft = draft, .statement = statement};
    if (!random_chance(random, percent) || sums_in_update(&writer))
        return;
    writer.moves = random_chance(random, 40);
    const int chance = random_chance(random, 50) ? 80 : 35, order = draft->tensors[statement->target].order;
    int nodes[DRAFT_NODES], count = 0;
    find_accesses(statement, statement->root, nodes, &count);
    count_plain(&writer, statement->vars, statement->target);
    for (int n = 0; n < count; n++)
        count_plain(&writer, statement->nodes[nodes[n]].vars, statement->nodes[nodes[n]].tensor);
    for (int n = 0; n < count; n++) {
        DraftNode *node = &statement->nodes[nodes[n]];
        const DraftTensor *tensor = &draft->tensors[node->tensor];
        for (int m = 0; m < tensor->order && !is_updated(&writer, node->tensor); m++)
            if (random_chance(random, chance))
                draw_index(&writer, tensor->extents, node->vars, node->indices, m, false);
    }
    const bool is_fixed =
        is_updated(&writer, statement->target) || draft_is_sparse(&draft->tensors[statement->target]);
    for (int m = 0; m < order && !is_fixed; m++)
        if (random_chance(random, 15))
            draw_index(&writer, draft->tensors[statement->target].extents, statement->vars,
                       statement->indices, m, true);
    if (random_chance(random, 40))
        draw_ranges(&writer, nodes, count);
}
