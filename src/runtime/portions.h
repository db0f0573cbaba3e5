// SPDX-License-Identifier: BSD-3-Clause
// How threads share iterations that have different numbers of entries below them (distal_portions in
// generated code).
#ifndef DISTAL_RUNTIME_PORTIONS_H
#define DISTAL_RUNTIME_PORTIONS_H

#include <stdbool.h>

// Portions of a few entries. For tests, whose operands are small.
void portions_short(bool is_short);

#endif
