// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/condition.h"

#include "index/evaluate.h"
#include "runtime/load.h"
#include "runtime/wait.h"

#include <stdlib.h>

struct Condition {
    const Evaluator *evaluator; // of the expression as it is assigned to a real scalar
    double limit;
    int tensor_count;
    bool *reads;   // by tensor id
    void **arrays; // the same, while it is evaluated
};

static void find_scalar(void *context, const Access *access) {
    ((Condition *)context)->reads[access->tensor->id] = true;
}

Condition *condition_create(const Assignment *expression, double limit, int tensor_count,
                            const int64_t *params, Arena *arena) {
    Condition *condition = arena_new(arena, Condition);
    *condition = (Condition){.limit = limit,
                             .tensor_count = tensor_count,
                             .reads = arena_array(arena, bool, tensor_count),
                             .arrays = arena_array(arena, void *, tensor_count)};
    expr_accesses(expression->rhs, find_scalar, condition);
    Tensor *value = arena_new(arena, Tensor);
    *value = (Tensor){.name = "until", .id = tensor_count, .type = TYPE_F64};
    Access *access = arena_new(arena, Access);
    access->tensor = value;
    Assignment *assignment = arena_copy(arena, expression, sizeof *expression);
    assignment->lhs = access;
    condition->evaluator = evaluator_create(arena, assignment, false, params);
    return condition;
}

bool condition_holds(const Condition *condition, Storage *const *storages, MPI_Comm comm, bool *holds,
                     Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    bool ok = true;
    for (int t = 0; t < condition->tensor_count && ok; t++)
        ok = !condition->reads[t] ||
             storage_gather_first(storages[t], &condition->arrays[t], comm, diagnostics);
    int result = 0; // 2: no memory
    if (ok && rank == 0) {
        union {
            double real;
            int64_t integer;
        } value;
        result = 2;
        if (evaluator_run(condition->evaluator, (const void *const *)condition->arrays, 0, 1, &value, NULL))
            result = evaluator_kind(condition->evaluator) == WIDE_INTEGER
                         ? (double)value.integer < condition->limit
                         : value.real < condition->limit;
    }
    for (int t = 0; t < condition->tensor_count; t++) {
        free(condition->arrays[t]);
        condition->arrays[t] = NULL;
    }
    if (!ok)
        return false;
    broadcast(&result, 1, MPI_INT, 0, comm);
    *holds = result == 1;
    return result < 2 ||
           diagnostics_error(diagnostics, (Span){0}, "not enough memory for the condition of a repetition");
}
