// SPDX-License-Identifier: BSD-3-Clause
// Clock: for measuring how long something takes.
#ifndef DISTAL_BASE_CLOCK_H
#define DISTAL_BASE_CLOCK_H

// Seconds since some moment; never goes back.
double clock_seconds(void);

#endif
