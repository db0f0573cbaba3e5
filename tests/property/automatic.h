// SPDX-License-Identifier: BSD-3-Clause
// Programs of which some placements and schedules are not drawn but found by choose/choose.h, for drawn
// machine models and limits of memory.
#ifndef DISTAL_TESTS_AUTOMATIC_H
#define DISTAL_TESTS_AUTOMATIC_H

#include "choose/choose.h"
#include "draft.h"
#include "pipeline/pipeline.h"

// Makes one of a share of all programs: most lose their machine and get other ranks, the others keep it, some
// placements, and sometimes a schedule. From numbers of its own: all else is drawn as without.
void draw_automatic(Draft *draft);

// The program of the pipeline with what was found; NULL with a diagnostic of the pipeline.
const Chosen *automatic_choose(const Draft *draft, Pipeline *pipeline);

// Compares the plan with what was said of the chosen alternatives; NULL: it is as they say, else why not.
const char *automatic_check(const Chosen *chosen, const Pipeline *pipeline);

#endif
