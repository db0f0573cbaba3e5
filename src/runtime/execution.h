// SPDX-License-Identifier: BSD-3-Clause
// Execution: one planned statement on one rank, with its buffers, datatypes and requests made ahead, so that
// running it allocates nothing. The kernel starts and ends the steps of the plan through the calls of
// distal_kernel.h.
#ifndef DISTAL_RUNTIME_EXECUTION_H
#define DISTAL_RUNTIME_EXECUTION_H

#include "distal_kernel.h"
#include "runtime/communicators.h"
#include "runtime/execution_parts.h"

// Prepares the part of this rank. `storages` are by tensor id, at least for the tensors of the statement;
// they, the plan and the communicators have to stay. Collective; where a rank lacks memory, NULL with the
// same diagnostic on all. Freed with execution_free, which is local.
distal_execution *execution_create(StatementPlan *plan, Storage *const *storages,
                                   Communicators *communicators, Diagnostics *diagnostics);
void execution_free(distal_execution *execution);

// Whether the result has a structure already, or needs none; the same on all ranks.
bool execution_is_structured(const distal_execution *execution);
// Gives a sparse result, and sparse workspaces, the structure that follows from those of the operands as they
// are now; `structure` is the kernel's function that appends their entries, where it has one. To be called
// before execution_run where execution_is_structured says no. Collective; false with the same diagnostic on
// all ranks.
// Where the result gets other entries and its old ones are read, these are set aside for the next run; they
// come back where that fails.
bool execution_structure(distal_execution *execution, distal_kernel_function structure, const int64_t *params,
                         Diagnostics *diagnostics);
// Gives such a result what it had before the latest run, so that this can be repeated. Collective.
bool execution_replaces(const distal_execution *execution);
bool execution_put_back(distal_execution *execution, Diagnostics *diagnostics);
// Where no execution_run follows: the next one copies the values of operands that are converted, as those
// that were copied with their structure may have changed. Local; on all ranks alike.
void execution_invalidate(distal_execution *execution);

// Computes the statement once. Collective. `params`: values by index. Failures of files and of the GPU are
// noted, for execution_check.
void execution_run(distal_execution *execution, distal_kernel_function kernel, const int64_t *params);
// Whether execution_run may fail: a tensor of the statement is in disk, or it is executed on a GPU. The same
// on all ranks.
bool execution_may_fail(const distal_execution *execution);
// Whether all executions so far have gone well on all ranks; else false, with the same diagnostic on all
// ranks. Collective where execution_may_fail.
bool execution_check(const distal_execution *execution, Diagnostics *diagnostics);

// What this rank received in a fetch of the last run, or sent as partial results.
int64_t execution_bytes(const distal_execution *execution, int transfer);
int64_t execution_messages(const distal_execution *execution, int transfer);
// What this rank has read and written in the last run of the tensor of a transfer that is in disk; zeros for
// the transfers of the same tensor after the first.
DeviceCounts execution_copied(const distal_execution *execution, int transfer);
IoCounts execution_io(const distal_execution *execution, int transfer);
// Bytes of coordinates of entries that this rank received, or sent as part of a result, when the structure
// was found.
int64_t execution_structure_bytes(const distal_execution *execution, int transfer);

// Of a transfer of entries, the traffic of all ranks and the memory of copies, with the structures that there
// are: the arrays of EntryFigures one after the other. False for any other transfer. Collective.
bool execution_gather_entries(const distal_execution *execution, int transfer, int64_t ranks,
                              int64_t *figures);
// Adds these to the figures of the plan. Collective.
void execution_count_entries(const distal_execution *execution, StatementPlan *plan, Arena *arena);

// As execution_create, from the parts of a plan (runtime/execution_parts.h). NULL for `parts`: this rank has
// failed to find them, and has a diagnostic for it.
distal_execution *execution_assemble(const ExecutionParts *parts, Communicators *communicators,
                                     Diagnostics *diagnostics);

#endif
