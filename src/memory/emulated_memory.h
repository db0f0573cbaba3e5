// SPDX-License-Identifier: BSD-3-Clause
// The memory of the emulated device. It has two addresses: that which everybody gets, where nothing can be
// read or written, so that the host cannot use it by mistake, and the one of the elements, which only the
// operations of the device and the kernels that it launches see.
#ifndef DISTAL_MEMORY_EMULATED_MEMORY_H
#define DISTAL_MEMORY_EMULATED_MEMORY_H

#include "memory/device.h"

// Where `bytes` bytes from an address of the device on are on the host. NULL, which is noted as a failure of
// the device, where they are not all in one allocation.
void *emulated_on_host(const void *address, int64_t bytes);
// The same of an address of either memory; that of the host is returned as it is.
void *emulated_side_of_copy(const void *address, int64_t bytes, bool *on_device);

// As of Device.
void *emulated_allocate(int64_t bytes);
void *emulated_allocate_shared(int64_t bytes, DeviceHandle *handle);
void *emulated_open_shared(const DeviceHandle *handle);
void emulated_release(void *memory); // of all three
const char *emulated_refuses_memory(const void *memory, int64_t bytes);
int64_t emulated_free_bytes(void);

// How many bytes this process may allocate.
void emulated_limit_memory(int64_t bytes);
// When all has been released.
void emulated_forget_memory(void);

#endif
