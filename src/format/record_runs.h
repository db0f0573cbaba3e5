// SPDX-License-Identifier: BSD-3-Clause
// Sorting of records that have been moved to where those with the same coordinate in the first level are:
// each such run is sorted by itself, and most are short enough to be in a cache meanwhile.
#ifndef DISTAL_FORMAT_RECORD_RUNS_H
#define DISTAL_FORMAT_RECORD_RUNS_H

#include "format/records.h"

// Sorts each run, from records->starts[x] on, by `bits` bits from bit `shift` of its records, which have one
// word. Those that agree there are in the order of what is below these bits, and stay so. `longest`: records
// of the longest run. False: no memory.
bool record_runs_sort(const Records *records, int shift, int bits, int64_t longest, int team, Budget *budget);

#endif
