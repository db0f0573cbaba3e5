// SPDX-License-Identifier: BSD-3-Clause
// The relations, one a file: a new one is a new file and a line in the list below.
#ifndef DISTAL_RELATION_RELATIONS_H
#define DISTAL_RELATION_RELATIONS_H

#include "relation/relation.h"

#define RELATIONS(ENTRY)                                                                                     \
    ENTRY(split)                                                                                             \
    ENTRY(divide)                                                                                            \
    ENTRY(balance)                                                                                           \
    ENTRY(cyclic)                                                                                            \
    ENTRY(collapse)                                                                                          \
    ENTRY(rotate)                                                                                            \
    ENTRY(pos)                                                                                               \
    ENTRY(affine)

#define DECLARE_RELATION(name) extern const RelationKind relation_##name;
RELATIONS(DECLARE_RELATION)
#undef DECLARE_RELATION

#endif
