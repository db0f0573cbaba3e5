// SPDX-License-Identifier: BSD-3-Clause
// Warnings: what is right, and probably not meant. One table of their names and what they say; a choice of
// which of them there are, and which are errors.
#ifndef DISTAL_BASE_WARNING_H
#define DISTAL_BASE_WARNING_H

#include <stdbool.h>

typedef enum {
    WARNING_FUSED_PRODUCT,
    WARNING_MANY_STEPS,
    WARNING_ONE_COMPUTES,
    WARNING_COSTLY_PLACE,
    WARNING_OUTSIDE,
    WARNING_UNMATCHED_INDEX,
    WARNING_NOT_FINITE,
    WARNING_COUNT
} Warning;

typedef struct {
    const char *name;    // "fused-product"
    const char *summary; // one line
} WarningRow;
extern const WarningRow warning_table[WARNING_COUNT];

// Sets of warnings, as bits: those that are switched off, and those that are errors.
typedef struct {
    unsigned off, errors;
} WarningChoice;

// What follows -W: "error", "error=NAME", "no-error=NAME", "no-NAME" or "NAME"; the later of two counts.
// False where it is none of these.
bool warning_choose(WarningChoice *choice, const char *what);

#endif
