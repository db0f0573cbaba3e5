// SPDX-License-Identifier: BSD-3-Clause
#include "memory/emulated_streams.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A task without `run` waits for the ticket.
typedef struct Task {
    struct Task *next;
    void (*run)(void *arguments);
    DeviceTicket after;
    max_align_t arguments[];
} Task;

typedef struct {
    Task *first, *last;
    int64_t begun, executed;
    bool is_open; // of a caller
} Queue;

// Those of the device, and of callers.
enum { CALLER_STREAMS = 4, QUEUES = STREAM_COUNT + CALLER_STREAMS };
static Queue queues[QUEUES];
static uint64_t choices;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void execute(DeviceTicket ticket);

static void execute_first(Queue *queue) {
    Task *task = queue->first;
    if (!task->run)
        execute(task->after);
    else if (!device_failed())
        task->run(task->arguments);
    queue->first = task->next;
    queue->executed++;
    free(task);
}

static Queue *queue_of(DeviceStream stream) {
    return stream == STREAM_COMPUTE && device_caller_stream() ? device_caller_stream() : &queues[stream];
}

// Of all that has been begun in the queue.
static DeviceTicket ticket_of(const Queue *queue) {
    return queue->begun > 0 ? queue->begun * QUEUES + (queue - queues) : 0;
}

static void execute(DeviceTicket ticket) {
    Queue *queue = &queues[ticket % QUEUES];
    while (queue->executed < ticket / QUEUES)
        execute_first(queue);
}

// Which stream goes on next, if one does, and whether by one task or by all that it has.
static void execute_some(void) {
    choices = choices * 6364136223846793005u + 1442695040888963407u;
    Queue *queue = &queues[(choices >> 33) % QUEUES];
    const unsigned how = (unsigned)(choices >> 60);
    if (how < 4)
        execute(ticket_of(queue));
    else if (how < 8 && queue->first)
        execute_first(queue);
}

static void append(Queue *queue, Task *task) {
    if (queue->first)
        queue->last->next = task;
    else
        queue->first = task;
    queue->last = task;
    queue->begun++;
}

static Task *create(int64_t bytes) {
    Task *task = calloc(1, sizeof *task + (size_t)bytes);
    if (!task)
        device_fail("out of memory");
    return task;
}

void emulated_begin(void (*run)(void *arguments), const void *arguments, int64_t bytes) {
    Task *task = create(bytes);
    if (!task)
        return;
    task->run = run;
    memcpy(task->arguments, arguments, (size_t)bytes);
    pthread_mutex_lock(&lock);
    append(queue_of(device_stream()), task);
    execute_some();
    pthread_mutex_unlock(&lock);
}

DeviceTicket emulated_mark(DeviceStream stream) {
    pthread_mutex_lock(&lock);
    const DeviceTicket ticket = ticket_of(queue_of(stream));
    pthread_mutex_unlock(&lock);
    return ticket;
}

void emulated_order(DeviceStream stream, DeviceTicket ticket) {
    Task *task = ticket > 0 ? create(0) : NULL;
    if (!task)
        return;
    task->after = ticket;
    pthread_mutex_lock(&lock);
    append(queue_of(stream), task);
    pthread_mutex_unlock(&lock);
}

void emulated_wait(DeviceTicket ticket) {
    pthread_mutex_lock(&lock);
    execute(ticket);
    pthread_mutex_unlock(&lock);
}

void emulated_synchronize(void) {
    for (DeviceStream s = 0; s < STREAM_COUNT; s++)
        emulated_wait(emulated_mark(s));
}

void emulated_execute_all(void) {
    pthread_mutex_lock(&lock);
    for (int q = 0; q < QUEUES; q++)
        execute(ticket_of(&queues[q]));
    pthread_mutex_unlock(&lock);
}

void *emulated_stream_create(void) {
    Queue *found = NULL;
    pthread_mutex_lock(&lock);
    for (int q = STREAM_COUNT; q < QUEUES && !found; q++)
        found = queues[q].is_open ? NULL : &queues[q];
    if (found)
        found->is_open = true;
    pthread_mutex_unlock(&lock);
    return found;
}

void emulated_stream_free(void *stream) {
    Queue *queue = stream;
    pthread_mutex_lock(&lock);
    execute(ticket_of(queue));
    queue->is_open = false;
    pthread_mutex_unlock(&lock);
}

const char *emulated_refuses_stream(void *stream) {
    bool is_open = false;
    pthread_mutex_lock(&lock);
    for (int q = STREAM_COUNT; q < QUEUES; q++)
        is_open = is_open || (&queues[q] == stream && queues[q].is_open);
    pthread_mutex_unlock(&lock);
    return is_open ? NULL : "is not of the emulated GPU";
}
