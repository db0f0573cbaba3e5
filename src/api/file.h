// SPDX-License-Identifier: BSD-3-Clause
// What other calls have to know of tensors whose home is a file of the caller.
#ifndef DISTAL_API_FILE_H
#define DISTAL_API_FILE_H

#include "api/context.h"

// Whether the elements may change: DISTAL_INVALID of a tensor in a read-only file.
distal_status file_check_change(distal_context *context, const distal_tensor *tensor);

// Finds whether its home is the draft of an output to the file at this path. Collective.
distal_status file_find_home(distal_context *context, const distal_tensor *tensor, const char *path,
                             bool *is_home);
// Gives that draft its name, after which the tensor is there to be read. Where this fails the tensor has no
// elements. Collective.
distal_status file_complete(distal_context *context, distal_tensor *tensor);

#endif
