// SPDX-License-Identifier: BSD-3-Clause
// Tiles: where two loops of a leaf each walk along a tensor that the other strides through, as in a
// transposition, both are made in blocks, so that cache lines are used up before they are evicted.
#include "lower/leaf.h"
#include "lower/transfers.h"
#include "schedule/transform.h"

#include <string.h>

// The innermost loop strides through INNER cache lines, 16 KiB, which stay in a first-level cache, and their
// pages in the TLB, while the other loop uses them up. Its OUTER iterations are few, so that there are tiles
// for many threads.
enum { INNER = 256, OUTER = 32 };

// The leaf's loops of a nest, with what is needed to order them.
static LeafSite site_of(const Cin *cin, const Nest *nest) {
    TransferArray transfers = {0};
    transfers_of_nest(cin, nest, 0, &transfers);
    LeafSite site = {.cin = cin, .assign = leaf_assign(cin, nest, 0, &transfers)};
    int loops[MAX_VARS];
    int count = sequential_loops(cin, nest, loops), depth = leaf_depth(cin, nest);
    for (int i = 0; i < nest->loop_count; i++)
        site.outside[nest->loops[i]] = true;
    for (int i = depth; i < count; i++) {
        site.outside[loops[i]] = false;
        site.loops[site.loop_count++] = loops[i];
    }
    return site;
}

// Whether a directive is about the loop, or other variables depend on it beside those that it replaces.
static bool is_mentioned(const Cin *cin, int loop) {
    for (int64_t r = 0; r < cin->relations.count; r++)
        if (relation_operands(cin->relations.items[r]) >> loop & 1)
            return true;
    for (int64_t d = 0; d < cin->directives.count; d++)
        if (directive_is_about(cin->directives.items[d], loop))
            return true;
    return false;
}

static void split(Cin *cin, int loop, int64_t block, int children[2]) {
    const char *base = cin->vars[loop].name;
    const Span span = cin->vars[loop].span;
    NewVar outer = transform_fresh_var(cin, base, 'o', span),
           inner = transform_fresh_var(cin, base, 'i', span);
    Relation relation = {&relation_split, span, .parent = {loop}, .numbers = {int_const(cin->arena, block)}};
    transform_derive(cin, &relation, (const NewVar[]){outer, inner});
    memcpy(children, relation.child, sizeof relation.child);
    cin->ordered[children[0]] = cin->ordered[children[1]] = true;
}

const Cin *tile_leaf(const Cin *cin) {
    if (cin_nest_count(cin) > 1 || cin->var_count + 4 > MAX_VARS)
        return cin;
    const Nest nest = cin_nest(cin, 0);
    LeafSite site = site_of(cin, &nest);
    int order[MAX_VARS];
    if (site.loop_count < 2 || !leaf_is_open(&site))
        return cin;
    leaf_order(&site, order);
    const int last = site.loop_count - 1, innermost = order[last];
    const int partner = leaf_crossing_loop(&site, innermost);
    if (partner < 0 || is_mentioned(cin, innermost) || is_mentioned(cin, partner))
        return cin;
    Cin *tiled = cin_copy(cin);
    int outer[2], inner[2], result[MAX_VARS], count = 0;
    split(tiled, partner, OUTER, outer);
    split(tiled, innermost, INNER, inner);
    for (int i = 0; i < last; i++) {
        if (order[i] != partner) {
            result[count++] = order[i];
            continue;
        }
        result[count++] = outer[0];
        result[count++] = inner[0];
    }
    result[count++] = outer[1];
    result[count++] = inner[1];
    transform_reorder(tiled, result, count);
    return tiled;
}
