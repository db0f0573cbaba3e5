// SPDX-License-Identifier: BSD-3-Clause
// Preloaded, it delays the process that supervises a launcher before it starts that.
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int prctl(int option, ...) {
    va_list arguments;
    va_start(arguments, option);
    const unsigned long argument = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (option == PR_SET_CHILD_SUBREAPER)
        nanosleep(&(struct timespec){.tv_nsec = 300 * 1000 * 1000}, NULL);
    return (int)syscall(SYS_prctl, option, argument, 0, 0, 0);
}
