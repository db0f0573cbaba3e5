// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/node.h"

#include "base/integer.h"
#include "memory/memory.h"
#include "runtime/cgroup.h"
#include "runtime/wait.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

int64_t node_free_memory(MPI_Comm node) {
    const int64_t machine = memory_available(), group = cgroup_limits("").free_bytes;
    int64_t available =
        machine < 0 && group == INT64_MAX ? -1 : min_i64(machine < 0 ? group : machine, group);
    all_reduce(&available, 1, MPI_INT64_T, MPI_MIN, node);
    return available;
}

// What the first process of a node decides for each.
typedef struct {
    int64_t cores, node_cores;
    int crowded, binding;
} Decision;

// The sets of all processes, `words` each, become what each has in the end.
static void decide(hwloc_topology_t topology, bool bind, int size, int words, unsigned long *sets,
                   Decision *decisions) {
    RankCores *shares = calloc((size_t)size, sizeof *shares);
    hwloc_bitmap_t simulated =
        topology && !hwloc_topology_is_thissystem(topology) ? cores_allowed(topology) : NULL;
    bool ok = shares != NULL;
    for (int r = 0; ok && r < size; r++) {
        shares[r].set = simulated ? hwloc_bitmap_dup(simulated) : hwloc_bitmap_alloc();
        ok = shares[r].set &&
             (simulated || hwloc_bitmap_from_ulongs(shares[r].set, (unsigned)words, &sets[r * words]) == 0);
    }
    CoreBinding binding = BINDING_NONE;
    const int64_t cores =
        ok ? cores_share(topology, cgroup_limits("").cores, bind, size, shares, &binding) : 1;
    for (int r = 0; r < size; r++) {
        decisions[r] = (Decision){1, cores, false, (int)binding};
        if (!ok)
            continue;
        decisions[r].cores = shares[r].cores;
        decisions[r].crowded = shares[r].crowded;
        hwloc_bitmap_to_ulongs(shares[r].set, (unsigned)words, &sets[r * words]);
    }
    for (int r = 0; shares && r < size; r++)
        hwloc_bitmap_free(shares[r].set);
    hwloc_bitmap_free(simulated);
    free(shares);
}

static void print_units(hwloc_const_bitmap_t set, char *units) {
    if (hwloc_bitmap_list_snprintf(units, UNITS_LENGTH, set) >= UNITS_LENGTH)
        memcpy(units + UNITS_LENGTH - 4, "...", 4);
}

// Applies the decision: binds this process where it says so. Collective, as is what comes of it.
static CoreShare apply(const Decision *decision, hwloc_const_bitmap_t set, bool simulated, MPI_Comm node) {
    CoreShare share = {.cores = decision->cores,
                       .crowded = decision->crowded,
                       .node_cores = decision->node_cores,
                       .binding = (CoreBinding)decision->binding};
    print_units(set, share.units);
    int bound = share.binding != BINDING_DISTAL || simulated || cores_bind(set);
    all_reduce(&bound, 1, MPI_INT, MPI_LAND, node);
    if (!bound)
        share.binding = BINDING_NONE;
    return share;
}

// The first process of the node decides, so that one only looks at the topology (`uses_topology`), which
// takes long where all do at once.
static CoreShare share_cores(MPI_Comm node, bool uses_topology, bool bind) {
    int size, rank;
    MPI_Comm_size(node, &size);
    MPI_Comm_rank(node, &rank);
    hwloc_topology_t topology = uses_topology && rank == 0 ? cores_topology() : NULL;
    int simulated = topology && !hwloc_topology_is_thissystem(topology);
    broadcast(&simulated, 1, MPI_INT, 0, node);
    hwloc_bitmap_t set = cores_allowed(topology);
    int words = set ? hwloc_bitmap_nr_ulongs(set) : 1;
    all_reduce(&words, 1, MPI_INT, MPI_MAX, node);
    unsigned long *own = calloc((size_t)words, sizeof *own), *sets = NULL;
    Decision decision = {1, 1, false, BINDING_NONE}, *decisions = NULL;
    if (rank == 0) {
        sets = calloc((size_t)words * (size_t)size, sizeof *sets);
        decisions = calloc((size_t)size, sizeof *decisions);
    }
    CoreShare share = {.cores = 1, .node_cores = 1}; // where memory is short
    int ok = set && own && (rank != 0 || (sets && decisions));
    all_reduce(&ok, 1, MPI_INT, MPI_LAND, node);
    if (ok) {
        hwloc_bitmap_to_ulongs(set, (unsigned)words, own);
        MPI_Gather(own, words, MPI_UNSIGNED_LONG, sets, words, MPI_UNSIGNED_LONG, 0, node);
        if (rank == 0)
            decide(topology, bind, size, words, sets, decisions);
        MPI_Scatter(sets, words, MPI_UNSIGNED_LONG, own, words, MPI_UNSIGNED_LONG, 0, node);
        MPI_Scatter(decisions, sizeof decision, MPI_BYTE, &decision, sizeof decision, MPI_BYTE, 0, node);
        hwloc_bitmap_from_ulongs(set, (unsigned)words, own);
        share = apply(&decision, set, simulated, node);
    }
    free(own);
    free(sets);
    free(decisions);
    hwloc_bitmap_free(set);
    if (topology)
        hwloc_topology_destroy(topology);
    return share;
}

CoreShare node_share_cores(MPI_Comm node, bool bind) {
    return share_cores(node, true, bind);
}

bool node_is_crowded(MPI_Comm node) {
    return share_cores(node, false, false).crowded;
}
