// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/gpu_messages.h"

#include "runtime/agreement.h"
#include "runtime/setting.h"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

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
    int ranks;
    MPI_Comm_size(comm, &ranks);
    Choice choice;
    *gpu_messages = false;
    if (!setting_agree(comm, "DISTAL_GPU_MPI", &choice, diagnostics))
        return false;
    *gpu_messages = is_used(choice, ranks, agree(comm, library_is_cuda_aware()));
    return true;
}

bool gpu_messages_expect(int64_t ranks, bool *gpu_messages, Diagnostics *diagnostics) {
    Choice choice;
    const bool ok = setting_read("DISTAL_GPU_MPI", &choice, diagnostics);
    *gpu_messages = ok && is_used(choice, ranks, library_is_cuda_aware());
    return ok;
}
