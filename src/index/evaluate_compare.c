// SPDX-License-Identifier: BSD-3-Clause
// Elements and entries of a result beside those that it should have.
#include "index/evaluate_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_single(ElementType type) {
    return type == TYPE_F32 || type == TYPE_C64;
}

// A real value as the left side's type can hold it.
static double as_stored(double value, ElementType type) {
    return is_single(type) ? (double)(float)value : value;
}

static int64_t got_integer(const void *got, ElementType type, int64_t i) {
    return type == TYPE_I32 ? ((const int32_t *)got)[i] : ((const int64_t *)got)[i];
}

// Number `i` of an array of reals of the left side's type; a complex number is two.
static double got_real(const void *got, ElementType type, int64_t i) {
    return is_single(type) ? (double)((const float *)got)[i] : ((const double *)got)[i];
}

static double relative_error(double difference, double magnitude) {
    if (difference == 0)
        return 0;
    return magnitude > 0 ? difference / magnitude : INFINITY;
}

// Summands b(k) * c that are infinite with both signs add up to NaN, but (b(1) + b(2)) * c, as products are
// formed with workspaces and by calls of the BLAS, is infinite then.
static double real_error(bool reordered, double got, double value, double magnitude) {
    if (got == value || (isnan(value) && (isnan(got) || (reordered && isinf(got)))))
        return 0;
    return isfinite(got) && isfinite(value) ? relative_error(fabs(got - value), magnitude) : INFINITY;
}

// The C standard does not define which parts of complex products are infinite or NaN: all such values are
// equal here.
static double complex_error(const double *got, const double *value, double magnitude) {
    bool finite = isfinite(value[0]) && isfinite(value[1]);
    if (finite != (isfinite(got[0]) && isfinite(got[1])))
        return INFINITY;
    return finite ? relative_error(hypot(got[0] - value[0], got[1] - value[1]), magnitude) : 0;
}

double evaluator_error(const Evaluator *evaluator, const void *got, const void *values,
                       const double *magnitudes, int64_t count) {
    const ElementType type = evaluator->assignment->lhs->tensor->type;
    const int numbers = evaluator->kind == WIDE_COMPLEX ? 2 : 1;
    double largest = 0;
    for (int64_t i = 0; i < count; i++) {
        double error;
        if (type_info(type)->is_integer) {
            int64_t value = ((const int64_t *)values)[i];
            error = got_integer(got, type, i) == (type == TYPE_I32 ? (int32_t)(uint32_t)value : value)
                        ? 0
                        : INFINITY;
        } else if (!type_info(type)->is_complex) {
            double value = as_stored(((const double *)values)[numbers * i], type);
            error = real_error(evaluator->reordered, got_real(got, type, i), value, magnitudes[i]);
        } else {
            const double *value = (const double *)values + 2 * i;
            double parts[2] = {got_real(got, type, 2 * i), got_real(got, type, 2 * i + 1)};
            double stored[2] = {as_stored(value[0], type), as_stored(value[1], type)};
            error = complex_error(parts, stored, magnitudes[i]);
        }
        largest = fmax(largest, error);
    }
    return largest;
}

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
