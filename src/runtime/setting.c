// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/setting.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

bool setting_read(const char *variable, Choice *choice, Diagnostics *diagnostics) {
    const char *value = getenv(variable);
    const bool on = value && strcmp(value, "on") == 0, off = value && strcmp(value, "off") == 0;
    *choice = on ? CHOICE_ON : off ? CHOICE_OFF : CHOICE_AUTO;
    return on || off || !value || !*value ||
           diagnostics_error(diagnostics, (Span){0}, "%s is '%.80s', which is neither 'on' nor 'off'",
                             variable, value);
}

bool setting_agree(MPI_Comm comm, const char *variable, Choice *choice, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    *choice = CHOICE_AUTO;
    if (!agree_on(comm, rank > 0 || setting_read(variable, choice, diagnostics), diagnostics))
        return false;
    broadcast(choice, sizeof *choice, MPI_BYTE, 0, comm);
    return true;
}
