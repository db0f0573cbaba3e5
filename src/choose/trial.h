// SPDX-License-Identifier: BSD-3-Clause
// Programs of a search, and plans of their statements.
#ifndef DISTAL_CHOOSE_TRIAL_H
#define DISTAL_CHOOSE_TRIAL_H

#include "choose/commands.h"
#include "choose/sequence.h"

// A way to compute a statement, with the places of its tensors.
typedef struct {
    int64_t candidate; // -1: no schedule
    Form form;
    double estimate; // seconds
    bool planned;    // it can be
    bool unknown;    // it can be, but for its time, which depends on entries that are computed
    bool alone;      // one of several ranks computes it
    Alternative figures;
} Trial;
typedef Array(Trial) TrialArray;

// Appends a statement in a form of a candidate (NULL: the default), after the copies that the form has.
void trial_build(Search *search, const unsigned char *places, const SearchStatement *statement,
                 const Candidate *candidate, const Form *form, Built *built);

// The program with its tensors in these places, those that were added, and the statements as they are built
// but for the tensors. The machines are all of the search.
Program trial_program(const Search *search, const unsigned char *places, const Built *built);

// Plans one statement and sets its figures. `diagnostics` gets what is wrong where that fails.
void trial_plan(Search *search, const unsigned char *places, const SearchStatement *statement, Trial *trial,
                Diagnostics *diagnostics);

// Finds other tiles in the same order of loops, for `factor` times the memory; false where these are the
// same.
bool trial_retile(Search *search, const Places *places, const SearchStatement *statement, double factor,
                  Trial *trial);

// Appends the forms of a candidate with these places, the one that moves all at once first. `copied`: bytes
// of the disk of a rank that copies of other statements take.
void trial_forms(Search *search, const Places *places, double copied, const SearchStatement *statement,
                 int64_t candidate, TrialArray *trials);

#endif
