// SPDX-License-Identifier: BSD-3-Clause
// Distributing the cores of a node over its ranks, on synthetic machines.
#include "runtime/cores.h"

#include <hwloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 32 };

typedef struct {
    hwloc_topology_t topology;
    RankCores shares[MOST];
    CoreBinding binding;
    int64_t total;
} Node;

static Node node_create(const char *description) {
    Node node = {0};
    assert_int_equal(hwloc_topology_init(&node.topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(node.topology, description), 0);
    assert_int_equal(hwloc_topology_load(node.topology), 0);
    return node;
}

static void clear(Node *node) {
    for (int r = 0; r < MOST; r++) {
        hwloc_bitmap_free(node->shares[r].set);
        node->shares[r] = (RankCores){0};
    }
}

static void node_free(Node *node) {
    clear(node);
    hwloc_topology_destroy(node->topology);
}

// Shares the node among ranks that may use the units of `allowed` each, NULL: all.
static void share(Node *node, int ranks, const char *allowed, double quota, bool bind) {
    clear(node);
    for (int r = 0; r < ranks; r++) {
        node->shares[r].set = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(node->topology));
        if (allowed)
            assert_int_equal(hwloc_bitmap_list_sscanf(node->shares[r].set, allowed), 0);
    }
    node->total = cores_share(node->topology, quota, bind, ranks, node->shares, &node->binding);
}

static void assert_units(const Node *node, int rank, const char *expected) {
    char units[256];
    hwloc_bitmap_list_snprintf(units, sizeof units, node->shares[rank].set);
    assert_string_equal(units, expected);
}

// Whatever the machine, bound ranks have whole cores of their own, and all cores are some rank's, but for
// what does not divide evenly.
static void test_disjoint_cores(void **state) {
    (void)state;
    static const char *const machines[] = {"core:1 pu:1",
                                           "core:2 pu:1",
                                           "pack:2 core:6 pu:2",
                                           "pack:2 numa:2 core:3 pu:1",
                                           "pack:3 l3:2 core:2 pu:4",
                                           "numa:4 pack:1 core:5 pu:2",
                                           "pu:8"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        Node node = node_create(machines[m]);
        const int64_t cores = cores_count(node.topology, hwloc_topology_get_allowed_cpuset(node.topology));
        for (int ranks = 2; ranks <= MOST && ranks <= cores + 3; ranks++) {
            share(&node, ranks, NULL, INFINITY, true);
            assert_int_equal(node.total, cores);
            assert_int_equal(node.binding, ranks <= cores ? BINDING_DISTAL : BINDING_NONE);
            int64_t sum = 0;
            for (int r = 0; r < ranks; r++) {
                sum += node.shares[r].cores;
                assert_false(hwloc_bitmap_iszero(node.shares[r].set));
                for (int other = 0; node.binding == BINDING_DISTAL && other < r; other++)
                    assert_false(hwloc_bitmap_intersects(node.shares[r].set, node.shares[other].set));
                if (node.binding == BINDING_DISTAL)
                    assert_int_equal(node.shares[r].cores, cores_count(node.topology, node.shares[r].set));
            }
            assert_int_equal(sum, cores);
        }
        node_free(&node);
    }
}

// Ranks are near their own memory and caches.
static void test_near_cores(void **state) {
    (void)state;
    Node node = node_create("pack:2 l3:2 core:2 pu:2");
    share(&node, 2, NULL, INFINITY, true);
    assert_units(&node, 0, "0-7");
    assert_units(&node, 1, "8-15");
    share(&node, 4, NULL, INFINITY, true);
    assert_units(&node, 1, "4-7");
    assert_units(&node, 3, "12-15");
    share(&node, 3, NULL, INFINITY, true); // two of them share a package
    for (int r = 0; r < 3; r++)
        assert_true(node.shares[r].cores >= 2);
    node_free(&node);
}

// Where a job has some processing units only, of some cores one of two: no core is given to two ranks.
static void test_parts_of_a_machine(void **state) {
    (void)state;
    Node node = node_create("pack:2 core:4 pu:2");
    share(&node, 4, "0-3,4,6,8", INFINITY, true); // cores 0 and 1 whole, one unit of 2, 3 and 4
    assert_int_equal(node.total, 5);
    assert_int_equal(node.binding, BINDING_DISTAL);
    int64_t sum = 0;
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    for (int r = 0; r < 4; r++) {
        assert_false(hwloc_bitmap_intersects(all, node.shares[r].set));
        hwloc_bitmap_or(all, all, node.shares[r].set);
        sum += cores_count(node.topology, node.shares[r].set);
    }
    assert_int_equal(sum, 5);
    assert_int_equal(hwloc_bitmap_weight(all), 7);
    hwloc_bitmap_free(all);
    share(&node, 6, "0-3,4,6,8", INFINITY, true); // more ranks than cores, not more than units
    assert_int_equal(node.binding, BINDING_OUTSIDE);
    assert_int_equal(node.shares[4].cores, 1);
    assert_int_equal(node.shares[5].cores, 0);
    assert_false(node.shares[0].crowded);
    share(&node, 8, "0-3,4,6,8", INFINITY, true);
    assert_true(node.shares[0].crowded);
    node_free(&node);
}

