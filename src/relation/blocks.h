// SPDX-License-Identifier: BSD-3-Clause
// What split and divide share: contiguous blocks of the parent, of which child[0] counts the blocks and
// child[1] the positions of one, parent[0] = child[0] * extent(child[1]) + child[1].
#ifndef DISTAL_RELATION_BLOCKS_H
#define DISTAL_RELATION_BLOCKS_H

#include "relation/relation.h"

const IntExpr *blocks_recover(const RelationTerms *terms, int p);
const IntExpr *blocks_upper(const RelationTerms *terms, int c, const IntExpr *parent);
bool blocks_boxes(const NumericRelation *relation, BoxList *list, int64_t at);
bool blocks_bound(const NumericRelation *relation, BoundingBox *bounds);
PositionSet blocks_part(const NumericRelation *relation, const Box *box, PositionSet values, Arena *arena);

// Puts values of the parent, clamped, into the box, and that into the list.
void partition_put(const NumericRelation *relation, BoxList *list, int64_t at, Box *box, PositionSet values,
                   bool *any);

#endif
