// SPDX-License-Identifier: BSD-3-Clause
// Cores of a node, as hwloc finds them, and their distribution over the ranks of the node. Without MPI, so
// that the machines of tests can be synthetic ones.
#ifndef DISTAL_RUNTIME_CORES_H
#define DISTAL_RUNTIME_CORES_H

#include <stdbool.h>
#include <stdint.h>

// As in <hwloc.h>, which only the files that call it include, as it includes <limits.h> and <sched.h>.
typedef struct hwloc_topology *hwloc_topology_t;
typedef struct hwloc_bitmap_s *hwloc_bitmap_t;
typedef const struct hwloc_bitmap_s *hwloc_const_bitmap_t;

// The topology of this node, or the one that HWLOC_SYNTHETIC or HWLOC_XMLFILE names. NULL where there is
// none; the caller destroys it.
hwloc_topology_t cores_topology(void);

// The processing units that this process may use; in a topology of another machine (HWLOC_SYNTHETIC) all of
// them. The caller frees it; NULL without memory.
hwloc_bitmap_t cores_allowed(hwloc_topology_t topology);

// Cores with a processing unit in the set; without a topology (NULL), processing units.
int64_t cores_count(hwloc_topology_t topology, hwloc_const_bitmap_t set);

// Cores that this process may use, the limit of its control group included; at least 1.
int64_t cores_available(void);

typedef enum {
    BINDING_NONE,    // ranks may use each other's cores
    BINDING_DISTAL,  // each rank has been given cores of its own
    BINDING_OUTSIDE, // the launcher, or what started it, restricts the processing units of ranks
} CoreBinding;
extern const char *const binding_names[]; // "none", "distal", "outside"

typedef struct {
    hwloc_bitmap_t set; // the processing units that the rank may use
    int64_t cores;      // for the threads of the rank; 0 where there are fewer than ranks
    bool crowded;       // fewer processing units than ranks that may use them
} RankCores;

// Distributes the cores of a node over its ranks. `shares[r].set` is what rank r may use before; where
// `bind`, where all ranks may use the same and it has a core for each, it becomes a part of its own, near
// each other in the topology. Ranks that may use the same share its cores fairly, the first of them getting
// what is left over. `quota`: cores that all may use together, INFINITY without a limit. Returns the cores of
// the node that the ranks may use.
int64_t cores_share(hwloc_topology_t topology, double quota, bool bind, int ranks, RankCores *shares,
                    CoreBinding *binding);

// Binds all threads of this process to the set; false where the system does not let it.
bool cores_bind(hwloc_const_bitmap_t set);

#endif
