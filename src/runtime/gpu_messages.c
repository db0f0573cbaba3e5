// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_messages.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What DISTAL_GPU_MPI says; CHOICE_AUTO: nothing.
typedef enum { CHOICE_OFF, CHOICE_ON, CHOICE_AUTO, CHOICE_WRONG } Choice;

typedef struct {
    Choice choice;
    char message[160]; // of CHOICE_WRONG
} Setting;

static Setting read_setting(void) {
    const char *value = getenv("DISTAL_GPU_MPI");
    Setting setting = {.choice = CHOICE_WRONG};
    if (!value || !*value)
        setting.choice = CHOICE_AUTO;
    else if (strcmp(value, "on") == 0)
        setting.choice = CHOICE_ON;
    else if (strcmp(value, "off") == 0)
        setting.choice = CHOICE_OFF;
    else
        snprintf(setting.message, sizeof setting.message,
                 "DISTAL_GPU_MPI is '%.80s', which is neither 'on' nor 'off'", value);
    return setting;
}

// Libraries know what they support when they are initialized, and before that what they were built for.
static bool library_is_cuda_aware(void) {
#ifdef MPIX_CUDA_AWARE_SUPPORT
    int initialized;
    MPI_Initialized(&initialized);
    return initialized ? MPIX_Query_cuda_support() == 1 : MPIX_CUDA_AWARE_SUPPORT == 1;
#else
    return false;
#endif
}

// `is_aware` is for CHOICE_AUTO.
static const char *apply(const Setting *setting, int64_t ranks, bool is_aware, bool *gpu_messages) {
    static char message[sizeof setting->message];
    *gpu_messages =
        ranks > 1 && (setting->choice == CHOICE_ON || (setting->choice == CHOICE_AUTO && is_aware));
    if (setting->choice != CHOICE_WRONG)
        return NULL;
    memcpy(message, setting->message, sizeof message);
    return message;
}

const char *gpu_messages_choose(MPI_Comm comm, bool *gpu_messages) {
    int ranks;
    MPI_Comm_size(comm, &ranks);
    Setting setting = read_setting();
    broadcast(&setting, sizeof setting, MPI_BYTE, 0, comm);
    return apply(&setting, ranks, agree(comm, library_is_cuda_aware()), gpu_messages);
}

const char *gpu_messages_expect(int64_t ranks, bool *gpu_messages) {
    const Setting setting = read_setting();
    return apply(&setting, ranks, library_is_cuda_aware(), gpu_messages);
}
