// SPDX-License-Identifier: BSD-3-Clause
#include "memory/emulated_memory.h"

#include "base/integer.h"
#include "memory/emulated_streams.h"
#include "memory/memory.h"
#include "memory/shared.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 256 };

typedef struct {
    char *shown;    // what everybody gets: a range of addresses
    char *elements; // on the host
    int64_t bytes, shown_bytes;
    enum { OWN, SHARED, OPENED } kind; // who has allocated the elements, and whether others can open them
} Block;

static struct {
    Block *items; // in the order of `shown`
    int64_t count, capacity;
    int64_t bytes, limit; // allocated by this process, and how many may be
} blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

// The number of blocks that begin at or before an address.
static int64_t blocks_before(const void *address) {
    int64_t low = 0, high = blocks.count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (blocks.items[middle].shown <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The block that an address is in; false: in none.
static bool find_block(const void *address, Block *found) {
    pthread_mutex_lock(&blocks_lock);
    const int64_t before = blocks_before(address);
    const Block *block = before > 0 ? &blocks.items[before - 1] : NULL;
    const bool is_inside = block && (const char *)address < block->shown + block->shown_bytes;
    if (is_inside)
        *found = *block;
    pthread_mutex_unlock(&blocks_lock);
    return is_inside;
}

// Where `bytes` bytes of a block are on the host; NULL, which is noted, where they are not all in it.
static void *within(const Block *block, const void *address, int64_t bytes) {
    const int64_t offset = (const char *)address - block->shown;
    if (offset <= block->bytes && bytes <= block->bytes - offset)
        return block->elements + offset;
    device_fail("%lld bytes at offset %lld are beyond an allocation of %lld bytes", (long long)bytes,
                (long long)offset, (long long)block->bytes);
    return NULL;
}

void *emulated_on_host(const void *address, int64_t bytes) {
    Block block;
    if (find_block(address, &block))
        return within(&block, address, bytes);
    device_fail("%p is no address of the device", address);
    return NULL;
}

// Counts bytes as allocated; false where that would exceed the limit.
static bool reserve(int64_t bytes) {
    pthread_mutex_lock(&blocks_lock);
    const bool fits = bytes <= blocks.limit - blocks.bytes;
    blocks.bytes += fits ? bytes : 0;
    pthread_mutex_unlock(&blocks_lock);
    return fits;
}

static void unreserve(int64_t bytes) {
    pthread_mutex_lock(&blocks_lock);
    blocks.bytes -= bytes;
    pthread_mutex_unlock(&blocks_lock);
}

static bool add_block(Block block) {
    if (blocks.count == blocks.capacity) {
        const int64_t capacity = max_i64(2 * blocks.capacity, 64);
        Block *items = realloc(blocks.items, (size_t)capacity * sizeof *items);
        if (!items)
            return false;
        blocks.items = items;
        blocks.capacity = capacity;
    }
    const int64_t at = blocks_before(block.shown);
    memmove(&blocks.items[at + 1], &blocks.items[at], (size_t)(blocks.count - at) * sizeof block);
    blocks.items[at] = block;
    blocks.count++;
    return true;
}

static void free_block(const Block *block) {
    if (block->shown)
        munmap(block->shown, (size_t)block->shown_bytes);
    if (block->kind == OWN)
        free(block->elements);
    else if (block->kind == SHARED)
        shared_release(block->elements);
    else
        shared_unmap(block->elements, block->bytes);
    if (block->kind != OPENED)
        unreserve(block->bytes);
}

// A block of the device that has these elements, unless they are NULL.
static void *show(Block block) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (!block.elements)
        return NULL;
    // An address just behind the last element is one of the block as well.
    block.shown_bytes = (block.bytes + page) / page * page;
    // cppcheck-suppress invalidFunctionArg
    void *shown = mmap(NULL, (size_t)block.shown_bytes, PROT_NONE, flags, -1, 0);
    block.shown = shown == MAP_FAILED ? NULL : shown;
    pthread_mutex_lock(&blocks_lock);
    const bool added = block.shown && add_block(block);
    pthread_mutex_unlock(&blocks_lock);
    if (!added)
        free_block(&block);
    return added ? block.shown : NULL;
}

static bool is_too_large(int64_t bytes) {
    return bytes > INT64_MAX - sysconf(_SC_PAGESIZE);
}

// Values that were never set are NaN, or -1.
void *emulated_allocate(int64_t bytes) {
    void *elements;
    if (is_too_large(bytes) || !reserve(bytes))
        return NULL;
    if (posix_memalign(&elements, ALIGNMENT, (size_t)max_i64(bytes, 1)) != 0) {
        unreserve(bytes);
        return NULL;
    }
    return show((Block){.elements = memset(elements, 0xFF, (size_t)bytes), .bytes = bytes});
}

// What the words of a handle are.
typedef struct {
    SharedName name;
    int64_t offset, bytes;
} EmulatedHandle;
_Static_assert(sizeof(EmulatedHandle) <= sizeof(DeviceHandle), "a handle holds it");

void *emulated_allocate_shared(int64_t bytes, DeviceHandle *handle) {
    EmulatedHandle own = {.bytes = bytes};
    if (is_too_large(bytes) || !reserve(bytes))
        return NULL;
    void *elements = shared_create(&own.name) ? shared_allocate(bytes) : NULL;
    if (!elements) {
        unreserve(bytes);
        return NULL;
    }
    own.offset = shared_offset(elements);
    memcpy(handle, &own, sizeof own);
    return show((Block){.elements = memset(elements, 0xFF, (size_t)bytes), .bytes = bytes, .kind = SHARED});
}

void *emulated_open_shared(const DeviceHandle *handle) {
    EmulatedHandle of;
    memcpy(&of, handle, sizeof of);
    const int file = shared_open(&of.name);
    if (file < 0)
        return NULL;
    char *elements = shared_map(file, of.offset, of.bytes, false);
    close(file);
    return show((Block){.elements = elements, .bytes = of.bytes, .kind = OPENED});
}

void emulated_release(void *memory) {
    if (!memory)
        return;
    emulated_execute_all();
    pthread_mutex_lock(&blocks_lock);
    const int64_t at = blocks_before(memory) - 1;
    const bool found = at >= 0 && blocks.items[at].shown == memory;
    Block block = {0};
    if (found) {
        block = blocks.items[at];
        blocks.count--;
        memmove(&blocks.items[at], &blocks.items[at + 1], (size_t)(blocks.count - at) * sizeof block);
    }
    pthread_mutex_unlock(&blocks_lock);
    if (found)
        free_block(&block);
    else
        device_fail("%p is no allocation of the device", memory);
}

const char *emulated_refuses_memory(const void *memory, int64_t bytes) {
    Block block;
    if (!find_block(memory, &block))
        return "is not that of a GPU";
    return bytes > block.bytes - ((const char *)memory - block.shown) ? "ends before the last element" : NULL;
}

void *emulated_side_of_copy(const void *address, int64_t bytes, bool *on_device) {
    Block block;
    *on_device = find_block(address, &block);
    return *on_device ? within(&block, address, bytes) : (void *)(uintptr_t)address;
}

void emulated_limit_memory(int64_t bytes) {
    blocks.limit = bytes;
}

void emulated_forget_memory(void) {
    free(blocks.items);
    blocks.items = NULL;
    blocks.count = blocks.capacity = 0;
}

int64_t emulated_free_bytes(void) {
    const int64_t available = memory_available();
    pthread_mutex_lock(&blocks_lock);
    const int64_t left = blocks.limit - blocks.bytes;
    pthread_mutex_unlock(&blocks_lock);
    return available < 0 ? left : min_i64(available, left);
}
