// SPDX-License-Identifier: BSD-3-Clause
// Files: memory of kind `disk`, which has no addresses. A scratch file has the elements that one rank has at
// home of one tensor. It has no name once it is open, so that nothing remains of a process that ends in any
// way. Another file has all elements of a tensor, and all ranks have it open.
#ifndef DISTAL_MEMORY_DISK_H
#define DISTAL_MEMORY_DISK_H

#include <stdbool.h>
#include <stdint.h>

// What is read and written: bytes, and runs of elements that follow each other in the file and in memory.
typedef struct {
    int64_t bytes_read, bytes_written, reads, writes;
} IoCounts;

// Sums do not overflow.
IoCounts io_counts_add(IoCounts a, IoCounts b);
bool io_counts_equal(IoCounts a, IoCounts b);

typedef struct DiskFile DiskFile;

// Where scratch files are created, and how they are used.
typedef struct {
    const char *folder; // NULL: where TMPDIR says, or /tmp
    bool direct;        // whole blocks with O_DIRECT, through a buffer of DISK_BOUNCE_BYTES
} Scratch;
enum { DISK_BOUNCE_BYTES = 1 << 20 };

// A file of `bytes` bytes, all zero, for which there is room. NULL with errno where that fails: EINVAL where
// the file system has no direct access.
DiskFile *disk_create(Scratch scratch, int64_t bytes);
// The file of a descriptor, which stays the caller's: this has a duplicate of its own. NULL with errno.
DiskFile *disk_open(int fd);
void disk_free(DiskFile *file); // which may be NULL
// Where files are created for this `folder`.
const char *disk_folder(const char *folder);
// The descriptor of a new file without a name; -1 with errno.
int disk_open_unnamed(const char *folder);

// All of `bytes` bytes at `offset`. After the first failure nothing is read or written any more, and what
// would be read is zero (disk_error). Several threads may call these.
void disk_read(DiskFile *file, int64_t offset, void *to, int64_t bytes);
void disk_write(DiskFile *file, int64_t offset, const void *from, int64_t bytes);
// Counts runs that have been read, and written.
void disk_count(DiskFile *file, int64_t reads, int64_t writes);

// All that was counted since the file was created.
IoCounts disk_counts(const DiskFile *file);
// Why reading or writing has failed, of the first time; NULL: it has not.
const char *disk_error(const DiskFile *file);

#endif
