// SPDX-License-Identifier: BSD-3-Clause
// What kernels of a GPU call.
#include "runtime/execution_data.h"

void distal_launch(distal_execution *execution, void *module, const distal_gpu_kernel *kernel,
                   const int64_t *blocks, const int64_t *threads, int pointer_count, int argument_count,
                   void *const *arguments) {
    (void)execution;
    const DeviceLaunch launch = {.blocks = {blocks[0], blocks[1], blocks[2]},
                                 .threads = {(int)threads[0], (int)threads[1], (int)threads[2]},
                                 .pointer_count = pointer_count,
                                 .argument_count = argument_count,
                                 .arguments = arguments};
    device_current()->launch(module, &(DeviceKernel){kernel->name, kernel->emulated}, &launch);
}

int64_t distal_workspace_copies(const distal_execution *execution, int workspace) {
    return execution->row_copies[workspace];
}

void *distal_gpu_scratch(distal_execution *execution) {
    return execution->gpu_scratch;
}

distal_contraction_space distal_gpu_space(const distal_execution *execution) {
    return execution->gpu_space ? (distal_contraction_space){execution->gpu_space, DEVICE_SPACE, 1}
                                : (distal_contraction_space){execution->gpu_scratch, DEVICE_SCRATCH, 1};
}
