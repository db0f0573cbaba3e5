// SPDX-License-Identifier: BSD-3-Clause
// How the entries of an assembled result are appended (Stage.result): where the loops run in its order of
// storage, inline to lists from which its arrays follow; where only the coordinates of its last level come in
// any order, through a set for each row; else one by one, to be sorted.
#ifndef DISTAL_LOWER_ASSEMBLY_H
#define DISTAL_LOWER_ASSEMBLY_H

#include "format/append.h"
#include "lower/builder.h"

typedef enum {
    ASSEMBLY_ANY,     // entries in any order
    ASSEMBLY_ORDERED, // in the order of storage
    ASSEMBLY_ROWS,    // in that order but for the last level that has coordinates
} AssemblyKind;

struct Assembly {
    AssemblyKind kind;
    int outer; // the outermost loop of the leaf, by number, on which entries depend
    int row;   // the loop each of whose iterations is a row; -1: none
    // Loops down to the last level that has coordinates, in the order of levels; in a row, all but the last.
    int loop_count;
    int loops[MAX_ORDER];
    bool whole_rows; // no two processors have entries below one position of the levels above the last
    bool repeats;    // an entry may come several times, one after the other
    bool divides;    // entries below one position may come in several iterations of a loop above
    AppendLists lists;
    // Arrays of the kernel: all lists, and each list; scalars by level, with the last coordinate that was
    // pushed and the last position above; the set.
    int all, arrays[MAX_APPEND_LISTS], last[MAX_ORDER], parents[MAX_ORDER], set;
};

// How the loops of a leaf append. Only the first fields are set, not those of the kernel.
Assembly assembly_of(const Spmd *spmd, const Leaf *leaf);
// Whether values are added to a row of the thread, which is zero before and after, and copied to the entries
// of a row of the result when it ends, instead of a search among these for each update. `params`: values by
// index, for the estimate only; NULL where they are not known. Sets the row.
bool assembly_has_values_row(const Spmd *spmd, const Leaf *leaf, const Assembly *assembly,
                             const int64_t *params, RowWorkspace *row);
// How entries are found, for messages.
const char *assembly_text(const Assembly *assembly);

// Whether entries depend on a loop, as it indexes a sparse tensor, or an index that may leave its mode.
bool assembly_depends(const Cin *cin, const Leaf *leaf, int loop);
// Whether equal coordinates of an operand's next level have to be one iteration of a loop of the leaf, as
// else what is inside would come in another order.
bool assembly_joins(const LeafBuilder *leaf, int loop, const Operand *operand);

// Whether iterations of a loop have the entries of the result, `operand`, in its next level one after the
// other, so that a position is that of the entry before plus one.
bool assembly_is_consecutive(const LeafBuilder *leaf, const LeafLoop *loop, int number,
                             const Operand *operand);

#endif
