// SPDX-License-Identifier: BSD-3-Clause
// Transfers: the messages of the rank that has most of them, at the latency and the bandwidth of the level
// that they cross, and the parts that are copied from homes to buffers and back.
#include "cost/predict_data.h"

#include "base/integer.h"

#include <math.h>

// The ranks that exchange data in one step of a transfer.
typedef struct {
    double members; // of a group that has the same footprint
    int level;      // the outermost level of which they are in different units
    double share;   // of the ranks of a unit, for which something comes from outside
} Peers;

// Processors, and the dimensions in which the members of a group differ.
typedef struct {
    const Grid *grid;
    int64_t per_rank;
    bool differ[MAX_MACHINE_ORDER];
} Groups;

// Ranks with one footprint; or, where the result of one owner goes to the others, the owners.
static Groups groups_of(const StatementPlan *plan, int transfer) {
    const Footprints *footprints = plan->footprints[transfer];
    const Home *home = &plan->homes[plan->spmd->transfers[transfer].access->tensor->id];
    const bool owners = operations[plan_figures(plan)->transfers[transfer].pattern]->from_contributor;
    const bool by_layout = owners && home->kind == HOME_LAYOUT;
    Groups groups = {by_layout ? &home->layout.grid : &footprints->grid,
                     by_layout ? home->per_rank : footprints->per_rank,
                     {false}};
    for (int d = 0; d < groups.grid->order; d++)
        groups.differ[d] =
            by_layout ? home->layout.dims[d].kind == PLACE_REPLICATE : owners || !footprints->related_dims[d];
    return groups;
}

// Of `ranks` consecutive ranks, how many are in one group (`differ`), or how many groups there are.
static double members_among(const Groups *groups, double ranks, bool differ) {
    double stride = 1 / (double)groups->per_rank, members = 1;
    for (int d = groups->grid->order - 1; d >= 0; d--) {
        const double extent = (double)groups->grid->extents[d];
        if (groups->differ[d] == differ && stride < ranks)
            members *= fmin(stride < 1 ? fmax(1, extent * stride) : extent, ceil(ranks / fmax(1, stride)));
        stride *= extent;
    }
    return members;
}

// Collectives are among the ranks of a group, and each unit gets what comes from outside once for its
// members; single messages come from ranks of other groups.
static Peers find_peers(const Groups *groups, const ModelRanks *machine, bool is_collective) {
    const double ranks = (double)machine->ranks;
    Peers peers = {.members = members_among(groups, ranks, true)};
    const bool others = !is_collective || peers.members < 2;
    const double all = others ? ranks : peers.members;
    peers.members = fmax(2, others ? fmin(ranks, members_among(groups, ranks, false)) : peers.members);
    for (int l = 0; l < machine->machine->level_count; l++) {
        const double in_unit = fmax(1, machine->in_unit[l]);
        const double together = others ? in_unit : members_among(groups, in_unit, true);
        peers.level = l;
        peers.share = others ? 1 : 1 / together;
        if (together < all)
            break;
    }
    return peers;
}

static int64_t busiest(const int64_t *values, int64_t count) {
    int64_t at = 0;
    for (int64_t r = 1; r < count; r++)
        at = values[r] > values[at] ? r : at;
    return at;
}

static double sum_of(const int64_t *values, int64_t count) {
    double sum = 0;
    for (int64_t r = 0; r < count; r++)
        sum += (double)values[r];
    return sum;
}

