// SPDX-License-Identifier: BSD-3-Clause
// A monotonic clock.
#ifndef DISTAL_BASE_CLOCK_H
#define DISTAL_BASE_CLOCK_H

// Seconds since an unspecified moment.
double clock_seconds(void);

#endif
