// SPDX-License-Identifier: BSD-3-Clause
// Limits of control groups, read from trees of files as systems have them.
#include "runtime/cgroup.h"

#include "base/text.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t MIB = 1 << 20;

typedef struct {
    Arena *arena;
    char root[64];
} Fixture;

static void remove_tree(const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            char inner[1024];
            snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
            remove_tree(inner);
        }
    if (folder)
        closedir(folder);
    remove(path);
}

static int setup(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    snprintf(fixture->root, sizeof fixture->root, "/tmp/distal cgroup XXXXXX");
    assert_non_null(mkdtemp(fixture->root));
    *state = fixture;
    return 0;
}

static int teardown(void **state) {
    Fixture *fixture = *state;
    remove_tree(fixture->root);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

// Writes a file below the root, with the folders that it is in.
static void put(Fixture *fixture, const char *name, const char *text) {
    char *path = arena_printf(fixture->arena, "%s%s", fixture->root, name);
    for (char *end = strchr(path + strlen(fixture->root) + 1, '/'); end; end = strchr(end + 1, '/')) {
        *end = '\0';
        mkdir(path, 0700);
        *end = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_mebibytes(Fixture *fixture, const char *name, int64_t count) {
    put(fixture, name, arena_printf(fixture->arena, "%lld\n", (long long)(count * MIB)));
}

static void assert_limits(const Fixture *fixture, int64_t mebibytes, double cores) {
    const CgroupLimits limits = cgroup_limits(fixture->root);
    assert_int_equal(limits.free_bytes, mebibytes < 0 ? INT64_MAX : mebibytes * MIB);
    assert_true(limits.cores == cores);
}

static const char unified[] =
    "25 30 0:22 / /sys rw,relatime shared:7 - sysfs sysfs rw\n"
    "31 25 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

static void test_no_groups(void **state) {
    Fixture *fixture = *state;
    assert_limits(fixture, -1, INFINITY);
    put(fixture, "/proc/self/cgroup", "0::/user.slice\n");
    assert_limits(fixture, -1, INFINITY); // not mounted
    put(fixture, "/proc/self/mountinfo", unified);
    assert_limits(fixture, -1, INFINITY); // without controllers
    put(fixture, "/proc/self/cgroup", "nonsense\n7\n:\n::\n");
    put(fixture, "/proc/self/mountinfo", "nonsense - \n - cgroup2\n\n");
    assert_limits(fixture, -1, INFINITY);
}

// The limits of a job, of what is above it, and not those of its neighbours.
static void test_version_2(void **state) {
    Fixture *fixture = *state;
    put(fixture, "/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    put(fixture, "/proc/self/mountinfo", unified);
    put(fixture, "/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
    put(fixture, "/sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/job_7/memory.max", 1000);
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/job_7/memory.current", 600);
    put(fixture, "/sys/fs/cgroup/slurm/job_7/memory.stat",
        "anon 5\ninactive_file 104857600\nactive_file 9\n");
    put(fixture, "/sys/fs/cgroup/slurm/cpu.max", "150000 100000\n");
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/job_8/memory.max", 1);
    put(fixture, "/sys/fs/cgroup/slurm/job_8/cpu.max", "1000 100000\n");
    put(fixture, "/sys/fs/cgroup/memory.stat", "inactive_file 1\n");
    assert_limits(fixture, 500, 1.5);
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/memory.high", 450);
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/memory.current", 50);
    assert_limits(fixture, 400, 1.5);
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/job_7/step_0/memory.max", 200);
    put_mebibytes(fixture, "/sys/fs/cgroup/slurm/job_7/step_0/memory.current", 300);
    put(fixture, "/sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "50000 100000\n");
    assert_limits(fixture, 0, 0.5);
}

static const char separate[] =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "36 31 0:32 / /sys/fs/cgroup/memory rw shared:3 master:4 - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

// With the empty hierarchy of version 2 beside it.
static void test_version_1(void **state) {
    Fixture *fixture = *state;
    put(fixture, "/proc/self/cgroup",
        "9:cpuset:/other\n5:cpu,cpuacct:/batch/job\n4:memory:/batch/job\n0::/\n");
    put(fixture, "/proc/self/mountinfo", separate);
    put(fixture, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(fixture, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n");
    put_mebibytes(fixture, "/sys/fs/cgroup/memory/batch/memory.limit_in_bytes", 800);
    put_mebibytes(fixture, "/sys/fs/cgroup/memory/batch/memory.usage_in_bytes", 700);
    put(fixture, "/sys/fs/cgroup/memory/batch/memory.stat",
        "inactive_file 0\ntotal_inactive_file 209715200\n");
    put_mebibytes(fixture, "/sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes", 600);
    put_mebibytes(fixture, "/sys/fs/cgroup/memory/batch/job/memory.usage_in_bytes", 100);
    put(fixture, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put(fixture, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put(fixture, "/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_quota_us", "600000\n");
    put(fixture, "/sys/fs/cgroup/cpu,cpuacct/batch/cpu.cfs_period_us", "100000\n");
    put(fixture, "/sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "1\n");
    assert_limits(fixture, 300, 6);
    put_mebibytes(fixture, "/sys/fs/cgroup/memory/batch/job/memory.limit_in_bytes", 250);
    assert_limits(fixture, 150, 6);
}

// A part of the hierarchy is mounted, and the path of the group is one of the host, or of another namespace.
static void test_containers(void **state) {
    Fixture *fixture = *state;
    static const char *const groups[] = {"0::/docker/abc/inner\n", "0::/docker/abc\n", "0::/../def\n",
                                         "0::/\n", "0::/docker/abcdef\n"};
    static const int64_t mebibytes[] = {50, 90, 90, 90, 90};
    put(fixture, "/proc/self/mountinfo",
        "31 25 0:27 /docker/abc /some\\040where/cgroup rw - cgroup2 cgroup2 rw\n");
    put_mebibytes(fixture, "/some where/cgroup/memory.max", 90);
    put_mebibytes(fixture, "/some where/cgroup/inner/memory.max", 50);
    put_mebibytes(fixture, "/some where/cgroup/docker/abc/memory.max", 1);
    put_mebibytes(fixture, "/some where/cgroup/def/memory.max", 1);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        put(fixture, "/proc/self/cgroup", groups[i]);
        assert_limits(fixture, mebibytes[i], INFINITY);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_no_groups),
        TEST(test_version_2),
        TEST(test_version_1),
        TEST(test_containers),
    };
    return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
