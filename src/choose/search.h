// SPDX-License-Identifier: BSD-3-Clause
// The data of a search: statements and tensors with numbers, grids, and where tensors may lie.
#ifndef DISTAL_CHOOSE_SEARCH_H
#define DISTAL_CHOOSE_SEARCH_H

#include "choose/choose.h"
#include "cost/predict.h"
#include "format/stored.h"
#include "pipeline/pipeline.h"

// Dimensions of a grid that is looked for. A machine of the program that is kept may have more.
enum { GRID_DIMS = 3, MOST_DIMS = 6 };
enum { MOST_SAMPLES = 48 };  // processors that estimates look at
enum { MOST_PLACES = 64 };   // of one tensor
enum { MOST_GROUPS = 5 };    // of variables that index the same accesses and are divided into tiles
enum { MOST_ACCESSES = 64 }; // of a statement, of which transfers are placed

// What formulas compute seconds from, of one rank.
typedef struct {
    double flop_rate;   // operations per second
    double sparse_rate; // of loops over what sparse tensors store
    double bandwidth;   // bytes per second
    double latency;     // seconds for a message
    double disk;        // bytes per second, in large requests
} CostRates;

// A machine that statements may be distributed onto and tensors placed on. It is named when it is used.
typedef struct {
    const Machine *machine;
    Machine *own; // the same, NULL where the program declares it
    Grid grid;
} SearchMachine;

// Where a tensor may lie.
typedef struct {
    const Placement *placement; // NULL: nowhere, as of a scalar
    bool known;                 // it can be laid out
    Layout layout;
    Rect parts[MOST_SAMPLES]; // of the sampled processors; order -1: nothing
    int64_t bytes;            // of the largest part of these
    bool in_disk;
} Place;

typedef struct {
    const Tensor *tensor;
    int64_t extents[MAX_ORDER];
    double bytes;        // of all elements
    double share;        // of its elements that are stored, on average: 1 of a dense one
    bool assumed;        // a sparse one, whose entries are not known (choose/known.h)
    bool estimated;      // an assumed one, by how many entries its statement gives it (plan/joint.h)
    double entry_count;  // about, of an assumed one; `entries` may be fewer, which stand for these
    Entries entries;     // of a sparse one
    StoredTensor stored; // the same
    bool free;           // its place is to be found
    bool in_disk;        // it is placed there, or that place has to be
    bool input;          // no statement assigns it
    bool used_by_kept;   // by a statement that has a schedule
    int last_use;        // the statement; -1: none
    int place_count;
    Place *places[MOST_PLACES];
} SearchTensor;

// A tensor of the program as one nest uses it.
typedef struct {
    const Access *access;
    VarSet vars;
    int nest;
    bool is_result;
} UsedAccess;

typedef struct {
    VarSet loops;
    double operations; // of one iteration, on average: of a sparse statement most have none
} SearchNest;

// For each block of `length` values of the variable `by`: the range lo .. hi - 1 of the values of `var` at
// the entries that the sparse operands of a nest have there (choose/spans.h).
typedef struct {
    int nest, by, var;
    int64_t length;
    int64_t *lo, *hi; // by block
} EntrySpan;

// Loops over tiles, and what moves in each of them.
typedef struct {
    int loop_count;
    int loops[MAX_VARS];       // variables that have one, the outermost first
    int64_t lengths[MAX_VARS]; // coordinates in a tile, by variable
    int rotated;               // variable whose parts are shifted inside of these loops; -1: none
    int64_t steps;             // the number of its parts
    int at[MOST_ACCESSES];     // the loop around the transfers, by access: its index, loop_count: that over
                               // shifted parts, NOWHERE: they are outside of all
    double passes[MOST_ACCESSES];   // how often all that a rank uses of an access is brought
    double requests[MOST_ACCESSES]; // bytes of a disk that are read or written at once
    int order[MOST_GROUPS];         // of the groups
    uint64_t outside;               // operands that are copied in disk to where they are used, before
    double seconds;                 // estimated
    bool fits;                      // in the memory that was given
} Tiling;
enum { NOWHERE = -1 };

// Variables along the first dimensions of a machine.
typedef struct {
    int machine; // index
    int count;
    int vars[MOST_DIMS];
    int64_t sizes[MOST_DIMS];
    double flop_seconds; // of the busiest rank
    double score;        // seconds, by block sizes alone
    // By whose entries the one dimension is balanced, and how: whole coordinates of the variable, or entries,
    // BALANCE_STORED, in as many of its first levels; NULL: by none. The statement then has no schedule, it
    // is computed where that tensor lies.
    const UsedAccess *by;
    Balance balance;
    int levels;
    const Tiling *tiling; // of a tiled statement: the best, if each tensor is where it is used
} Candidate;
typedef Array(Candidate) CandidateArray;

typedef struct {
    const Statement *statement;
    int index; // in the program
    const Cin *cin;
    int default_count; // of workspaces that products get
    const Command *defaults;
    bool kept;     // it has a schedule
    bool tiled;    // a tensor is in disk, and loops over tiles are looked for
    VarSet sparse; // variables of sparse tensors; 0: all are dense
    Array(EntrySpan) spans;
    double executions;
    int64_t extents[MAX_VARS];
    VarSet distributable;
    int nest_count;
    const SearchNest *nests;
    int access_count;
    const UsedAccess *accesses;
    CandidateArray candidates;
    double **costs; // [candidate][access * MOST_PLACES + place]: seconds that it moves
} SearchStatement;

typedef struct {
    Arena *arena;
    const Program *program;
    const ChooseOptions *options;
    const int64_t *params;
    int64_t ranks, processors;
    int64_t limit;    // bytes of a rank; 0: none
    double disk;      // bytes of disk of a rank; INFINITY: no limit
    bool spills;      // tensors whose place is free are in disk, but for small ones
    bool fused;       // products get no workspaces
    bool spares;      // memory: fewer dense operands of sparse statements are replicated
    bool any_sparse;  // tensor
    ModelRanks model; // the ranks on the machine that is described
    CostRates rates;
    const Machine *kept; // the grid of the program, NULL: grids are looked for
    int sample_count;
    int64_t samples[MOST_SAMPLES];
    Array(SearchMachine) machines;
    SearchTensor *tensors; // by id
    SearchStatement *statements;
} Search;

// Index of the machine with these sizes, which is added if it is new.
int search_grid(Search *search, int count, const int64_t *sizes);

// For a program on the ranks of the search, before the first pass.
Pipeline *search_pipeline(const Search *search, const Program *program, Diagnostics *diagnostics);

// Numbers, statements and machines of a program; false with diagnostics.
bool search_create(Search *search, Diagnostics *diagnostics);

#endif
