// SPDX-License-Identifier: BSD-3-Clause
#include "memory/shared.h"

#include "base/integer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    void *memory;
    int64_t offset, bytes;
} Block;

// Blocks in the order in which they were allocated.
static struct {
    bool tried;
    int file; // -1: there is none
    int64_t end;
    int64_t count, capacity;
    Block *blocks;
} heap = {.file = -1};
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

// Large blocks begin where a large page does, for systems that have them in such files.
enum { LARGE_PAGE = 2 << 20 };

static int64_t page_bytes(void) {
    return (int64_t)sysconf(_SC_PAGESIZE);
}

// Files have no limit: beyond one, the process would get a signal.
static bool files_are_unlimited(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

bool shared_create(SharedName *name) {
    struct stat status;
    pthread_mutex_lock(&heap_lock);
#ifdef MFD_CLOEXEC
    if (!heap.tried && files_are_unlimited())
        heap.file = memfd_create("distal", MFD_CLOEXEC);
#endif
    heap.tried = true;
    const bool ok = heap.file >= 0 && fstat(heap.file, &status) == 0;
    pthread_mutex_unlock(&heap_lock);
    if (ok)
        *name = (SharedName){getpid(), heap.file, (int64_t)status.st_dev, (int64_t)status.st_ino};
    return ok;
}

// Room for one more block.
static bool reserve(void) {
    if (heap.count < heap.capacity)
        return true;
    const int64_t capacity = 2 * heap.capacity + 16;
    Block *blocks = realloc(heap.blocks, sizeof *blocks * (size_t)capacity);
    if (!blocks)
        return false;
    heap.blocks = blocks;
    heap.capacity = capacity;
    return true;
}

static void *allocate(int64_t bytes) {
    const int64_t page = page_bytes();
    int64_t offset = heap.end, end;
    if (heap.file < 0 || !checked_add(bytes, page - 1, &bytes))
        return NULL;
    bytes = max_i64(bytes / page, 1) * page;
    if (bytes >= LARGE_PAGE)
        offset = ceil_div(offset, LARGE_PAGE) * LARGE_PAGE;
    if (!checked_add(offset, bytes, &end) || !reserve() || ftruncate(heap.file, (off_t)end) != 0)
        return NULL;
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, heap.file, (off_t)offset);
    if (memory == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= LARGE_PAGE)
        (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
#endif
    heap.blocks[heap.count++] = (Block){memory, offset, bytes};
    heap.end = end;
    return memory;
}

void *shared_allocate(int64_t bytes) {
    pthread_mutex_lock(&heap_lock);
    void *memory = allocate(bytes);
    pthread_mutex_unlock(&heap_lock);
    return memory;
}

static int64_t find(const void *memory) {
    int64_t at = heap.count - 1;
    while (at >= 0 && heap.blocks[at].memory != memory)
        at--;
    return at;
}

void shared_release(void *memory) {
    pthread_mutex_lock(&heap_lock);
    const int64_t at = memory ? find(memory) : -1;
    if (at >= 0) {
        const Block block = heap.blocks[at];
        munmap(memory, (size_t)block.bytes);
        // Its pages are free even where others have them mapped.
        (void)fallocate(heap.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)block.offset,
                        (off_t)block.bytes);
        heap.blocks[at] = heap.blocks[--heap.count];
    }
    pthread_mutex_unlock(&heap_lock);
}

int64_t shared_offset(const void *block) {
    pthread_mutex_lock(&heap_lock);
    const int64_t at = find(block), offset = at >= 0 ? heap.blocks[at].offset : -1;
    pthread_mutex_unlock(&heap_lock);
    return offset;
}

int shared_open(const SharedName *name) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, name->process, name->descriptor);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    // A process of another container may have the same number.
    if (file >= 0 && (fstat(file, &status) != 0 || (int64_t)status.st_dev != name->device ||
                      (int64_t)status.st_ino != name->node)) {
        close(file);
        return -1;
    }
    return file;
}

void *shared_map(int file, int64_t offset, int64_t bytes, bool write) {
    void *memory = mmap(NULL, (size_t)max_i64(bytes, 1), PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED,
                        file, (off_t)offset);
    return memory == MAP_FAILED ? NULL : memory;
}

void shared_unmap(void *memory, int64_t bytes) {
    if (memory)
        munmap(memory, (size_t)max_i64(bytes, 1));
}
