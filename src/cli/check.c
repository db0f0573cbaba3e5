// SPDX-License-Identifier: BSD-3-Clause
#include "cli/session.h"

ExitStatus command_check(Session *session) {
    return session_compile(session, PASS_PLAN) ? EXIT_FINE : session_failure(session);
}
