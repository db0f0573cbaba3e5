// SPDX-License-Identifier: BSD-3-Clause
// Streams of the device, and what they and the host wait for.
#ifndef DISTAL_CUDA_STREAMS_H
#define DISTAL_CUDA_STREAMS_H

#include "cuda/driver.h"
#include "memory/device.h"

// The one that the calling thread uses.
CUstream cuda_stream(void);

// As of Device.
const char *streams_refuses(void *stream);
DeviceTicket streams_mark(DeviceStream stream);
void streams_order(DeviceStream stream, DeviceTicket ticket);
void streams_wait(DeviceTicket ticket);
void streams_synchronize(void);
// Releases the events of tickets.
void streams_close(void);

#endif
