// SPDX-License-Identifier: BSD-3-Clause
// What the targets of fuzzing share: they are called with any bytes whatever, and end the process where
// something does not hold that has to hold.
#ifndef DISTAL_TESTS_FUZZ_CHECK_H
#define DISTAL_TESTS_FUZZ_CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The entry point that libFuzzer and replay.c call.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s does not hold: ", __FILE__, __LINE__, #condition);                    \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fputc('\n', stderr);                                                                             \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
