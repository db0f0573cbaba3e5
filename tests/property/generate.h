// SPDX-License-Identifier: BSD-3-Clause
// Draws programs at random: every one is legal, so that a diagnostic about one is a mistake of the generator
// or of the compiler. The draw follows from seed and index alone.
#ifndef DISTAL_TESTS_GENERATE_H
#define DISTAL_TESTS_GENERATE_H

#include "draft.h"
#include "random.h"

void generate_draft(uint64_t seed, int64_t index, Draft *draft);
// With sparse tensors, of which nothing is placed: levels, orders of modes, fill, and extents that only
// sparse tensors can have. `space` of the draft is sparse_space.
void generate_sparse_draft(uint64_t seed, int64_t index, Draft *draft);
extern const char sparse_space[];
// Of these, those that multiply a sparse tensor by dense ones which are placed, on several ranks: they fetch
// what is at the coordinates of entries.
void generate_gather_draft(uint64_t seed, int64_t index, Draft *draft);
// And those with sums that have no terms, over what only dense operands are indexed by.
void generate_empty_draft(uint64_t seed, int64_t index, Draft *draft);

// Puts the tensors and statements of a text into a draft with a machine; what is drawn of them are forms of
// extents.
void draft_read(Random *random, const char *name, const char *text, Draft *draft);
// Used by the generator's parts: a new size; its index. The letter is that of its param.
int draw_size(Random *random, Draft *draft, char letter, int64_t value);
// Some reductions in a drawn statement; whether it has a product over variables.
void draw_reductions(Random *random, Draft *draft, DraftStatement *statement);
bool draft_multiplies(const DraftStatement *statement);
// In some statements, the left side on the right as well.
void draw_update(Random *random, const Draft *draft, DraftStatement *statement);
// An update of a sparse tensor keeps its entries: what could change them is dense, or the tensor itself.
void draw_updated_entries(Random *random, Draft *draft, const DraftStatement *statement);
// Whether a part of the right side reads the left side, and whether something is summed.
bool draft_reads_target(const DraftStatement *statement, int node);
bool draft_sums(const Draft *draft, const DraftStatement *statement);
void draft_make_dense(DraftTensor *tensor);
// Draws right side, variables and accumulation of statement `at`, and the tensors that it is the first to
// use.
void draw_statement(Random *random, Draft *draft, int at, ElementType type, bool mixed);
// Puts sums and constants in the place of some of its variables as indices, in so many percent of statements.
void draw_indices(Random *random, Draft *draft, int at, int percent);
// Draws repetitions of some statements, and a statement that feeds a result back.
void draw_repetitions(Random *random, Draft *draft);
// Machines and ranks.
void draw_processors(Random *random, Draft *draft);
// Another machine, with this many processors: no more than ranks, or a multiple.
void draw_other_machine(Random *random, Draft *draft, int processors);
// More ranks for some programs than M has processors. N, on which nothing is placed, has one for each rank.
void draw_idle_ranks(Draft *draft);
// How and where all tensors are stored.
void draw_placements(Random *random, Draft *draft);
// Modes are stored in another order than that of the statement in `percent` of the draws.
void draw_mode_order(Random *random, int percent, DraftTensor *tensor);
void draw_placement(Random *random, Draft *draft, DraftTensor *tensor);
// In some placements, parts whose lengths differ, also of dense tensors.
void draw_lengths(Random *random, int order, DraftTensor *tensor);
// Levels of a tensor that is not a scalar; all may be dense.
void draw_storage_levels(Random *random, DraftTensor *tensor);
// As named formats have them.
void draw_usual_levels(Random *random, DraftTensor *tensor);
// Schedules of a program with sparse tensors, which may be refused.
void draw_sparse_schedules(Random *random, Draft *draft, bool placed);
// Whether a mode is stored in full below stored coordinates, as are those after it.
bool draft_is_padded(const DraftTensor *tensor, int mode);
// Gives some sparse tensors such modes, with a placement that cuts them.
void draw_fibers(Random *random, const Draft *draft, DraftTensor *tensor);
// Draws schedule commands for statement `at`; for most of the statements.
void draw_schedule(Random *random, Draft *draft, int at);
// Workspaces only, and how leaves are executed.
void draw_workspaces(Random *random, Draft *draft, int at);
// Tensors in memory of a GPU, and for some statements about them such schedules with workspaces.
void draw_gpu(Draft *draft);
void draw_params(Draft *draft);
void draw_gpu_workspaces(Draft *draft);
// The same for a statement on a GPU, with units of it for loops around and inside; nothing for others.
void draw_workspaces_on_gpu(Random *random, Draft *draft, int at);
// Rotated loops, outside or inside of those that they are rotated by.
void draw_rotations(Random *random, Draft *draft, int at);
void draw_schedules(Random *random, Draft *draft);
// Of a statement with a sparse operand, about the loops over its entries; false where there is none.
bool draw_positions(Random *random, Draft *draft, int at);

// The variables that index a tensor in a statement; NULL where it does not.
const char *draft_indices(const DraftStatement *statement, int tensor);
// Of a program with one statement and no schedule: what entries balance, its defaults distribute.
void draw_nonzero_placements(Random *random, Draft *draft);

#endif
