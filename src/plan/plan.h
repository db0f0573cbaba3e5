// SPDX-License-Identifier: BSD-3-Clause
// Plan: the SPMD program with numbers put in. A plan knows homes and footprints by formula; from them each
// rank makes its own part (plan_rank_transfer), which costs what the rank itself sends and receives, and
// figures of all ranks are made on demand (plan_figures). Pure arithmetic, no MPI: one
// process plans, prints and costs thousands of ranks.
#ifndef DISTAL_PLAN_PLAN_H
#define DISTAL_PLAN_PLAN_H

#include "plan/figures.h"
#include "plan/home.h"
#include "plan/nodes.h"
#include "plan/rank_plan.h"

// Whether fetches in loops start a step ahead, where that is possible: those that statements on a GPU copy
// from memory of the host; all; none. Results that such statements copy there leave while the next ones are
// computed.
typedef enum { PIPELINE_GPU, PIPELINE_ON, PIPELINE_OFF } Pipelining;

typedef struct {
    int64_t ranks;
    int64_t message_limit; // bytes; longer messages are split. 0: PLAN_MESSAGE_LIMIT
    int64_t row_limit;     // blocks of a GPU that have a row workspace of their own. 0: DEVICE_ROWS
    int64_t partial_limit; // partial results of blocks, warps and threads of a GPU. 0: any number
    int64_t work_limit;    // what takes longer to plan is refused. 0: PLAN_WORK_LIMIT
    Pipelining pipelined;  // results are the same
    unsigned without;      // operations that are not to be used, as OPERATION_BIT; results are the same
    // How ranks get what others have; results are the same. By rank, the number of its node, which is less
    // than that of ranks: ranks of a node read each other's homes. NULL: all that moves is in messages.
    const int64_t *nodes;
    // By tensor id: homes that are not in memory that other ranks can read. NULL: none.
    const bool *unshared;
    bool gpu_nodes;        // ranks of a node read homes in each other's GPU memory as well
    bool gpu_messages;     // GPU-aware MPI sends what leaves on a GPU fetch from homes in GPU memory
    bool gpu_sums;         // with gpu_messages: partial results are in GPU memory as well, and combined there
    bool sampled;          // what ranks read and write in disk is counted of some, where there are many
    bool untiled;          // files of tensors in disk are not stored in tiles
    const HomeFile *files; // by tensor id: where those in disk are; NULL: all in scratch files
    const Home *homes;     // that tensors without a placement have already, by tensor id; NULL: none
    int64_t threads;       // of each rank, of which some take memory for copies of what they add to. 0: 1
    int64_t largest;       // processors of the largest machine beside those of the statements; 0: none
    const char *const *param_names;    // for diagnostics, by index
    const BoundariesArray *boundaries; // of parts that are balanced by entries, as far as these are known
} PlanOptions;
// Beyond the first number of ranks, `sampled` counts about as many as the second, evenly spread, and each of
// the others as the one before it.
enum { PLAN_UNSAMPLED_RANKS = 256, PLAN_SAMPLED_RANKS = 64 };
#define PLAN_MESSAGE_LIMIT ((int64_t)1 << 30)
// Footprints of classes of ranks in steps, which take a microsecond each, about. More of them are a mistake,
// such as an extent where a number of blocks was meant.
#define PLAN_WORK_LIMIT ((int64_t)1000000000)
// Steps of one rank, which its part of the plan has in memory.
#define PLAN_MAX_STEPS ((int64_t)10000000)
// Ranks that a plan can be made for: beyond that its figures, which are by rank, take all of a node's memory.
#define PLAN_MAX_RANKS ((int64_t)1 << 22)

// What a transfer moves as entries of sparse tensors say, by rank: elements and messages that a rank
// receives, or sends where it reduces; bytes of the sub-trees that go with them when the structure is new;
// and bytes of buffers and copies. For predictions also how many entries a rank uses of a sparse operand;
// NULL: not known.
typedef struct {
    const int64_t *elements, *messages, *structure_bytes, *buffer_bytes, *used;
} EntryFigures;

// From the four arrays, one after the other.
static inline EntryFigures entry_figures(const int64_t *arrays, int64_t ranks) {
    return (EntryFigures){arrays, arrays + ranks, arrays + 2 * ranks, arrays + 3 * ranks, NULL};
}

