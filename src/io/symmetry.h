// SPDX-License-Identifier: BSD-3-Clause
// Matrices of which a file lists one triangle.
#ifndef DISTAL_IO_SYMMETRY_H
#define DISTAL_IO_SYMMETRY_H

#include "format/entries.h"

typedef enum { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN } Symmetry;

// Adds the other triangle to the entries of a matrix, which with it take at most `limit` bytes. NULL, or the
// reason of the failure.
const char *symmetry_mirror(Symmetry symmetry, int64_t limit, Entries *entries, Arena *arena);

#endif
