// SPDX-License-Identifier: BSD-3-Clause
// .csv files, for spreadsheets, pandas and numpy.loadtxt: a matrix by rows, a vector as one column, and a
// sparse one as a list of its entries, with coordinates counted from 0, below a line with names. They are
// only written.
#include "io/formats.h"

static const char *csv_header(const FileTensor *tensor, EntryLines *lines, Arena *arena) {
    (void)arena;
    *lines = (EntryLines){.columns = tensor->is_full ? 0 : tensor->order,
                          .separator = ',',
                          .in_rows = tensor->is_full,
                          .joined = true};
    return tensor->is_full ? "" : tensor->order == 1 ? "row,value\n" : "row,column,value\n";
}

const FileFormat file_format_csv = {
    .ending = ".csv", .least_order = 1, .most_order = 2, .header = csv_header, .lists_rows = true};
