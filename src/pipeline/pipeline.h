// SPDX-License-Identifier: BSD-3-Clause
// The pipeline: from a program text to everything that follows from it, one pass after the other. One struct
// holds every representation; the passes themselves are the modules that it calls.
#ifndef DISTAL_PIPELINE_PIPELINE_H
#define DISTAL_PIPELINE_PIPELINE_H

#include "lang/program.h"
#include "loop/loop.h"
#include "plan/plan.h"

// In order; each needs those before it.
typedef enum { PASS_PROGRAM, PASS_CIN, PASS_SCHEDULE, PASS_SPMD, PASS_LOOPS, PASS_C, PASS_PLAN } Pass;
enum { PASS_COUNT = 7 };
extern const char *const pass_names[]; // by Pass: "program", "cin", ...

// One statement on its way.
typedef struct {
    const Statement *statement;
    const Cin *cin;            // as written
    Array(const Cin *) stages; // after each command
    const Cin *scheduled;      // with the defaults added
    const Spmd *spmd;
    const LoopKernel *lowered; // as loops, before the passes over them
    const LoopKernel *loops;   // and after
    const char *function;      // name of its function in the generated C
    const char *id;            // of the function: equal where its code is
} StatementPasses;

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics; // of all passes
    Source source;
    const ParamOverride *overrides;
    int override_count;
    int64_t ranks;            // 0 until known: as many as the machine needs
    PlanOptions plan_options; // but for the ranks

    const Program *program;
    int64_t *params;             // values by index
    Scheduler scheduler;         // of all statements
    StatementPasses *statements; // program->statement_count of them
    const char *c_source;        // one file with a function for each statement
    Plan *plan;

    Pass next;              // the first that has not run
    Diagnostics *no_memory; // made ahead, takes the place of `diagnostics` when memory runs out
} Pipeline;

// Nothing is done yet. `ranks` is the number of processes, 0 where the program may have as many as it needs.
// `source` and `overrides` have to stay. Everything lives in the arena.
Pipeline *pipeline_create(Arena *arena, Source source, const ParamOverride *overrides, int override_count,
                          int64_t ranks);

// The same of a program that is there already: PASS_CIN is next. The program has to stay. `diagnostics` is to
// be set before passes are run.
Pipeline *pipeline_of(Arena *arena, const Program *program, int64_t ranks);
// The program has got more commands, at the ends of its schedules: what was made of the others stays.
void pipeline_extend(Pipeline *pipeline, const Program *program);

// A plan of its own, which does not become the pipeline's: with these values of params, where `options` has
// the ranks and the homes by tensor of the program. After PASS_SPMD. NULL with a diagnostic.
Plan *pipeline_plan(const Pipeline *pipeline, Arena *arena, const int64_t *params, PlanOptions options,
                    Diagnostics *diagnostics);

// The number of ranks that PASS_PLAN is for, and the largest one up to `most` that the program can run on
// instead; after the passes before it.
int64_t pipeline_ranks(const Pipeline *pipeline);
int64_t pipeline_fewer_ranks(const Pipeline *pipeline, int64_t most);

// Runs the passes that have not run yet, up to `last`. False with diagnostics, also when memory runs out.
// Between passes the verifiers run: what they find is an internal error.
bool pipeline_run(Pipeline *pipeline, Pass last);

#endif
