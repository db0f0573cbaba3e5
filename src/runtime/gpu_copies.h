// SPDX-License-Identifier: BSD-3-Clause
// What a transfer of a leaf on a GPU copies between memory of the GPU and of the host. Where other transfers
// of the execution do not change the tensor, copies are in streams of their own (TransferState.streams): what
// is fetched arrives while the leaves of earlier steps are executed, and results leave while later ones are.
#ifndef DISTAL_RUNTIME_GPU_COPIES_H
#define DISTAL_RUNTIME_GPU_COPIES_H

#include "runtime/transfer.h"

// Around an execution on a GPU. In the stream of a caller (device_set_caller_stream) it comes after all that
// was begun there before, and before all that is begun later; the host waits at the end only where tensors
// are in its memory (`in_host`), or other ranks read what is on the GPU. Without such a stream it waits in
// any case. Returns what has to be executed before memory of the execution is released.
void gpu_begin_run(void);
DeviceTicket gpu_end_run(bool in_host, bool read_by_others);

// Before a step of a fetch starts: its buffers are waited for.
void gpu_begin_fetch(const TransferState *state, const RankStep *step);
// Before messages from and to memory of the GPU: what has been begun there is waited for.
void gpu_wait_for_messages(const TransferState *state, const RankStep *step);
// What is begun now reads stages, or starts operations, until gpu_end_start.
void gpu_begin_stages(const TransferState *state);
void gpu_begin_operations(const TransferState *state);
void gpu_end_start(TransferState *state);
// When all has been received: the rest is copied to the GPU, and the leaf waits for it.
void gpu_finish_fetch(TransferState *state, const RankStep *step);

// Before the leaf adds to its view.
void gpu_begin_result(const TransferState *state);
// After the leaf: copies what operations take from the host, or the results to their home where nothing has
// to be added. True: the step has nothing left to do but what gpu_finish_result does.
bool gpu_take_result(TransferState *state, const RankStep *step);
// What is left to do for the last result: adds what has been copied to the host. Nothing without a GPU.
void gpu_finish_result(TransferState *state);

#endif
