// SPDX-License-Identifier: BSD-3-Clause
#include "base/arena.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block Block;
struct Block {
    Block *next;
    size_t used, size;
    alignas(max_align_t) char data[];
};

struct Arena {
    Block *blocks;
    size_t next_size; // of the first block after a reset, at least
    jmp_buf *escape;  // of the innermost attempt, or NULL
    Arena *parent, *first_child, *next_sibling;
};

enum { BLOCK_SIZE = 32 * 1024 };

Arena *arena_create(void) {
    return calloc(1, sizeof(Arena));
}

static _Noreturn void out_of_memory(const Arena *arena) {
    while (!arena->escape && arena->parent)
        arena = arena->parent;
    if (!arena->escape)
        abort();
    longjmp(*arena->escape, 1);
}

Arena *arena_create_within(Arena *parent) {
    Arena *arena = arena_create();
    if (!arena)
        out_of_memory(parent);
    arena->parent = parent;
    arena->next_sibling = parent->first_child;
    parent->first_child = arena;
    return arena;
}

Arena *arena_outermost(Arena *arena) {
    while (arena->parent)
        arena = arena->parent;
    return arena;
}

static void leave_parent(Arena *arena) {
    Arena **link = &arena->parent->first_child;
    while (*link != arena)
        link = &(*link)->next_sibling;
    *link = arena->next_sibling;
}

void arena_free(Arena *arena) {
    if (!arena)
        return;
    for (Arena *child = arena->first_child, *next; child; child = next) {
        next = child->next_sibling;
        child->parent = NULL; // it need not be unlinked
        arena_free(child);
    }
    if (arena->parent)
        leave_parent(arena);
    for (Block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(arena);
}

int64_t arena_size(const Arena *arena) {
    size_t size = sizeof *arena;
    for (const Block *block = arena->blocks; block; block = block->next)
        size += sizeof *block + block->size;
    int64_t all = (int64_t)size;
    for (const Arena *child = arena->first_child; child; child = child->next_sibling)
        all += arena_size(child);
    return all;
}

void arena_reset(Arena *arena) {
    // Several blocks become one with room for what was in all of them, so that a loop that resets in each
    // iteration soon uses one block.
    Block *only = arena->blocks;
    if (only && only->next) {
        arena->next_size = 0;
        for (Block *block = only, *next; block; block = next) {
            next = block->next;
            arena->next_size += block->size;
            free(block);
        }
        only = NULL;
    }
    if (only)
        only->used = 0;
    arena->blocks = only;
}

bool arena_attempt(Arena *arena, void (*body)(void *arguments), void *arguments) {
    jmp_buf escape, *const outer = arena->escape;
    arena->escape = &escape;
    if (setjmp(escape) == 0) {
        body(arguments);
        arena->escape = outer;
        return true;
    }
    arena->escape = outer;
    return false;
}

static Block *new_block(Arena *arena, size_t at_least) {
    size_t size = at_least > BLOCK_SIZE ? at_least : BLOCK_SIZE;
    if (!arena->blocks && arena->next_size > size)
        size = arena->next_size;
    if (size > SIZE_MAX - sizeof(Block))
        out_of_memory(arena);
    Block *block = malloc(sizeof(Block) + size);
    if (!block)
        out_of_memory(arena);
    block->next = NULL;
    block->used = 0;
    block->size = size;
    return block;
}

// Not initialized.
static void *take(Arena *arena, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 2)
        out_of_memory(arena);
    size_t rounded = (size + align - 1) / align * align;
    Block *block = arena->blocks;
    if (!block || block->size - block->used < rounded) {
        Block *fresh = new_block(arena, rounded);
        // A large piece gets a block of its own behind the current one, which keeps its free space.
        if (block && rounded > BLOCK_SIZE / 4) {
            fresh->next = block->next;
            block->next = fresh;
        } else {
            fresh->next = block;
            arena->blocks = fresh;
        }
        block = fresh;
    }
    void *piece = block->data + block->used;
    block->used += rounded;
    return piece;
}

void *arena_alloc(Arena *arena, size_t size) {
    return memset(take(arena, size), 0, size);
}

void *arena_alloc_items(Arena *arena, int64_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory(arena);
    return arena_alloc(arena, bytes);
}

void *arena_copy(Arena *arena, const void *from, size_t size) {
    void *to = take(arena, size);
    return size ? memcpy(to, from, size) : to;
}

char *arena_string(Arena *arena, const char *text, size_t length) {
    char *to = arena_alloc(arena, length + 1);
    memcpy(to, text, length);
    return to;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void *array_grow(Arena *arena, const void *items, int64_t *capacity, size_t item_size) {
    const int64_t before = *capacity;
    // Most lists of large items, such as rectangles, have one.
    const int64_t after = before ? before * 2 : item_size < 64 ? 8 : 1;
    size_t bytes;
    if (__builtin_mul_overflow(after, item_size, &bytes))
        out_of_memory(arena);
    char *grown = take(arena, bytes);
    const size_t kept = (size_t)before * item_size;
    if (before)
        memcpy(grown, items, kept);
    memset(grown + kept, 0, bytes - kept);
    *capacity = after; // not before: where memory runs out, the array stays as it was
    return grown;
}
