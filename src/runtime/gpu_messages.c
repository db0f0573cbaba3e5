// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_messages.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdlib.h>
#include <string.h>

static bool library_takes_them(void) {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

static bool is_set_to(const char *word) {
    const char *value = getenv("DISTAL_GPU_MPI");
    return value && strcmp(value, word) == 0;
}

bool gpu_messages_are_asked_for(void) {
    return is_set_to("on");
}

bool gpu_messages_are_sent(MPI_Comm comm) {
    int choice = is_set_to("on") ? 1 : is_set_to("off") ? 0 : -1;
    broadcast(&choice, 1, MPI_INT, 0, comm);
    return choice < 0 ? agree(comm, library_takes_them()) : choice;
}
