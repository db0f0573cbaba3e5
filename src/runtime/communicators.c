// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/communicators.h"

#include "runtime/gpu_sums.h"
#include "runtime/wait.h"

#include <stdlib.h>

typedef struct Entry Entry;
struct Entry {
    MPI_Comm comm;
    Entry *next; // of those that are to be made
    int count;
    int members[];
};

struct Communicators {
    MPI_Comm all;
    int ranks;
    bool sleep, needs_progress;
    Neighbours *neighbours;
    int64_t count, capacity; // capacity: a power of two, more than the count
    Entry **entries;         // hashed by members, NULL where free
    int64_t noted_count;
    Entry *noted; // to be made, in lexicographic order of their members
};

enum { FIRST_CAPACITY = 16 };

Communicators *communicators_create(MPI_Comm comm) {
    Communicators *communicators = calloc(1, sizeof *communicators);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    Entry **entries = calloc(FIRST_CAPACITY, sizeof *entries);
    int flags[2] = {communicators && entries, !wait_sleeps()};
    all_reduce(flags, 2, MPI_INT, MPI_MIN, comm);
    if (!communicators || !entries || !flags[0]) {
        free(communicators);
        free(entries);
        return NULL;
    }
    *communicators =
        (Communicators){.all = comm, .sleep = !flags[1], .capacity = FIRST_CAPACITY, .entries = entries};
    MPI_Comm_size(comm, &communicators->ranks);
    return communicators;
}

void communicators_free(Communicators *communicators) {
    if (!communicators)
        return;
    for (int64_t i = 0; i < communicators->capacity; i++) {
        if (communicators->entries[i])
            MPI_Comm_free(&communicators->entries[i]->comm);
        free(communicators->entries[i]);
    }
    communicators_forget(communicators);
    gpu_sums_forget(communicators->all);
    free(communicators->entries);
    free(communicators);
}

MPI_Comm communicators_all(const Communicators *communicators) {
    return communicators->all;
}

bool communicators_sleep(const Communicators *communicators) {
    return communicators->sleep;
}

void communicators_set_neighbours(Communicators *communicators, Neighbours *neighbours) {
    communicators->neighbours = neighbours;
}

Neighbours *communicators_neighbours(const Communicators *communicators) {
    return communicators->neighbours;
}

void communicators_set_progress(Communicators *communicators, bool needed) {
    communicators->needs_progress = needed;
}

bool communicators_need_progress(const Communicators *communicators) {
    return communicators->needs_progress;
}

int64_t communicators_count(const Communicators *communicators) {
    return communicators->count;
}

static uint64_t step_hash(uint64_t hash, int64_t member) {
    hash = (hash ^ (uint64_t)member) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t hash_entry(const Entry *entry) {
    uint64_t hash = 0;
    for (int i = 0; i < entry->count; i++)
        hash = step_hash(hash, entry->members[i]);
    return hash;
}

static uint64_t hash_group(const Group *group) {
    uint64_t hash = 0;
    for (int64_t i = 0; i < group->count; i++)
        hash = step_hash(hash, group->ranks[i]);
    return hash;
}

// Negative, 0 or positive: lexicographic order of the members.
static int compare(const Entry *entry, const Group *group) {
    for (int64_t i = 0; i < entry->count && i < group->count; i++)
        if (entry->members[i] != group->ranks[i])
            return entry->members[i] < group->ranks[i] ? -1 : 1;
    return entry->count < group->count ? -1 : entry->count > group->count;
}

static Entry *find(const Communicators *communicators, const Group *group) {
    const uint64_t mask = (uint64_t)communicators->capacity - 1;
    uint64_t at = hash_group(group);
    while (communicators->entries[at & mask] && compare(communicators->entries[at & mask], group) != 0)
        at++;
    return communicators->entries[at & mask];
}

static void insert(Entry **entries, int64_t capacity, Entry *entry) {
    const uint64_t mask = (uint64_t)capacity - 1;
    uint64_t at = hash_entry(entry);
    while (entries[at & mask])
        at++;
    entries[at & mask] = entry;
}

// For all that have been noted and one more.
static bool make_room(Communicators *communicators) {
    if (2 * (communicators->count + communicators->noted_count + 1) <= communicators->capacity)
        return true;
    const int64_t capacity = 2 * communicators->capacity;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    Entry **entries = calloc((size_t)capacity, sizeof *entries);
    if (!entries)
        return false;
    for (int64_t i = 0; i < communicators->capacity; i++)
        if (communicators->entries[i])
            insert(entries, capacity, communicators->entries[i]);
    free(communicators->entries);
    communicators->entries = entries;
    communicators->capacity = capacity;
    return true;
}

static bool is_all(const Communicators *communicators, const Group *group) {
    return group->count == communicators->ranks;
}

bool communicators_note(Communicators *communicators, const Group *group, bool *is_new) {
    if (is_all(communicators, group) || find(communicators, group))
        return true;
    *is_new = true;
    Entry **at = &communicators->noted;
    while (*at && compare(*at, group) < 0)
        at = &(*at)->next;
    if (*at && compare(*at, group) == 0)
        return true;
    Entry *entry =
        make_room(communicators) ? malloc(sizeof *entry + sizeof(int) * (size_t)group->count) : NULL;
    if (!entry)
        return false;
    *entry = (Entry){MPI_COMM_NULL, *at, (int)group->count};
    for (int64_t i = 0; i < group->count; i++)
        entry->members[i] = (int)group->ranks[i];
    *at = entry;
    communicators->noted_count++;
    return true;
}

static Entry *take_noted(Communicators *communicators) {
    Entry *entry = communicators->noted;
    if (entry) {
        communicators->noted = entry->next;
        communicators->noted_count--;
    }
    return entry;
}

void communicators_forget(Communicators *communicators) {
    for (Entry *entry; (entry = take_noted(communicators));)
        free(entry);
}

// Every rank makes those that it is a member of in the same order. The first of all groups that are not made
// yet then finds all of its members there, so no ranks wait for each other in a circle.
void communicators_complete(Communicators *communicators) {
    enum { TAGS = 1 << 14 };
    MPI_Group everyone, group;
    if (!communicators->noted)
        return;
    MPI_Comm_group(communicators->all, &everyone);
    for (Entry *entry; (entry = take_noted(communicators));) {
        MPI_Group_incl(everyone, entry->count, entry->members, &group);
        MPI_Comm_create_group(communicators->all, group, (int)(hash_entry(entry) % TAGS), &entry->comm);
        MPI_Group_free(&group);
        insert(communicators->entries, communicators->capacity, entry);
        communicators->count++;
    }
    MPI_Group_free(&everyone);
}

MPI_Comm communicators_find(const Communicators *communicators, const Group *group) {
    if (is_all(communicators, group))
        return communicators->all;
    const Entry *entry = find(communicators, group);
    return entry ? entry->comm : MPI_COMM_NULL;
}
