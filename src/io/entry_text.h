// SPDX-License-Identifier: BSD-3-Clause
// Entries as text: one a line, coordinates from 1 on and then a value, with lines of comment and blank lines
// anywhere; or values alone, of an array that is listed column by column. Lines are parsed and formatted by
// all threads, each a share of them. File formats share this code.
#ifndef DISTAL_IO_ENTRY_TEXT_H
#define DISTAL_IO_ENTRY_TEXT_H

#include "io/formats.h"

enum { MOST_LINE = 1 << 20 }; // bytes of a line with its end

// How a file lists its entries.
typedef struct {
    int64_t offset;   // of the first byte that belongs to them, at the beginning of a line
    char comment;     // what a line of comment begins with
    int columns;      // coordinates in a line
    int components;   // numbers of a value: 0, where it is 1, to 2
    bool is_integer;  // they are integers
    bool is_skew;     // of a skew-symmetric matrix, which has no entries on its diagonal
    int64_t declared; // entries that the file says to have; -1: it does not say
} EntryText;

// All functions return NULL on success, else the reason of the failure.

// The line at `offset`, which ends with a newline and a 0, in `line`, which has entry_text_room bytes; *next
// is where the next one begins.
size_t entry_text_room(const InputFile *file);
const char *entry_text_line(const InputFile *file, int64_t offset, char *line, int64_t *next, Arena *arena);
// Where a line holds a CR between words, with which another system ends lines: what is wrong then; else NULL.
const char *entry_text_ends_with_cr(const char *line);
// "line 12: why", of the line at `offset`.
const char *entry_text_refuse(const InputFile *file, int64_t offset, const char *why, Arena *arena);

// Reads all entries in the order of the file, as FileFormat.read_entries. `entries` has type, order and
// extents set; a line may have more coordinates than that, of modes of one coordinate. Coordinates of an
// array (no columns) are not set.
const char *entry_text_read(const InputFile *file, const EntryText *text, int64_t limit, Entries *entries,
                            Arena *arena);

// Only counts them.
const char *entry_text_count(const InputFile *file, const EntryText *text, int64_t *count, Arena *arena);

// Entries as lines: a text of *length bytes, freed with free(). NULL: no memory.
char *entry_text_format(const Entries *entries, const EntryLines *lines, int64_t *length);

#endif
