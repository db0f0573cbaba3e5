// SPDX-License-Identifier: BSD-3-Clause
// The loop IR that appends the entries of an assembled result, as its Assembly says: pushes to lists, sets
// for rows, and portions of the outermost loop, which threads share. Also the row that values are added to.
#ifndef DISTAL_LOWER_ASSEMBLY_APPEND_H
#define DISTAL_LOWER_ASSEMBLY_APPEND_H

#include "lower/assembly.h"

// Sets how the leaf appends, and where its structure is built, adds what the kernel has for it.
void assembly_begin(LeafBuilder *leaf);
// Appends the entry of the current iteration.
void assembly_entry(LeafBuilder *leaf, LoopBody *to);
// Appends the row that ends.
void assembly_end_row(LeafBuilder *leaf, LoopBody *to);
// Whether values are added to a row inside of its loop, and not to the entries of `operand`, the result.
bool assembly_adds_to_row(const LeafBuilder *leaf, const Operand *operand);
// Values are added to a row from here on.
void assembly_begin_values(LeafBuilder *leaf, LoopBody *to);
// Appends `loops`, the outermost loop and what is before it. Where `splits`, threads share its iterations in
// portions; they are positions of `level` where that may store a coordinate several times, NULL else.
void assembly_portions(LeafBuilder *leaf, const LoopBody *loops, bool splits, const Level *level,
                       LoopBody *to);

#endif