// What a sparse tensor stores, by rank.
typedef struct {
    const int64_t *entries, *bytes;
} StoredFigures;

// What the entries of operands say of an assignment together (joint.h): its points over those that there were
// if entries of operands were independent of each other, and the coordinates of a sparse left side that it
// gives values to; -1: not known.
typedef struct {
    double correlation, coordinates;
} JointEntries;

struct StatementPlan {
    const Spmd *spmd;
    const Tensor *target;
    Provenance *provenance;
    Grid grid; // execution grid
    int64_t processors, per_rank;
    int64_t ranks;
    const int64_t *params;
    PlanOptions options;
    int64_t flop;                  // -1: not known, as loops iterate over what sparse tensors store
    const Footprints **footprints; // by transfer
    const Home *homes;             // by tensor id, of the whole program
    bool *moves;                   // by transfer: entries of a sparse tensor, as not all are at home
    const EntryFigures **entries;  // by transfer: what depends on entries, NULL until they are known
    const JointEntries *joint;     // by nest; NULL until entries are known
    double seconds;                // that planning took, without figures
    // Groups of the ranks whose part has been planned, in order of first use; group_index finds them again.
    Array(Group) groups;
    int64_t *group_index, group_slots;
    const Plan *plan;
    StatementFigures *figures;      // made on demand
    const RankTransfer **own_parts; // by transfer, of the rank that was planned last: own_rank
    int64_t own_rank;
    Arena *arena;
};

struct Plan {
    Arena *arena;
    PlanOptions options;
    int tensor_count;
    const Tensor *const *tensors; // by id
    Home *homes;                  // the same
    int64_t **extents;            // the same: by mode
    int64_t largest;              // number of processors of the largest machine in use
    HomeFigures *home_figures;    // made by the first call that needs them
    const Nodes *nodes;           // NULL: PlanOptions.nodes is
    int statement_count;
    StatementPlan **statements;
};

// Plans a program: `spmds` are its statements in order, `tensors` all of its tensors and workspaces by id,
// `params` values by index. NULL with a diagnostic: processors that are no multiple of ranks, more of them,
// of ranks or of steps than can be planned. Lives in the arena.
Plan *plan_create(Arena *arena, int tensor_count, const Tensor *const *tensors, int statement_count,
                  const Spmd *const *spmds, const int64_t *params, PlanOptions options,
                  Diagnostics *diagnostics);

// Plans another statement with the homes of a plan, which does not change. Where that has the homes of all
// tensors of the statement, the time does not depend on the number of tensors. Lives in the arena, no longer
// than that plan.
const StatementPlan *plan_with_homes(const Plan *homes, const Spmd *spmd, const int64_t *params, Arena *arena,
                                     Diagnostics *diagnostics);

// As many ranks as the program needs: the largest number of processors over its machines and statements; 1
// without any.
int64_t plan_natural_ranks(int machine_count, const Machine *const *machines, int statement_count,
                           const Spmd *const *spmds, const int64_t *params);
// The largest number of ranks up to `most` (at least 1) that can share the processors of these machines.
int64_t plan_fewer_ranks(int64_t most, int machine_count, const Machine *const *machines,
                         const int64_t *params);

// The part of `rank` in a transfer, ready to be executed. Lives in the arena of the plan, which then also has
// the groups that the rank is a member of.
const RankTransfer *plan_rank_transfer(StatementPlan *plan, int transfer, int64_t rank);
// The same, for its figures only, in `arena`.
RankTransfer plan_part_figures(const StatementPlan *plan, int transfer, int64_t rank, Arena *arena);
// Whether its fetches start a step ahead, or its results are written while the next step is computed.
// Both take a second buffer.
bool plan_pipelines(const StatementPlan *plan, int transfer);
// Bytes of the buffers and stages of that part on its rank; of its buffers in memory of a GPU, where leaves
// are on one; and of one of the copies that its threads add to.
int64_t rank_buffer_bytes(const RankTransfer *transfer);
int64_t rank_gpu_buffer_bytes(const RankTransfer *transfer);
int64_t rank_copy_bytes(const StatementPlan *plan, const RankTransfer *transfer);
// What a copy of `bytes` bytes takes, as each begins at a cache line; 0 where threads have none.
int64_t transfer_copy_bytes(const Transfer *transfer, int64_t bytes);
// The number of copies of that size, one for each of `threads` threads but the first, as far as the limit
// allows; the bytes of all of them.
int64_t transfer_copy_count(const Transfer *transfer, int64_t bytes, int64_t threads);
int64_t transfer_copies_bytes(const Transfer *transfer, int64_t bytes, int64_t threads);
// A tensor whose home a rank sets to the identity of the reducer, zero for sums, before it executes its
// parts.
typedef struct {
    const Tensor *tensor;
    Reducer reducer;
    Region stored; // what it stores there anyway, which need not be cleared
} ClearedTensor;
// All of them, for these parts (by transfer): their number (plan/cleared.c). `cleared` has room for one in
// each nest.
int plan_rank_cleared(const StatementPlan *plan, int64_t rank, const RankTransfer *const *parts,
                      ClearedTensor *cleared);

