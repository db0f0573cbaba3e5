// SPDX-License-Identifier: BSD-3-Clause
// .tns files, the text format of FROSTT: a line for each entry, with its coordinates, counted from 1, and its
// value; lines that begin with # are comments. The file states neither extents nor type: values may be
// integers or real numbers, and those of complex tensors are two numbers.
#include "io/entry_text.h"

static const char *tns_open(InputFile *file, Arena *arena) {
    (void)arena;
    file->tensor = (FileTensor){.type = TYPE_I32, .order = -1, .listed = -1};
    return NULL;
}

static const char *tns_read(const InputFile *file, int64_t limit, Entries *entries, Arena *arena) {
    const EntryText text = {.comment = '#',
                            .columns = entries->order,
                            .components = type_info(entries->type)->is_complex ? 2 : 1,
                            .declared = -1};
    return entry_text_read(file, &text, limit, entries, arena);
}

static const char *tns_header(const FileTensor *tensor, EntryLines *lines, Arena *arena) {
    (void)arena;
    *lines = (EntryLines){.columns = tensor->order, .first = 1, .separator = ' '};
    return "";
}

const FileFormat file_format_tns = {.ending = ".tns",
                                    .least_order = 1,
                                    .most_order = MAX_ORDER,
                                    .open = tns_open,
                                    .read_entries = tns_read,
                                    .header = tns_header};
