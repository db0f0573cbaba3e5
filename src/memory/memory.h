// SPDX-License-Identifier: BSD-3-Clause
// Memory kinds: where elements of tensors can be stored, as records of operations. A placement names one
// (`in host`), homes and storage keep it, and elements are moved and set through its record. A new kind is
// one file of this folder and one line of the list below.
#ifndef DISTAL_MEMORY_MEMORY_H
#define DISTAL_MEMORY_MEMORY_H

#include "base/reducer.h"

#include <stdbool.h>
#include <stdint.h>

// The first is the default.
#define MEMORY_KINDS(ENTRY)                                                                                  \
    ENTRY(HOST, host)                                                                                        \
    ENTRY(GPU, gpu)                                                                                          \
    ENTRY(DISK, disk)

#define MEMORY_ID(NAME, name) MEMORY_##NAME,
typedef enum { MEMORY_KINDS(MEMORY_ID) MEMORY_KIND_COUNT } MemoryId;
#undef MEMORY_ID

// Steps are in elements, from one to the next.
typedef struct {
    const char *name;
    bool supported; // false: a placement that names it is diagnosed, and the other members are not set
    // Aligned for vectors, never NULL for 0 bytes; NULL: no memory.
    void *(*allocate)(int64_t bytes);
    void (*release)(void *memory); // which may be NULL
    // `count` elements, which do not overlap; both arrays are in this kind of memory, or one is in the
    // host's.
    void (*copy)(ElementType type, void *to, int64_t to_step, const void *from, int64_t from_step,
                 int64_t count);
    // The same for `rows` times `width` bytes, `to_pitch` and `from_pitch` bytes apart; NULL: runs of
    // elements are as fast.
    void (*copy_rows)(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                      int64_t rows);
    // Elements of `to` are combined with those of `from`, in this kind of memory. Integers wrap around; a
    // maximum with NaN is NaN.
    void (*reduce)(Reducer reducer, ElementType type, void *to, int64_t to_step, const void *from,
                   int64_t from_step, int64_t count);
    // Sets elements to the identity of the reducer: to zero for sums.
    void (*clear)(Reducer reducer, ElementType type, void *to, int64_t step, int64_t count);
} MemoryKind;

#define MEMORY_RECORD(NAME, name) extern const MemoryKind memory_##name;
MEMORY_KINDS(MEMORY_RECORD)
#undef MEMORY_RECORD

const MemoryKind *memory_kind(MemoryId id);
// By name; false where there is none.
bool memory_find(const char *name, MemoryId *id);

// Memory for `count` elements; NULL if there is not enough, or if the number of bytes overflows a size_t.
void *memory_allocate(MemoryId id, int64_t count, ElementType type);
void memory_release(MemoryId id, void *memory);

// Bytes of the machine's memory that are free, or in use for what the system can do without; -1 where it does
// not say.
int64_t memory_available(void);

// `rows` times `width` bytes in memory of the host, `to_pitch` and `from_pitch` bytes apart.
void memory_copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width,
                      int64_t rows);

#endif
