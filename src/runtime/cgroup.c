// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/cgroup.h"

#include "base/integer.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// The groups of one hierarchy that this process is in: a folder, and those above it down to `length`
// characters.
typedef struct {
    char folder[PATH_MAX];
    size_t length;
} Groups;

typedef struct {
    const char *controller; // of version 1; NULL: the one hierarchy of version 2
    void (*limit)(const char *folder, CgroupLimits *limits);
} Hierarchy;

// The first number in a file, alone or after `label`; `otherwise` where there is none, as for "max".
static int64_t number_in(const char *folder, const char *name, const char *label, int64_t otherwise) {
    char path[PATH_MAX + 64], line[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return otherwise;
    long long value;
    bool found = false;
    const size_t length = strlen(label);
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, label, length) == 0 && sscanf(line + length, "%lld", &value) == 1;
    fclose(file);
    return found ? (int64_t)value : otherwise;
}

static void limit_bytes(CgroupLimits *limits, int64_t limit, int64_t used, int64_t reclaimable) {
    if (limit != INT64_MAX)
        limits->free_bytes = min_i64(limits->free_bytes, max_i64(limit - max_i64(used - reclaimable, 0), 0));
}

static void limit_cores(CgroupLimits *limits, int64_t quota, int64_t period) {
    if (quota > 0 && period > 0)
        limits->cores = fmin(limits->cores, (double)quota / (double)period);
}

static void limit_version_2(const char *folder, CgroupLimits *limits) {
    // Above `high`, a group is slowed down until it is of no use.
    const int64_t limit = min_i64(number_in(folder, "memory.max", "", INT64_MAX),
                                  number_in(folder, "memory.high", "", INT64_MAX));
    limit_bytes(limits, limit, number_in(folder, "memory.current", "", 0),
                number_in(folder, "memory.stat", "inactive_file ", 0));
    char path[PATH_MAX + 64];
    long long quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder); // "max 100000" without a limit
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%lld %lld", &quota, &period) == 2)
        limit_cores(limits, quota, period);
    if (file)
        fclose(file);
}

static void limit_memory(const char *folder, CgroupLimits *limits) {
    limit_bytes(limits, number_in(folder, "memory.limit_in_bytes", "", INT64_MAX),
                number_in(folder, "memory.usage_in_bytes", "", 0),
                number_in(folder, "memory.stat", "total_inactive_file ", 0));
}

static void limit_cpu(const char *folder, CgroupLimits *limits) {
    limit_cores(limits, number_in(folder, "cpu.cfs_quota_us", "", -1),
                number_in(folder, "cpu.cfs_period_us", "", -1));
}

// Whether a list with commas has this word.
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (; *list; list += strcspn(list, ",") + (list[strcspn(list, ",")] == ','))
        if (strcspn(list, ",\n") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

// The path of this process's group in the hierarchy: of a line "4:memory:/path", of version 2 "0::/path".
static bool find_group(const char *root, const Hierarchy *hierarchy, char *group) {
    char name[PATH_MAX], line[PATH_MAX + 256];
    snprintf(name, sizeof name, "%s/proc/self/cgroup", root);
    FILE *file = fopen(name, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        found = hierarchy->controller ? has_word(controllers, hierarchy->controller) : !*controllers;
        if (found)
            snprintf(group, PATH_MAX, "%s", path);
    }
    if (file)
        fclose(file);
    return found;
}

// Takes "\040" and the like, with which a file name in a table of mounts is written, for the characters.
static void unescape(char *path) {
    char *to = path;
    for (const char *from = path; *from; to++) {
        unsigned code;
        if (*from == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

// What is left of the path of a group below the group that is mounted; "" where it is not below it, as in a
// container that does not see where it is.
static const char *below(const char *group, const char *mounted) {
    const size_t length = strcmp(mounted, "/") == 0 ? 0 : strlen(mounted);
    const bool is_below = strncmp(group, mounted, length) == 0 && (group[length] == '/' || !group[length]);
    return is_below && !strstr(group, "/..") && strcmp(group, "/") != 0 ? group + length : "";
}

// The line of /proc/self/mountinfo with the hierarchy: "32 31 0:29 MOUNTED POINT rw - cgroup cgroup rw,cpu".
static bool find_groups(const char *root, const Hierarchy *hierarchy, Groups *groups) {
    char group[PATH_MAX], name[PATH_MAX], line[3 * PATH_MAX];
    if (!find_group(root, hierarchy, group))
        return false;
    snprintf(name, sizeof name, "%s/proc/self/mountinfo", root);
    FILE *file = fopen(name, "re");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char mounted[PATH_MAX], point[PATH_MAX], type[32], options[512];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, point) != 2 ||
            sscanf(rest, " - %31s %*s %511s", type, options) != 2)
            continue;
        found = hierarchy->controller
                    ? strcmp(type, "cgroup") == 0 && has_word(options, hierarchy->controller)
                    : strcmp(type, "cgroup2") == 0;
        unescape(mounted);
        unescape(point);
        const int length = snprintf(groups->folder, sizeof groups->folder, "%s%s", root, point);
        groups->length = (size_t)length;
        found = found && length > 0 && groups->length + strlen(group) < sizeof groups->folder;
        if (found) {
            const char *tail = below(group, mounted);
            memcpy(groups->folder + groups->length, tail, strlen(tail) + 1);
        }
    }
    if (file)
        fclose(file);
    return found;
}

CgroupLimits cgroup_limits(const char *root) {
    static const Hierarchy hierarchies[] = {
        {NULL, limit_version_2}, {"memory", limit_memory}, {"cpu", limit_cpu}};
    CgroupLimits limits = {INT64_MAX, INFINITY};
    for (size_t h = 0; h < sizeof hierarchies / sizeof *hierarchies; h++) {
        Groups groups;
        if (!find_groups(root, &hierarchies[h], &groups))
            continue;
        for (;;) {
            hierarchies[h].limit(groups.folder, &limits);
            if (strlen(groups.folder) <= groups.length)
                break;
            *strrchr(groups.folder, '/') = '\0';
        }
    }
    return limits;
}
