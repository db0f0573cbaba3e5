// SPDX-License-Identifier: BSD-3-Clause
// Indices that are more than a variable, in the reference evaluator: by their definition, point by point.
#include "index/evaluator.h"

static bool solve_index(const IndexNumbers *index, int64_t coordinate, VarSet *known, int64_t *at) {
    int64_t rest = coordinate - index->constant;
    int unknown = -1;
    for (int i = 0; i < index->count; i++)
        if (*known >> index->vars[i] & 1)
            rest -= index->coefficients[i] * at[index->vars[i]];
        else
            unknown = i; // the only one
    if (unknown < 0)
        return rest == 0;
    if (rest % index->coefficients[unknown] != 0)
        return false;
    at[index->vars[unknown]] = rest / index->coefficients[unknown];
    *known |= (VarSet)1 << index->vars[unknown];
    return true;
}

bool evaluator_solve(const Evaluator *evaluator, const int64_t *coordinates, int64_t *at) {
    const Access *lhs = evaluator->assignment->lhs;
    VarSet known = 0;
    for (int mode = 0; mode < lhs->tensor->order; mode++) {
        const int var = lhs->vars[mode];
        if (lhs->indices[mode])
            continue;
        if (known >> var & 1 && at[var] != coordinates[mode])
            return false;
        at[var] = coordinates[mode];
        known |= (VarSet)1 << var;
    }
    for (int mode = 0; mode < lhs->tensor->order; mode++)
        if (lhs->indices[mode] &&
            !solve_index(evaluator->indices[lhs->vars[mode]], coordinates[mode], &known, at))
            return false;
    for (int v = 0; v < evaluator->assignment->var_count; v++)
        if (known >> v & 1 && (at[v] < 0 || at[v] >= evaluator->extents[v]))
            return false;
    return true;
}

bool evaluator_has_iteration(const Evaluator *evaluator, VarSet vars, const int64_t *at) {
    for (int v = 0; v < evaluator->assignment->var_count; v++) {
        const IndexNumbers *index = evaluator->indices[v];
        if (!index)
            continue;
        int64_t value = index->constant;
        bool all = true;
        for (int i = 0; i < index->count; i++) {
            all = all && vars >> index->vars[i] & 1;
            value += index->coefficients[i] * at[index->vars[i]];
        }
        if (all && (value < 0 || value >= index->extent))
            return false;
    }
    return true;
}
