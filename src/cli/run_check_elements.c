// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_check.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/random.h"
#include "io/generators.h"
#include "runtime/wait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { AT_ONCE = 1 << 16 }; // elements

static const int64_t most_drawn = 4096;
static const double drawn_above = 1e11;    // operations
static const double announced_above = 10;  // seconds
static const double timed_seconds = 0.1;   // at the beginning
static const double block_seconds = 0.2;   // between two looks at the progress
static const double known_rate = 1e9;      // operations of a thread in a second, about
static const double long_operations = 1e9; // of an element that is not timed first

// The elements that a rank goes through: all numbers from 0 to before `count`, or those of `drawn` elements.
typedef struct {
    const CheckedElements *checked;
    int64_t count, drawn; // of all ranks; `drawn` 0: all
    char *values;
    double *magnitudes;
} Elements;

// One element in each of `drawn` parts of equal length.
static int64_t drawn_element(const Elements *elements, int64_t number) {
    const int64_t length = elements->count / elements->drawn, rest = elements->count % elements->drawn;
    const int64_t size = length + (number < rest);
    const int64_t offset = (int64_t)(random_fraction(CHECK_SEED, number) * (double)size);
    return length * number + min_i64(number, rest) + min_i64(offset, size - 1);
}

static bool evaluate_drawn(const Elements *elements, int64_t first, int64_t last, double *error) {
    const CheckedElements *checked = elements->checked;
    const size_t size = evaluator_value_size(checked->evaluator);
    bool ok = true;
    double largest = *error;
    // Threads have an element each: one element is too little for all of them.
#pragma omp parallel for schedule(dynamic) reduction(max : largest) reduction(&& : ok)
    for (int64_t number = first; number < last; number++) {
        const int64_t at = drawn_element(elements, number);
        void *value = elements->values + size * (size_t)(number - first);
        double *magnitude = &elements->magnitudes[number - first];
        ok = ok && evaluator_run(checked->evaluator, checked->inputs, at, at + 1, value, magnitude);
        if (ok)
            largest = fmax(largest, evaluator_error(checked->evaluator,
                                                    checked->result + (size_t)at * checked->element_size,
                                                    value, magnitude, 1));
    }
    *error = largest;
    return ok;
}

static bool evaluate(const Elements *elements, int64_t first, int64_t last, double *error) {
    const CheckedElements *checked = elements->checked;
    if (elements->drawn > 0)
        return evaluate_drawn(elements, first, last, error);
    if (!evaluator_run(checked->evaluator, checked->inputs, first, last, elements->values,
                       elements->magnitudes))
        return false;
    *error = fmax(*error,
                  evaluator_error(checked->evaluator, checked->result + (size_t)first * checked->element_size,
                                  elements->values, elements->magnitudes, last - first));
    return true;
}

void check_announce(const Progress *progress, const char *name, double seconds, const char *hint) {
    if (!progress->on || seconds <= announced_above)
        return;
    static const struct {
        double seconds;
        const char *unit;
    } units[] = {{1, "s"}, {60, "min"}, {3600, "h"}};
    int unit = 0;
    while (unit < 2 && seconds >= 2 * units[unit + 1].seconds)
        unit++;
    fprintf(stderr, "distal: checking %s takes about %.0f %s%s\n", name, seconds / units[unit].seconds,
            units[unit].unit, hint);
}

// How many elements are drawn; 0: all are looked at.
static int64_t choose_drawn(const CheckedElements *checked, CheckMode mode) {
    const int64_t count = evaluator_count(checked->evaluator);
    const double once = evaluator_operations(checked->evaluator), each = once / fmax(1, (double)count);
    if (mode == CHECK_ALL || (mode == CHECK_DEFAULT && once * (double)checked->executions <= drawn_above))
        return 0;
    const int64_t drawn = max_i64(1, min_i64(most_drawn, (int64_t)(drawn_above / fmax(1, each))));
    return drawn < count ? drawn : 0;
}

bool check_elements(Run *run, const CheckedElements *checked, StatementReport *report) {
    const Options *options = run->session->options;
    Evaluator *evaluator = checked->evaluator;
    Elements elements = {.checked = checked,
                         .count = evaluator_count(evaluator),
                         .drawn = choose_drawn(checked, options->check)};
    const int64_t count = elements.drawn > 0 ? elements.drawn : elements.count;
    report->elements = elements.count;
    report->drawn = elements.drawn;
    // count * rank could overflow.
    const int64_t share = count / run->ranks, rest = count % run->ranks, rank = run->rank;
    const int64_t first = share * rank + min_i64(rank, rest), last = first + share + (rank < rest);
    elements.values = malloc(evaluator_value_size(evaluator) * AT_ONCE);
    elements.magnitudes = malloc(sizeof(double) * AT_ONCE);
    const char *hint = elements.drawn > 0 ? "" : "; --check=sample looks at some thousand elements";
    const double each = evaluator_operations(evaluator) / fmax(1, (double)elements.count);
    const bool is_long = each > long_operations;
    Progress progress = progress_start(rank == 0 && !options->quiet);
    const double executions = (double)checked->executions;
    if (is_long && checked->is_first)
        check_announce(&progress, checked->name,
                       executions * each / known_rate * (double)(share + (rest > 0)), hint);
    const double start = clock_seconds();
    double begun = start, seconds = 0; // of the latest block: when it began, and of one element
    bool ok = elements.values && elements.magnitudes && evaluator_begin(evaluator, checked->inputs);
    bool announced = false;
    int64_t at = first;
    report->error = 0;
    for (int64_t block = 1; (ok && at < last) || !announced;) {
        // Ranks agree on the time after a short sample, those that have nothing to do as well.
        if (!announced && (!ok || at == last || begun - start > timed_seconds)) {
            double expected = begun - start + seconds * (double)(last - at);
            all_reduce(&expected, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (!is_long && checked->is_first)
                check_announce(&progress, checked->name, executions * expected, hint);
            announced = true;
            continue;
        }
        const int64_t end = last - at < block ? last : at + block;
        ok = evaluate(&elements, at, end, &report->error);
        const double now = clock_seconds();
        seconds = (now - begun) / (double)(end - at);
        begun = now;
        at = end;
        block = max_i64(1, min_i64(2 * block, AT_ONCE));
        if (announced && seconds * (double)block > block_seconds)
            block = max_i64(1, (int64_t)(block_seconds / seconds));
        progress_show(&progress, "checking", at - first, last - first);
    }
    progress_end(&progress);
    evaluator_end(evaluator);
    free(elements.values);
    free(elements.magnitudes);
    return ok || diagnostics_error(run->session->diagnostics, (Span){0}, "not enough memory for --check");
}
