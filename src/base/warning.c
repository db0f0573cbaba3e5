// SPDX-License-Identifier: BSD-3-Clause
#include "base/warning.h"

#include <string.h>

const WarningRow warning_table[WARNING_COUNT] = {
    [WARNING_FUSED_PRODUCT] = {"fused-product", "a scheduled product of three and more tensors takes ten "
                                                "times the operations of its best order in pairs"},
    [WARNING_MANY_STEPS] = {"many-steps", "a tensor is communicated in more than 10,000 steps"},
    [WARNING_ONE_COMPUTES] = {"one-computes",
                              "a program without a machine has several ranks, of which one computes all"},
    [WARNING_COSTLY_PLACE] = {"costly-place", "a statement with a schedule that does not distribute it is "
                                              "computed where ten times what moves elsewhere does"},
    [WARNING_OUTSIDE] = {"outside",
                         "a variable has no value for which all indices are inside of their modes"},
    [WARNING_UNMATCHED_INDEX] = {"unmatched-index",
                                 "a variable stands on the left side only, and another one with the same "
                                 "extent, once, on the right"},
    [WARNING_NOT_FINITE] = {"not-finite",
                            "a result holds NaN or infinity where no operand does (found by run)"},
};

// The warning of that name; WARNING_COUNT where there is none.
static Warning warning_named(const char *name) {
    int warning = 0;
    while (warning < WARNING_COUNT && strcmp(warning_table[warning].name, name) != 0)
        warning++;
    return (Warning)warning;
}

// What follows `prefix` in `text`; NULL where it does not begin so.
static const char *after(const char *text, const char *prefix) {
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool warning_choose(WarningChoice *choice, const char *what) {
    const unsigned all = (1u << WARNING_COUNT) - 1;
    if (strcmp(what, "error") == 0) {
        choice->errors = all;
        return true;
    }
    const char *error = after(what, "error="), *no_error = after(what, "no-error="),
               *off = after(what, "no-");
    const char *name = error ? error : no_error ? no_error : off ? off : what;
    const Warning warning = warning_named(name);
    if (warning == WARNING_COUNT)
        return false;
    const unsigned bit = 1u << warning;
    if (!no_error)
        choice->off = off ? choice->off | bit : choice->off & ~bit;
    if (error)
        choice->errors |= bit;
    else if (no_error)
        choice->errors &= ~bit;
    return true;
}
