// SPDX-License-Identifier: BSD-3-Clause
// The default for products of three and more factors. In one loop nest every factor is read for every
// combination of all variables: A(i, l) = B(i, j) * C(j, k) * D(k, l) takes i * j * k * l steps, in two
// products with a workspace i * j * k + i * k * l. schedule/nesting.h finds which factors are multiplied
// first.
#ifndef DISTAL_SCHEDULE_PRODUCTS_H
#define DISTAL_SCHEDULE_PRODUCTS_H

#include "schedule/schedule.h"

// A command that the default adds, and the statement after it.
typedef struct {
    Command command;
    const Cin *cin;
} DefaultStep;
typedef Array(DefaultStep) DefaultSteps;

// Applies `precompute` for each workspace to a statement to which no command has been applied: the steps are
// appended to `steps`, none where one nest is no worse. `params`: values by index, for the estimate only; the
// result is right for all others. Products that take less than `least_steps` in one nest stay as they are. A
// workspace, or one iteration's part of it, has at most `most_elements`; 0: a few million, or as many as the
// largest tensor of the statement.
void schedule_products(Scheduler *scheduler, const Cin *cin, const int64_t *params, double least_steps,
                       double most_elements, DefaultSteps *steps);

// Multiplications and additions of all products of three and more factors, in one nest each and in the order
// that was found.
typedef struct {
    double fused, ordered;
} ProductOperations;

// The same for a statement that has a schedule, wherever it is computed: workspaces are whole tensors.
ProductOperations schedule_order(Scheduler *scheduler, const Cin *cin, const int64_t *params,
                                 double least_steps, DefaultSteps *steps);

#endif
