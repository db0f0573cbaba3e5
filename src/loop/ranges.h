// SPDX-License-Identifier: BSD-3-Clause
// Rows whose entries gather elements of a dense operand, or add to those of a result, that no cache holds:
// many rows are visited for a range of coordinates before the next range, so that what they gather in it
// stays in a cache (cache blocking of sparse products: Nishtala, Vuduc, Demmel, Yelick 2007).
#ifndef DISTAL_LOOP_RANGES_H
#define DISTAL_LOOP_RANGES_H

#include "loop/long_rows.h"

typedef struct {
    const LoopRows *rows;
    // The list of positions: an array, where a row reads it, its address at the first row, and how many rows.
    int array;
    const IntExpr *at;
    const Value *positions, *count;
    // Found by loop_find_ranges:
    int end;               // variable: up to which position gathered elements are prefetched
    const Value *gather;   // the call that defines it
    bool wide;             // coordinates have 64 bits
    const IntExpr *ranges; // how many there are; 1: they are not worth it
} LoopRanges;

// Finds whether a row can be visited in parts of its entries, one after the other, and something is gathered
// at their coordinates: if so, the number of ranges is defined in `to`, which is where the runtime chooses
// it.
bool loop_find_ranges(LoopRanges *ranges, LoopBody *to);

// Appends a loop over rows, of a portion, range by range.
void loop_append_ranges(const LoopRanges *ranges, const LoopNode *loop, LoopBody *to);

#endif
