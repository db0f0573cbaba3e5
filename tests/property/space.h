// SPDX-License-Identifier: BSD-3-Clause
// Spaces: what can be said about where and how one program is computed. All programs of a space have the same
// statements, extents, types and inputs; machine, ranks, placements and schedules are drawn. Their results
// are the same: those of the reference, and for integers without any tolerance.
#ifndef DISTAL_TESTS_SPACE_H
#define DISTAL_TESTS_SPACE_H

#include "draft.h"

int space_count(void);
const char *space_name(int space);
int space_by_name(const char *name); // -1: none
// Program `index` of the space. The draw follows from seed, space and index alone.
void space_draft(uint64_t seed, int space, int64_t index, Draft *draft);

#endif
