// SPDX-License-Identifier: BSD-3-Clause
// Warnings about programs that are planned: what is right, and probably not meant (base/warning.h).
#ifndef DISTAL_PIPELINE_WARN_H
#define DISTAL_PIPELINE_WARN_H

#include "pipeline/pipeline.h"

// Adds warnings about `plan`, one of the program of the pipeline, as `diagnostics` wants them.
void pipeline_warn(const Pipeline *pipeline, const Plan *plan, Diagnostics *diagnostics);

#endif
