// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_reference.h"

#include "base/integer.h"
#include "runtime/exchange_entries.h"
#include "sparse_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// What stands for the row-major position of an entry, which may not fit into a number.
static int64_t position_of(const Entries *entries, int64_t entry) {
    uint64_t position = 0;
    for (int d = 0; d < entries->order; d++)
        position = position * (uint64_t)entries->extents[d] + (uint64_t)entries->coordinates[d][entry];
    return (int64_t)(position >> 1);
}

static char *value_at(const Entries *entries, int64_t entry) {
    return (char *)entries->values + (size_t)entry * type_info(entries->type)->size;
}

bool trial_sparse_input(const Trial *trial, const Tensor *tensor, uint64_t seed, Entries *entries) {
    const bool balanced = trial->pipeline->plan_options.boundaries->count > 0;
    return sparse_input(drawn_tensor(&trial->draft, tensor), tensor,
                        trial->pipeline->plan->homes[tensor->id].extents,
                        balanced ? trial->draft.input_seed : seed, seed, entries);
}

void sparse_take_input(Trial *trial, Whole *whole, const Storage *storage, const Tensor *tensor,
                       Entries *entries, MPI_Comm comm, const char *way) {
    Entries stored = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (!gather_entries(storage, &stored, comm, diagnostics_create(trial->arena, trial->pipeline->source)))
        trial_fail(trial, TRIAL_PREPARED, "the sparse input %s cannot be gathered, %s", tensor->name, way);
    else if (rank == 0 && !sparse_is_equal(&stored, entries))
        trial_fail(trial, TRIAL_PREPARED, "the sparse input %s is stored with other entries, %s",
                   tensor->name, way);
    whole_keep_entries(whole, tensor->id, &stored);
}

Entries entries_share(const Entries *entries, int ranks, int rank) {
    const int64_t first = part_begin(entries->count, ranks, rank);
    Entries given = *entries;
    given.count = part_begin(entries->count, ranks, rank + 1) - first;
    for (int d = 0; d < entries->order; d++)
        given.coordinates[d] = entries->coordinates[d] + first;
    given.values = (char *)entries->values + (size_t)first * type_info(entries->type)->size;
    return given;
}

void sparse_input_values(const Tensor *tensor, uint64_t seed, Entries *entries) {
    for (int64_t e = 0; e < entries->count; e++)
        input_element(tensor, seed, position_of(entries, e), value_at(entries, e));
}

bool sparse_input(const DraftTensor *drawn, const Tensor *tensor, const int64_t *extents, uint64_t pattern,
                  uint64_t seed, Entries *entries) {
    *entries = (Entries){.type = tensor->type, .order = tensor->order};
    memcpy(entries->extents, extents, sizeof *extents * (size_t)tensor->order);
    if (!draw_entries(entries, (Fill)drawn->fill, pattern * 64 + (uint64_t)tensor->id))
        return false;
    sparse_input_values(tensor, seed, entries);
    return true;
}

static bool same_point(const Entries *a, int64_t at_a, const Entries *b, int64_t at_b) {
    for (int d = 0; d < a->order; d++)
        if (a->coordinates[d][at_a] != b->coordinates[d][at_b])
            return false;
    return true;
}

bool sparse_is_equal(Entries *stored, Entries *entries) {
    static const char zero[16];
    const size_t size = type_info(entries->type)->size;
    if (entries_sort(stored, NULL) || entries_sort(entries, NULL))
        return false;
    int64_t s = 0, e = 0;
    for (;; s++, e++) {
        // Entries that are zero are stored, too, but not all zeros that are stored are entries.
        while (s < stored->count && memcmp(value_at(stored, s), zero, size) == 0 &&
               (e == entries->count || !same_point(stored, s, entries, e)))
            s++;
        if (s == stored->count || e == entries->count)
            return s == stored->count && e == entries->count;
        if (!same_point(stored, s, entries, e) ||
            memcmp(value_at(stored, s), value_at(entries, e), size) != 0)
            return false;
    }
}

static EvaluatorInput input_of(const Entries *entries) {
    EvaluatorInput input = {.values = entries->values, .count = entries->count};
    for (int d = 0; d < entries->order; d++)
        input.coordinates[d] = entries->coordinates[d];
    return input;
}

bool sparse_evaluate(const Evaluator *evaluator, const Whole *whole, Evaluated *result) {
    EvaluatorInput *inputs = calloc((size_t)whole->count + 1, sizeof *inputs);
    for (int t = 0; inputs && t < whole->count; t++)
        inputs[t] = tensor_is_sparse(whole->homes[t].tensor) ? input_of(&whole->entries[t])
                                                             : (EvaluatorInput){.values = whole->arrays[t]};
    *result = (Evaluated){0};
    const bool ok = inputs && evaluator_run_sparse(evaluator, inputs, result);
    free(inputs);
    return ok;
}

void sparse_compare(Trial *trial, const Assignment *assignment, Entries *got, Whole *whole, const char *way) {
    const Tensor *tensor = assignment->lhs->tensor;
    const Evaluator *evaluator = evaluator_create(
        trial->arena, assignment, trial_reorders_products(trial, assignment), trial->pipeline->params);
    Evaluated expected;
    EntriesError error;
    bool ok = sparse_evaluate(evaluator, whole, &expected);
    const EvaluatorInput of_got = input_of(got);
    ok = ok && evaluated_compare(evaluator, &expected, &of_got, &error);
    if (!ok) {
        trial_fail(trial, TRIAL_WRONG, "no memory for the reference");
    } else if (error.missing + error.superfluous > 0) {
        Text where = text_create(trial->arena);
        for (int d = 0; d < tensor->order; d++)
            text_printf(&where, "%s%" PRId64, d ? ", " : "", error.first[d]);
        trial_fail(trial, TRIAL_WRONG,
                   "%s has %" PRId64 " entries: %" PRId64 " are missing and %" PRId64
                   " should not be there, (%s) first, %s",
                   tensor->name, got->count, error.missing, error.superfluous, text_string(&where), way);
    } else if (!(error.error <= evaluator_tolerance_of(evaluator, expected.summands))) {
        trial_fail(trial, TRIAL_WRONG, "%s is wrong by %.3g (tolerance %.3g), %s", tensor->name, error.error,
                   evaluator_tolerance_of(evaluator, expected.summands), way);
    }
    evaluated_free(&expected);
    whole_keep_entries(whole, tensor->id, got);
}
