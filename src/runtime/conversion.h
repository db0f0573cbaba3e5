// SPDX-License-Identifier: BSD-3-Clause
// Conversions: a copy of a sparse tensor with other levels, in whose order a kernel iterates over it. It is
// made when the structure of the tensor is new; later executions copy values only.
#ifndef DISTAL_RUNTIME_CONVERSION_H
#define DISTAL_RUNTIME_CONVERSION_H

#include "runtime/storage.h"

typedef struct {
    const Tensor *tensor; // with the levels of the copy; NULL: there is no conversion, and nothing to do
    Structure *of;        // that the copy was made of; NULL: of none yet
    StoredTensor copy;    // with values
    EntryMap map;         // of its values to those of the tensor
} ConvertedCopy;

void conversion_free(ConvertedCopy *conversion);

// Whether the copy has the structure that `storage` has now.
bool conversion_is_known(const ConvertedCopy *conversion, const Storage *storage);
// Gives it that structure, unless it has it, in at most `limit` bytes. Local; false with a diagnostic.
bool conversion_make(ConvertedCopy *conversion, const Storage *storage, int64_t limit,
                     Diagnostics *diagnostics);
// Copies the values.
void conversion_refresh(const ConvertedCopy *conversion, const Storage *storage);
// All that it takes.
int64_t conversion_bytes(const ConvertedCopy *conversion);

#endif
