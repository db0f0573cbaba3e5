// SPDX-License-Identifier: BSD-3-Clause
#include "plan/nodes.h"

const Nodes *nodes_create(Arena *arena, int64_t ranks, const int64_t *nodes) {
    int64_t *first = arena_array(arena, int64_t, ranks + 1), *next = arena_array(arena, int64_t, ranks);
    int64_t *members = arena_array(arena, int64_t, ranks), *numbers = arena_array(arena, int64_t, ranks);
    Nodes *all = arena_new(arena, Nodes);
    *all = (Nodes){.nodes = nodes, .first = first, .members = members, .numbers = numbers};
    for (int64_t rank = 0; rank < ranks; rank++)
        numbers[rank] = next[nodes[rank]]++;
    for (int64_t node = 0; node < ranks; node++) {
        first[node + 1] = first[node] + next[node];
        all->several = all->several || (next[node] > 1 && next[node] < ranks);
    }
    for (int64_t rank = 0; rank < ranks; rank++)
        members[first[nodes[rank]] + numbers[rank]] = rank;
    return all;
}

int64_t nodes_count_members(const Nodes *nodes, int64_t rank) {
    const int64_t node = nodes->nodes[rank];
    return nodes->first[node + 1] - nodes->first[node];
}

int64_t nodes_aggregator(const Nodes *nodes, int64_t rank, int64_t owner) {
    const int64_t members = nodes_count_members(nodes, rank);
    return members == 1 || nodes->nodes[rank] == nodes->nodes[owner] ? -1 : nodes->numbers[owner] % members;
}

int64_t nodes_member(const Nodes *nodes, int64_t rank, int64_t number) {
    return nodes->members[nodes->first[nodes->nodes[rank]] + number];
}
