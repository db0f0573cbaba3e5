// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cores.h"

#include "base/integer.h"
#include "runtime/cgroup.h"

#include <dirent.h>
#include <hwloc.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>

const char *const binding_names[] = {"none", "distal", "outside"};

hwloc_topology_t cores_topology(void) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    if (hwloc_topology_load(topology) == 0)
        return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

// The affinity of this process's first thread. NULL without memory.
static hwloc_bitmap_t affinity(void) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    // How many processing units the system may have is not known in advance.
    for (size_t count = CPU_SETSIZE; set && count <= 1 << 20; count *= 2) {
        cpu_set_t *found = CPU_ALLOC(count);
        const size_t size = CPU_ALLOC_SIZE(count);
        const bool got = found && sched_getaffinity(0, size, found) == 0;
        for (size_t i = 0; got && i < count; i++)
            if (CPU_ISSET_S(i, size, found))
                hwloc_bitmap_set(set, (unsigned)i);
        if (found)
            CPU_FREE(found);
        if (got)
            break;
    }
    if (set && hwloc_bitmap_iszero(set))
        hwloc_bitmap_set(set, 0);
    return set;
}

hwloc_bitmap_t cores_allowed(hwloc_topology_t topology) {
    if (topology && !hwloc_topology_is_thissystem(topology))
        return hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    return affinity();
}

int64_t cores_count(hwloc_topology_t topology, hwloc_const_bitmap_t set) {
    const int cores = topology ? hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) : 0;
    if (cores <= 0)
        return max_i64(hwloc_bitmap_weight(set), 1);
    int64_t count = 0;
    for (int i = 0; i < cores; i++)
        count += hwloc_bitmap_intersects(hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i)->cpuset,
                                         set);
    return max_i64(count, 1);
}

static int64_t limited(int64_t cores, double quota) {
    return quota < (double)cores ? max_i64((int64_t)ceil(quota), 1) : cores;
}

int64_t cores_available(void) {
    hwloc_topology_t topology = cores_topology();
    hwloc_bitmap_t allowed = cores_allowed(topology);
    const int64_t cores = allowed ? cores_count(topology, allowed) : 1;
    hwloc_bitmap_free(allowed);
    if (topology)
        hwloc_topology_destroy(topology);
    return limited(cores, cgroup_limits("").cores);
}

// A set with one processing unit of each core, for which the cores themselves are to be taken. hwloc weighs
// parts of a machine by processing units; where cores have different numbers of them, that would give one
// core to two ranks.
static hwloc_topology_t one_unit_a_core(hwloc_topology_t topology, hwloc_const_bitmap_t set) {
    hwloc_topology_t copy = NULL;
    hwloc_bitmap_t units = hwloc_bitmap_dup(set);
    if (units && hwloc_topology_dup(&copy, topology) == 0) {
        hwloc_bitmap_singlify_per_core(topology, units, 0);
        if (hwloc_topology_restrict(copy, units, 0) != 0) {
            hwloc_topology_destroy(copy);
            copy = NULL;
        }
    }
    hwloc_bitmap_free(units);
    return copy;
}

// The units of `set` in the cores that have one in `units`.
static void widen(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_bitmap_t units) {
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    for (int i = 0; i < cores; i++) {
        const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, (unsigned)i);
        if (hwloc_bitmap_intersects(core->cpuset, units))
            hwloc_bitmap_or(units, units, core->cpuset);
    }
    hwloc_bitmap_and(units, units, set);
}

// Gives each rank a part of the set that all of them may use; false, and nothing is changed, where that
// cannot be done.
static bool split(hwloc_topology_t topology, int ranks, RankCores *shares) {
    hwloc_topology_t units = topology ? one_unit_a_core(topology, shares[0].set) : NULL;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    hwloc_bitmap_t *parts = calloc((size_t)ranks, sizeof *parts);
    hwloc_obj_t root = units ? hwloc_get_root_obj(units) : NULL;
    const bool ok = root && parts && hwloc_distrib(units, &root, 1, parts, (unsigned)ranks, INT_MAX, 0) == 0;
    for (int r = 0; ok && r < ranks; r++) {
        widen(topology, shares[r].set, parts[r]);
        hwloc_bitmap_copy(shares[r].set, parts[r]);
    }
    for (int r = 0; parts && r < ranks; r++)
        hwloc_bitmap_free(parts[r]);
    free(parts);
    if (units)
        hwloc_topology_destroy(units);
    return ok;
}

static int64_t fair_share(int64_t cores, int64_t ranks, int64_t rank) {
    // cppcheck-suppress zerodiv // there is at least one rank
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    return cores / ranks + (rank < cores % ranks);
}

static bool all_equal(int ranks, const RankCores *shares) {
    for (int r = 1; r < ranks; r++)
        if (!hwloc_bitmap_isequal(shares[r].set, shares[0].set))
            return false;
    return true;
}

// `total`: cores that all ranks may use at a time, 0 without such a limit.
static void share_equal_sets(hwloc_topology_t topology, int64_t total, int ranks, RankCores *shares) {
    for (int r = 0; r < ranks; r++) {
        int64_t before = 0, all = 0;
        for (int other = 0; other < ranks; other++) {
            const bool same = hwloc_bitmap_isequal(shares[r].set, shares[other].set);
            all += same;
            before += same && other < r;
        }
        shares[r].cores = fair_share(cores_count(topology, shares[r].set), all, before);
        shares[r].crowded = all > hwloc_bitmap_weight(shares[r].set) || (total > 0 && ranks > total);
        if (total > 0)
            shares[r].cores = min_i64(shares[r].cores, fair_share(total, ranks, r));
    }
}

int64_t cores_share(hwloc_topology_t topology, double quota, bool bind, int ranks, RankCores *shares,
                    CoreBinding *binding) {
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    for (int r = 0; all && r < ranks; r++)
        hwloc_bitmap_or(all, all, shares[r].set);
    const int64_t cores = all ? cores_count(topology, all) : 1, total = limited(cores, quota);
    const bool equal = all_equal(ranks, shares);
    const bool whole =
        !topology || !all || hwloc_bitmap_isincluded(hwloc_topology_get_allowed_cpuset(topology), all);
    *binding = equal && whole ? BINDING_NONE : BINDING_OUTSIDE;
    if (bind && equal && ranks > 1 && ranks <= total && split(topology, ranks, shares))
        *binding = BINDING_DISTAL;
    share_equal_sets(topology, total < cores ? total : 0, ranks, shares);
    hwloc_bitmap_free(all);
    return total;
}

bool cores_bind(hwloc_const_bitmap_t set) {
    const size_t count = (size_t)hwloc_bitmap_last(set) + 1;
    cpu_set_t *units = CPU_ALLOC(count);
    DIR *threads = opendir("/proc/self/task");
    bool ok = units && threads && count > 0;
    if (ok) {
        CPU_ZERO_S(CPU_ALLOC_SIZE(count), units);
        for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
            CPU_SET_S((size_t)i, CPU_ALLOC_SIZE(count), units);
    }
    // Those that libraries have started already, too; later ones are bound like the thread that starts them.
    const struct dirent *entry;
    // cppcheck-suppress readdirCalled // no other thread reads this stream
    while (ok && (entry = readdir(threads))) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0)
            ok = sched_setaffinity((pid_t)thread, CPU_ALLOC_SIZE(count), units) == 0;
    }
    if (threads)
        closedir(threads);
    if (units)
        CPU_FREE(units);
    return ok;
}