static double network_seconds(const StatementPlan *plan, const ModelRanks *machine, int transfer) {
    const TransferFigures *figures = &plan_figures(plan)->transfers[transfer];
    const int64_t rank = busiest(figures->bytes, plan->ranks);
    const double bytes = (double)figures->bytes[rank];
    const double messages = fmax(1, (double)figures->messages[busiest(figures->messages, plan->ranks)]);
    if (bytes == 0)
        return 0;
    const Operation *operation = operations[figures->pattern];
    const bool is_collective = operation->timed_as != COLLECTIVE_NONE;
    const Groups groups = groups_of(plan, transfer);
    const Peers peers = find_peers(&groups, machine, is_collective);
    const double latency = machine->machine->levels[peers.level].latency + machine->machine->overhead;
    if (!is_collective)
        return messages *
               (latency + model_message_seconds(machine, peers.level, peers.share, bytes / messages));
    const double factor = curve_at(&machine->machine->factors[operation->timed_as], peers.members);
    double calls = fmin((double)figures->steps, messages), all = bytes;
    if (operation->timed_as == COLLECTIVE_BROADCAST) {
        // All members take part each time. What is read counts at all but the root, results at the root.
        const double counted = operation->from_contributor ? 1 : peers.members - 1;
        const double counts = counted * fmax(1, (double)plan->ranks / peers.members);
        calls = fmax(messages, sum_of(figures->messages, plan->ranks) / counts);
        all = fmax(bytes, sum_of(figures->bytes, plan->ranks) / counts);
    }
    return calls * (latency * ceil(log2(peers.members)) +
                    factor * model_message_seconds(machine, peers.level, peers.share, all / calls));
}

// Bytes of the values that the busiest rank reads and writes to fill its copy of a sparse operand, with their
// positions in both; 0 where there is none, or it is not known.
static double copied_entries(const StatementPlan *plan, int transfer) {
    enum { POSITION_BYTES = 4 };
    const EntryFigures *entries = plan->entries[transfer];
    const double size = (double)type_info(plan->spmd->transfers[transfer].access->tensor->type)->size;
    double most = 0;
    for (int64_t r = 0; entries && entries->used && r < plan->ranks; r++)
        most = fmax(most, (double)entries->used[r]);
    return 2 * (size + POSITION_BYTES) * most;
}

// Bytes read and written in memory to fill buffers with what is at home, to clear what is added to, and to
// add up.
static double copied_bytes(const StatementPlan *plan, int transfer) {
    const Transfer *moved = &plan->spmd->transfers[transfer];
    const TransferFigures *figures = &plan_figures(plan)->transfers[transfer];
    const int64_t rank = busiest(figures->buffer_bytes, plan->ranks);
    const double size = (double)type_info(moved->access->tensor->type)->size;
    Around around = {.steps = (double)figures->steps};
    double counts[MAX_VARS];
    for (int l = 0; l < moved->loop_count; l++)
        around.loops[around.count++] = moved->loops[l];
    if (tensor_is_sparse(moved->access->tensor))
        return copied_entries(plan, transfer);
    if (figures->io || plan->processors == 0 ||
        !nest_counts(plan, moved->nest, min_i64(rank * plan->per_rank, plan->processors - 1), &around,
                     counts))
        return 0;
    const double step = access_elements(moved->statement_access, counts) * size;
    const bool in_place = figures->buffer_bytes[rank] == 0;
    if (moved->kind == TRANSFER_FETCH)
        return in_place ? 0 : 2 * fmax(0, step * around.steps - (double)figures->bytes[rank]);
    return in_place ? step : 4 * step * around.steps;
}

// Of the rank that takes longest, in requests as large as the runs of elements are.
static double disk_seconds(const TransferFigures *figures, const ModelRanks *machine) {
    double most = 0;
    for (int64_t r = 0; figures->io && r < machine->ranks; r++) {
        const IoCounts *io = &figures->io[r];
        double seconds = 0;
        if (io->reads > 0)
            seconds += (double)io->bytes_read /
                       model_disk_rate(machine, false, (double)io->bytes_read / (double)io->reads);
        if (io->writes > 0)
            seconds += (double)io->bytes_written /
                       model_disk_rate(machine, true, (double)io->bytes_written / (double)io->writes);
        most = fmax(most, seconds);
    }
    return most;
}

TransferSeconds predict_transfer(const StatementPlan *plan, const ModelRanks *machine, int transfer) {
    const TransferFigures *figures = &plan_figures(plan)->transfers[transfer];
    if (figures->unknown)
        return (TransferSeconds){.known = false};
    const double copied = copied_bytes(plan, transfer);
    return (TransferSeconds){.known = true,
                             .network = network_seconds(plan, machine, transfer),
                             .disk = disk_seconds(figures, machine),
                             .memory = copied > 0 ? copied / model_copy_rate(machine, copied) : 0};
}