// Bytes of a row workspace, which begins at a cache line; how many there are of it: one for each thread of a
// rank, or, in memory of its GPU, for each block that fills its own, as far as they are no more than memory
// should be taken for; and bytes of all row workspaces of the statement (plan/rows.c).
int64_t plan_row_bytes(const StatementPlan *plan, const RowWorkspace *row);
int64_t plan_row_count(const StatementPlan *plan, const RowWorkspace *row);
// Partial results of `elements` elements of blocks, warps and threads (RankTransfer.gpu_partial_count): as
// many as there are of these in a launch (loop/launch_partials.c), where all loops have their longest parts.
int64_t plan_gpu_partials(const StatementPlan *plan, const Transfer *transfer, int64_t elements);
int64_t plan_rows_bytes(const StatementPlan *plan);
// Bytes that the statement takes in memory of a GPU beside homes and buffers: for row workspaces, operands of
// contractions, and partial results of blocks.
int64_t plan_gpu_workspace_bytes(const StatementPlan *plan);

// Points of the loops of a nest; INT64_MAX: more. Those at which an index of several variables leaves its
// mode count as well.
int64_t plan_points(const StatementPlan *plan, const Nest *nest);
// Floating-point operations of an assignment at each point of its loops; and whether indices determine the
// variable, so that it has no iterations of its own.
int64_t plan_point_flop(const Stmt *assign);
bool plan_is_index(const Cin *cin, int var);

// What a rank has in memory of the host: the homes of all tensors; and while a statement is executed, with
// its buffers but those that depend on entries.
int64_t plan_home_bytes(const Plan *plan, int64_t rank);
int64_t plan_rank_peak(StatementPlan *plan, int64_t rank);
// Bytes that a rank has in memory of its GPU while the statement is executed: the homes of all tensors that
// are there, and its buffers and workspaces.
int64_t plan_rank_gpu_peak(StatementPlan *plan, int64_t rank);

// Plans fetches with or without the next step starting ahead. Parts that ranks have made before are as they
// were.
void plan_set_pipelined(Plan *plan, Pipelining pipelined);
// Whether any starts ahead; plans them without, which takes one buffer in place of two: false where none did.
bool plan_is_pipelined(const Plan *plan);
bool plan_stop_pipelining(Plan *plan);

// Figures for another number of threads; and for what a sparse tensor stores on each rank, entries and bytes,
// which a plan does not know.
void plan_count_threads(Plan *plan, int64_t threads);
void plan_count_stored(Plan *plan, int tensor, const int64_t *entries, const int64_t *bytes);
// The same of a transfer that depends on entries.
void plan_count_entries(StatementPlan *plan, int transfer, EntryFigures figures);
// The entries that a statement gives a sparse tensor, about; -1: not known.
double plan_estimated_entries(const StatementPlan *plan, const Tensor *tensor);
// Bytes of one entry: its value, and the coordinates that are its own. And of all these.
int64_t plan_entry_bytes(const Tensor *tensor);
double plan_estimated_bytes(const StatementPlan *plan, const Tensor *tensor);

// The figures of plan_figures, computed with these figures of entries; the plan is not changed. `moved` by
// transfer, NULL where not known; `stored` by tensor id, with NULL for arrays where not known. Allocated in
// the arena.
const StatementFigures *plan_figures_with(const StatementPlan *plan, const EntryFigures **moved,
                                          const StoredFigures *stored, Arena *arena);

#endif
