// SPDX-License-Identifier: BSD-3-Clause
// What the calls that move elements of tensors have in common.
#ifndef DISTAL_API_DATA_H
#define DISTAL_API_DATA_H

#include "api/balance.h"
#include "io/source.h"

// The arguments and results of one of them.
typedef struct {
    distal_tensor *tensor;
    int64_t index, count;
    int mode;
    int64_t *coordinates;
    distal_piece *piece;
    const distal_piece *pieces;
    void *data;
    const int64_t *stride;
    const char *text;
    SourceSpec source;
    Storage *storage;
    int64_t missing; // bytes that the tensor still needs on this rank
    bool spread;
    const int64_t *const *columns; // coordinates of entries, by mode
    const distal_level_arrays *given;
    distal_level_arrays *levels;
} DataCall;

// Puts the entries that all ranks give into a sparse tensor in memory. `entries` are taken; entries_free
// follows in any case. Collective.
distal_status data_put_entries(distal_context *context, distal_tensor *tensor, Entries *entries);

// What distal_tensor_piece_count does: checks that the tensor has pieces, and counts those of this rank.
distal_status data_count_pieces(distal_context *context, void *arguments);
// Of a piece of this rank: its rectangle, and the piece without data, with the strides that memory of the
// library would have.
const Rect *data_own_rect(const distal_tensor *tensor, int64_t index);
distal_piece data_box(const distal_tensor *tensor, int64_t index);
// The tensor by whose entries this one is placed, which may change its home; NULL: none.
const char *data_placed_by(const distal_tensor *tensor);
// A hash of the arguments that must be the same on all ranks.
Hash data_fingerprint(const char *call, const distal_tensor *tensor, const char *text);

// A call that does not communicate and has `place` for its result.
distal_status data_call_local(const char *name, CallBody body, DataCall *call, const void *place);
// A call in which all ranks move elements: `check` is local, `move` collective. In between the tensor gets
// memory.
distal_status data_call_collective(const char *name, CallBody check, CallBody move, DataCall *call);

#endif
