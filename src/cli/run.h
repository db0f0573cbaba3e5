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
#include "runtime/node.h"
#include "runtime/storage.h"

#include <mpi.h>

// What --in and --out say, checked against the program; by tensor id.
typedef struct {
    SourceSpec *sources;  // of the inputs
    const char **outputs; // NULL: not written
    bool *printed;
} Bindings;

// One statement on this rank.
typedef struct {
    Kernel kernel;
    distal_execution *execution;              // while the statement is executed
    double *seconds;                          // of each timed execution, slowest rank
    int64_t **bytes, **messages, **structure; // counted: [tensor id][rank], on rank 0
    StatementReport report;
} RunStatement;

// What is known of the elements of a tensor, on all ranks.
typedef enum { VALUES_UNKNOWN, VALUES_FINITE, VALUES_NOT_FINITE } Values;

typedef struct {
    Session *session;
    const Pipeline *pipeline;
    MPI_Comm node; // ranks that share this one's memory
    Communicators *communicators;
    int rank;
    int64_t ranks;
    Bindings bindings;
    Entries *shares;    // by tensor id: of inputs that were read before the plan was made; order 0 of others
    Storage **storages; // by tensor id, NULL where no statement uses the tensor
    RunStatement *statements;
    Values *values; // by tensor id
    CoreShare cores;
    int64_t free_memory; // bytes of this rank's node when the run started; -1: not known
    int64_t threads;
    bool cache_hit;
    double compile_seconds;
} Run;

// False with diagnostics of all mistakes; not collective.
bool bindings_create(Session *session, Bindings *bindings);
// Whether the outputs can be written, checked before anything is computed. Collective.
bool bindings_writable(Run *run);

// Compiles the kernels, once on each node, loads them, and allocates storage. Collective.
bool run_prepare(Run *run);
void run_release(Run *run); // collective

bool run_load_inputs(Run *run); // collective
// Takes what sparse tensors store now into the figures of the plan. False with a diagnostic. Collective.
bool run_count_stored(Run *run, int count, const int *tensors);

// Executes statement `index` as often as the options say, measures it, and checks the result with --check.
// False on a failure; a wrong result is noted in the report only. Collective.
bool run_statement(Run *run, int index);

// Before statement `index` is executed, and after it: warns where its result holds NaN or infinity, and
// nothing that it reads does. False where that warning is an error. Collective.
void run_before_values(Run *run, int index);
bool run_check_values(Run *run, int index);

// The tensors that a statement reads, before it is executed, by tensor id: whole tensors on every rank, and
// the entries of sparse ones on the first. Inputs are read once more, results gathered from their homes.
typedef struct {
    int count;
    void **arrays;
    Entries *entries;
} CheckInputs;
// Collective; check_inputs_free follows in any case.
bool check_inputs_gather(Run *run, int index, CheckInputs *inputs);
void check_inputs_free(CheckInputs *inputs);

// Compares the result of statement `index` with the reference evaluator. Collective.
bool run_check(Run *run, int index, const CheckInputs *inputs);

// If the results are `right`, prints scalars that no --out names and writes outputs; prints figures.
// Collective.
bool run_finish(Run *run, bool right);

#endif
