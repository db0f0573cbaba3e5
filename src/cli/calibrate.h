// SPDX-License-Identifier: BSD-3-Clause
// Calibration: the figures of a described machine, measured on this one. All ranks go through the same
// measurements; those that have no part in one sleep meanwhile. Figures are set on the first rank.
#ifndef DISTAL_CLI_CALIBRATE_H
#define DISTAL_CLI_CALIBRATE_H

#include "cli/progress.h"
#include "cli/session.h"
#include "cost/machine_model.h"

#include <mpi.h>

typedef struct {
    Session *session;
    MPI_Comm node; // ranks that share the memory of this one
    int rank, ranks;
    int node_rank, node_ranks; // of them
    bool in_first_node;        // where the first rank is
    bool crowded;              // more ranks in a node than cores
    MachineModel model;
    Text spreads; // "gemm 512: 1.2%, ...": lines of comments
    Progress progress;
    int64_t done; // measurements
} Calibration;

// What is timed: once each time it is called.
typedef void (*MeasuredBody)(void *context);

// The median of several samples, and the distance of the quartiles, as a share of it.
typedef struct {
    double median, spread;
} Measured;

// Sorts the samples.
Measured measured_of(double *samples, int count);
// Seconds of one call, from samples of as many calls as take some milliseconds. On all ranks of `comm`
// together: a sample is that of the slowest one. Collective over it.
Measured measure(Calibration *calibration, MPI_Comm comm, MeasuredBody body, void *context);
// The ranks that do not measure wait here until those that do arrive. Collective over all ranks.
void calibrate_join(Calibration *calibration);
// Notes how much the samples of a figure spread.
void calibrate_note(Calibration *calibration, const char *figure, double value, const char *unit,
                    Measured measured);
void curve_add(Curve *curve, double size, double value);

// These set what their names say, in this order, as later ones use figures of earlier ones. False with a
// diagnostic, on all ranks. Collective over all ranks.
bool calibrate_disk(Calibration *calibration);
bool calibrate_computing(Calibration *calibration);
bool calibrate_network(Calibration *calibration);

#endif
