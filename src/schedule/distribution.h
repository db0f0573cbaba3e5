// SPDX-License-Identifier: BSD-3-Clause
// Distributions: loops divided among the processors of a machine, with their outer parts distributed (the
// compound command of DISTAL, section 3.3). The forms of `distribute` and the defaults build a Distribution,
// which is applied here.
#ifndef DISTAL_SCHEDULE_DISTRIBUTION_H
#define DISTAL_SCHEDULE_DISTRIBUTION_H

#include "schedule/arguments.h"

enum { MOST_NEW_VARS = 5 }; // of a step

// One loop divided, or distributed block-cyclically, along one dimension of the machine.
typedef struct {
    int target; // the loop; if an earlier step has divided it, its part on one processor
    NewVar outer, inner;
    int dim;
    const IntExpr *cycle;          // block-cyclic: coordinates of one block; NULL: divided
    const BalancedLevel *balanced; // by entries; NULL: not
} DistributionStep;

typedef struct {
    const Machine *machine;
    bool outside_all; // move the distributed loops outside of all others, which keep their order; else
                      // reorder({outer ones, inner ones}), as the compound command says
    int step_count;
    DistributionStep steps[MAX_MACHINE_ORDER];
    int fix_count;
    int fixed_dims[MAX_MACHINE_ORDER];
    int64_t coordinates[MAX_MACHINE_ORDER];
} Distribution;

// Divides the loops, moves the outer parts outside and distributes them, in a Cin that was just copied.
// NULL, or why rows do not allow that.
const char *distribution_apply(Cin *cin, Span span, const Distribution *distribution);

// The part of a variable on one processor after distributions, or the variable itself.
int distribution_local_part(const Cin *cin, int var);

// Distributes the loop along that dimension. All variables of a statement are distributed along dimensions of
// one machine; if that is not possible, each gets a dimension of its own, and coordinates are no longer
// fixed, which gives the same result. Returns whether the loop is along a dimension of a machine. Rows then
// need the loop around them: cin_set_nests has to follow.
bool distribution_bind(Cin *cin, Span span, int var, const Machine *machine, int dim);

// Removes the distribution of a distributed loop.
void distribution_undo(Cin *cin, int var);

// The directive that uses this dimension of the machine in a nest that has the loop `var`, or NULL.
const Directive *distribution_taken(const Cin *cin, const Machine *machine, int dim, int var);

// The access of the tensor whose variables a distribution onto its placement distributes: the left side, or
// the access on the right. NULL if the right side accesses it with different variables.
const Access *distribution_access(const Assignment *assignment, const Tensor *tensor);

// The last dimension by which a placement divides fused modes by their entries, or -1.
int distribution_fused(const Placement *placement);

// The modes that the placement partitions, in order of the dimensions of its machine: dims[i] partitions
// modes[i]. Left out are a mode whose variable indexes an earlier mode too (a diagonal), and one of which
// some level divides positions, as it is fused with others.
int distribution_modes(const Access *access, int *modes, int *dims);
// How the placement of a tensor partitions its mode along the step's dimension.
void distribution_divide_as(Arena *arena, const Tensor *tensor, DistributionStep *step);
// The parts of level `level` of those that a balanced dimension divides.
BalancedLevel *distribution_balanced(Arena *arena, const Tensor *tensor, int dim, int level);
// Adds the coordinates that the placement fixes in dimensions that are not used.
void distribution_add_fixed(const Cin *cin, const Placement *placement, Distribution *distribution);

#endif
