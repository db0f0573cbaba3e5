// SPDX-License-Identifier: BSD-3-Clause
// Entries of a result beside those that it should have.
#include "index/evaluate_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_entries(int order, int64_t *const *a, int64_t at_a, int64_t *const *b, int64_t at_b) {
    for (int d = 0; d < order; d++)
        if (a[d][at_a] != b[d][at_b])
            return a[d][at_a] < b[d][at_b] ? -1 : 1;
    return 0;
}

bool evaluated_compare(const Evaluator *evaluator, const Evaluated *result, const EvaluatorInput *got,
                       EntriesError *error) {
    const Tensor *tensor = evaluator->assignment->lhs->tensor;
    const size_t size = type_info(tensor->type)->size, value_size = evaluator_value_size(evaluator);
    int64_t *keys[MAX_ORDER] = {NULL};
    memcpy(keys, got->coordinates, sizeof keys);
    int64_t *order = entries_order(got->count, tensor->order, keys);
    *error = (EntriesError){0};
    if (!order)
        return false;
    int64_t e = 0, g = 0;
    while (e < result->count || g < got->count) {
        const int64_t at = g < got->count ? order[g] : 0;
        const int side = e == result->count ? 1
                         : g == got->count  ? -1
                                           : compare_entries(tensor->order, result->coordinates, e, keys, at);
        if (side != 0 && error->missing + error->superfluous == 0)
            for (int d = 0; d < tensor->order; d++)
                error->first[d] = side < 0 ? result->coordinates[d][e] : keys[d][at];
        if (side == 0)
            error->error =
                fmax(error->error, evaluator_error(evaluator, (const char *)got->values + (size_t)at * size,
                                                   (const char *)result->values + (size_t)e * value_size,
                                                   &result->magnitudes[e], 1));
        error->missing += side < 0;
        error->superfluous += side > 0;
        e += side <= 0;
        g += side >= 0;
    }
    free(order);
    return true;
}
