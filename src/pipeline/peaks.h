// SPDX-License-Identifier: BSD-3-Clause
// Memory of statements that are executed together: those of a repetition have their buffers from its first
// round to its last one, all at the same time.
#ifndef DISTAL_PIPELINE_PEAKS_H
#define DISTAL_PIPELINE_PEAKS_H

#include "pipeline/pipeline.h"

// The statements that are executed together with one: from *first to before *last.
void peaks_together(const Pipeline *pipeline, int statement, int *first, int *last);

// What each rank has in memory of the host or of its GPU at most while a statement is executed: its peak
// (StatementFigures), and the buffers of the other statements that are executed together with it. By rank, in
// the arena; NULL where nothing is in such memory.
const int64_t *peaks_of_statement(const Pipeline *pipeline, int statement, MemoryId kind, Arena *arena);

// What a rank has there while the statements from `first` to before `last` are executed together: homes, and
// the buffers of all; on the host without those that depend on entries that are not known. Figures are made
// for a GPU only.
int64_t peaks_together_bytes(const Pipeline *pipeline, int first, int last, MemoryId kind, int64_t rank);
// The part of it that the other statements than this one have.
int64_t peaks_of_others(const Pipeline *pipeline, int statement, MemoryId kind, int64_t rank);

#endif
