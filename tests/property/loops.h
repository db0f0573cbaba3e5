// SPDX-License-Identifier: BSD-3-Clause
// The loops of a statement while a schedule is drawn for it: what each command makes of the nests, as far as
// the next commands depend on it. It follows the documentation, not the compiler, so that a legal command
// that the compiler refuses is found.
#ifndef DISTAL_TESTS_LOOPS_H
#define DISTAL_TESTS_LOOPS_H

#include "draft.h"

enum { MAX_LOOP_VARS = 60, MAX_LOOP_NESTS = 6 };
enum { MAX_PARTS = 2 };
// In the place of the index of a tensor: of the first workspace, the others follow.
enum { WORKSPACE = DRAFT_TENSORS, LOOPS_TENSORS = DRAFT_TENSORS + MAX_PARTS };

enum { // what has been said about a loop, bits
    SAID_DISTRIBUTE = 1,
    SAID_ROTATE = 2, // another loop is rotated by it
    SAID_COMMUNICATE = 4,
    SAID_PARALLELIZE = 8,
    SAID_UNROLL = 16,
    SAID_SUBSTITUTE = 32,
    SAID_THREADS = 64 // beside SAID_PARALLELIZE
};

typedef struct {
    char name[16];
    int64_t extent;
    bool source;
    bool reduction;  // some variable that it comes from is summed over
    bool determined; // its value is determined by the element of the left side, in every nest that has it,
    uint64_t
        shifts;   // where these loops are outside of it, by which it or what it comes from is rotated; bits
    bool on_left; // it changes a coordinate of the left side, in some nest
    bool steps;   // it enumerates pieces of the data, in the manner of Cannon's algorithm
    int outer;    // of a split or divide that it is the inner loop of; -1
    int unit;     // source variable that it moves by one, -1
    bool around;  // it iterates over a variable in whose iterations a workspace lives
    unsigned said;
} LoopVar;

typedef struct {
    int count;
    int loops[MAX_LOOP_VARS]; // outermost first
    unsigned tensors;         // bit t: accesses tensor t, or a workspace
} LoopNest;

typedef struct {
    int var_count;
    LoopVar vars[MAX_LOOP_VARS];
    int nest_count; // 0: more than can be followed
    LoopNest nests[MAX_LOOP_NESTS];
    bool uncertain; // of several nests the documentation does not say how loops are ordered at first
} Loops;

// A part of the right side, or of an earlier part, that is computed ahead.
enum { PART_NODES = 3, PART_COPIES = 8 };
typedef struct {
    int within; // the earlier part; -1: the right side
    int node_count;
    int nodes[PART_NODES]; // factors of one product, or one operand
    int copy_count;
    int copies[PART_COPIES]; // other places of that operand
    int order;               // of the workspace
    char kept[DRAFT_ORDER];
    bool renamed[DRAFT_ORDER]; // variable i has a name of its own where the workspace is filled
    unsigned around;           // letters, bit l - 'a', of variables in whose iterations the workspace lives
} Part;
// The letter that is put after the name there.
char part_letter(int part);
// Whether the node is one of the part's, and whether the workspace takes its place: the other factors are
// gone.
bool part_has(const Part *part, int node);
bool part_is_read_at(const Part *part, int node);

// The nests of a statement after the commands that compute these parts ahead.
void loops_create(const Draft *draft, const DraftStatement *statement, const Part *parts, int part_count,
                  Loops *loops);

int loops_add(Loops *loops, const char *name, int64_t extent, const LoopVar *parent);
// `var` becomes the loops `by`.
void loops_replace(Loops *loops, int var, const int *by, int count);
void loops_reorder(Loops *loops, const int *order, int count);
// To the outside, as the compound distribute does.
void loops_hoist(Loops *loops, const int *vars, int count);

int loops_position(const LoopNest *nest, int var); // -1: not there
bool loops_is_loop(const Loops *loops, int var);
bool loops_share_nest(const Loops *loops, int a, int b);
// All loops, those of the first nests first; their number.
int loops_all(const Loops *loops, int *vars);

#endif
