// SPDX-License-Identifier: BSD-3-Clause
// Output files: a file appears under its name when it is complete, and not before. It is written as a draft,
// a file in the same folder with an unpredictable name, which is then renamed. A symbolic link stays a link:
// the file that it leads to is replaced. A file that is replaced passes its owner and its mode on.
#ifndef DISTAL_IO_OUTPUT_H
#define DISTAL_IO_OUTPUT_H

#include "base/diagnostic.h"

// Part of the names of drafts: random, so that no other user can create a file or a link of that name first.
typedef struct {
    char digits[33]; // hexadecimal
} DraftToken;

DraftToken draft_token_create(void);
// Parses a token. False where `text`, which may be NULL, is none.
bool draft_token_parse(const char *text, DraftToken *token);

typedef struct {
    const char *path;   // as the user writes it
    const char *target; // with symbolic links resolved
    const char *folder; // of the target and of the draft
    const char *draft;
    int fd;          // of the draft while it is open, else -1
    bool is_creator; // this process has created the draft, and renames or removes it
    bool is_unnamed; // the draft has no entry in the folder yet
} Output;

// Only composes names; reads symbolic links, and opens nothing.
Output output_create(const char *path, const DraftToken *token, Arena *arena);

// Whether outputs to both paths would replace the same file.
bool output_same_file(const char *a, const char *b, Arena *arena);

// Whether the file can be created or replaced. False with a diagnostic.
bool output_possible(const Output *output, Diagnostics *diagnostics);

// Creates the draft. Where no other process opens it (`alone`) and the file system supports unnamed files, it
// has no name before it is complete, so that nothing remains even if this process is killed. False with
// errno.
bool output_create_draft(Output *output, bool alone);
// Opens the draft that another process has created. False with errno.
bool output_open_draft(Output *output);

// Reports that the file cannot be written. Always false.
bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics);

// Closes the draft; `ok`: everything was written. False, with a diagnostic where closing failed: some file
// systems report failed writes only then.
bool output_close(Output *output, bool ok, Diagnostics *diagnostics);
// After all processes have closed the draft: its creator renames it where `ok`, and removes it otherwise; for
// other processes this only closes it. False where the output is not complete, with a diagnostic where
// renaming failed.
bool output_finish(Output *output, bool ok, Diagnostics *diagnostics);

// Writes a text file in this way; a pipe or a device is opened and written as it is. False with a diagnostic.
bool output_write_text(const char *path, const char *text, Diagnostics *diagnostics);

#endif
