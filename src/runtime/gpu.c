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

int64_t distal_gpu_row_count(const distal_execution *execution, int workspace) {
    return execution->row_counts[workspace];
}

int64_t distal_gpu_partial_count(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].scope.plan->gpu_partial_count;
}

int64_t distal_gpu_partial_elements(const distal_execution *execution, int transfer) {
    return execution->transfers[transfer].gpu_partial_span;
}

void *distal_gpu_partials(distal_execution *execution, int transfer) {
    const TransferState *state = &execution->transfers[transfer];
    const RankTransfer *plan = state->scope.plan;
    memory_kind(MEMORY_GPU)
        ->clear(plan->transfer->reducer, state->scope.storage->type, state->gpu_partials, 1,
                (plan->gpu_partial_count + 1) * state->gpu_partial_span);
    return state->gpu_partials;
}

// Partial results and their sum have the strides of the view.
void distal_gpu_merge(distal_execution *execution, int transfer) {
    const TransferState *state = &execution->transfers[transfer];
    const RankTransfer *plan = state->scope.plan;
    const Piece *view = &state->scope.leaf_view;
    const int64_t before = plan->gpu_partial_count * state->gpu_partial_span;
    Piece sum = *view;
    sum.data = (char *)state->gpu_partials + before * (int64_t)type_info(view->type)->size;
    piece_reduce(plan->transfer->reducer, view, &sum, &view->rect);
}

void *distal_gpu_scratch(distal_execution *execution) {
    return execution->gpu_scratch;
}

distal_contraction_space distal_gpu_space(const distal_execution *execution) {
    return execution->gpu_space ? (distal_contraction_space){execution->gpu_space, DEVICE_SPACE, 1}
                                : (distal_contraction_space){execution->gpu_scratch, DEVICE_SCRATCH, 1};
}
