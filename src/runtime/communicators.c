// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/communicators.h"

#include "runtime/gpu_sums.h"
#include "runtime/wait.h"

#include <stdlib.h>

// A group of ranks with its communicator. The first is that of all ranks.
typedef struct Entry Entry;
struct Entry {
    MPI_Comm comm;     // MPI_COMM_NULL: it is to be made
    void *gpus;        // the members' GPUs as a group of DeviceSums; NULL: they are none
    bool sums_on_gpus; // where it is noted: they are to be such a group
    Entry *next_noted, *next_made;
    int count;
    int members[];
};

struct Communicators {
    MPI_Comm all;
    bool sleep, needs_progress;
    Neighbours *neighbours;
    int64_t count, capacity; // capacity: a power of two, more than the count
    Entry **entries;         // hashed by members, NULL where free
    Entry *made, **made_end; // in the order in which they were made
    int64_t noted_count;
    Entry *noted; // to be made, or to get what they lack, in lexicographic order of their members
};

enum { FIRST_CAPACITY = 16 };

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

static void add_made(Communicators *communicators, Entry *entry) {
    insert(communicators->entries, communicators->capacity, entry);
    communicators->count++;
    *communicators->made_end = entry;
    communicators->made_end = &entry->next_made;
}

Communicators *communicators_create(MPI_Comm comm) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    Communicators *communicators = calloc(1, sizeof *communicators);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the array holds pointers
    Entry **entries = calloc(FIRST_CAPACITY, sizeof *entries);
    Entry *all = malloc(sizeof *all + sizeof(int) * (size_t)ranks);
    int flags[2] = {communicators && entries && all, !wait_sleeps()};
    all_reduce(flags, 2, MPI_INT, MPI_MIN, comm);
    if (!communicators || !entries || !all || !flags[0]) {
        free(communicators);
        free(entries);
        free(all);
        return NULL;
    }
    *communicators = (Communicators){.all = comm,
                                     .sleep = !flags[1],
                                     .capacity = FIRST_CAPACITY,
                                     .entries = entries,
                                     .made_end = &communicators->made};
    *all = (Entry){.comm = comm, .count = ranks};
    for (int r = 0; r < ranks; r++)
        all->members[r] = r;
    add_made(communicators, all);
    return communicators;
}

// The members of a group leave it in the same order, that in which groups were made.
void communicators_free(Communicators *communicators) {
    if (!communicators)
        return;
    communicators_forget(communicators);
    barrier(communicators->all); // all ranks have the results of their sums
    for (Entry *entry = communicators->made, *next; entry; entry = next) {
        next = entry->next_made;
        gpu_sums_leave(entry->gpus);
        if (entry->comm != communicators->all)
            MPI_Comm_free(&entry->comm);
        free(entry);
    }
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
    return communicators->count - 1;
}

static bool lacks(const Entry *entry, bool sums_on_gpus) {
    return !entry || (sums_on_gpus && !entry->gpus);
}

bool communicators_note(Communicators *communicators, const Group *group, bool sums_on_gpus, bool *is_new) {
    Entry *entry = find(communicators, group);
    if (!lacks(entry, sums_on_gpus))
        return true;
    *is_new = true;
    Entry **at = &communicators->noted;
    while (*at && compare(*at, group) < 0)
        at = &(*at)->next_noted;
    if (*at && compare(*at, group) == 0) {
        (*at)->sums_on_gpus = (*at)->sums_on_gpus || sums_on_gpus;
        return true;
    }
    if (!entry && make_room(communicators)) {
        entry = malloc(sizeof *entry + sizeof(int) * (size_t)group->count);
        if (entry)
            *entry = (Entry){.comm = MPI_COMM_NULL, .count = (int)group->count};
        for (int64_t i = 0; entry && i < group->count; i++)
            entry->members[i] = (int)group->ranks[i];
    }
    if (!entry)
        return false;
    entry->sums_on_gpus = sums_on_gpus;
    entry->next_noted = *at;
    *at = entry;
    communicators->noted_count++;
    return true;
}

static Entry *take_noted(Communicators *communicators) {
    Entry *entry = communicators->noted;
    if (entry) {
        communicators->noted = entry->next_noted;
        communicators->noted_count--;
    }
    return entry;
}

void communicators_forget(Communicators *communicators) {
    for (Entry *entry; (entry = take_noted(communicators));)
        if (entry->comm == MPI_COMM_NULL)
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
        if (entry->comm == MPI_COMM_NULL) {
            MPI_Group_incl(everyone, entry->count, entry->members, &group);
            MPI_Comm_create_group(communicators->all, group, (int)(hash_entry(entry) % TAGS), &entry->comm);
            MPI_Group_free(&group);
            add_made(communicators, entry);
        }
        if (entry->sums_on_gpus && !entry->gpus)
            entry->gpus = gpu_sums_join(entry->comm);
    }
    MPI_Group_free(&everyone);
}

MPI_Comm communicators_find(const Communicators *communicators, const Group *group) {
    const Entry *entry = find(communicators, group);
    return entry ? entry->comm : MPI_COMM_NULL;
}

void *communicators_find_gpus(const Communicators *communicators, const Group *group) {
    const Entry *entry = find(communicators, group);
    return entry ? entry->gpus : NULL;
}
