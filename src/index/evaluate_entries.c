// SPDX-License-Identifier: BSD-3-Clause
#include "index/evaluate_entries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int key_count;
    int64_t *const *keys;
} Keys;

static int compare_points(const Keys *by, int64_t a, int64_t b) {
    for (int k = 0; k < by->key_count; k++)
        if (by->keys[k][a] != by->keys[k][b])
            return by->keys[k][a] < by->keys[k][b] ? -1 : 1;
    return 0;
}

static int compare_indices(const void *left, const void *right, void *context) {
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    const int order = compare_points(context, a, b);
    return order ? order : a < b ? -1 : a > b;
}

int64_t *entries_order(int64_t count, int key_count, int64_t *const *keys) {
    Keys by = {key_count, keys};
    int64_t *order = calloc((size_t)count + 1, sizeof *order);
    bool sorted = true;
    for (int64_t e = 0; order && e < count; e++) {
        order[e] = e;
        sorted = sorted && (e == 0 || compare_points(&by, e - 1, e) <= 0);
    }
    if (order && !sorted)
        qsort_r(order, (size_t)count, sizeof *order, compare_indices, &by);
    return order;
}

// The variables of an access in the order of the loops, and the first mode that each of them indexes.
static void set_keys(const Access *access, const int *loops, int loop_count, SortedEntries *sorted,
                     int *modes) {
    for (int l = 0; l < loop_count; l++) {
        int mode = 0;
        while (mode < access->tensor->order && access->vars[mode] != loops[l])
            mode++;
        if (mode == access->tensor->order)
            continue;
        modes[sorted->key_count] = mode;
        sorted->vars[sorted->key_count++] = loops[l];
    }
}

static bool on_diagonals(const Access *access, const EvaluatorInput *input, int64_t entry) {
    for (int a = 0; a < access->tensor->order; a++)
        for (int b = 0; b < a; b++)
            if (access->vars[a] == access->vars[b] &&
                input->coordinates[a][entry] != input->coordinates[b][entry])
                return false;
    return true;
}

static void permute(int64_t *values, const int64_t *order, int64_t count, int64_t *space) {
    memcpy(space, values, sizeof *values * (size_t)count);
    for (int64_t e = 0; e < count; e++)
        values[e] = space[order[e]];
}

bool sorted_entries_create(const Access *access, const EvaluatorInput *input, const int *loops,
                           int loop_count, SortedEntries *sorted) {
    int modes[MAX_ORDER] = {0};
    const size_t bytes = sizeof(int64_t) * (size_t)(input->count + 1);
    *sorted = (SortedEntries){0};
    set_keys(access, loops, loop_count, sorted, modes);
    bool ok = (sorted->positions = malloc(bytes)) != NULL;
    for (int k = 0; k < sorted->key_count; k++)
        ok &= (sorted->keys[k] = malloc(bytes)) != NULL;
    for (int64_t e = 0; ok && e < input->count; e++) {
        if (!on_diagonals(access, input, e))
            continue;
        for (int k = 0; k < sorted->key_count; k++)
            sorted->keys[k][sorted->count] = input->coordinates[modes[k]][e];
        sorted->positions[sorted->count++] = e;
    }
    int64_t *order = ok ? entries_order(sorted->count, sorted->key_count, sorted->keys) : NULL;
    int64_t *space = malloc(bytes);
    ok = order && space;
    for (int k = 0; ok && k < sorted->key_count; k++)
        permute(sorted->keys[k], order, sorted->count, space);
    if (ok)
        permute(sorted->positions, order, sorted->count, space);
    free(space);
    free(order);
    return ok;
}

void sorted_entries_free(SortedEntries *sorted) {
    for (int k = 0; k < sorted->key_count; k++)
        free(sorted->keys[k]);
    free(sorted->positions);
    *sorted = (SortedEntries){0};
}