// What the launcher has bound stays.
static void test_bound_from_outside(void **state) {
    (void)state;
    Node node = node_create("pack:2 core:4 pu:1");
    static const char *const units[] = {"0-5", "6", "6"};
    clear(&node);
    for (int r = 0; r < 3; r++) {
        node.shares[r].set = hwloc_bitmap_alloc();
        hwloc_bitmap_list_sscanf(node.shares[r].set, units[r]);
    }
    node.total = cores_share(node.topology, INFINITY, true, 3, node.shares, &node.binding);
    assert_int_equal(node.total, 7);
    assert_int_equal(node.binding, BINDING_OUTSIDE);
    static const int64_t cores[] = {6, 1, 0};
    for (int r = 0; r < 3; r++) {
        assert_units(&node, r, units[r]);
        assert_int_equal(node.shares[r].cores, cores[r]);
        assert_true(node.shares[r].crowded == (r > 0));
    }
    share(&node, 2, NULL, INFINITY, false);
    assert_int_equal(node.binding, BINDING_NONE);
    assert_units(&node, 1, "0-7");
    assert_int_equal(node.shares[1].cores, 4);
    share(&node, 1, "2-3", INFINITY, false);
    assert_int_equal(node.binding, BINDING_OUTSIDE);
    assert_int_equal(node.shares[0].cores, 2);
    node_free(&node);
}

// A control group that lets the job have fewer cores than it may choose from.
static void test_quotas(void **state) {
    (void)state;
    Node node = node_create("core:8 pu:1");
    share(&node, 2, NULL, 4.5, true);
    assert_int_equal(node.total, 5);
    assert_int_equal(node.binding, BINDING_DISTAL);
    assert_int_equal(node.shares[0].cores, 3);
    assert_int_equal(node.shares[1].cores, 2);
    share(&node, 6, NULL, 4.5, true);
    assert_int_equal(node.binding, BINDING_NONE);
    assert_true(node.shares[0].crowded);
    share(&node, 1, NULL, 0.25, false);
    assert_int_equal(node.total, 1);
    assert_int_equal(node.shares[0].cores, 1);
    node_free(&node);
}

// Without a topology, processing units count.
static void test_no_topology(void **state) {
    (void)state;
    RankCores shares[3];
    for (int r = 0; r < 3; r++) {
        shares[r].set = hwloc_bitmap_alloc();
        hwloc_bitmap_set_range(shares[r].set, 4, 7);
    }
    CoreBinding binding;
    assert_int_equal(cores_share(NULL, INFINITY, true, 3, shares, &binding), 4);
    assert_int_equal(binding, BINDING_NONE);
    assert_int_equal(shares[0].cores, 2);
    assert_int_equal(shares[2].cores, 1);
    for (int r = 0; r < 3; r++)
        hwloc_bitmap_free(shares[r].set);
}

static void test_environment(void **state) {
    (void)state;
    unsetenv("HWLOC_COMPONENTS"); // which would count instead
    setenv("HWLOC_SYNTHETIC", "pack:2 core:10 pu:2", 1);
    hwloc_topology_t topology = cores_topology();
    hwloc_bitmap_t allowed = cores_allowed(topology);
    assert_int_equal(cores_count(topology, allowed), 20);
    assert_int_equal(hwloc_bitmap_weight(allowed), 40);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(topology);
    unsetenv("HWLOC_SYNTHETIC");
    char file[] = "/tmp/distal-topology-XXXXXX";
    assert_int_equal(close(mkstemp(file)), 0);
    Node node = node_create("pack:2 core:3 pu:1");
    assert_int_equal(hwloc_topology_export_xml(node.topology, file, 0), 0);
    node_free(&node);
    setenv("HWLOC_XMLFILE", file, 1);
    assert_int_equal(cores_available(), 6);
    unsetenv("HWLOC_XMLFILE");
    unlink(file);
    assert_true(cores_available() >= 1 && cores_available() <= sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disjoint_cores),
        cmocka_unit_test(test_near_cores),
        cmocka_unit_test(test_parts_of_a_machine),
        cmocka_unit_test(test_bound_from_outside),
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_no_topology),
        cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests_name("cores", tests, NULL, NULL);
}
