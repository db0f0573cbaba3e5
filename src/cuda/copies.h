// SPDX-License-Identifier: BSD-3-Clause
// Copies between memories of the host and of the device.
#ifndef DISTAL_CUDA_COPIES_H
#define DISTAL_CUDA_COPIES_H

#include <stdbool.h>
#include <stdint.h>

// Whether the driver knows an address as one in memory of a device.
bool cuda_is_on_device(const void *address);

// As of Device.
void cuda_copy(void *to, int64_t to_pitch, const void *from, int64_t from_pitch, int64_t width, int64_t rows);
// Releases the buffers that copies are staged in.
void cuda_copies_close(void);

#endif
