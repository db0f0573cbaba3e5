// SPDX-License-Identifier: BSD-3-Clause
// Relations: how index variables that a schedule derives (children) determine those that they replace
// (parents; DISTAL, section 5.2). Each relation is one file, which relations.h lists, with its symbolic side,
// for generated code, and its numeric side, for the plan. All other code uses its RelationKind; none but
// the commands that make relations knows them by name.
#ifndef DISTAL_RELATION_RELATION_H
#define DISTAL_RELATION_RELATION_H

#include "base/diagnostic.h"
#include "base/intexpr.h"
#include "machine/boundaries.h"
#include "relation/box.h"

typedef struct RelationKind RelationKind;

// An access of which a relation is about the positions.
typedef struct {
    const char *name; // of the tensor
    int tensor;       // its id
    int order;
    int vars[MAX_ORDER];
    int first_level, last_level; // those that store the coordinates of the parent
    int modes[MAX_ORDER];        // by level
    int outermost;               // the variable of the first one
    bool repeats;                // a coordinate may be stored more than once
} StoredAccess;

// Parts of different lengths, before numbers are put in.
typedef struct {
    Division division;                                   // without numbers of parts and lengths of blocks
    const IntExpr *parts[MAX_DEPTH], *cycles[MAX_DEPTH]; // cycles: of levels that make cells
    int64_t start_count; // of the first level, where its boundaries are listed
    const IntExpr *const *starts;
    // The level that is divided by this relation; the operands are the parts of the levels around it.
    int level;
    // The parent counts stored positions, of which all levels of the division are divided; else coordinates,
    // and the level is the last one.
    bool positions;
} BalancedLevel;

typedef struct {
    const RelationKind *kind;
    Span span; // of the command that made it
    int parent[2], child[2];
    int operand_count; // further variables that the parents depend on; they stay
    int operands[MAX_VARS];
    const IntExpr *numbers[2]; // of the command; their meaning depends on the relation
    // Where the kind is `stored`: the access; the variables, no loops, that are the number of its positions
    // and, where these are distributed, the places in the arrays of the rank of the first of them, negative
    // where other ranks have those before its own, and behind the last one that the processor has of its
    // part; and what parts of the positions have, where that is known beforehand.
    const StoredAccess *access;
    int count, end;
    const Boundaries *stored;
    // Where the kind is `balanced`: by what, of which the parts are numbers[0]; and the variables, no loops,
    // that are the length of the longest part, where that of the processor begins, counted from where the
    // part around it does, and how long it is.
    const BalancedLevel *balanced;
    int longest, begin, length;
    // What each part has beyond that length; NULL: nothing. One where cin_for_entries gives a sum without
    // iterations one: all parts, which are empty, have it.
    const IntExpr *added;
    const AffineIndex *affine; // of an index; the operands are its variables
} Relation;

// The symbolic side of a relation: extents, and values of those variables that have one.
typedef struct {
    Arena *arena;
    const Relation *relation;
    const IntExpr *parent[2], *child[2]; // extents
    const IntExpr *value[2];             // of the children; NULL where there is none yet
    const IntExpr *operands[MAX_VARS];   // values
} RelationTerms;

// An index with numbers, and the values that each of its variables has, by all indices of that variable
// alone.
typedef struct {
    int64_t constant, coefficients[MAX_INDEX_TERMS];
    int64_t lo[MAX_INDEX_TERMS], hi[MAX_INDEX_TERMS];
} NumericAffine;

// The numeric side of a relation. Extents are not negative, and those of children with values are positive.
typedef struct {
    Relation relation; // its expressions are not used
    VarSet takes;      // children and operands,
    VarSet gives;      // from whose values follow those of the parents
    int64_t parent[2], child[2], numbers[2];
    NumericAffine affine;
    bool child_may_be_periodic;   // child[0], in a bounding box
    const Boundaries *boundaries; // where it is balanced; or of positions, where it is known what they have
    int64_t added;
    Rect stored; // of the access: the whole extents of the modes of the levels
} NumericRelation;

