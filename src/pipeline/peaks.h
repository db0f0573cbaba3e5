// SPDX-License-Identifier: BSD-3-Clause
// Memory of statements that are executed together: those of a repetition have their buffers from its first
// round to its last one, all at the same time.
#ifndef DISTAL_PIPELINE_PEAKS_H
#define DISTAL_PIPELINE_PEAKS_H

#include "pipeline/pipeline.h"

// What a rank has in memory of the host or of its GPU at most while a statement is executed: its peak
// (StatementFigures), and the buffers of the other statements of its repetition. -1 where nothing is in such
// memory, on all ranks.
int64_t peak_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, int64_t rank);
// The same by rank, allocated in the arena; NULL where nothing is in such memory.
const int64_t *peaks_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, Arena *arena);

// That of memory of the host without what depends on entries that are not known. Figures are not made for it.
int64_t peaks_known(const Pipeline *pipeline, int statement, int64_t rank);
// The part of it that the other statements of its repetition have.
int64_t peaks_of_others(const Pipeline *pipeline, int statement, int64_t rank);

// The statements that are executed together with one: from *first to before *last.
void peaks_together(const Pipeline *pipeline, int statement, int *first, int *last);

#endif
