// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market: matrices and vectors, not supported yet.
#include "io/formats.h"

const FileFormat file_format_mtx = {.ending = ".mtx", .least_order = 1, .most_order = 2};
