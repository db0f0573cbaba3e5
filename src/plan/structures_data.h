// SPDX-License-Identifier: BSD-3-Clause
// The data of structures, shared by the files that follow what tensors store (structures.c), and that count
// what transfers move (structures_moves.c).
#ifndef DISTAL_PLAN_STRUCTURES_DATA_H
#define DISTAL_PLAN_STRUCTURES_DATA_H

#include "base/integer.h"
#include "format/cut.h"
#include "plan/indexed.h"
#include "plan/structures.h"

// What a tensor, or a copy of an operand, stores from one statement to the next.
typedef enum {
    VERSION_HOME,    // the entries in the home pieces of each rank
    VERSION_COPY,    // what a rank uses of an operand
    VERSION_SHARED,  // the arrays of another version
    VERSION_LEADING, // those of its first levels
} VersionKind;

typedef struct Version Version;
struct Version {
    VersionKind kind;
    Home home;   // with the tensor that has its levels
    Version *of; // the operand that is copied; whose arrays it has
    // Of a copy: the transfer, and by transfer the versions of operands.
    const StatementPlan *plan;
    int transfer;
    Version *const *used;
    bool has_whole;
    StoredTensor whole;
    Cutter cutter; // of that
    // Of a tensor, by rank: entries, and bytes of values and of arrays; -1: it has no arrays there.
    int64_t *entries, *value_bytes, *structure_bytes;
};

struct Structures {
    const Plan *plan;
    int64_t limit;
    Arena *arena, *scratch; // that of one rank
    Version **current;      // by tensor id; NULL: not known
    Array(Version *) versions;
    // Of the statement that was executed last, by transfer.
    const EntryFigures **moved;
    const int64_t **requests;
};

// All that return a text: NULL on success, else the reason of the failure.

// What a rank stores of a version; stored_free follows in any case.
const char *version_local(Structures *structures, Version *version, int64_t rank, StoredTensor *local);
// The entries of all ranks in disjoint rectangles; entries_free follows in any case.
const char *version_entries(Structures *structures, Version *version, int64_t count, const Rect *const *rects,
                            Entries *entries);
const Rect **list_rects(int64_t count, const Rect *items, Arena *arena);

// How the copy of a rank is made.
typedef struct {
    IndexedUse use;
    int64_t *elements; // by the rank that has them at home
    int64_t structure; // bytes that come from other ranks
    int64_t map_bytes;
} CopyMaking;

// Where no entries move, elements of `making` is NULL; stored_free follows in any case.
const char *copy_make(Structures *structures, Version *copy, int64_t rank, StoredTensor *to,
                      CopyMaking *making);

// What a rank uses of an operand, by the entries that it uses of the one that indexes it.
const char *operand_use(Structures *structures, const StatementPlan *plan, int transfer, Version *const *used,
                        int64_t rank, IndexedUse *use);

// Figures of a transfer while they are counted, by rank; they are kept when they are complete.
typedef struct {
    int64_t *elements, *messages, *structure, *buffers;
    int64_t *used; // NULL: not of a sparse operand
} EntryCounts;
EntryCounts counts_create(Structures *structures, const StatementPlan *plan);
void counts_keep(Structures *structures, int transfer, EntryCounts counts);
static inline void count_more(int64_t *figure, int64_t by) {
    *figure = saturated_add(*figure, by);
}

// Elements that a rank moves from or to each of the others, and to itself, and its buffer for them.
void count_elements(const StatementPlan *plan, int transfer, int64_t rank, const int64_t *elements,
                    const EntryCounts *counts);

// `puts_values`: into the result.
const char *count_copy(Structures *structures, Version *copy, bool puts_values);
const char *count_indexed(Structures *structures, const StatementPlan *plan, int transfer,
                          Version *const *used);
// Of what ranks have computed, and send to where it is at home.
const char *count_result(Structures *structures, const StatementPlan *plan, int transfer, Version *computed,
                         const Version *home);

#endif
