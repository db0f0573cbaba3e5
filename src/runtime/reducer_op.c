// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/reducer_op.h"

#include "memory/memory.h"

static void reduce_reals(Reducer reducer, const void *from, void *to, int count, MPI_Datatype type) {
    memory_kind(MEMORY_HOST)->reduce(reducer, type == MPI_FLOAT ? TYPE_F32 : TYPE_F64, to, 1, from, 1, count);
}

static void largest(void *from, void *to, int *count, MPI_Datatype *type) {
    reduce_reals(REDUCER_MAX, from, to, *count, *type);
}

static void smallest(void *from, void *to, int *count, MPI_Datatype *type) {
    reduce_reals(REDUCER_MIN, from, to, *count, *type);
}

static MPI_Op own_op(MPI_Op *op, bool *made, MPI_User_function *function) {
    if (!*made)
        *made = MPI_Op_create(function, 1, op) == MPI_SUCCESS;
    return *op;
}

MPI_Op reducer_op(Reducer reducer, ElementType type) {
    static MPI_Op max_op, min_op;
    static bool has_max, has_min;
    const bool is_integer = type_info(type)->is_integer;
    switch (reducer) {
    case REDUCER_PROD:
        return MPI_PROD;
    case REDUCER_MAX:
        return is_integer ? MPI_MAX : own_op(&max_op, &has_max, largest);
    case REDUCER_MIN:
        return is_integer ? MPI_MIN : own_op(&min_op, &has_min, smallest);
    default:
        return MPI_SUM;
    }
}
