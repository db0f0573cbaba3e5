// SPDX-License-Identifier: BSD-3-Clause
#include "memory/shared.h"

#include "base/integer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    void *memory;
    int64_t offset, bytes;
} Block;

// Blocks in the order in which they were allocated, after the first page, which has the token.
static struct {
    bool tried;
    int file; // -1: there is none
    SharedName name;
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

// Beyond a limit on files the process would get a signal; what is left of a limit on addresses may be too
// little for the memory of others.
static bool has_limit(void) {
    struct rlimit files, addresses;
    return getrlimit(RLIMIT_FSIZE, &files) != 0 || files.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY;
}

// Where the system promises no more memory than it has, it refuses that of processes when they ask for it,
// but that of files only by a signal when it is used.
static bool promises_are_limited(void) {
    char mode = 0;
    const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    const bool is_read = file >= 0 && read(file, &mode, 1) == 1;
    if (file >= 0)
        close(file);
    return is_read && mode == '2';
}

static int create_file(void) {
    int file = -1;
#ifdef MFD_CLOEXEC
    enum { NOT_EXECUTED = 8 }; // MFD_NOEXEC_SEAL, which systems may require, and old ones do not know
    file = memfd_create("distal", MFD_CLOEXEC | NOT_EXECUTED);
    if (file < 0)
        file = memfd_create("distal", MFD_CLOEXEC);
#endif
    return file;
}

static int create_named_file(SharedName *name) {
    const int file = create_file();
    *name = (SharedName){.process = getpid(), .descriptor = file};
    if (file >= 0 && getrandom(name->token, sizeof name->token, 0) == (ssize_t)sizeof name->token &&
        pwrite(file, name->token, sizeof name->token, 0) == (ssize_t)sizeof name->token)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

bool shared_create(SharedName *name) {
    pthread_mutex_lock(&heap_lock);
    if (!heap.tried && !has_limit() && !promises_are_limited()) {
        heap.file = create_named_file(&heap.name);
        heap.end = page_bytes();
    }
    heap.tried = true;
    const bool ok = heap.file >= 0;
    *name = heap.name;
    pthread_mutex_unlock(&heap_lock);
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

// The block that has an address; -1: none has.
static int64_t find(const void *memory) {
    int64_t at = heap.count - 1;
    while (at >= 0 && ((const char *)memory < (const char *)heap.blocks[at].memory ||
                       (const char *)memory >= (const char *)heap.blocks[at].memory + heap.blocks[at].bytes))
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

int64_t shared_offset(const void *memory) {
    pthread_mutex_lock(&heap_lock);
    const int64_t at = find(memory);
    const int64_t offset =
        at >= 0 ? heap.blocks[at].offset + ((const char *)memory - (const char *)heap.blocks[at].memory) : -1;
    pthread_mutex_unlock(&heap_lock);
    return offset;
}

int shared_open(const SharedName *name) {
    char path[64];
    int64_t token[2];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/fd/%" PRId64, name->process, name->descriptor);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    // A process of another container may have the same number.
    if (file >= 0 && (pread(file, token, sizeof token, 0) != (ssize_t)sizeof token ||
                      memcmp(token, name->token, sizeof token) != 0)) {
        close(file);
        return -1;
    }
    return file;
}

// Bytes from where the page of an offset, or of an address, begins.
static int64_t in_page(int64_t at) {
    return at % page_bytes();
}

void *shared_map(int file, int64_t offset, int64_t bytes, bool write) {
    const int64_t before = in_page(offset);
    char *memory = mmap(NULL, (size_t)max_i64(before + bytes, 1), PROT_READ | (write ? PROT_WRITE : 0),
                        MAP_SHARED, file, (off_t)(offset - before));
    // cppcheck-suppress memleak // the caller has it
    return memory == MAP_FAILED ? NULL : memory + before;
}

void shared_unmap(void *memory, int64_t bytes) {
    const int64_t before = in_page((int64_t)(intptr_t)memory);
    if (memory)
        munmap((char *)memory - before, (size_t)max_i64(before + bytes, 1));
}
