// SPDX-License-Identifier: BSD-3-Clause
// Where the tensors of a program lie: dynamic programming over its statements, whose state are the places of
// the tensors that later statements use as well. A tensor lies in one place while the program runs, and a
// statement that needs it elsewhere has it brought there.
#ifndef DISTAL_CHOOSE_SEQUENCE_H
#define DISTAL_CHOOSE_SEQUENCE_H

#include "choose/search.h"

// Places of all tensors.
typedef struct {
    unsigned char *places; // by tensor id: index; NO_PLACE where no searched statement uses it
    double seconds;        // estimated, of all statements
    int64_t bytes;         // at rest on a rank, the sum of the largest parts
    int64_t number;        // in the order in which they were found
} Places;
enum { NO_PLACE = 255 };

// Sets places and costs of a search whose statements have their candidates.
void sequence_prepare(Search *search);

// The best places, by time; at most `most` of them. Returns how many.
int sequence_find(Search *search, int most, Places *found);

// Seconds that a candidate takes with these places.
double sequence_cost(const SearchStatement *statement, int64_t candidate, const unsigned char *places);

#endif
