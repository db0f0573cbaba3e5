// SPDX-License-Identifier: BSD-3-Clause
// Reports: the figures of a plan or of a run, as a table or as a JSON object.
#ifndef DISTAL_CLI_REPORT_H
#define DISTAL_CLI_REPORT_H

#include "cost/machine_model.h"
#include "pipeline/pipeline.h"
#include "runtime/cores.h"

// What the runtime has counted on one rank of one tensor in all executions of a statement; `structure`: bytes
// of the latest structure, which is not planned.
typedef struct {
    int64_t bytes, messages, structure;
    IoCounts io;
    DeviceCounts copied;
} Counts;

// What was measured of one statement.
typedef struct {
    double min, median, max;  // seconds of one execution
    double seconds;           // of all timed ones together
    int64_t executions;       // that are counted: of a repeated statement all, else the last one
    double structure_seconds; // what is done once for all executions has taken (report_has_structure)
    const Counts *counted;    // [rank][tensor], in these executions; tensors in the order of StatementFigures
    bool checked, check_ok;
    int64_t elements,
        drawn; // of a dense check: of the result, and those that were drawn to be checked; 0: all
    double error, tolerance;
} StatementReport;

// What a repetition has done; one inside of others is begun several times.
typedef struct {
    int64_t begun, rounds; // in all
    int64_t ended;         // how often its condition has ended it
} RepetitionReport;

typedef struct {
    const StatementReport *statements;
    const RepetitionReport *repetitions;
    int64_t threads;
    // Of the node of rank 0, before anything was computed: cores that its ranks may use, and bytes (-1: not
    // known).
    int64_t cores, free_memory;
    CoreBinding binding;      // of the ranks of that node
    const char *const *units; // by rank, the processing units that it may use: "0-3,8"
    double compile_seconds;
    bool cache_hit;
    const char *mpi, *blas;
    const char *blas_note;   // environment_blas_note
    const char *gpu;         // that of rank 0; NULL: none is used
    int gpus;                // that all ranks use
    const char *no_gpu_sums; // why partial results do not stay in GPU memory with GPU-aware MPI; or NULL
} RunReport;

// `run` is NULL for a plan that was not executed. With `machine`, predicted times are in it.
void report_table(const Pipeline *pipeline, const RunReport *run, const ModelRanks *machine, Text *to);
// One object and a newline, with the keys of docs/command.md.
void report_json(const Pipeline *pipeline, const RunReport *run, const ModelRanks *machine, Text *to);

// One line for each repetition with a condition: how many rounds it took, and whether that is all it may
// take.
void report_rounds(const Program *program, const RepetitionReport *reports, Text *to);

// The figures of the tensors that a statement uses, by id: those of the plan, or with a report what was
// counted. In the arena.
const TensorFigures *report_tensors(const StatementPlan *plan, const StatementReport *report, Arena *arena,
                                    int *count);

// How often a statement is executed: 1 where it is in no repetition. Of a plan, `report` NULL, fewer where a
// condition ends a repetition.
typedef struct {
    int64_t count;
    bool at_most;
} Executions;
Executions report_executions(const Pipeline *pipeline, int statement, const StatementReport *report);

// What all ranks do in all of these; `flop` -1: not known. False where it is not known what moves, as it
// depends on entries that are not, or that a repetition changes.
typedef struct {
    int64_t flop, bytes, messages;
} StatementTotal;
bool report_total(const Pipeline *pipeline, int statement, const StatementReport *report,
                  StatementTotal *total);

// "800000 B", "1.5 MiB"
const char *report_bytes(int64_t bytes, Arena *arena);
// "1.5 ms"
void report_seconds(double seconds, Text *to);
// The most entries that a rank stores, over their mean.
double report_imbalance(const int64_t *stored, int64_t ranks);
// Whether something follows from structures, and is found once for all executions: the structure of a sparse
// result, or what moves for the entries of operands.
bool report_has_structure(const StatementPlan *plan);
// NaN where they are not known.
double report_gflops(const StatementPlan *plan, const StatementReport *report);
// ", 1.5 GFLOP/s", or nothing where they are not known.
void report_rate(const StatementPlan *plan, const StatementReport *report, Text *to);

#endif