struct RelationKind {
    const char *name;      // "divide"
    const char *done;      // "divided", for messages
    int parents, children; // 1 or 2 parents; no child where variables of the statement determine the parent
    int numbers, printed_numbers; // the first ones, which the command gives, are printed
    bool has_operands;
    // child[0] selects a part of the only parent and child[1] counts its coordinates from 0 in increasing
    // order. Both extents together may exceed that of the parent.
    bool partitions;
    // The parts are contiguous: child[1] has unit stride in the parent.
    bool contiguous;
    // The parts have equal lengths, and the first number is how many there are.
    bool divides;
    // The parent is a coordinate that a tensor stores, and child[0] counts its positions: generated code
    // loads one from the other, `recover` is NULL, and the extent of the child is the variable `count`. Where
    // the parent is collapsed from variables, these are what follows with numbers: the extent of the parent
    // may be more than 64 bits hold.
    bool stored;
    // Entries balance its parts, which are contiguous, of one mode or of positions. child[0] is distributed.
    bool balanced;
    // The only parent is the sum of child[0] and the operands, modulo its extent, which is that of the child.
    bool rotates;
    // An upper bound of child[c] keeps the parent below its extent where the other child has a value.
    bool clamps[2];

    // Extents of the children from those of the parents and the numbers.
    void (*extents)(Arena *arena, const IntExpr *const *parents, const IntExpr *const *numbers,
                    const IntExpr **children);
    // The value of parent[p] from those of all children and operands.
    const IntExpr *(*recover)(const RelationTerms *terms, int p);
    // An upper bound of a loop over child[c], from 0 with step 1, at most its extent, if the parent has the
    // upper bound `parent`; the value of the other child may be known or not. NULL: the extent.
    const IntExpr *(*upper)(const RelationTerms *terms, int c, const IntExpr *parent);

    // Where there is no child: the iterations that there are keep the parent within its extent. Of a parent
    // with one operand, the values of it that do.
    PositionSet (*window)(const NumericRelation *relation);

    // What is wrong with the numbers, or NULL. A NULL function finds nothing wrong.
    const char *(*invalid)(const NumericRelation *relation, Arena *arena);
    // Sets in box `at` the values of the parents for those of the children and operands, clamped to the
    // extents of the parents. If that takes several boxes, appends the others, all disjoint; they may have
    // subsets of the values of operands. False if the box becomes empty.
    bool (*boxes)(const NumericRelation *relation, BoxList *list, int64_t at);
    // One box that contains these values, in constant time and monotone in its arguments. For that, the
    // period of a variable does not depend on values; of two possible ones, the relations determine which is
    // used.
    bool (*bound)(const NumericRelation *relation, BoundingBox *bounds);
    // If it partitions and is not contiguous: the values of the children from that of the parent.
    void (*children_of)(const RelationTerms *terms, const IntExpr *parent, const IntExpr **values);
    // If it partitions: the part of the parent for these values of child[1] and the one that child[0] and
    // each operand have in the box, not clamped.
    PositionSet (*part)(const NumericRelation *relation, const Box *box, PositionSet values, Arena *arena);
};

// All of them; *count is set.
const RelationKind *const *relation_kinds(int *count);

// As sets of variables.
VarSet relation_parents(const Relation *relation);
VarSet relation_children(const Relation *relation);
VarSet relation_operands(const Relation *relation);

// "divide(i, io, ii, gx)": parents, operands in braces, children, numbers. `vars` are names by variable.
void relation_print(const Relation *relation, IntNames names, Text *to);

// An extent as a divisor: at least 1, as C compilers warn of divisions by 0, also where there are no
// iterations that execute them.
const IntExpr *relation_divisor(Arena *arena, const IntExpr *extent);

#endif
