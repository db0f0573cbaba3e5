// SPDX-License-Identifier: BSD-3-Clause
// FROSTT: sparse tensors, not supported yet.
#include "io/formats.h"

const FileFormat file_format_tns = {.ending = ".tns", .least_order = 1, .most_order = MAX_ORDER};
