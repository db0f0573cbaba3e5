// SPDX-License-Identifier: BSD-3-Clause
// Storage: what one rank has at home of one tensor, in the memory that its placement names. Of a dense tensor
// each home piece is one array of values, stored in the order of its levels with stride 1 in
// the mode that is stored last. Of a sparse tensor it is the arrays of its levels, and one piece, its values.
#ifndef DISTAL_RUNTIME_STORAGE_H
#define DISTAL_RUNTIME_STORAGE_H

#include "format/stored.h"
#include "io/piece.h"
#include "memory/device.h"
#include "plan/home.h"

// The structure of a sparse tensor on this rank: its levels with their arrays. It does not change; tensors
// with the same pattern share it, and two with different structures have different ones on every rank.
typedef struct Structure {
    int64_t references;
    StoredTensor levels;  // without values
    struct Structure *of; // whose first levels these are; NULL: it has arrays of its own
} Structure;

typedef struct {
    const Home *home;
    ElementType type;
    int64_t rank;
    int64_t piece_count;
    Piece *pieces;        // as home_pieces gives them; their data belongs to the caller unless `owned`
    bool owned;           // whether the elements are released with the storage
    bool shared;          // neighbours can map their memory:
    void *block;          // all of it
    DeviceHandle handle;  // where that is memory of a GPU
    DiskFile *file;       // of what is in disk; else NULL
    Rect whole;           // of a file that all ranks share: the tensor; else pieces are contiguous
    Structure *structure; // of a sparse tensor; NULL: it has had no entries yet. The same on all ranks
    StoredTensor stored;  // of a sparse tensor: the arrays of the structure, and the values
    int64_t limit;        // bytes that entries may take, those of a list as well; INT64_MAX: as there are
    bool padded;          // elements between home pieces are stored as well, as fibers are cut
    StoredTensor empty; // of a sparse tensor: what is stored before it has entries, and of which coordinates
    Home *copied;       // of a storage_create_copy, its own
} Storage;

// Memory for what `rank` holds at home, set to zero or uninitialized; of a sparse tensor none, until it is
// given entries. NULL with a diagnostic that names rank, tensor and size where there is not enough. `home`
// has to stay. What is in disk is in a file in `scratch`. Freed with storage_free.
Storage *storage_create(const Home *home, int64_t rank, bool zero, Scratch scratch, Diagnostics *diagnostics);
void storage_free(Storage *storage);

// The same of a home in disk over a file that all ranks share, with all elements of the tensor from byte
// `offset` on, in the order of its levels. The descriptor of the file stays the caller's. NULL with errno.
Storage *storage_create_in_file(const Home *home, int64_t rank, int fd, int64_t offset);

// The same over memory of the caller: `pieces` have the rectangles of the home pieces of `rank`, in their
// order. They are copied. Kernels take strides of 1 in the mode that is stored last only. NULL: no memory for
// that.
Storage *storage_wrap(const Home *home, int64_t rank, const Piece *pieces);

// Pins what it has in memory of the host (memory/pinned.h), until it is freed.
void storage_pin(const Storage *storage);

// Memory for entries of the same sparse tensor, whatever is at home on this rank, stored with the levels of
// `tensor`. `here`: it has a piece. NULL: no memory. Freed with storage_free.
Storage *storage_create_copy(const Storage *storage, const Tensor *tensor, bool here);
// Before anything is put into it: it is for entries in these rectangles (stored_restrict).
void storage_restrict(Storage *storage, int64_t count, const Rect *rects);

// Of a storage in memory of a GPU: waits until what has been begun there is finished.
void storage_wait(const Storage *storage);
// The same at the end of a call, unless what has been begun is in the stream of the caller
// (device_set_caller_stream).
void storage_finish(const Storage *storage);
// Of a storage in disk or in memory of a GPU: storage_finish, and false with a diagnostic where reading or
// writing has failed, as far as that is known. Else true.
bool storage_check(const Storage *storage, Diagnostics *diagnostics);

// The first piece that contains `rect`; there has to be one.
const Piece *storage_piece_with(const Storage *storage, const Rect *rect);

// The element of a scalar that is at home here.
void storage_get_scalar(const Storage *storage, void *value);

void storage_zero(Storage *storage);

// What is cleared of a storage to the identity of a reducer: parts of its pieces.
typedef struct {
    int64_t piece;
    Rect rect; // has the strides of the piece
} ClearedPart;
typedef struct {
    Storage *storage;
    Reducer reducer;
    bool whole; // all pieces that it has then
    Array(ClearedPart) parts;
} ClearedStorage;
// All pieces without `stored`, in `arena`; or with some of it, where the rest of a piece is no intervals.
ClearedStorage storage_cleared(Storage *storage, Reducer reducer, const Region *stored, Arena *arena);
void storage_reset_parts(const ClearedStorage *cleared);

// Sparse tensors. All ranks call these alike, those without a piece with nothing to put in.

// A list of entries, without any, as the home says: type, extents.
Entries storage_no_entries(const Storage *storage);
// Takes everything out: the tensor has had no entries then.
void storage_clear(Storage *storage);
// Puts a tensor in, whose arrays and values become the storage's, with a structure of its own. False: no
// memory, and the tensor is freed.
bool storage_put(Storage *storage, StoredTensor *tensor);
// What it has is set aside while ranks put in other entries, until they agree that all have theirs: then it
// is released, else it comes back. So all ranks have new entries, or none has.
typedef struct {
    Structure *structure;
    StoredTensor stored;
} SetAside;
SetAside storage_set_aside(Storage *storage);
void storage_settle(Storage *storage, SetAside *before, bool replaced);
// Gives `storage` the structure of another tensor with the same levels, of modes in any order, and values of
// its own, zero if `zero`. False: no memory within the limit, and nothing has changed.
bool storage_share(Storage *storage, Structure *structure, bool zero);
// Between storages with one structure.
void storage_copy_values(Storage *storage, const Storage *from);
// Gives `storage` the structure of another tensor and a copy of its values. False: no memory within the
// limit, and nothing has changed.
bool storage_copy_entries(Storage *storage, const Storage *from);
// The same as storage_share, with the values of `from`, a copy, if it has any: it loses them. Types are the
// same.
bool storage_take(Storage *storage, Storage *from);
// The same with the first levels of another tensor: the structure is new, and has the arrays of the other
// one.
bool storage_share_leading(Storage *storage, Structure *structure);
void structure_release(Structure *structure); // which may be NULL
// Bytes of what one of several tensors stores: its values, and the arrays of its structure, unless one of the
// tensors before it has these as well. Those without storage are NULL.
int64_t storage_bytes(Storage *const *storages, int tensor);
// Keeps a structure, which may be NULL, in a place instead of what it held.
void structure_hold(Structure **place, Structure *structure);

#endif
