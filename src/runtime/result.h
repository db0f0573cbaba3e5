// SPDX-License-Identifier: BSD-3-Clause
// Sparse results: the structure that the result of a statement gets before values are computed. It is shared
// with an operand, or assembled from the entries that a function of the kernel appends, and kept until an
// operand gets another structure.
#ifndef DISTAL_RUNTIME_RESULT_H
#define DISTAL_RUNTIME_RESULT_H

#include "runtime/appender.h"
#include "runtime/storage.h"
#include "spmd/spmd.h"

typedef struct {
    ResultKind kind;
    bool adds;       // the statement adds to what the result has
    Storage *target; // not of RESULT_DENSE
    Storage *shared; // RESULT_SHARED, RESULT_LEADING: the operand, or its copy, that has the structure
    bool converts;   // the values of `shared` become those of the result before anything reads them
    int operand_count;
    Storage *const *operands; // those on which the structure depends, dense ones among them
    // RESULT_ASSEMBLED, once it has been: structures of the operands then, NULL of dense ones, and that made.
    Structure **known; // by operand
    Structure *made;
    SetAside before; // what the target had, while it gets others
    // While the entries are appended: in the order of storage, where the levels allow, or by thread; those
    // that each processor of the rank has appended in that order are lists as well, once it has ended.
    Appender *appender;
    int list_count;
    struct ResultList *lists;
    const char *why; // they cannot be kept; NULL: they are
} Result;

void result_free(Result *result);

// Whether the result has its structure already; the same on all ranks.
bool result_is_known(const Result *result);

// Local steps of giving it one; the caller agrees on failures. Between result_begin and result_finish the
// kernel appends entries (RESULT_ASSEMBLED), from any thread. False with a diagnostic.
bool result_begin(Result *result, Diagnostics *diagnostics);
void result_append(const Result *result, const int64_t *coordinates);
// Called after each of several processors of the rank, whose entries are not in the order of storage
// together. Keeps reasons in `arena`, of the diagnostics that result_finish then gets.
void result_end_processor(Result *result, Arena *arena);
bool result_finish(Result *result, Diagnostics *diagnostics);
// Whether all ranks have done so. If not, none has a part of the result: it has what the statement would have
// added to, or nothing.
void result_settle(Result *result, bool ok);

#endif
