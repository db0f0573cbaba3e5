// SPDX-License-Identifier: BSD-3-Clause
// Where a statement is computed that no schedule distributes. By default the left side decides, of the
// tensors that are placed; where that moves ten times what the placement of another tensor would, that one is
// better.
#ifndef DISTAL_PIPELINE_PLACE_H
#define DISTAL_PIPELINE_PLACE_H

#include "pipeline/pipeline.h"

// Looks at the placements of all tensors of a statement, after its commands, by planning it for each. Only of
// dense tensors that are all placed, as what moves of others is not known yet, and only where as many
// processors compute, on up to 256 ranks. For the params and ranks of now: the result is right for all
// others.
PlaceChoice place_choose(Pipeline *pipeline, const Cin *cin);

#endif
