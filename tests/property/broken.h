// SPDX-License-Identifier: BSD-3-Clause
// Broken programs: drawn ones with tokens deleted, doubled, exchanged or replaced. The compiler either takes
// one or says what is wrong; it never crashes and never fails without a word.
#ifndef DISTAL_TESTS_BROKEN_H
#define DISTAL_TESTS_BROKEN_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

// Breaks program `index` and compiles it. False where the compiler failed without an error, or succeeded with
// one; then *why says so. `text` receives the program, before anything is compiled.
bool broken_check(uint64_t seed, int64_t index, Text *text, void (*before)(const char *text),
                  const char **why);

#endif
