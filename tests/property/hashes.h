// SPDX-License-Identifier: BSD-3-Clause
// Hashes of what a tensor holds, by which results of the same inputs are compared bit for bit.
#ifndef DISTAL_TESTS_HASHES_H
#define DISTAL_TESTS_HASHES_H

#include "format/entries.h"
#include "runtime/storage.h"

// Sorts them in the order of modes; 0 where there is no memory for that.
uint64_t hash_entries(Entries *entries);
// Of what this rank has at home.
uint64_t hash_storage(const Storage *storage, Diagnostics *diagnostics);

#endif
