// SPDX-License-Identifier: BSD-3-Clause
#include "memory/device.h"

#include "base/integer.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Device *current;

static const Device *device_named(const char *name, const char **why) {
    static char message[256];
    if (strcmp(name, device_emulated.name) == 0)
        return &device_emulated;
    if (strcmp(name, "cuda") == 0) {
#if DISTAL_CUDA
        return &device_cuda;
#else
        *why = "this distal was built without CUDA";
        return NULL;
#endif
    }
    snprintf(message, sizeof message, "DISTAL_GPU is '%s', which is neither 'cuda' nor 'emulated'", name);
    *why = message;
    return NULL;
}

const Device *device_open(int local_rank, const char **why) {
    if (current)
        return current;
    const char *name = getenv("DISTAL_GPU");
    const Device *device = device_named(name && *name ? name : "cuda", why);
    if (device && device->open(local_rank, why))
        current = device;
    return current;
}

void device_close(void) {
    if (current)
        current->close();
    current = NULL;
}

const Device *device_current(void) {
    return current;
}

int64_t device_product_count(const DeviceProduct *product) {
    int64_t count = 1;
    for (int i = 0; i < product->loop_count; i++)
        count = saturated_mul(count, product->loops[i].extent);
    return count;
}

bool device_product_is_empty(const DeviceProduct *product) {
    bool is_empty = product->m <= 0 || product->n <= 0 || product->k <= 0;
    for (int i = 0; i < product->loop_count; i++)
        is_empty = is_empty || product->loops[i].extent <= 0;
    return is_empty;
}

bool device_sums_take(Reducer reducer, ElementType type) {
    const TypeInfo *info = type_info(type);
    return reducer == REDUCER_SUM || (reducer == REDUCER_PROD ? !info->is_complex : info->is_integer);
}

static _Thread_local DeviceStream stream_used = STREAM_COMPUTE;
static _Thread_local bool copies_do_not_wait;

void device_use(DeviceStream stream, bool waits) {
    stream_used = stream;
    copies_do_not_wait = !waits;
}

static _Thread_local void *stream_followed;

void device_set_caller_stream(void *stream) {
    stream_followed = stream;
}

void *device_caller_stream(void) {
    return stream_followed;
}

DeviceStream device_stream(void) {
    return stream_used;
}

bool device_waits(void) {
    return !copies_do_not_wait;
}

static atomic_int_least64_t copied_to, copied_from;

void device_count_copy(bool to_device, int64_t bytes) {
    atomic_fetch_add_explicit(to_device ? &copied_to : &copied_from, bytes, memory_order_relaxed);
}

DeviceCounts device_counts(void) {
    return (DeviceCounts){atomic_load_explicit(&copied_to, memory_order_relaxed),
                          atomic_load_explicit(&copied_from, memory_order_relaxed)};
}

DeviceCounts device_counts_add(DeviceCounts a, DeviceCounts b) {
    return (DeviceCounts){saturated_add(a.to_device, b.to_device),
                          saturated_add(a.from_device, b.from_device)};
}

static atomic_bool failed;
static char failure[DIAGNOSTIC_LENGTH / 2]; // of the first time, while `failed`
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;

void device_fail(const char *format, ...) {
    pthread_mutex_lock(&failure_lock);
    if (!atomic_load(&failed)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(failure, sizeof failure, format, arguments);
        va_end(arguments);
        atomic_store(&failed, true);
    }
    pthread_mutex_unlock(&failure_lock);
}

bool device_failed(void) {
    return atomic_load_explicit(&failed, memory_order_relaxed);
}

bool device_check(Diagnostics *diagnostics) {
    char message[sizeof failure];
    pthread_mutex_lock(&failure_lock);
    const bool ok = !atomic_load(&failed);
    if (!ok)
        memcpy(message, failure, sizeof message);
    atomic_store(&failed, false);
    pthread_mutex_unlock(&failure_lock);
    return ok || diagnostics_error(diagnostics, (Span){0, 0, 0}, "the GPU failed: %s", message);
}
