// SPDX-License-Identifier: BSD-3-Clause
// CIN, concrete index notation (DISTAL, section 5.1, figure 14): loop nests over assignments, and the `s.t.`
// lists of the schedule: relations, which derive variables, and directives. A Cin is immutable: a schedule
// command returns a new one.
#ifndef DISTAL_INDEX_CIN_H
#define DISTAL_INDEX_CIN_H

#include "index/notation.h"
#include "relation/relations.h"

typedef struct {
    const char *name;
    Span span;
    const IntExpr *extent; // closed: params only
    bool source;           // not derived: of the statement as written, or an index of a workspace
} IndexVar;

typedef enum {
    UNIT_CPU_THREAD,
    UNIT_CPU_VECTOR,
    UNIT_GPU_BLOCK,
    UNIT_GPU_WARP,
    UNIT_GPU_THREAD
} ParallelUnit;
static inline bool unit_is_of_gpu(ParallelUnit unit) {
    return unit >= UNIT_GPU_BLOCK;
}
typedef enum { RACE_NONE, RACE_ATOMIC, RACE_REDUCTION, RACE_TEMPORARY } RaceStrategy;
typedef enum {
    KERNEL_GEMM,
    KERNEL_GEMV,
    KERNEL_GER,
    KERNEL_DOT,
    KERNEL_AXPY,
    KERNEL_BLAS,
    KERNEL_LOOPS
} KernelName;
extern const char *const kernel_names[];        // by KernelName, KERNEL_COUNT of them
extern const char *const parallel_unit_names[]; // by ParallelUnit
extern const char *const race_names[];          // by RaceStrategy
enum { KERNEL_COUNT = 7, PARALLEL_UNIT_COUNT = 5, RACE_COUNT = 4 };

// Directives say how loops are executed.
typedef enum {
    DIRECTIVE_DISTRIBUTE, // iterations of loops[0] run on different processors, along dimension `dim` of
                          // `machine`; machine NULL: along a dimension of their own
    DIRECTIVE_FIX,        // only processors whose coordinate in dimension `dim` of `machine` is `number` take
                          // part
    DIRECTIVE_COMMUNICATE, // what `tensor` needs under one iteration of loops[0] is gathered at its start
    DIRECTIVE_SUBSTITUTE,  // the innermost loops `loops` are a call of `kernel`
    DIRECTIVE_PARALLELIZE, // loops[0] onto `unit`, `race` says how concurrent updates are resolved
    DIRECTIVE_UNROLL,      // loops[0], `number` times
} DirectiveKind;
enum { DIRECTIVE_COUNT = DIRECTIVE_UNROLL + 1 };

typedef struct {
    DirectiveKind kind;
    Span span;            // of the command that gave it
    int64_t at_relations; // number of relations before it, which gives the order of relations and directives
    int loop_count;
    int loops[MAX_VARS];
    const IntExpr *number;
    const Machine *machine;
    int dim;
    const Tensor *tensor;
    ParallelUnit unit;
    RaceStrategy race;
    KernelName kernel;
} Directive;

typedef enum { STMT_FORALL, STMT_ASSIGN, STMT_SEQUENCE, STMT_WHERE } StmtKind;

typedef struct Stmt Stmt;
struct Stmt {
    StmtKind kind;
    int var;          // FORALL
    const Stmt *body; // FORALL
    // ASSIGN: lhs = rhs, or lhs += rhs where `accumulate`, with the mark of the reducer. The right side has
    // no explicit reductions.
    const Access *lhs;
    const Expr *rhs;
    bool accumulate;
    Reducer reducer;
    // SEQUENCE: first ; second. WHERE: first where second (first reads the workspace that second fills).
    const Stmt *first, *second;
    const Tensor *row; // WHERE inside of loops: the workspace; NULL outside of all loops
    int nest_count;    // assignments inside
};

typedef struct {
    Arena *arena;
    const Assignment *assignment; // as it was written
    // The assignments in order of execution: those to workspaces, and last the one to the target. Their
    // variables are the source variables of the Cin.
    int part_count;
    const Assignment *const *parts;
    int var_count;
    IndexVar vars[MAX_VARS];           // source variables first
    bool ordered[MAX_VARS];            // loops that the schedule put in order, and loops derived from those
    Array(const Relation *) relations; // in order of derivation
    Array(const Directive *) directives;
    const Stmt *body;
} Cin;

// The statement as written, before any command. A right side whose additive terms sum over different
// variables becomes a sequence of nests, one for each set of reduction variables: `A(i) = b(i) ; A(i) +=
// B(i,j) * c(j)`. Inside a term, all addends of a sum have the same reduction variables (summation.h). What
// is `whole` is one term. There are no explicit reductions (schedule/reductions.h). Loops: variables in order
// of first occurrence, those of the left side first (DISTAL, section 5.1).
const Cin *cin_create(Arena *arena, const Assignment *assignment);

// The same for an assignment that has been divided into `parts`, of which later ones read what earlier ones
// compute: `last where (... where first)`. A part that fills a row workspace is put inside the loops of each
// nest that reads it. All parts have the same table of variables. Keeps pointers to them.
const Cin *cin_create_parts(Arena *arena, const Assignment *assignment, const Assignment *const *parts,
                            int part_count);

