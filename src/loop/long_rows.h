// SPDX-License-Identifier: BSD-3-Clause
// Rows that have a good part of all entries, of which threads share the entries: of a loop whose threads take
// whole rows, one thread would work on such a row while the others wait for it.
#ifndef DISTAL_LOOP_LONG_ROWS_H
#define DISTAL_LOOP_LONG_ROWS_H

#include "loop/loop.h"

typedef struct {
    LoopKernel *kernel;
    const LoopNode *loop; // over rows
    int begin, end;       // variables in its body: the first position of a row, and the one after its last
    const IntExpr *each;  // work for each of its positions
    int own;              // where the loop is in a team: the array of each thread; -1: it is not
} LoopRows;

// Appends to `to` what takes the place of the body of the loop: the same, but threads share each loop over
// the positions of the row. What such a loop sums is summed in a fixed number of parts, which are then added
// in order, so that results are the same for any number of threads. False where not all work of the row is in
// such loops, or they update what threads cannot.
bool loop_share_rows(const LoopRows *rows, LoopBody *to);

#endif
