// SPDX-License-Identifier: BSD-3-Clause
#include "memory/pinned.h"

#include "base/integer.h"
#include "memory/device.h"

#include <pthread.h>
#include <stdlib.h>

enum { LEAST_BYTES = 1 << 16 };

// What is pinned.
static struct {
    void **items;
    int64_t count, capacity;
} pinned;
static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER;

// Room for one more.
static bool reserve(void) {
    if (pinned.count < pinned.capacity)
        return true;
    const int64_t capacity = max_i64(2 * pinned.capacity, 16);
    void **items = realloc(pinned.items, (size_t)capacity * sizeof *items);
    if (!items)
        return false;
    pinned.items = items;
    pinned.capacity = capacity;
    return true;
}

// -1: it is not pinned.
static int64_t find(const void *memory) {
    int64_t at = pinned.count - 1;
    while (at >= 0 && pinned.items[at] != memory)
        at--;
    return at;
}

void memory_pin(void *memory, int64_t bytes) {
    const Device *device = device_current();
    if (!device || !memory || bytes < LEAST_BYTES)
        return;
    pthread_mutex_lock(&pinned_lock);
    if (find(memory) < 0 && reserve() && device->pin(memory, bytes))
        pinned.items[pinned.count++] = memory;
    pthread_mutex_unlock(&pinned_lock);
}

void memory_unpin(const void *memory) {
    pthread_mutex_lock(&pinned_lock);
    const int64_t at = find(memory);
    if (at >= 0) {
        if (device_current())
            device_current()->unpin(pinned.items[at]);
        pinned.items[at] = pinned.items[--pinned.count];
    }
    pthread_mutex_unlock(&pinned_lock);
}
