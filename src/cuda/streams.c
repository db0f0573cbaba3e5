// SPDX-License-Identifier: BSD-3-Clause
#include "cuda/streams.h"

#include <pthread.h>

// Tickets of a stream are numbered, and share as many events: that of a ticket is recorded anew for a later
// one, which is as good.
enum { EVENTS = 64 };
static struct {
    CUevent events[STREAM_COUNT][EVENTS];
    int64_t marks[STREAM_COUNT];
    pthread_mutex_t lock;
} tickets = {.lock = PTHREAD_MUTEX_INITIALIZER};

static CUstream stream_of(DeviceStream stream) {
    if (stream != STREAM_COMPUTE)
        return cuda_process.beside[stream - 1];
    return device_caller_stream() ? device_caller_stream() : cuda_process.stream;
}

CUstream cuda_stream(void) {
    return stream_of(device_stream());
}

static DeviceStream ticket_stream(DeviceTicket ticket) {
    return (DeviceStream)(ticket % STREAM_COUNT);
}

static CUevent ticket_event(DeviceTicket ticket) {
    return tickets.events[ticket_stream(ticket)][ticket / STREAM_COUNT % EVENTS];
}

DeviceTicket streams_mark(DeviceStream stream) {
    if (!cuda_enter())
        return 0;
    pthread_mutex_lock(&tickets.lock);
    const int64_t number = tickets.marks[stream] + 1;
    CUevent *event = &tickets.events[stream][number % EVENTS];
    const bool ok = (*event || CUDA_CALL(cuEventCreate, event, CU_EVENT_DISABLE_TIMING)) &&
                    CUDA_CALL(cuEventRecord, *event, stream_of(stream));
    tickets.marks[stream] += ok;
    pthread_mutex_unlock(&tickets.lock);
    return ok ? number * STREAM_COUNT + (int64_t)stream : 0;
}

void streams_order(DeviceStream stream, DeviceTicket ticket) {
    if (ticket > 0 && cuda_enter())
        CUDA_CALL(cuStreamWaitEvent, stream_of(stream), ticket_event(ticket), 0);
}

void streams_wait(DeviceTicket ticket) {
    if (ticket > 0 && cuda_enter())
        CUDA_CALL(cuEventSynchronize, ticket_event(ticket));
}

const char *streams_refuses(void *stream) {
    CUcontext context = NULL;
    if (!cuda_enter() || !CUDA_CALL(cuStreamGetCtx, stream, &context) || context == cuda_process.context)
        return NULL;
    return "is not of the primary context of the GPU that the rank uses";
}

void streams_synchronize(void) {
    for (DeviceStream s = 0; s < STREAM_COUNT && cuda_enter(); s++)
        CUDA_CALL(cuStreamSynchronize, stream_of(s));
}

void streams_close(void) {
    for (int s = 0; s < STREAM_COUNT; s++)
        for (int e = 0; e < EVENTS; e++) {
            if (tickets.events[s][e])
                cuda.cuEventDestroy(tickets.events[s][e]);
            tickets.events[s][e] = NULL;
        }
}
