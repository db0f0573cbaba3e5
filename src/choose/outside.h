// SPDX-License-Identifier: BSD-3-Clause
// Communication outside of the tile loops: statements that copy operands in disk to where a tiled statement
// uses them, so that its loops need no messages for these.
#ifndef DISTAL_CHOOSE_OUTSIDE_H
#define DISTAL_CHOOSE_OUTSIDE_H

#include "choose/commands.h"

enum { MOST_COPIED = 3 }; // operands of a statement

// The accesses of a statement that may be copied: of operands in disk whose placement is known and can be
// distributed onto. `places`: of tensors, by id; NULL: before they are known.
uint64_t outside_possible(const Search *search, const SearchStatement *statement,
                          const unsigned char *places);

// Bytes of the disk of a rank that copies take; and whether there is room for them beside all homes and
// `others` bytes.
double outside_space(const SearchStatement *statement, const Candidate *candidate, uint64_t copied);
bool outside_fits(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                  const unsigned char *places, uint64_t copied, double others);

// What all ranks get in the copies of a tiled form.
double outside_messages(const Search *search, const SearchStatement *statement, const Candidate *candidate,
                        const Form *form, const unsigned char *places);

// Appends the copies of a tiled form, each a tensor and a statement with its schedule, and returns the
// statement, as the search has it, for the tensors that are read then.
const SearchStatement *outside_write(Search *search, const SearchStatement *statement,
                                     const Candidate *candidate, const Form *form,
                                     const unsigned char *places, Built *built);

#endif
