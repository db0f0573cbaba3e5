// SPDX-License-Identifier: BSD-3-Clause
// The lists of an assembled result whose entries are appended in the order of storage (format/append.h): each
// thread has lists in blocks of memory, a portion of the outermost loop is a part of the lists of one thread,
// and the arrays of the levels are copied together from all portions in their order.
#ifndef DISTAL_RUNTIME_APPENDER_H
#define DISTAL_RUNTIME_APPENDER_H

#include "distal_kernel.h"
#include "format/append.h"
#include "format/stored.h"

typedef struct Appender Appender;

// For the levels of `tensor`, which can be appended to, at most `threads` threads, and `limit` bytes. NULL:
// no memory.
Appender *appender_create(const StoredTensor *tensor, int threads, int64_t limit);
void appender_free(Appender *appender);
// Releases what has been appended, after which at most `limit` bytes are.
void appender_clear(Appender *appender, int64_t limit);
// Whether any portion has been begun.
bool appender_is_used(const Appender *appender);

// Called by the kernel, from any thread. Where memory runs out, nothing more is kept, and joining fails.
distal_list *appender_begin(Appender *appender, int64_t portion);
void appender_end(Appender *appender, int64_t portion);
distal_index_set *appender_set(Appender *appender);

// Makes the arrays and values, which are not initialized, of `tensor`, and releases the lists. NULL on
// success, else the reason, allocated in `arena` or static; then the caller frees the tensor.
const char *appender_join(Appender *appender, StoredTensor *tensor, Arena *arena);

#endif
