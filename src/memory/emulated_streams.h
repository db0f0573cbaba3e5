// SPDX-License-Identifier: BSD-3-Clause
// The streams of the emulated device. What is begun is queued, and executed in an order that seems random,
// and is the same in each run, of those that streams and tickets allow: what does not wait for what it needs
// gets wrong values sooner or later.
#ifndef DISTAL_MEMORY_EMULATED_STREAMS_H
#define DISTAL_MEMORY_EMULATED_STREAMS_H

#include "memory/device.h"

// Calls `run` with a copy of the arguments, in the stream that the calling thread uses. Nothing, where an
// operation has failed meanwhile.
void emulated_begin(void (*run)(void *arguments), const void *arguments, int64_t bytes);

// As of Device.
DeviceTicket emulated_mark(DeviceStream stream);
void emulated_order(DeviceStream stream, DeviceTicket ticket);
void emulated_wait(DeviceTicket ticket);
void emulated_synchronize(void);
const char *emulated_refuses_stream(void *stream);

// Executes all that was begun, in streams of callers as well.
void emulated_execute_all(void);
// A stream as one that a caller has made, for device_set_caller_stream; NULL: there are as many already as
// there can be. What is in it is executed before it is freed.
void *emulated_stream_create(void);
void emulated_stream_free(void *stream);

#endif