int64_t sorted_entries_find(const SortedEntries *sorted, int key, int64_t lo, int64_t hi, int64_t value) {
    const int64_t *keys = sorted->keys[key];
    // In steps that double first, as what is looked for is near in most cases.
    int64_t step = 1;
    while (lo + step < hi && keys[lo + step - 1] < value) {
        lo += step;
        step *= 2;
    }
    hi = lo + step < hi ? lo + step : hi;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (keys[middle] < value)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

// Knuth's exact sum.
static void add_number(double *sum, double *lost, double value) {
    const double total = *sum + value, part = total - *sum;
    *lost += (*sum - (total - part)) + (value - part);
    *sum = total;
}

static void add_sum(const Evaluator *evaluator, Sum *to, const Sum *from) {
    const Reducer reducer = evaluator->assignment->reducer;
    to->summands += from->summands;
    if (reducer != REDUCER_SUM) {
        to->value = wide_reduce(reducer, evaluator->kind, to->value, from->value);
        return;
    }
    if (evaluator->kind == WIDE_INTEGER) {
        to->value.whole = (int64_t)((uint64_t)to->value.whole + (uint64_t)from->value.whole);
        return;
    }
    add_number(&to->value.re, &to->lost_re, from->value.re);
    add_number(&to->value.im, &to->lost_im, from->value.im);
    to->lost_re += from->lost_re;
    to->lost_im += from->lost_im;
    to->value.magnitude += from->value.magnitude;
}

// Where a sum is infinite, what was lost of it is not a number.
static double total(double sum, double lost) {
    return isfinite(sum) ? sum + lost : sum;
}

static bool is_narrow(const Evaluator *evaluator) {
    return assignment_type(evaluator->assignment) == TYPE_I32;
}

void sum_value(const Evaluator *evaluator, const Sum *sum, void *value) {
    const double parts[] = {total(sum->value.re, sum->lost_re), total(sum->value.im, sum->lost_im)};
    const int64_t whole = is_narrow(evaluator) ? (int32_t)(uint32_t)sum->value.whole : sum->value.whole;
    if (evaluator->kind == WIDE_INTEGER)
        memcpy(value, &whole, sizeof whole);
    else
        memcpy(value, parts, evaluator_value_size(evaluator));
}

bool totals_create(const Evaluator *evaluator, Totals *totals) {
    const Tensor *target = evaluator->assignment->lhs->tensor;
    *totals = (Totals){.evaluator = evaluator, .sparse = tensor_is_sparse(target), .order = target->order};
    if (totals->sparse)
        return true;
    totals->count = evaluator->count;
    totals->sums = calloc((size_t)totals->count + 1, sizeof *totals->sums);
    const WideValue identity =
        wide_identity(evaluator->assignment->reducer, evaluator->kind, is_narrow(evaluator));
    for (int64_t i = 0; totals->sums && i < totals->count; i++)
        totals->sums[i].value = identity;
    return totals->sums != NULL;
}

static bool grow(Totals *totals, int64_t capacity) {
    for (int d = 0; d < totals->order; d++) {
        int64_t *keys = realloc(totals->keys[d], sizeof *keys * (size_t)capacity);
        if (!keys)
            return false;
        totals->keys[d] = keys;
    }
    Sum *sums = realloc(totals->sums, sizeof *sums * (size_t)capacity);
    if (!sums)
        return false;
    totals->sums = sums;
    totals->capacity = capacity;
    return true;
}

// Room for `more` points: a list that compacting does not make half as long is doubled.
static bool reserve(Totals *totals, int64_t more) {
    enum { LEAST = 1 << 12 };
    if (totals->count + more <= totals->capacity)
        return true;
    if (!totals_compact(totals))
        return false;
    const int64_t needed = 2 * (totals->count + more);
    return needed <= totals->capacity || grow(totals, needed < LEAST ? LEAST : needed);
}

bool totals_add(Totals *totals, const int64_t *coordinates, const Register *from, int lane) {
    const Evaluator *evaluator = totals->evaluator;
    const Access *lhs = evaluator->assignment->lhs;
    Sum summand = {.summands = from != NULL};
    if (from && evaluator->kind == WIDE_INTEGER) {
        summand.value.whole = from->whole[lane];
    } else if (from) {
        summand.value.re = from->re[lane];
        summand.value.im = evaluator->kind == WIDE_COMPLEX ? from->im[lane] : 0;
        summand.value.magnitude = from->magnitude[lane];
    }
    if (!totals->sparse) {
        int64_t element = 0;
        for (int d = 0; d < totals->order; d++)
            element = element * evaluator->extents[lhs->vars[d]] + coordinates[d];
        add_sum(evaluator, &totals->sums[element], &summand);
        return true;
    }
    if (!reserve(totals, 1))
        return false;
    for (int d = 0; d < totals->order; d++)
        totals->keys[d][totals->count] = coordinates[d];
    totals->sums[totals->count++] = summand;
    return true;
}

bool totals_append(Totals *totals, const Totals *from) {
    if (!reserve(totals, from->count))
        return false;
    for (int d = 0; d < totals->order && from->count > 0; d++)
        memcpy(totals->keys[d] + totals->count, from->keys[d], sizeof(int64_t) * (size_t)from->count);
    if (from->count > 0)
        memcpy(totals->sums + totals->count, from->sums, sizeof(Sum) * (size_t)from->count);
    totals->count += from->count;
    return true;
}

bool totals_compact(Totals *totals) {
    if (!totals->sparse || totals->count == 0)
        return true;
    Totals sorted = {.evaluator = totals->evaluator, .sparse = true, .order = totals->order};
    int64_t *order = entries_order(totals->count, totals->order, totals->keys);
    const bool ok = order && grow(&sorted, totals->count);
    const Keys by = {totals->order, totals->keys};
    for (int64_t e = 0; ok && e < totals->count; e++) {
        const int64_t from = order[e];
        if (e > 0 && compare_points(&by, order[e - 1], from) == 0) {
            add_sum(totals->evaluator, &sorted.sums[sorted.count - 1], &totals->sums[from]);
            continue;
        }
        for (int d = 0; d < totals->order; d++)
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): grow has made room
            sorted.keys[d][sorted.count] = totals->keys[d][from];
        sorted.sums[sorted.count++] = totals->sums[from];
    }
    free(order);
    totals_free(ok ? totals : &sorted);
    if (ok)
        *totals = sorted;
    return ok;
}

void totals_free(Totals *totals) {
    for (int d = 0; d < totals->order; d++)
        free(totals->keys[d]);
    free(totals->sums);
    memset(totals->keys, 0, sizeof totals->keys);
    totals->sums = NULL;
    totals->count = totals->capacity = 0;
}
