// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Between two calls of MPI. Buffers of the system hold what arrives in this time: 0.2 MB at 1 GB/s.
static const struct timespec interval = {.tv_nsec = 200000};

struct ProgressThread {
    pthread_t thread;
    pthread_mutex_t lock; // held while MPI is called
    pthread_cond_t changed;
    bool allowed, ends;
};

bool progress_is_needed(MPI_Comm node, MPI_Comm all) {
    const char *value = getenv("DISTAL_PROGRESS");
    int level, node_ranks, ranks;
    MPI_Query_thread(&level);
    MPI_Comm_size(node, &node_ranks);
    MPI_Comm_size(all, &ranks);
    if (level < MPI_THREAD_SERIALIZED || ranks == 1 || (value && strcmp(value, "off") == 0))
        return false;
    return node_ranks < ranks || (value && strcmp(value, "on") == 0);
}

static void *call_repeatedly(void *argument) {
    ProgressThread *progress = argument;
    pthread_mutex_lock(&progress->lock);
    while (!progress->ends) {
        if (!progress->allowed) {
            pthread_cond_wait(&progress->changed, &progress->lock);
            continue;
        }
        pthread_mutex_unlock(&progress->lock);
        nanosleep(&interval, NULL);
        pthread_mutex_lock(&progress->lock);
        int arrived; // nothing does, from this rank itself
        if (progress->allowed)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &arrived, MPI_STATUS_IGNORE);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

ProgressThread *progress_create(void) {
    ProgressThread *progress = calloc(1, sizeof *progress);
    sigset_t all, before;
    if (!progress)
        return NULL;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->changed, NULL);
    // Signals are for the threads of the program.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(&progress->thread, NULL, call_repeatedly, progress) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        return progress;
    free(progress);
    return NULL;
}

static void set(bool *flag, bool value, ProgressThread *progress) {
    pthread_mutex_lock(&progress->lock);
    *flag = value;
    pthread_cond_signal(&progress->changed);
    pthread_mutex_unlock(&progress->lock);
}

void progress_free(ProgressThread *progress) {
    if (!progress)
        return;
    set(&progress->ends, true, progress);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->changed);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}

void progress_allow(ProgressThread *progress) {
    if (progress)
        set(&progress->allowed, true, progress);
}

void progress_stop(ProgressThread *progress) {
    if (progress && progress->allowed)
        set(&progress->allowed, false, progress);
}
