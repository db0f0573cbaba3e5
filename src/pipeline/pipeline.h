// SPDX-License-Identifier: BSD-3-Clause
// The pipeline: the passes from a program text to generated C and a plan, in order. One struct holds all
// representations; the passes themselves are functions of other modules.
#ifndef DISTAL_PIPELINE_PIPELINE_H
#define DISTAL_PIPELINE_PIPELINE_H

#include "lang/program.h"
#include "loop/loop.h"
#include "plan/balance.h"
#include "schedule/products.h"

// In order; each needs those before it.
typedef enum { PASS_PROGRAM, PASS_CIN, PASS_SCHEDULE, PASS_SPMD, PASS_LOOPS, PASS_C, PASS_PLAN } Pass;
enum { PASS_COUNT = 7 };
extern const char *const pass_names[]; // by Pass: "program", "cin", ...

// Where a statement is computed by default, and where less moves in an execution, on all ranks together.
typedef struct {
    const Access *first, *best; // by whose placements; `best` NULL: nowhere else is a tenth of that
    int64_t first_bytes, best_bytes;
} PlaceChoice;

// The representations of one statement.
typedef struct {
    const Statement *statement;
    const Cin *cin;            // as written
    Array(const Cin *) stages; // after each command
    DefaultSteps defaults;     // commands that are added where there is no schedule
    PlaceChoice place;         // of a statement that the schedule does not distribute
    const Cin *scheduled;      // distributed
    const Spmd *spmd;
    const LoopKernel *lowered; // as loops, before the passes over them
    const LoopKernel *loops;   // and after
    // The same of the function that appends the entries of an assembled result; NULL of another.
    const LoopKernel *lowered_structure, *structure;
    const char *function; // name of its function in the generated C
    const char *id;       // of the function: a hash of its code
} StatementPasses;

// A plan without statements, from which place_choose takes the homes of all tensors, and what it was made
// for.
typedef struct {
    Arena *arena;
    const Plan *plan; // NULL: it cannot be made
    int64_t *params;  // with the number of ranks; NULL: none has been tried
    int64_t workspaces;
} HomesPlan;

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics; // of all passes
    Source source;
    const ParamOverride *overrides;
    int override_count;
    int64_t ranks;            // 0 until known: as many as the machine needs
    PlanOptions plan_options; // but for the ranks
    bool verified;            // its plans are verified on another rank
    double least_steps;       // of products that are divided by default (schedule/products.h)
    double most_elements;     // of a workspace that is added for these; 0: as the default says
    int64_t least_bytes;      // that move, for another place to be looked for (pipeline/place.h)

    const Program *program;
    int64_t *params;             // values by index
    Scheduler scheduler;         // of all statements
    int64_t reduction_count;     // of its workspaces, the first, are of explicit reductions
    StatementPasses *statements; // program->statement_count of them
    HomesPlan homes;             // made by the first statement that needs it
    const char *c_source;        // one file with a function for each statement
    Plan *plan;

    Pass next;              // the first that has not run
    Diagnostics *no_memory; // made in advance; replaces `diagnostics` when memory runs out
} Pipeline;

// A pipeline before the first pass. `ranks` is the number of processes; 0: as many as the program needs.
// Keeps pointers to `source` and `overrides`. Everything lives in the arena.
Pipeline *pipeline_create(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                          int64_t ranks);

// The same for an existing program, to which it keeps a pointer: PASS_CIN is next. The caller sets
// `diagnostics` before passes are run.
Pipeline *pipeline_of(Arena *arena, const Program *program, int64_t ranks);
// To be called when commands have been added at the ends of schedules; results for the others are kept.
void pipeline_extend(Pipeline *pipeline, const Program *program);

// The tensors of the program, and then its workspaces: by id, in the arena.
const Tensor *const *pipeline_tensors(const Pipeline *pipeline, Arena *arena, int *count);

// A separate plan, for these values of params; `options` has the ranks, and homes by tensor of the program.
// After PASS_SPMD. NULL with a diagnostic.
Plan *pipeline_plan(const Pipeline *pipeline, Arena *arena, const int64_t *params, PlanOptions options,
                    Diagnostics *diagnostics);

// Whether products of a statement are formed in another order than it has: with workspaces, or by calls of
// the BLAS that multiply a sum by further factors. After PASS_SPMD.
bool pipeline_reorders_products(const StatementPasses *passes);

// Whether a GPU executes some statement, or some tensor is placed in memory of GPUs. After PASS_SPMD.
bool pipeline_uses_gpu_memory(const Pipeline *pipeline);

// The number of ranks for which PASS_PLAN plans, and the largest one up to `most` on which the program can
// run instead. After the passes before PASS_PLAN.
int64_t pipeline_ranks(const Pipeline *pipeline);
int64_t pipeline_fewer_ranks(const Pipeline *pipeline, int64_t most);

// Schedules and plans again with an eighth of the elements in workspaces that are added by default, in the
// end with none, and computes statements where the first placement says. False where that is so already, and
// with a diagnostic. After PASS_PLAN.
bool pipeline_take_less(Pipeline *pipeline);

// Takes the options of the plan that `from` has, a pipeline of the same program with other values of params.
// Those that follow from these values or from entries are left out, as are the nodes of the ranks where the
// number of ranks is another one, or not known yet: ranks then send messages to each other, and need no less
// memory.
void pipeline_take_options(Pipeline *pipeline, const Pipeline *from);

// What entries balance in the program (plan/balance.h); after PASS_SPMD. Boundaries are options of the plan.
void pipeline_balance_tasks(Pipeline *pipeline, Arena *arena, BalanceTaskArray *tasks);

// Runs the remaining passes up to `last`. False with diagnostics, also when memory runs out. Verifiers run
// between passes and report internal errors.
bool pipeline_run(Pipeline *pipeline, Pass last);

#endif
