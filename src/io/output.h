// SPDX-License-Identifier: BSD-3-Clause
// Output files: a file appears under its name when it is complete, and not before. It is written as a draft
// in the same folder, without a name where that is possible, so that nothing remains of a process that is
// killed; else with an unpredictable name. A draft that is complete is renamed. A symbolic link stays a link:
// the file that it leads to is replaced. A file that is replaced passes its owner and its mode on.
#ifndef DISTAL_IO_OUTPUT_H
#define DISTAL_IO_OUTPUT_H

#include "base/diagnostic.h"

#include <sys/stat.h>

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
    bool is_read;    // the draft is opened to be read as well; set by the caller
    bool has_copy;   // of the file that it replaces, which must not change until then
    bool had_old;    // there was such a file, with this state
    struct stat old;
} Output;

// How other processes of the same machine find a draft without a name.
typedef struct {
    int64_t process; // that has created it; 0: it has a name
    int64_t descriptor, device, inode;
} UnnamedDraft;

// Only composes names; reads symbolic links, and opens nothing. `number`: of a draft that is there together
// with others of the same token; 0: it is the only one, beside those with numbers.
Output output_create(const char *path, const DraftToken *token, int64_t number, Arena *arena);

// Whether outputs to both paths would replace the same file.
bool output_same_file(const char *a, const char *b, Arena *arena);

// Whether the file can be created or replaced. False with a diagnostic.
bool output_possible(const Output *output, Diagnostics *diagnostics);

// Creates the draft, without a name where the file system supports that and `unnamed` is not NULL, which is
// then set. False with errno.
bool output_create_draft(Output *output, UnnamedDraft *unnamed);
// Copies what is in the file that will be replaced, if there is one, to a draft. Where that file changes
// before it is replaced, the output fails. False with errno.
bool output_copy_old(Output *output);
// Gives a draft without a name its name. False with a diagnostic.
bool output_name_draft(Output *output, Diagnostics *diagnostics);
// Opens the draft that another process has created, by its name, or one without a name, which must be on this
// machine. False with errno.
bool output_open_draft(Output *output);
bool output_open_unnamed(Output *output, const UnnamedDraft *unnamed);

// Reports that the file cannot be written. Always false.
bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics);

// Closes the draft, unless this process has created it. False where not `ok`, which says whether everything
// was written, or with a diagnostic where closing failed: some file systems report failed writes only then.
bool output_close(Output *output, bool ok, Diagnostics *diagnostics);
// After all other processes have closed the draft: its creator closes it, and renames it where `ok`, or
// removes it; for other processes this only closes it. False where the output is not complete, with a
// diagnostic where this has failed. Once it is finished, as where there was no draft, nothing is done.
bool output_finish(Output *output, bool ok, Diagnostics *diagnostics);

// Writes a text file in this way; a pipe or a device is opened and written as it is. False with a diagnostic.
bool output_write_text(const char *path, const char *text, Diagnostics *diagnostics);

#endif
