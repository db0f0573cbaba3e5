// SPDX-License-Identifier: BSD-3-Clause
// Topics of help: the words of the language and of the command that are neither commands nor schedule
// commands, as one table. Lists of names in them come from the tables that define these.
#ifndef DISTAL_CLI_TOPICS_H
#define DISTAL_CLI_TOPICS_H

#include "base/text.h"

#include <stdint.h>

typedef struct {
    const char *name;
    const char *summary; // one line
    const char *words;   // further words that it explains, with a space after each
    // All words of a table that it explains, with a space after each; NULL: none beyond `words`.
    void (*list)(Text *to);
    const char *text;    // lines of at most 100 columns; "{}" is replaced by the list, broken into lines
    const char *example; // a program, or NULL
} HelpTopic;

extern const HelpTopic help_topics[];
extern const int help_topic_count;

// The topic that explains a word; NULL where there is none.
const HelpTopic *help_topic(const char *word, Arena *arena);
// Its text with the list put in.
void help_topic_text(const HelpTopic *topic, Text *to);

#endif
