// SPDX-License-Identifier: BSD-3-Clause
// Pinned memory: memory of the host from and to which the device copies at its full rate, and beside what
// else is executed.
#ifndef DISTAL_MEMORY_PINNED_H
#define DISTAL_MEMORY_PINNED_H

#include <stdint.h>

// Pins memory of the host, that of a caller as well, where there is a device. Memory that is pinned already,
// that is small, or that the system does not let be pinned stays as it is: copies are right in any case.
void memory_pin(void *memory, int64_t bytes);
// Has to come before memory that memory_pin got is released, and does nothing where it was not pinned.
void memory_unpin(const void *memory);

#endif
