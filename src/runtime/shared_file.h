// SPDX-License-Identifier: BSD-3-Clause
// Homes of tensors in disk that are one file, which all ranks share: a file of the user, in place.
#ifndef DISTAL_RUNTIME_SHARED_FILE_H
#define DISTAL_RUNTIME_SHARED_FILE_H

#include "io/source.h"
#include "runtime/agreement.h"
#include "runtime/storage.h"

// Every rank opens the file of this source to read it, as the home of a tensor of FILE_SHARED. NULL with the
// same diagnostic on all ranks where that is not possible, or the file does not have what the tensor would
// have there. Collective.
Storage *shared_file_open(const Home *home, int64_t rank, const SourceSpec *source, MPI_Comm comm,
                          Diagnostics *diagnostics);

#endif
