// SPDX-License-Identifier: BSD-3-Clause
// Relations: how index variables that a schedule derives (children) determine those that they replace
// (parents; DISTAL, section 5.2). All that is known of one relation is in one file, which relations.h lists:
// with symbols, for generated code, and with numbers, for the plan. Nothing else knows a relation by name;
// what has to be known is asked of its RelationKind.
#ifndef DISTAL_RELATION_RELATION_H
#define DISTAL_RELATION_RELATION_H

#include "base/diagnostic.h"
#include "base/intexpr.h"
#include "relation/box.h"

typedef struct RelationKind RelationKind;

typedef struct {
    const RelationKind *kind;
    Span span; // of the command that made it
    int parent[2], child[2];
    int operand_count; // further variables that the parents depend on; they stay
    int operands[MAX_VARS];
    const IntExpr *numbers[2]; // that the command gives: each relation says which
} Relation;

// A relation with symbols: extents, and values of those variables that have one.
typedef struct {
    Arena *arena;
    const Relation *relation;
    const IntExpr *parent[2], *child[2]; // extents
    const IntExpr *value[2];             // of the children; NULL where there is none yet
    const IntExpr *operands[MAX_VARS];   // values
} RelationTerms;

// A relation with numbers put in. Extents are not negative, and those of children are positive wherever one
// has values.
typedef struct {
    Relation relation; // its expressions are not used
    VarSet takes;      // children and operands,
    VarSet gives;      // from whose values follow those of the parents
    int64_t parent[2], child[2], numbers[2];
    bool child_may_be_periodic; // child[0], in a bounding box
} NumericRelation;

struct RelationKind {
    const char *name;             // "divide"
    const char *done;             // "divided", for messages
    int parents, children;        // 1 or 2 of each
    int numbers, printed_numbers; // of the command; the others follow from where the loops run
    bool has_operands;
    // child[0] selects a part of the only parent and child[1] runs through it, from 0 on in increasing order.
    // Together they may go beyond the extent of the parent.
    bool partitions;
    // The parts are contiguous: child[1] has unit stride in the parent.
    bool contiguous;
    // An upper bound of child[c] keeps the parent below its extent where the other child has a value.
    bool clamps[2];

    // Extents of the children from those of the parents and the numbers.
    void (*extents)(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children);
    // The value of parent[p] from those of all children and operands.
    const IntExpr *(*recover)(const RelationTerms *terms, int p);
    // A bound for a loop over child[c], from 0 with step 1, that is never more than its extent: where the
    // parent has the upper bound `parent`, and of the other child a value is known or not. NULL: the extent.
    const IntExpr *(*upper)(const RelationTerms *terms, int c, const IntExpr *parent);

    // What is wrong with the numbers, or NULL. A NULL function finds nothing wrong.
    const char *(*invalid)(const NumericRelation *relation, Arena *arena);
    // Puts the values of the parents that those of the children and operands give into box `at`, clamped to
    // the extents of the parents; what one box cannot describe is put into further boxes at the end of the
    // list, all disjoint. Sets of operands may be cut by this. False where nothing is left of the box.
    bool (*boxes)(const NumericRelation *relation, BoxList *list, int64_t at);
    // One box that contains all that: in a time that does not depend on the extents, and monotone. For this,
    // a variable has one possible period whatever the values, and where two could be had, the relations alone
    // decide which.
    bool (*bound)(const NumericRelation *relation, BoundingBox *bounds);
    // Where it partitions: the part of the parent that these values of child[1] give under one of child[0],
    // not clamped.
    PositionSet (*part)(const NumericRelation *relation, int64_t which, PositionSet values, Arena *arena);
};

// All of them; *count is set.
const RelationKind *const *relation_kinds(int *count);

// As sets of variables.
VarSet relation_parents(const Relation *relation);
VarSet relation_children(const Relation *relation);
VarSet relation_operands(const Relation *relation);

// "divide(i, io, ii, gx)": parents, operands in braces, children, numbers. `vars` are names by variable.
void relation_print(const Relation *relation, IntNames names, Text *to);

// An extent to divide by. Where it is 0 there are no iterations, and C compilers warn of a division by 0 that
// is never executed.
const IntExpr *relation_divisor(Arena *arena, const IntExpr *extent);

#endif
