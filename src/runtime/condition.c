// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/condition.h"

#include "index/evaluate.h"
#include "runtime/wait.h"

#include <limits.h>

enum { LARGEST_VALUE = 16 }; // bytes of an element

typedef struct {
    const Storage *storage;
    int owner; // the lowest rank that has it
    size_t size;
    void *value; // on the rank that evaluates
} Scalar;

struct Condition {
    const Evaluator *evaluator; // of the expression as it is assigned to a real scalar
    double limit;
    MPI_Comm comm;
    int rank, root; // which evaluates
    bool together;  // it has all scalars
    int scalar_count;
    Scalar *scalars;
    const void **arrays; // by tensor id
};

static void find_scalar(void *context, const Access *access) {
    ((bool *)context)[access->tensor->id] = true;
}

static bool has(const Storage *storage) {
    return storage->piece_count > 0 && !rect_is_empty(&storage->pieces[0].rect);
}

// The lowest rank on which it is so; INT_MAX: on none.
static int lowest_rank(const Condition *condition, bool here) {
    int rank = here ? condition->rank : INT_MAX;
    all_reduce(&rank, 1, MPI_INT, MPI_MIN, condition->comm);
    return rank;
}

static void find_owners(Condition *condition) {
    bool all = true;
    for (int s = 0; s < condition->scalar_count; s++) {
        condition->scalars[s].owner = lowest_rank(condition, has(condition->scalars[s].storage));
        all = all && has(condition->scalars[s].storage);
    }
    const int root = lowest_rank(condition, all);
    condition->together = root < INT_MAX;
    condition->root = condition->together ? root : 0;
}

Condition *condition_create(const Assignment *expression, double limit, int tensor_count,
                            Storage *const *storages, const int64_t *params, MPI_Comm comm, Arena *arena) {
    Condition *condition = arena_new(arena, Condition);
    bool *reads = arena_array(arena, bool, tensor_count); // by id
    *condition = (Condition){.limit = limit,
                             .comm = comm,
                             .scalars = arena_array(arena, Scalar, tensor_count),
                             .arrays = arena_array(arena, const void *, tensor_count)};
    MPI_Comm_rank(comm, &condition->rank);
    expr_accesses(expression->rhs, find_scalar, reads);
    for (int t = 0; t < tensor_count; t++) {
        if (!reads[t])
            continue;
        void *value = arena_array(arena, char, LARGEST_VALUE);
        condition->scalars[condition->scalar_count++] =
            (Scalar){.storage = storages[t], .size = type_info(storages[t]->type)->size, .value = value};
        condition->arrays[t] = value;
    }
    find_owners(condition);
    Tensor *value = arena_new(arena, Tensor);
    *value = (Tensor){.name = "until", .id = tensor_count, .type = TYPE_F64};
    Access *access = arena_new(arena, Access);
    access->tensor = value;
    Assignment *assignment = arena_copy(arena, expression, sizeof *expression);
    assignment->lhs = access;
    condition->evaluator = evaluator_create(arena, assignment, false, params);
    return condition;
}

typedef enum { IS_FALSE, IS_TRUE, NO_MEMORY } Outcome;

static Outcome evaluate(const Condition *condition) {
    union {
        double real[2]; // of complex scalars, the value is real, and has an imaginary part
        int64_t integer;
    } value;
    if (!evaluator_run(condition->evaluator, condition->arrays, 0, 1, &value, NULL))
        return NO_MEMORY;
    const bool is_integer = evaluator_kind(condition->evaluator) == WIDE_INTEGER;
    return (is_integer ? (double)value.integer : value.real[0]) < condition->limit ? IS_TRUE : IS_FALSE;
}

bool condition_holds(const Condition *condition, bool *holds, Diagnostics *diagnostics) {
    for (int s = 0; s < condition->scalar_count; s++) {
        const Scalar *scalar = &condition->scalars[s];
        if (has(scalar->storage))
            storage_get_scalar(scalar->storage, scalar->value);
        if (!condition->together)
            broadcast(scalar->value, (int)scalar->size, MPI_BYTE, scalar->owner, condition->comm);
    }
    int outcome = condition->rank == condition->root ? (int)evaluate(condition) : IS_FALSE;
    broadcast(&outcome, 1, MPI_INT, condition->root, condition->comm);
    *holds = outcome == IS_TRUE;
    return outcome != NO_MEMORY ||
           diagnostics_error(diagnostics, (Span){0}, "not enough memory for the condition of a repetition");
}
