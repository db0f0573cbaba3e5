// SPDX-License-Identifier: BSD-3-Clause
// Control groups: what the groups of this process let it have, in version 1 and version 2 of Linux's
// interface. A group is bounded by its own limits and by those of every group that it is in.
#ifndef DISTAL_RUNTIME_CGROUP_H
#define DISTAL_RUNTIME_CGROUP_H

#include <stdint.h>

typedef struct {
    int64_t free_bytes; // that the group with the least has left; what files have in its cache counts as
                        // free. INT64_MAX: no limit
    double cores;       // processor seconds in a second; INFINITY: no limit
} CgroupLimits;

// `root` comes before all paths ("/proc/self/cgroup", ...): "" on a system.
CgroupLimits cgroup_limits(const char *root);

#endif
