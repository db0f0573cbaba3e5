// SPDX-License-Identifier: BSD-3-Clause
// Tensors as text for people: what NumPy prints of a dense tensor (io/array_text.h), and of a sparse one its
// entries in the order in which it is stored, without the middle of many. Only what is printed goes to the
// first rank. Collective over `comm`; a failure on one rank is the same diagnostic on all.
#ifndef DISTAL_RUNTIME_PRINT_H
#define DISTAL_RUNTIME_PRINT_H

#include "runtime/agreement.h"
#include "runtime/storage.h"

// Appends "NAME = ..." and a newline to `to`, on the first rank.
bool storage_print(const Storage *storage, const char *name, Text *to, MPI_Comm comm,
                   Diagnostics *diagnostics);

#endif
