// SPDX-License-Identifier: BSD-3-Clause
// A trial: one drawn program, compiled, executed in several ways on the first ranks of MPI_COMM_WORLD, and
// compared with the reference evaluator and with its plan. What is collective is so over all ranks.
#ifndef DISTAL_TESTS_TRIAL_H
#define DISTAL_TESTS_TRIAL_H

#include "automatic.h"
#include "draft.h"
#include "jit/jit.h"
#include "pipeline/pipeline.h"
#include "runtime/agreement.h"

enum { MAX_RANKS = 12, MAX_WHY = 2000 };

// In order of how early it shows; shrinking keeps the kind of failure.
typedef enum {
    TRIAL_PASSED,
    TRIAL_UNSUPPORTED, // a program with sparse tensors is refused as something is not supported yet: no
                       // failure
    TRIAL_DIAGNOSED,   // a legal program is refused
    TRIAL_PRINTED,     // the printed program does not read back
    TRIAL_C,           // the generated C does not compile without warnings
    TRIAL_PREPARED,    // execution cannot be prepared
    TRIAL_PLANNED,     // the plan moves more or less than it has to
    TRIAL_BUFFER,      // buffers are larger than planned
    TRIAL_COUNTED,     // bytes or messages are not those of the plan
    TRIAL_WRONG,       // the result is not that of the reference
    TRIAL_CHANGED,     // an input was written to
    TRIAL_UNSTABLE,    // a second execution gives another result
} Verdict;

typedef struct {
    Draft draft; // without commands that were refused as they may be
    int dropped; // how many these were
    Arena *arena;
    const char *text;         // of the draft
    const char *chosen_text;  // the program with placements and schedules of an automatic one; NULL: none
    const Chosen *chosen;     // that program where it was looked for
    bool verified;            // its plans, on another rank
    Pipeline *pipeline;       // NULL where the trial was not created
    const char *functions;    // generated C, without the prelude
    KernelFunctions *kernels; // by statement
    Verdict verdict;
    char why[MAX_WHY];
} Trial;

// Communicators of the first n ranks, by n; MPI_COMM_NULL where this rank is not one of them.
extern MPI_Comm trial_comms[MAX_RANKS + 1];
void trial_start(void);
void trial_end(void);

// Text, pipeline, C. Local, and the same on every rank. Freed with trial_free.
Trial *trial_create(const Draft *draft, int number);
// The same for drafts of at most as many ranks as there are: what may be refused and what is chosen is found
// on one rank of each, and the other ranks that execute it go on from there. Collective.
void trials_create(const Draft *drafts, int count, void (*before)(const Draft *draft), Trial **trials);
void trial_free(Trial *trial);
// Whether products of a statement of the program are formed in another order.
bool trial_reorders_products(const Trial *trial, const Assignment *assignment);

// Whether the pipeline of the trial plans fetches a step ahead.
static inline bool trial_pipelines(const Draft *draft) {
    return draft->input_seed >> 20 & 1;
}

// How the C compiler optimizes the trial: a share of them with the flags that users have, the others fast.
enum { TRIAL_LEVELS = 2 };
const char *trial_flags(const Trial *trial);
void trial_use_flags(const Trial *trial); // what is compiled from now on

// The generated C of all trials of one level of optimization as one file that is compiled once; collective.
typedef struct {
    void *handles[TRIAL_LEVELS];
} TrialLibrary;
TrialLibrary trial_compile(Trial *const *trials, int count);
void trial_unload(TrialLibrary *library);

// Executes and compares. `thorough`: also with patterns switched off, with short messages, and some trials
// through the library. Collective over
// the trial's ranks; the others return at once.
void trial_execute(Trial *trial, bool thorough);

// The drawn tensor that a tensor of the program is.
const DraftTensor *drawn_tensor(const Draft *draft, const Tensor *tensor);

// All ranks get the verdict of the rank where the failure showed first; collective.
void trial_agree(Trial *const *trials, int count);

// Compiles and executes a trial that has been created, up to its verdict; collective.
void trial_finish(Trial *trial);

// Notes a failure unless there is one already.
// Whether diagnostics say that something is not there on a GPU, or not for processors where a statement is on
// one: a program is, too, by the name of a level of its machine.
bool trial_is_refused_on_gpu(const char *diagnostics);
void trial_fail(Trial *trial, Verdict verdict, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
