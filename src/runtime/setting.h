// SPDX-License-Identifier: BSD-3-Clause
// Variables of the environment that switch something on or off, or leave that open.
#ifndef DISTAL_RUNTIME_SETTING_H
#define DISTAL_RUNTIME_SETTING_H

#include "base/diagnostic.h"

#include <mpi.h>

typedef enum { CHOICE_OFF, CHOICE_ON, CHOICE_AUTO } Choice; // AUTO: it is not set

// What a variable says: "on" or "off". False with a diagnostic where it has another value. Local.
bool setting_read(const char *variable, Choice *choice, Diagnostics *diagnostics);
// The same of the first rank, for all. Collective.
bool setting_agree(MPI_Comm comm, const char *variable, Choice *choice, Diagnostics *diagnostics);

#endif
