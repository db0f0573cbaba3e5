// SPDX-License-Identifier: BSD-3-Clause
// Relations and extents with numbers, for the files that find boxes of variables and rectangles of accesses
// with them.
#ifndef DISTAL_INDEX_PROVENANCE_DATA_H
#define DISTAL_INDEX_PROVENANCE_DATA_H

#include "index/provenance.h"

struct Provenance {
    int var_count;
    int64_t extents[MAX_VARS];
    bool derives[MAX_VARS]; // a parent: it is no loop any more
    int relation_count;
    NumericRelation *relations;    // in order of derivation
    PositionSet windows[MAX_VARS]; // the values of a variable of the statement that its indices allow
};

// Whether a nest with these variables has those that the relation is about.
bool provenance_is_active(const Relation *relation, const bool *active);

#endif
