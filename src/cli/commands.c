// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands.h"

#include <string.h>

#define POINTER(name) &subcommand_##name,
const Subcommand *const subcommands[] = {SUBCOMMANDS(POINTER) NULL};

const Subcommand *subcommand_named(const char *name) {
    for (int i = 0; subcommands[i]; i++)
        if (strcmp(subcommands[i]->name, name) == 0)
            return subcommands[i];
    return NULL;
}

const char *subcommand_list(Arena *arena) {
    Text list = text_create(arena);
    for (int i = 0; subcommands[i]; i++)
        if (subcommands[i]->name[0] != '-')
            text_printf(&list, "%s%s", i ? ", " : "", subcommands[i]->name);
    return text_string(&list);
}
