// SPDX-License-Identifier: BSD-3-Clause
// Slices: the parts of a tensor's arrays that are stored, sent and counted, and where their elements are. A
// tensor of dense levels is one array, that of its values, and a slice of it is a rectangle.
#ifndef DISTAL_FORMAT_SLICE_H
#define DISTAL_FORMAT_SLICE_H

#include "format/level.h"
#include "machine/rect.h"

// How a tensor is stored: level l stores mode mode_order[l] as types[l].
typedef struct {
    const LevelType *types; // NULL: all dense
    const int *mode_order;  // NULL: as the modes are numbered
} LevelList;

// A slice in memory or in a file: `rect` is stored so that the offset of element x is the sum over modes d of
// (index of x[d] in mode d of `rect`) * stride[d]. Strides are in elements and not negative.
typedef struct {
    const Rect *rect;
    const int64_t *stride;
} Frame;

// The strides of a rectangle that is stored without gaps, in the order of the levels.
void packed_strides(const Rect *rect, LevelList levels, int64_t *stride);

// In what follows `rect` lies inside the frame's.

// The offset of its first element.
int64_t frame_offset(const Frame *frame, const Rect *rect);
// The same where its elements lie as if they were alone: without gaps and with packed strides; else -1.
int64_t frame_locate(const Frame *frame, const Rect *rect, LevelList levels);
int64_t packed_locate(const Rect *outer, const Rect *rect, LevelList levels); // in a packed rectangle
// Whether the coordinates that it has of a mode follow each other in the frame without gaps.
bool frame_mode_is_contiguous(const Frame *frame, const Rect *rect, int mode);
// Its modes by increasing stride, but for those of one coordinate; their number. `modes` has room for all.
int frame_modes(const Frame *frame, const Rect *rect, int *modes);
// Elements from the first to the last of the frame, with those between that are not part of it.
int64_t frame_span(const Frame *frame);

#endif
