// SPDX-License-Identifier: BSD-3-Clause
// Statements that could be read in several ways: the compiler refuses them, and the statements that it
// proposes in their place are right.
#ifndef DISTAL_TESTS_REFUSED_H
#define DISTAL_TESTS_REFUSED_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

// Makes program `index` of the seed one of these, writes its text to `text` and calls `before` with it, then
// compiles it. False with *why (in the arena of `text`) where it is not refused as it should be.
bool refused_check(uint64_t seed, int64_t index, Text *text, void (*before)(const char *text),
                   const char **why);

#endif
