// SPDX-License-Identifier: BSD-3-Clause
#include "cli/drafts.h"

#include "io/formats.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static const char variable[] = "DISTAL_DRAFTS";

DraftToken drafts_token(void) {
    static DraftToken token;
    if (!token.digits[0] && !draft_token_parse(getenv(variable), &token))
        token = draft_token_create();
    return token;
}

void drafts_share_token(void) {
    setenv(variable, drafts_token().digits, 1);
}

const char *const *drafts_names(const Options *options, Arena *arena) {
    const DraftToken token = drafts_token();
    const int64_t count = options->outputs.count;
    const char **names = arena_array(arena, const char *, 2 * count + 1);
    for (int64_t i = 0; i < count; i++) {
        const char *path = file_path(options->outputs.items[i].value, arena).file;
        names[2 * i] = output_create(path, &token, 0, arena).draft;
        names[2 * i + 1] = output_create(path, &token, i + 1, arena).draft; // of --in-place
    }
    return names;
}

static const char *const *volatile left_behind;

static void remove_and_end(int kind) {
    for (const char *const *name = left_behind; *name; name++)
        unlink(*name);
    signal(kind, SIG_DFL);
    raise(kind);
}

void drafts_remove_on_signals(const Options *options, Arena *arena) {
    static const int kinds[] = {SIGINT, SIGTERM, SIGHUP};
    left_behind = drafts_names(options, arena);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = remove_and_end};
        // An ignored signal, as under nohup, stays ignored.
        if (sigaction(kinds[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(kinds[i], &action, NULL);
    }
}
