// SPDX-License-Identifier: BSD-3-Clause
// The workspaces that products get by default, as commands of a schedule.
#ifndef DISTAL_CHOOSE_WORKSPACES_H
#define DISTAL_CHOOSE_WORKSPACES_H

#include "choose/search.h"

// Sets the `precompute` commands of a statement from the steps of its default. Each of them is about operands
// of the statement only, as texts can mention no workspace: the last one comes first, and those that are part
// of it are taken out of its workspace afterwards. None where that cannot be said.
void workspaces_write(const Search *search, SearchStatement *statement, const DefaultSteps *steps);

#endif
