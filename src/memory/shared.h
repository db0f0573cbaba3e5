// SPDX-License-Identifier: BSD-3-Clause
// Shared memory: memory of this process that other processes of the node can map. It is a file without a name
// in memory, from which all blocks are allocated. A block is at an offset that is never used again, so what
// others have mapped of a released block is never something else. Nothing remains of it when the processes
// that have it end, whatever ends them; it is not limited by what /dev/shm may take.
#ifndef DISTAL_MEMORY_SHARED_H
#define DISTAL_MEMORY_SHARED_H

#include <stdbool.h>
#include <stdint.h>

// The file, for other processes.
typedef struct {
    int64_t process, descriptor;
    int64_t token[2]; // random numbers, with which it begins
} SharedName;

// Makes the file at the first call. False: the system has no such files, or limits the files or addresses of
// the process, or all memory that it promises: then memory that cannot be had would end the process.
bool shared_create(SharedName *name);
// A block of zeros, which begins at a page; NULL: no memory, or there is no file. `shared_release` takes NULL
// as well. Threads may call them at the same time.
void *shared_allocate(int64_t bytes);
void shared_release(void *memory);
// Where a place in a block is in the file.
int64_t shared_offset(const void *memory);

// The file of another process, a descriptor to be closed; -1: it cannot be opened, or is another file.
int shared_open(const SharedName *name);
// Bytes of it from an offset on; NULL: no memory. Unmapped with shared_unmap, which takes NULL as well.
void *shared_map(int file, int64_t offset, int64_t bytes, bool write);
void shared_unmap(void *memory, int64_t bytes);

#endif
