// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/setting.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <stdlib.h>
#include <string.h>

bool setting_read(Setting *setting, Diagnostics *diagnostics) {
    const char *value = getenv(setting->variable);
    const bool on = value && strcmp(value, "on") == 0, off = value && strcmp(value, "off") == 0;
    setting->choice = on ? CHOICE_ON : off ? CHOICE_OFF : CHOICE_AUTO;
    return on || off || !value || !*value ||
           diagnostics_error(diagnostics, (Span){0}, "%s is '%.80s', which is neither 'on' nor 'off'",
                             setting->variable, value);
}

static bool read_on_first(void *arguments, Diagnostics *diagnostics) {
    return setting_read(arguments, diagnostics);
}

static bool read_nothing(void *arguments, Diagnostics *diagnostics) {
    (void)arguments;
    (void)diagnostics;
    return true;
}

bool setting_agree(MPI_Comm comm, Setting *setting, Diagnostics *diagnostics) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (!agree_on_part(comm, rank == 0 ? read_on_first : read_nothing, setting, diagnostics))
        return false;
    broadcast(&setting->choice, sizeof setting->choice, MPI_BYTE, 0, comm);
    return true;
}
