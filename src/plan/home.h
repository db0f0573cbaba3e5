// SPDX-License-Identifier: BSD-3-Clause
// Homes: which coordinates of a tensor each rank holds at rest, by formula: from a placement, or, for a
// tensor without one, from the schedule, which leaves it where it is used first. Nothing is stored by rank.
#ifndef DISTAL_PLAN_HOME_H
#define DISTAL_PLAN_HOME_H

#include "format/contiguous.h"
#include "format/stored.h"
#include "machine/layout.h"
#include "plan/footprint.h"

typedef enum {
    HOME_LAYOUT,     // from a placement, or that of a machine with one processor
    HOME_INDUCED,    // from the footprints of the transfers that use it first
    HOME_EVERYWHERE, // whole on every rank: a scalar without a placement
} HomeKind;

// Where the elements of a tensor in disk are: in a scratch file of each rank; or in one file, whose elements
// are all of them in the order of the levels, and which the ranks have open to read, or to write as well.
typedef enum { FILE_OF_RANK, FILE_SHARED, FILE_SHARED_WRITTEN } HomeFile;

typedef struct {
    bool known; // false: no placement, and no statement has used the tensor yet
    HomeKind kind;
    const Tensor *tensor;
    int order;                  // of the tensor
    int64_t extents[MAX_ORDER]; // the same
    // Of a sparse tensor, of which a rank has the entries in its pieces: their number by rank, and the bytes
    // of its arrays and values; NULL while these are not known.
    const int64_t *stored_entries, *stored_bytes;
    int64_t ranks;
    MemoryId memory;         // that its pieces are in
    bool shared;             // that memory is one which neighbours can map (memory/shared.h)
    HomeFile file;           // in disk
    int64_t tile[MAX_ORDER]; // of FILE_OF_RANK: each piece is stored in tiles of these extents; 0: it is not
    bool replicated;         // some coordinate may have more than one home
    Layout layout;           // HOME_LAYOUT
    int64_t per_rank;        // processors of the layout's grid that one rank has
    // HOME_INDUCED: the transfers of one statement that use the tensor, in order. What is read has a home on
    // each rank that reads it at the earliest step at which any rank does; a result has its home on the first
    // rank that computes it at that step. What no iteration uses is on the first rank.
    int use_count;
    const Footprints *const *uses;
    const Region *unused; // by use: what none before it reaches; one more: what none reaches
    Arena *arena;         // that what it points to is in
} Home;

void home_from_layout(Home *home, const Tensor *tensor, const int64_t *extents, const Layout *layout,
                      int64_t ranks, Arena *arena);
// Puts a home in disk, of a placement, into a file. One that is written has no replicas: of those that the
// placement says, it has the first.
void home_put_in_file(Home *home, HomeFile file);
void home_everywhere(Home *home, const Tensor *tensor, const int64_t *extents, int64_t ranks, Arena *arena);
// A tensor without a placement, as a whole.
void home_on_first_rank(Home *home, const Tensor *tensor, const int64_t *extents, int64_t ranks,
                        Arena *arena);
// `uses` stay the caller's.
void home_induced(Home *home, const Tensor *tensor, const int64_t *extents, int use_count,
                  const Footprints *const *uses, int64_t ranks, Arena *arena);
// A home that depends on `arena` and `tensor` only.
Home home_copy(const Home *home, const Tensor *tensor, Arena *arena);
// Fibers are what the last levels of a sparse tensor store in full below one position of those above. Whether
// some rank has a part of a fiber only: then which ones are stored follows from the entries of other ranks as
// well.
bool home_cuts_fibers(const Home *home);
// False where some rank may hold something else. Of homes of one tensor.
bool home_equal(const Home *a, const Home *b);

// How the file of a home in disk stores a piece of this rectangle. `whole` is what this refers to, and is
// set where all ranks share the file.
FileLayout home_file_layout(const Home *home, const Rect *piece, Rect *whole);

// The rectangles that a rank allocates, disjoint. Periodic sets are in `arena` or those of the home.
Region home_pieces(const Home *home, int64_t rank, Arena *arena);
int64_t home_bytes(const Home *home, int64_t rank);
int64_t home_memory_bytes(const Home *home, int64_t rank); // 0 where they are in disk
// Of the buffer that a rank has for its scratch file, if that bypasses the cache of the system; 0: it has
// none.
int64_t home_direct_bytes(const Home *home);
// Of a sparse tensor: without entries, with type, extents and levels; and whether a rank with that many
// pieces stores anything: of a tensor without elements, every rank has the arrays.
StoredTensor home_stored_empty(const Home *home);
bool home_stores_entries(const Home *home, int64_t piece_count);

// The first of these pieces that contains `rect` whole, or -1.
int64_t pieces_with(const Region *pieces, const Rect *rect);
// The same with nothing between the coordinates that `rect` has of each mode: their positions follow each
// other in the piece as they do in `rect`.
int64_t pieces_in_place(const Region *pieces, const Rect *rect);

// Which of the replicas a rank takes: ranks that take the same one have the same number. 0 where this makes
// no difference. Where replicas are chosen, that with the rank's own coordinates is the nearest, and spreads
// the work over all replicas.
int64_t home_choice(const Home *home, int64_t taker);
// The coordinates of all ranks of a choice that are processors of this grid; -1: they may have any, and so
// where ranks of this choice do not differ from others in coordinates.
void home_choice_coordinates(const Home *home, int64_t choice, const Grid *grid, int64_t *coordinates);

// Parts of `rect`, exactly one for every coordinate, and their owners: `rank` is the one that sends it to
// ranks of this choice; `holders` are all ranks that hold the part, in increasing order, NULL where these are
// known to be of no interest: `rank`, and others that have a choice of their own.
typedef struct {
    Rect rect;
    int64_t rank;
    int64_t holder_count;
    const int64_t *holders;
} Holding;
typedef Array(Holding) HoldingArray;
void home_find(const Home *home, const Rect *rect, int64_t choice, Arena *arena, HoldingArray *found);
// The same, with `holders` everywhere; `rank` is the first of them.
void home_owners(const Home *home, const Rect *rect, Arena *arena, HoldingArray *found);
bool holding_has(const Holding *holding, int64_t rank);
// The number of ranks that are known to hold it: `rank` where `holders` is NULL; rank `index` of these.
int64_t holding_count(const Holding *holding);
int64_t holding_rank(const Holding *holding, int64_t index);

// Whether home_find gives of every rectangle what the pieces of `rank` have of it as the parts of that rank.
bool home_is_local(const Home *home);
// Of such a home: the ranks that hold part of `rect`, in increasing order; and what these pieces of one of
// them have of it, appended.
void home_ranks(const Home *home, const Rect *rect, Arena *arena, int64_t *count, int64_t **ranks);
void pieces_find(const Region *pieces, int64_t rank, const Rect *rect, Arena *arena, HoldingArray *found);

// Of HOME_INDUCED: home_owners and home_pieces.
void induced_owners(const Home *home, const Rect *rect, Arena *arena, HoldingArray *found);
Region induced_pieces(const Home *home, int64_t rank, Arena *arena);
// Sets `unused` and `replicated`: it may be; exactly, where nothing of it is read first.
void induced_find_unused(Home *home);
void induced_copy_unused(Home *home, Arena *arena); // what it points to

#endif
