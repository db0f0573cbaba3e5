// SPDX-License-Identifier: BSD-3-Clause
// The cost model of the Tensor Contraction Engine for one contraction C(I, J) = A(I, K) * B(J, K) whose
// tensors are on the disks of the processors (Gao et al., "Performance modeling and optimization of parallel
// out-of-core tensor contractions", PPoPP 2005): what each processor sends, and reads and writes, with each
// parallel algorithm, place of communication and order of the loops over tiles. I, J and K are groups of
// indices. Closed formulas, without a plan.
#ifndef DISTAL_COST_TCE_H
#define DISTAL_COST_TCE_H

#include <stdbool.h>
#include <stdint.h>

// The product of the extents of each group, and bytes of an element.
typedef struct {
    double i, j, k, element_bytes;
} TceContraction;

// How numbers of tiles are rounded.
typedef enum {
    TCE_REAL,    // not at all
    TCE_CEILING, // each up to the next integer (section 4 of the paper)
    TCE_INTEGER, // to the best pair of integers
} TceRounding;

typedef struct {
    double processors;        // a square number for rotation
    double disk_bandwidth;    // bytes per second, of one processor
    double network_bandwidth; // the same
    double memory;            // bytes on each processor for the tile of one array
    // An all-to-all broadcast of an array moves `broadcast` times its size on each processor, an all-reduce
    // `reduce` times.
    double broadcast, reduce;
    TceRounding rounding;
    // An array that fits into the memory for a tile as a whole stays there: an operand is not copied to
    // disks, and of a result each element is written once.
    bool resident;
} TceMachine;

typedef enum {
    TCE_ROTATION,     // A and B go round in a square grid of processors (Cannon)
    TCE_REPLICATION,  // one operand is broadcast, the other two arrays are divided along J or I
    TCE_ACCUMULATION, // operands are divided along K, and partial results are added
} TceMethod;
enum { TCE_METHODS = 3 };

typedef enum {
    TCE_OUTSIDE, // what a processor needs is copied to its disk before it computes
    TCE_INSIDE,  // each tile is sent when it has been read, and not stored
} TcePattern;
enum { TCE_PATTERNS = 2 };

// The nesting of the reads of tiles, the outermost one first.
typedef enum { TCE_ABC, TCE_ACB, TCE_BAC, TCE_BCA, TCE_CAB, TCE_CBA } TceOrder;
enum { TCE_ORDERS = 6 };

typedef struct {
    TceMethod method;
    TcePattern pattern;
    TceOrder order;
    bool swapped; // replication: of B, in place of A
} TceVariant;

typedef struct {
    double sent;    // bytes that each processor sends
    double on_disk; // bytes that each reads and writes
    double seconds; // of disk and network, one after the other
    double space;   // bytes that each has on its disk at most
    // Numbers of tiles along the groups, with which arrays are read again; 1 where nothing is.
    double i_tiles, j_tiles, k_tiles;
} TceCost;

TceCost tce_cost(const TceContraction *contraction, const TceMachine *machine, TceVariant variant);

// The fastest variant of a method and pattern over all orders, and both operands of replication; of equal
// ones that with less on disk, then the first. `space` limits the bytes on the disk of a processor; false
// where no variant fits.
bool tce_best(const TceContraction *contraction, const TceMachine *machine, TceMethod method,
              TcePattern pattern, double space, TceVariant *best);

extern const char *const tce_method_names[TCE_METHODS];   // "rotation", ...
extern const char *const tce_pattern_names[TCE_PATTERNS]; // "outside", "inside"
extern const char *const tce_order_names[TCE_ORDERS];     // "ABC", ...

#endif
