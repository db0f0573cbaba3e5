// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { CAPACITY = 64 };

struct IoQueue {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    IoRequest requests[CAPACITY]; // number n is at n % CAPACITY
    int64_t submitted, completed;
    bool ends;
};

static void carry_out(const IoRequest *request) {
    if (request->reduces)
        piece_reduce(request->reducer, &request->to, &request->from, request->rect);
    else
        piece_copy(&request->to, &request->from, request->rect);
}

static void *complete_requests(void *argument) {
    IoQueue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->completed == queue->submitted && !queue->ends)
            pthread_cond_wait(&queue->changed, &queue->lock);
        if (queue->completed == queue->submitted)
            break;
        const IoRequest *request = &queue->requests[(queue->completed + 1) % CAPACITY];
        pthread_mutex_unlock(&queue->lock);
        carry_out(request);
        pthread_mutex_lock(&queue->lock);
        queue->completed++;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

IoQueue *io_queue_create(void) {
    IoQueue *queue = calloc(1, sizeof *queue);
    sigset_t all, before;
    if (!queue)
        return NULL;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    // Signals are for the threads of the program.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(&queue->thread, NULL, complete_requests, queue) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        return queue;
    free(queue);
    return NULL;
}

void io_queue_free(IoQueue *queue) {
    if (!queue)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->ends = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

int64_t io_queue_submit(IoQueue *queue, const IoRequest *request) {
    pthread_mutex_lock(&queue->lock);
    while (queue->submitted - queue->completed == CAPACITY)
        pthread_cond_wait(&queue->changed, &queue->lock);
    const int64_t number = ++queue->submitted;
    queue->requests[number % CAPACITY] = *request;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return number;
}

void io_queue_wait(IoQueue *queue, int64_t number) {
    pthread_mutex_lock(&queue->lock);
    while (queue->completed < number)
        pthread_cond_wait(&queue->changed, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

void io_queue_wait_all(IoQueue *queue) {
    pthread_mutex_lock(&queue->lock);
    const int64_t last = queue->submitted;
    pthread_mutex_unlock(&queue->lock);
    io_queue_wait(queue, last);
}