// A shallow copy to be changed by a schedule command.
Cin *cin_copy(const Cin *cin);
// The name of a new variable.
typedef struct {
    const char *name;
    Span span;
} NewVar;
// Adds the relation, whose children are new variables with these names, and sets their ids in it. Variables
// that are derived from an ordered loop are ordered. Does not change the nests.
void cin_derive(Cin *cin, Relation *relation, const NewVar *children);
// Sets the extents of the children of a relation, and of its numbers, from those of its parents.
void cin_set_extents(Cin *cin, const Relation *relation);
void cin_add_directive(Cin *cin, Directive directive);

// Nests: the assignments of the statement, each with all loops around it, in order of execution. Nests that
// fill and read a row workspace have loops in common.
typedef struct {
    int loop_count;
    int loops[MAX_VARS]; // variable ids, outermost first
    const Stmt *assign;
} Nest;
// Of a sequence or a where statement, whose second part, which fills the workspace, is executed first.
const Stmt *stmt_executed_first(const Stmt *stmt);
const Stmt *stmt_executed_last(const Stmt *stmt);
int cin_nest_count(const Cin *cin);
Nest cin_nest(const Cin *cin, int index);
Nest *cin_nests(const Cin *cin); // all of them, in the arena
// The loops around a row workspace that nest `index` fills or reads.
VarSet cin_loops_around(const Cin *cin, int index, const Tensor *row);
// `stmt` inside of the loops of the nest from number `first` to before `end`.
const Stmt *stmt_inside(Arena *arena, const Nest *nest, int first, int end, const Stmt *stmt);
// Gives all nests the loops of `nests`. Nests that fill and read a row workspace get common loops: those that
// determine the variables of its `around`, are distributed or have data moving inside, and all outside of
// them. NULL, or the reason why that is impossible: a nest lacks one of these loops.
const char *cin_set_nests(Cin *cin, const Nest *nests);
// Index of the loop in the nest, -1 where the nest lacks it.
int nest_position(const Nest *nest, int var);
bool nest_has(const Nest *nest, int var);
bool cin_share_nest(const Cin *cin, int a, int b); // whether some nest has both loops

// Id of the variable with this name, -1 where there is none; whether it is a loop of some nest.
int cin_var(const Cin *cin, const char *name);
bool cin_is_loop(const Cin *cin, int var);
bool directive_is_about(const Directive *directive, int loop);
// The part that gives the tensor its values, a workspace or the left side; NULL of other tensors.
const Assignment *cin_part(const Cin *cin, const Tensor *tensor);
// Whether its leaves are executed on a GPU: a tensor of it is in memory of one, a loop is distributed onto a
// level of GPUs, or parallelized onto blocks, warps or threads.
bool cin_is_on_gpu(const Cin *cin);
// The first directive of `kind` about the loop `var`, or NULL.
const Directive *cin_directive(const Cin *cin, DirectiveKind kind, int var);
// These variables and all that relations have made of them.
VarSet cin_derived(const Cin *cin, VarSet vars);
// The statement whose loops find the entries of what nests `first` to `last` write, as entries do not depend
// on how many iterations a sum over something else has: variables that index no sparse tensor in these nests
// have an extent of at least 1. `cin` itself where that is no change.
const Cin *cin_for_entries(const Cin *cin, int first, int last);
// The relation of which `var` is a child, NULL for a source variable; and the one of which it is a parent,
// NULL for a loop.
const Relation *cin_made_by(const Cin *cin, int var);
const Relation *cin_replaced_by(const Cin *cin, int var);
// Whether the variable stands for an index that is a sum of variables, or keeps one within its range.
bool cin_is_index(const Cin *cin, int var);
// Whether it is about positions of all leading levels of a tensor, and parts of these are distributed.
bool cin_positions_are_distributed(const Cin *cin, const Relation *relation);
// The relation with the extents of its variables and without values.
RelationTerms cin_relation_terms(const Cin *cin, const Relation *relation);

// Well-formedness: every variable of an access recoverable from the loops around it, every loop bound once,
// extents closed, relations and directives about existing variables. On failure false, and what is wrong is
// written to *why.
bool cin_verify(const Cin *cin, const char **why);

// Whether the numbers of all relations are at least 1 with these values of params, and params that are values
// in the statement fit into the type that it computes in. False with a diagnostic.
bool cin_check_numbers(const Cin *cin, const char *const *names, const int64_t *values,
                       Diagnostics *diagnostics);

// "forall(io) forall(jo) ... A(i, j) += B(i, k) * C(k, j)", one nest after the other with ` ;` between,
// ` where` before the nests that fill a workspace, which are executed first; those inside of loops in common
// are indented; then
// "s.t. divide(i, io, ii, gx), ...", broken before column 100, each line ended. `params` are names by index.
void cin_print(const Cin *cin, const char *const *params, Text *to);
void cin_print_relation(const Cin *cin, const Relation *relation, const char *const *params, Text *to);
void cin_print_directive(const Cin *cin, const Directive *directive, const char *const *params, Text *to);
// Names by variable id, for printers of expressions.
const char *const *cin_names(const Cin *cin);

#endif
