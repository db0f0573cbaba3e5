// SPDX-License-Identifier: BSD-3-Clause
// Whether entries can balance what a placement says: one level, or several inside of each other.
#ifndef DISTAL_LANG_CHECK_BALANCE_H
#define DISTAL_LANG_CHECK_BALANCE_H

#include "base/diagnostic.h"
#include "index/notation.h"

// False with a diagnostic that says what to write instead.
bool check_balance(Diagnostics *diagnostics, const Tensor *tensor, const Placement *placement);

#endif
