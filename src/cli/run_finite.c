// SPDX-License-Identifier: BSD-3-Clause
// The warning about results that hold NaN or infinity where no operand does. What a tensor holds is looked at
// once after it has changed, and of operands only where a result is not finite.
#include "cli/run.h"
#include "runtime/finite.h"

#include <inttypes.h>
#include <math.h>

static bool is_finite(Run *run, int id, NotFinite *found) {
    if (run->values[id] == VALUES_UNKNOWN)
        run->values[id] =
            storage_is_finite(run->storages[id], MPI_COMM_WORLD, found) ? VALUES_FINITE : VALUES_NOT_FINITE;
    return run->values[id] == VALUES_FINITE;
}

static bool is_looked_for(const Run *run) {
    return !(run->session->options->warnings.off & 1u << WARNING_NOT_FINITE);
}

static const Assignment *assignment_of(const Run *run, int index) {
    return run->pipeline->statements[index].statement->assignment;
}

void run_before_values(Run *run, int index) {
    const Assignment *assignment = assignment_of(run, index);
    const Tensor *target = assignment->lhs->tensor;
    NotFinite found;
    if (is_looked_for(run) && assignment_reads_target(assignment))
        is_finite(run, target->id, &found);
}

static bool operands_are_finite(Run *run, const Assignment *assignment) {
    for (int id = 0; id < run->pipeline->program->tensor_count; id++) {
        NotFinite found;
        const Tensor *tensor = run->pipeline->program->tensors[id];
        if (tensor != assignment->lhs->tensor && expr_access_of(assignment->rhs, tensor) &&
            !is_finite(run, id, &found))
            return false;
    }
    return true;
}

static bool warn(const Run *run, int index, const NotFinite *found) {
    const Assignment *assignment = assignment_of(run, index);
    const int64_t executions = run->statements[index].report.executions;
    const Tensor *target = assignment->lhs->tensor;
    Session *session = run->session;
    Text element = text_create(session->arena);
    for (int m = 0; m < target->order && !tensor_is_sparse(target); m++)
        text_printf(&element, "%s%" PRId64, m ? ", " : "(", found->coordinates[m]);
    text_append(&element, element.length > 0 ? ")" : "");
    Diagnostics *warnings = session_warnings(session);
    const char *value = isnan(found->value) ? "NaN" : found->value < 0 ? "-infinity" : "infinity";
    const char *when =
        executions == 1
            ? "and no operand holds NaN or infinity"
            : arena_printf(session->arena, "after %" PRId64 " executions, and was not after the first",
                           executions);
    diagnostics_warning(warnings, WARNING_NOT_FINITE, assignment->span, "%s%s%s is %s, %s",
                        tensor_is_sparse(target) ? "an element of " : "", target->name, text_string(&element),
                        value, when);
    return run->rank == 0 ? session_print_warnings(session, warnings) : warnings->errors == 0;
}

bool run_check_values(Run *run, int index) {
    const Assignment *assignment = assignment_of(run, index);
    const int target = assignment->lhs->tensor->id;
    if (!is_looked_for(run))
        return true;
    const bool were_not = run->values[target] == VALUES_NOT_FINITE;
    NotFinite found = {0};
    run->values[target] = VALUES_UNKNOWN;
    const bool reads_itself = assignment_reads_target(assignment);
    const bool fine = run->statements[index].was_finite = is_finite(run, target, &found);
    return fine || (were_not && reads_itself) || !operands_are_finite(run, assignment) ||
           warn(run, index, &found);
}

bool run_check_last_values(Run *run, int first, int last) {
    for (int s = first; s < last; s++) {
        const RunStatement *statement = &run->statements[s];
        const int target = assignment_of(run, s)->lhs->tensor->id;
        NotFinite found = {0};
        if (statement->report.executions <= 1 || !statement->was_finite)
            continue;
        run->values[target] = VALUES_UNKNOWN; // so that it is known where
        if (!is_finite(run, target, &found))
            return warn(run, s, &found);
    }
    return true;
}
