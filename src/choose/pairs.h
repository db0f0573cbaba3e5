// SPDX-License-Identifier: BSD-3-Clause
// Programs whose products of several factors are several statements, each of two factors.
#ifndef DISTAL_CHOOSE_PAIRS_H
#define DISTAL_CHOOSE_PAIRS_H

#include "choose/search.h"

// The program with a tensor in place of each workspace that its products get where they have no schedule
// (schedule/products.h), each as a whole, so that it can be in disk. The program itself where no product is
// divided; NULL where it cannot be written so.
const Program *pairs_divide(const Search *search);

#endif
