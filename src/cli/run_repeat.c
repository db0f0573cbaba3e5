// SPDX-License-Identifier: BSD-3-Clause
// The statements of a program in order, some of them repeated. Executions of all statements of a repetition
// are there from its first round to its last one, so that what is prepared once is prepared once.
#include "cli/run.h"
#include "runtime/condition.h"
#include "runtime/load_sparse.h"

typedef struct {
    Run *run;
    Condition **conditions; // by repetition, NULL where it has none
    Progress progress;
} Rounds;

// Sparse results that have not been computed have no entries.
static bool put_nothing(void *arguments, Diagnostics *diagnostics) {
    const Run *run = arguments;
    const Program *program = run->pipeline->program;
    for (int t = 0; t < program->tensor_count; t++) {
        Storage *storage = run->storages[t];
        if (storage && tensor_is_sparse(program->tensors[t]) && !storage->structure &&
            program_is_output(program, program->tensors[t]) && !sparse_put_nothing(storage, diagnostics))
            return false;
    }
    return true;
}

static bool run_rounds(Rounds *rounds, int index) {
    Run *run = rounds->run;
    Diagnostics *diagnostics = run->session->diagnostics;
    const Program *program = run->pipeline->program;
    const Repetition *repetition = &program->repetitions[index];
    const int64_t count = repetition_count(repetition, run->pipeline->params);
    RepetitionReport *report = &run->repetitions[index];
    report->begun++;
    // What follows may read results that are not computed.
    bool ok = count > 0 || agree_on_part(MPI_COMM_WORLD, put_nothing, run, diagnostics), ends = false;
    for (int64_t round = 0; round < count && ok && !ends; round++) {
        for (int s = repetition->first; s < repetition->last && ok;) {
            const int inner = program_repetition_at(program, s, index);
            ok = inner < 0 ? run_once(run, s) : run_rounds(rounds, inner);
            s = inner < 0 ? s + 1 : program->repetitions[inner].last;
        }
        if (ok && repetition->until)
            ok = condition_holds(rounds->conditions[index], &ends, diagnostics);
        report->rounds++;
        if (repetition->outer < 0)
            progress_show(&rounds->progress, "computing", round + 1, count);
    }
    report->ended += ends;
    return ok;
}

// Of a repetition and of those inside of it.
static Condition **create_conditions(Run *run, const Repetition *outer) {
    const Program *program = run->pipeline->program;
    Arena *arena = run->session->arena;
    Condition **conditions = arena_array(arena, Condition *, program->repetition_count);
    for (int r = 0; r < program->repetition_count; r++) {
        const Repetition *repetition = &program->repetitions[r];
        if (repetition->until && outer->first <= repetition->first && repetition->last <= outer->last)
            conditions[r] =
                condition_create(repetition->until, repetition_limit(repetition), program->tensor_count,
                                 run->storages, run->pipeline->params, MPI_COMM_WORLD, arena);
    }
    return conditions;
}

// An outermost repetition.
static bool run_repetition(Run *run, int index) {
    const Program *program = run->pipeline->program;
    const Repetition *repetition = &program->repetitions[index];
    Rounds rounds = {.run = run,
                     .conditions = create_conditions(run, repetition),
                     .progress = progress_start(run->rank == 0 && !run->session->options->quiet)};
    bool ok = true;
    for (int s = repetition->first; s < repetition->last && ok; s++)
        ok = run_begin(run, s);
    ok = ok && run_rounds(&rounds, index);
    progress_end(&rounds.progress);
    ok = ok && run_check_last_values(run, repetition->first, repetition->last);
    for (int s = repetition->first; s < repetition->last; s++)
        ok = run_end(run, s, ok);
    return ok;
}

bool run_statements(Run *run) {
    const Program *program = run->pipeline->program;
    bool ok = true;
    for (int s = 0; s < program->statement_count && ok;) {
        const int repetition = program_repetition_at(program, s, -1);
        ok = repetition < 0 ? run_statement(run, s) : run_repetition(run, repetition);
        s = repetition < 0 ? s + 1 : program->repetitions[repetition].last;
    }
    return ok;
}
