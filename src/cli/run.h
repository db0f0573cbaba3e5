// SPDX-License-Identifier: BSD-3-Clause
// Run: the state of `distal run` on one rank, and its steps in order. A failure of a collective step on one
// rank is a failure on all, with the diagnostic in run->session->diagnostics.
#ifndef DISTAL_CLI_RUN_H
#define DISTAL_CLI_RUN_H

#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session.h"
#include "io/source.h"
#include "jit/jit.h"
#include "runtime/agreement.h"
#include "runtime/execution.h"
#include "runtime/neighbours.h"
#include "runtime/node.h"
#include "runtime/save.h"
#include "runtime/storage.h"

#include <mpi.h>

// What --in, --out and --in-place say, checked against the program; by tensor id.
typedef struct {
    SourceSpec *sources;  // of the inputs
    const char **outputs; // NULL: not written
    int64_t *numbers;     // of the option --out, from 1 on
    bool *printed;
    HomeFile *files; // as --in-place says
} Bindings;

typedef struct {
    int count;              // of tensors that the statement uses
    const Tensor **tensors; // by id, as in its figures
    Counts *own;            // counted on this rank, by tensor
    Counts *planned;        // on rank 0: [rank][tensor], of the plan
    int64_t uncounted;      // executions that `planned` lacks
} Counters;

// One statement on this rank.
typedef struct {
    distal_execution *execution; // from its beginning to its end
    Array(double) begins, ends; // of each timed execution: seconds of the clock that a node has, or from 0 on
    Counters counters;
    bool was_finite; // the result of the first execution
    StatementReport report;
} RunStatement;

// What is known of the elements of a tensor, on all ranks.
typedef enum { VALUES_UNKNOWN, VALUES_FINITE, VALUES_NOT_FINITE } Values;

typedef struct {
    Session *session;
    const Pipeline *pipeline;
    MPI_Comm node;          // ranks that share this one's memory
    Neighbours *neighbours; // NULL: ranks read nothing of each other
    Communicators *communicators;
    int rank;
    int64_t ranks;
    Bindings bindings;
    Entries *shares;    // by tensor id: of inputs that were read before the plan was made; order 0 of others
    Storage **storages; // by tensor id, NULL where no statement uses the tensor
    Output **in_place;  // the same, of outputs that are homes; NULL: others
    Kernel kernel;      // of all statements
    KernelFunctions *functions; // by statement
    RunStatement *statements;
    RepetitionReport *repetitions; // by repetition of the program
    Values *values;                // by tensor id
    bool *computed;                // by tensor id: by a statement that was executed
    CoreShare cores;
    const char *no_gpu_sums; // why partial results in GPU memory are not combined there; NULL: no reason
    int gpus;                // that all ranks use; 0: none
    int64_t free_memory;     // bytes of this rank's node when the run started; -1: not known
    int64_t threads;
    bool cache_hit;
    double compile_seconds;
} Run;

// Before PASS_PLAN, of which options are set. False with diagnostics of all mistakes; not collective.
bool bindings_create(Session *session, Bindings *bindings);
// Whether the outputs can be written, checked before anything is computed. Collective.
bool bindings_writable(Run *run);

// Compiles the kernels, once on each node, loads them, and allocates storage. Collective.
bool run_prepare(Run *run);
void run_release(Run *run); // collective

bool run_load_inputs(Run *run); // collective
// Entries of the storage, and lists of them, may take from now on what is left beside all that is there.
// Collective.
void run_limit(const Run *run, Storage *storage);
// Takes what sparse tensors store now into the figures of the plan. False with a diagnostic. Collective.
bool run_count_stored(Run *run, int count, const int *tensors);

// Executes the statements of the program: those of repetitions once in each round, others as often as the
// options say; measures them, and checks results with --check. False on a failure; a wrong result is noted in
// the report only. Collective.
bool run_statements(Run *run);

// One statement that is in no repetition. Collective.
bool run_statement(Run *run, int index);
// The same in parts: what executions of it have in common, each execution, and what is said of all of them.
// run_end follows in any case, with whether all went well so far.
bool run_begin(Run *run, int index);
bool run_once(Run *run, int index);
bool run_end(Run *run, int index, bool ok);

// Counters of a statement: of no execution yet; with those of the latest execution; with what the plan says
// of those so far, before its figures change; and compared at the end, false with a diagnostic where they
// differ. The last one is collective.
void run_begin_counters(Run *run, int index);
void run_count(Run *run, int index);
void run_expect(Run *run, int index);
bool run_check_counters(Run *run, int index);

// Before statement `index` is executed, and after it: warns where its result holds NaN or infinity, and
// nothing that it reads does. False where that warning is an error. Collective.
void run_before_values(Run *run, int index);
bool run_check_values(Run *run, int index);
// The same of repeated statements, whose first results were looked at, after the last round.
bool run_check_last_values(Run *run, int first, int last);

// The tensors that a statement reads, before it is executed, by tensor id: whole tensors on every rank, and
// the entries of sparse ones on the first. Inputs are read once more, results gathered from their homes.
typedef struct {
    Arena *arena;       // what one check needs
    int64_t executions; // of a repeated statement, all of which are checked: at most
    bool is_first;      // of these
    int count;
    void **arrays;
    Entries *entries;
} CheckInputs;
// Collective; check_inputs_free follows in any case.
bool check_inputs_gather(Run *run, int index, CheckInputs *inputs);
void check_inputs_free(CheckInputs *inputs);

// Compares the result of statement `index` with the reference evaluator; the report has the largest error of
// all executions. Collective.
bool run_check(Run *run, int index, const CheckInputs *inputs);
void run_print_verdict(const Run *run, int index);

// If the results are `right`, prints scalars that no --out names and writes outputs; prints figures.
// Collective.
bool run_finish(Run *run, bool right);

#endif
