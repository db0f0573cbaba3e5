// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_messages.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <stdlib.h>
#include <string.h>

// What DISTAL_GPU_MPI says; CHOICE_AUTO: nothing.
typedef enum { CHOICE_OFF, CHOICE_ON, CHOICE_AUTO } Choice;

typedef struct {
    bool reads; // the variable; else the choice is that of another process
    Choice choice;
} Setting;

static bool read_setting(void *arguments, Diagnostics *diagnostics) {
    Setting *setting = arguments;
    const char *value = setting->reads ? getenv("DISTAL_GPU_MPI") : NULL;
    const bool on = value && strcmp(value, "on") == 0, off = value && strcmp(value, "off") == 0;
    setting->choice = on ? CHOICE_ON : off ? CHOICE_OFF : CHOICE_AUTO;
    return on || off || !value || !*value ||
           diagnostics_error(diagnostics, (Span){0},
                             "DISTAL_GPU_MPI is '%.80s', which is neither 'on' nor 'off'", value);
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
static bool is_used(Choice choice, int64_t ranks, bool is_aware) {
    return ranks > 1 && (choice == CHOICE_ON || (choice == CHOICE_AUTO && is_aware));
}

bool gpu_messages_choose(MPI_Comm comm, bool *gpu_messages, Diagnostics *diagnostics) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    Setting setting = {.reads = rank == 0};
    *gpu_messages = false;
    if (!agree_on_part(comm, read_setting, &setting, diagnostics))
        return false;
    broadcast(&setting.choice, sizeof setting.choice, MPI_BYTE, 0, comm);
    *gpu_messages = is_used(setting.choice, ranks, agree(comm, library_is_cuda_aware()));
    return true;
}

bool gpu_messages_expect(int64_t ranks, bool *gpu_messages, Diagnostics *diagnostics) {
    Setting setting = {.reads = true};
    const bool ok = read_setting(&setting, diagnostics);
    *gpu_messages = ok && is_used(setting.choice, ranks, library_is_cuda_aware());
    return ok;
}
