// SPDX-License-Identifier: BSD-3-Clause
// Output files: a file appears under its name when it is complete, and not before. It is written as a draft
// in the same folder, under a name that cannot be foreseen, which then takes the name. A link stays a link:
// the file that it leads to is replaced. What was there keeps its owner and its mode.
#ifndef DISTAL_IO_OUTPUT_H
#define DISTAL_IO_OUTPUT_H

#include "base/diagnostic.h"

// What the drafts of one run are named by: random, so that no other program can be there first.
typedef struct {
    char digits[33]; // hexadecimal
} DraftToken;

DraftToken draft_token_create(void);
// Whether `text` is one; it is then in *token.
bool draft_token_parse(const char *text, DraftToken *token);

typedef struct {
    const char *path;   // as the user names it
    const char *target; // with links followed
    const char *draft;  // in the folder of the target
    int fd;             // of the draft while it is written, else -1
    bool is_creator;    // the draft is ours to name or to remove
    bool is_unnamed;    // the draft is no entry of the folder yet
} Output;

// Names only; no file is looked at but for links.
Output output_create(const char *path, const DraftToken *token, Arena *arena);

// Whether outputs to both paths would replace the same file.
bool output_same_file(const char *a, const char *b, Arena *arena);

// Whether there can be a file of this name. False with a diagnostic.
bool output_possible(const Output *output, Diagnostics *diagnostics);

// Makes the draft. Where no other process opens it (`alone`) and the file system has files without a name, it
// gets its name only in the end, and nothing is left whatever ends this process. False with errno.
bool output_create_draft(Output *output, bool alone);
// Opens the draft that another process has made. False with errno.
bool output_open_draft(Output *output);

// The diagnostic for a file that could not be written; always false.
bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics);

// Closes the draft, which is complete where it has been `ok` all along. False with a diagnostic: a file
// system may report only here that a write has failed.
bool output_close(Output *output, bool ok, Diagnostics *diagnostics);
// For the process that made the draft, after all have closed it: the draft takes the name where `ok`, and is
// removed otherwise. False where it does not have the name, with a diagnostic where it could not take it.
bool output_finish(Output *output, bool ok, Diagnostics *diagnostics);

// Writes a text to a file, or to a pipe or a device, which is written itself. False with a diagnostic.
bool output_write_text(const char *path, const char *text, Diagnostics *diagnostics);

#endif
