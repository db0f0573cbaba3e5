// SPDX-License-Identifier: BSD-3-Clause
// The order of a leaf's loops where the schedule leaves it open: the "memory order" of Carr, McKinley and
// Tseng (1994), in which the loop with the fewest cache lines an iteration is innermost.
#include "lower/bounds.h"
#include "lower/leaf.h"

// Eighths of a cache line that an access moves on in one iteration of a loop.
enum { SAME = 0, NEXT = 1, OTHER_LINE = 8 };

// Whether an iteration of the loop moves the mode on by one.
static bool moves_by_one(const LeafSite *site, const Access *access, int mode, int loop) {
    const AffineIndex *index = access->indices[mode];
    if (!assignment_window(site->cin->assignment))
        return bounds_unit_source(site->cin, site->assign, loop) == access->vars[mode];
    return index ? bounds_index_factor(site->cin, index, loop) == 1
                 : bounds_has_unit_stride(site->cin, access->vars[mode], loop);
}

static int lines_moved(const LeafSite *site, const Access *access, int loop) {
    const Cin *cin = site->cin;
    const Tensor *tensor = access->tensor;
    int moved = 0, last = -1;
    for (int m = 0; m < tensor->order; m++)
        if (bounds_depends(cin, access->vars[m], loop)) {
            last = m;
            moved++;
        }
    if (moved == 0)
        return SAME;
    return moved == 1 && access->vars[last] == access_contiguous_var(access) &&
                   moves_by_one(site, access, last, loop)
               ? NEXT
               : OTHER_LINE;
}

typedef struct {
    const LeafSite *site;
    int loop;
    int cost;
} Iteration;

static void add_access(void *context, const Access *access) {
    Iteration *iteration = context;
    iteration->cost += lines_moved(iteration->site, access, iteration->loop);
}

static int cost_of(const LeafSite *site, int loop) {
    Iteration iteration = {site, loop, 0};
    expr_accesses(site->assign->rhs, add_access, &iteration);
    add_access(&iteration, site->assign->lhs); // read and written
    add_access(&iteration, site->assign->lhs);
    return iteration.cost;
}

void leaf_order(const LeafSite *site, int *loops) {
    int costs[MAX_VARS], count = 0;
    for (int i = 0; i < site->loop_count; i++) {
        int loop = site->loops[i], cost = cost_of(site, loop), at = count++;
        for (; at > 0 && costs[at - 1] < cost; at--) {
            loops[at] = loops[at - 1];
            costs[at] = costs[at - 1];
        }
        loops[at] = loop;
        costs[at] = cost;
    }
    // Outside of the innermost loop, those whose iterations write distinct elements, for threads; then sums.
    // On a GPU all of them, as threads are many.
    int sums[MAX_VARS], sum_count = 0, distinct_count = 0;
    const int last = cin_is_on_gpu(site->cin) ? count : count - 1;
    for (int i = 0; i < last; i++) {
        if (leaf_determines(site, loops[i], 0))
            loops[distinct_count++] = loops[i];
        else
            sums[sum_count++] = loops[i];
    }
    for (int i = 0; i < sum_count; i++)
        loops[distinct_count + i] = sums[i];
}
