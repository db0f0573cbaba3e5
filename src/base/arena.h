// SPDX-License-Identifier: BSD-3-Clause
// Arena: memory that is allocated piece by piece and freed at once, one arena per compilation or plan.
// Everything the compiler makes (trees, names, diagnostics) lives in an arena and is never freed alone.
#ifndef DISTAL_BASE_ARENA_H
#define DISTAL_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Arena Arena;

// A new empty arena; NULL if there is no memory. The caller frees it with arena_free.
Arena *arena_create(void);
// An arena that can be freed before its parent, and is freed with it at the latest. Never NULL.
Arena *arena_create_within(Arena *parent);
// The outermost arena that this one is within, or itself.
Arena *arena_outermost(Arena *arena);
void arena_free(Arena *arena);

// Bytes of memory that the arena and those within it have.
int64_t arena_size(const Arena *arena);

// Frees everything that was allocated, but keeps the memory for later allocations.
void arena_reset(Arena *arena);

// Calls `body`. If memory runs out in the arena or in one within it, allocation does not return but jumps out
// of `body`, so that no function in between has to check for NULL, and this returns false. What was allocated
// stays in the arena. Outside of all attempts, running out of memory aborts.
bool arena_attempt(Arena *arena, void (*body)(void *arguments), void *arguments);

// `size` zeroed bytes, or `count` zeroed items of that size, aligned for any type. Never NULL.
void *arena_alloc(Arena *arena, size_t size) __attribute__((returns_nonnull));
void *arena_alloc_items(Arena *arena, int64_t count, size_t size) __attribute__((returns_nonnull));
void *arena_copy(Arena *arena, const void *from, size_t size) __attribute__((returns_nonnull));
char *arena_string(Arena *arena, const char *text, size_t length) __attribute__((returns_nonnull));
char *arena_printf(Arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc_items((arena), (count), sizeof(type)))

// Growable arrays in an arena: `Array(Thing) things = {0}; array_push(arena, things, thing);`
#define Array(type)                                                                                          \
    struct {                                                                                                 \
        type *items;                                                                                         \
        int64_t count, capacity;                                                                             \
    }

#define array_push(arena, array, ...)                                                                        \
    do {                                                                                                     \
        if ((array).count == (array).capacity)                                                               \
            (array).items = array_grow((arena), (array).items, &(array).capacity, sizeof(*(array).items));   \
        (array).items[(array).count++] = (__VA_ARGS__);                                                      \
    } while (0)

// Used by array_push: a copy of `items` with room for twice *capacity items.
void *array_grow(Arena *arena, const void *items, int64_t *capacity, size_t item_size);

#endif
