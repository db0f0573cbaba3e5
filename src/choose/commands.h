// SPDX-License-Identifier: BSD-3-Clause
// The schedule of a candidate as commands.
#ifndef DISTAL_CHOOSE_COMMANDS_H
#define DISTAL_CHOOSE_COMMANDS_H

#include "choose/search.h"

// Where data moves.
typedef enum {
    FORM_DEFAULT, // no schedule
    FORM_ONCE,    // all that a rank needs, before it computes
    FORM_CHUNKS,  // in each iteration of a loop over chunks of a variable
    FORM_ROTATE,  // the same in steps that begin elsewhere on each processor, so that data is shifted
    FORM_TILES,   // in loops over tiles
} FormKind;

enum { MOST_INSIDE = 64 }; // accesses of a statement that can; all others move before it computes

typedef struct {
    FormKind kind;
    int var;         // of the loop
    int64_t size;    // coordinates in a chunk, or the number of steps
    uint64_t inside; // accesses that move in that loop, by their index
    const Tiling *tiling;
    double memory; // bytes of buffers that the tiling was found for
    bool fused;    // without the workspaces that products get by default
} Form;

// Statements of a program that is built, and the tensors that it has besides its own.
typedef struct {
    Array(Statement) statements;
    Array(const Tensor *) tensors;
} Built;

// A statement with the commands of a form; the machine has its name.
Statement commands_build(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const Form *form);

// "grid(2, 3) over i, k", and "B, C in chunks of 64 of k". The candidate of a default is NULL.
const char *commands_where(const Search *search, const SearchStatement *statement,
                           const Candidate *candidate);
const char *commands_how(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                         const Form *form);

#endif
