// SPDX-License-Identifier: BSD-3-Clause
// A machine as the prediction of time needs it: its levels, how fast a core computes, what memory, network
// and disks take. A value without pointers, read from a text (docs/cost.md) and printed as one. In base
// units: bytes, seconds, bytes per second and floating-point operations per second.
#ifndef DISTAL_COST_MACHINE_MODEL_H
#define DISTAL_COST_MACHINE_MODEL_H

#include "base/diagnostic.h"
#include "plan/operation.h"

#include <stdint.h>

enum { MODEL_NAME = 96, MODEL_LEVELS = 6, MODEL_POINTS = 20 };

// A figure that depends on a size: values at increasing sizes, which are positive both; constant outside of
// them, and a power of the size between two. No point: the figure is not known.
typedef struct {
    int count;
    double sizes[MODEL_POINTS], values[MODEL_POINTS];
} Curve;

double curve_at(const Curve *curve, double size);
Curve curve_constant(double value);

// One level of the machine, such as its nodes. Ranks fill the units of a level one after the other.
typedef struct {
    char name[MODEL_NAME];
    int64_t count;   // of its units, in one of the level before; of the first level, in the machine
    double memory;   // bytes in one unit, of all of its ranks together; 0: see the levels around
    Curve copy;      // bytes per second that one unit reads and writes, by bytes that a thread uses
    double latency;  // of a message between two units in the same one of the level before
    Curve bandwidth; // of such a message, while its ranks send as much, by its bytes
    double link;     // bytes per second into one unit, and as many out of it, of all its ranks; 0: no limit
} ModelLevel;

// Kinds of kernels, by what limits their rate.
#define MODEL_KERNELS(ENTRY)                                                                                 \
    ENTRY(GEMM, "gemm")               /* matrix products; size: the harmonic mean of m, n and k */           \
    ENTRY(PANELS, "panels")           /* those with few columns in contractions; size: the same */           \
    ENTRY(CONTRACTION, "contraction") /* those of tensors in other layouts; size: the same */                \
    ENTRY(VECTOR, "vector")           /* other calls of the BLAS; size: operations of a call */              \
    ENTRY(LOOPS, "loops")             /* generated loops; size: operations for each element in use */        \
    ENTRY(SPARSE, "sparse")           /* loops over what sparse tensors store */                             \
    ENTRY(MERGE, "merge")             /* those that merge several of them; comparisons of entries */
#define MODEL_KERNEL_ID(NAME, name) MODEL_##NAME,
typedef enum { MODEL_KERNELS(MODEL_KERNEL_ID) MODEL_KERNEL_COUNT } ModelKernel;
#undef MODEL_KERNEL_ID

typedef struct {
    char name[MODEL_NAME];
    int level_count; // at least one; the units of the last one are cores
    ModelLevel levels[MODEL_LEVELS];
    int64_t ranks; // at most in a unit of the first level, before others are filled; 0: one for each core
    Curve rates[MODEL_KERNEL_COUNT]; // of one core, in double precision
    double single;                   // how many times as fast single precision is
    double parallel;       // what each further core of a node that computes adds, of the first's rate
    double oversubscribed; // what a core does for several ranks together, of what it does for one
    double overhead;       // seconds that the call of a kernel takes, and one step of a transfer
    double overlap;        // share of a transfer that goes on while its rank computes, 0 to 1
    // Of the bytes that the plan counts for a rank in a collective operation, by the ranks of the group; of
    // COLLECTIVE_NONE unused.
    Curve factors[COLLECTIVE_COUNT];
    Curve disk_read, disk_write; // bytes per second of one unit of the first level, by bytes of a request
    double disk_space;           // bytes of its disks; 0: no limit
} MachineModel;

// Where none is described: nodes of two sockets of 2020, on a fast network.
MachineModel machine_model_default(void);

// Reads a description. False with diagnostics, each at its line and column; sizes and numbers that make no
// sense are mistakes.
bool machine_model_read(Source source, Arena *arena, MachineModel *model, Diagnostics *diagnostics);
// A text that is read back as the same model, to about four digits.
void machine_model_print(const MachineModel *model, Text *to);

// How `ranks` ranks are placed on it.
typedef struct {
    const MachineModel *machine;
    int64_t ranks;
    double in_unit[MODEL_LEVELS]; // ranks in a unit of each level; below 1 where a rank has several
    double threads;               // of each rank: cores of its own, unless they are given; at least 1
    double core_share;            // of a core that each thread has: less than 1 where there are more threads
    double memory;                // bytes of memory of a rank, INFINITY: not known
    double disk;                  // bytes of disk of a rank, INFINITY: no limit
} ModelRanks;

// `threads` of each rank; 0: as many as it has cores.
ModelRanks model_ranks(const MachineModel *machine, int64_t ranks, int64_t threads);

// Of one rank, while all others do the same: operations per second of all its threads, where elements have
// `real_bytes` bytes, or their parts of complex ones; bytes of memory that it reads and writes per second
// while it uses `bytes`; and bytes of a disk, in requests of `request` bytes.
double model_rate(const ModelRanks *ranks, ModelKernel kernel, double size, int real_bytes);
// Of a product of matrices with these extents: that of a cube of their harmonic mean, or of a larger cube
// with up to as many operations, where that is slower, as kernels for small products are not used for it.
double model_product_rate(const ModelRanks *ranks, ModelKernel kernel, const double extents[3],
                          int real_bytes);
double model_copy_rate(const ModelRanks *ranks, double bytes);
double model_disk_rate(const ModelRanks *ranks, bool writes, double request);

// Ranks that exchange data in one operation: the outermost level of which they are in different units, and
// the share of the ranks of a unit there for which something comes from outside at a time. Seconds of one
// message of `bytes` bytes between them, without its latency: while all ranks receive.
double model_message_seconds(const ModelRanks *ranks, int level, double share, double bytes);

extern const char *const collective_names[COLLECTIVE_COUNT];

#endif
