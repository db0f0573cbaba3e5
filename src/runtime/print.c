// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/print.h"

#include "io/array_text.h"
#include "runtime/exchange_entries.h"
#include "runtime/list.h"
#include "runtime/section.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <string.h>

enum { ENTRIES_WHOLE = 50, ENTRIES_EDGE = ENTRIES_WHOLE / 2 }; // as SciPy

typedef struct {
    const Storage *storage;
    const char *name;
    Text *to;
    MPI_Comm comm;
    int ranks;
    // Of a dense tensor, on the first rank: what is shown, as sections.
    ShownArray array;
    Array(Section) sections;
    Array(Rect) places; // of the sections among the elements that are shown
    char *values;
    // Of a sparse one: entries of this rank that may be printed, and on the first rank those of all.
    Entries own, shown;
    int64_t *counts; // of `own`, by the rank that gets them
    int64_t all;     // entries of all ranks
} Print;

static bool choose_sections(void *arguments, Diagnostics *diagnostics) {
    Print *print = arguments;
    const Storage *storage = print->storage;
    const Home *home = storage->home;
    print->array = shown_array(storage->type, home->order, home->extents);
    const Rect shown = rect_whole(home->order, print->array.shown);
    if (storage->rank != 0 || rect_is_empty(&shown))
        return true;
    const int64_t size = (int64_t)type_info(storage->type)->size;
    print->values = arena_alloc(diagnostics->arena, (size_t)(rect_volume(&shown) * size));
    // All combinations of the intervals that are shown of the modes, the last one fastest.
    int index[MAX_ORDER] = {0}, mode;
    do {
        Rect rect = {.order = home->order}, place = rect;
        for (int d = 0; d < home->order; d++) {
            shown_interval(&print->array, d, index[d], &rect.lo[d], &rect.hi[d], &place.lo[d]);
            place.hi[d] = place.lo[d] + rect.hi[d] - rect.lo[d];
        }
        void *values = arena_alloc(diagnostics->arena, (size_t)(rect_volume(&rect) * size));
        array_push(diagnostics->arena, print->sections, (Section){.rect = rect, .values = values});
        array_push(diagnostics->arena, print->places, place);
        for (mode = home->order - 1; mode >= 0 && ++index[mode] == shown_intervals(&print->array, mode);
             mode--)
            index[mode] = 0;
    } while (mode >= 0);
    return true;
}

static bool print_array(void *arguments, Diagnostics *diagnostics) {
    (void)diagnostics;
    Print *print = arguments;
    const ShownArray *array = &print->array;
    if (print->storage->rank != 0)
        return true;
    const Rect whole = rect_whole(array->order, array->shown);
    const Piece to = piece_packed(&whole, (LevelList){0}, array->type, print->values);
    for (int64_t s = 0; s < print->sections.count; s++) {
        const Rect *place = &print->places.items[s];
        const Piece from = piece_packed(place, (LevelList){0}, array->type, print->sections.items[s].values);
        piece_copy(&to, &from, place);
    }
    text_printf(print->to, "%s = ", print->name);
    if (array->order == 0)
        value_text(print->values, array->type, print->to);
    else
        array_text(array, print->values, strlen(print->name) + strlen(" = "), print->to);
    text_append(print->to, "\n");
    return true;
}

// The first and the last entries of this rank.
static bool choose_entries(void *arguments, Diagnostics *diagnostics) {
    Print *print = arguments;
    const Storage *storage = print->storage;
    print->counts = arena_array(diagnostics->arena, int64_t, print->ranks);
    const char *why = storage_list(storage, &print->own, diagnostics->arena);
    Entries *own = &print->own;
    print->all = own->count;
    if (why || own->count <= ENTRIES_WHOLE) {
        print->counts[0] = own->count;
        return !why || diagnostics_error(diagnostics, (Span){0}, "%s", why);
    }
    const int64_t size = (int64_t)type_info(own->type)->size, last = own->count - ENTRIES_EDGE;
    for (int d = 0; d < own->order; d++)
        memmove(own->coordinates[d] + ENTRIES_EDGE, own->coordinates[d] + last,
                sizeof(int64_t) * ENTRIES_EDGE);
    memmove((char *)own->values + ENTRIES_EDGE * size, (const char *)own->values + last * size,
            (size_t)(ENTRIES_EDGE * size));
    own->count = ENTRIES_WHOLE;
    print->counts[0] = own->count;
    return true;
}

static void append_coordinates(const Entries *entries, int64_t e, Text *to) {
    text_append(to, "(");
    for (int d = 0; d < entries->order; d++)
        text_printf(to, "%s%" PRId64, d ? ", " : "", entries->coordinates[d][e]);
    text_append(to, ")");
}

static bool print_entries(void *arguments, Diagnostics *diagnostics) {
    Print *print = arguments;
    const Storage *storage = print->storage;
    Entries *entries = &print->shown;
    if (storage->rank != 0)
        return true;
    const char *why = entries_sort(entries, storage->home->tensor->mode_order);
    if (why)
        return diagnostics_error(diagnostics, (Span){0}, "%s", why);
    text_printf(print->to, "%s = %" PRId64 " %s", print->name, print->all,
                print->all == 1 ? "entry of " : "entries of ");
    for (int d = 0; d < entries->order; d++)
        text_printf(print->to, "%s%" PRId64, d ? " x " : "", entries->extents[d]);
    text_append(print->to, "\n");
    const bool is_shortened = print->all > ENTRIES_WHOLE;
    Text at = text_create(diagnostics->arena);
    size_t width = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t e = 0; e < entries->count; e++) {
            if (is_shortened && e >= ENTRIES_EDGE && e < entries->count - ENTRIES_EDGE)
                continue;
            at.length = 0;
            append_coordinates(entries, e, &at);
            if (pass == 0) {
                width = at.length > width ? at.length : width;
                continue;
            }
            if (is_shortened && e == entries->count - ENTRIES_EDGE)
                text_append(print->to, "  ...\n");
            text_printf(print->to, "  %-*s  ", (int)width, text_string(&at));
            value_text((const char *)entries->values + e * (int64_t)type_info(entries->type)->size,
                       entries->type, print->to);
            text_append(print->to, "\n");
        }
    return true;
}

static bool print_sparse(Print *print, Diagnostics *diagnostics) {
    bool ok = agree_on_part(print->comm, choose_entries, print, diagnostics);
    if (ok)
        all_reduce(&print->all, 1, MPI_INT64_T, MPI_SUM, print->comm);
    ok = ok &&
         exchange_entries(print->storage, &print->own, print->counts, &print->shown, print->comm,
                          diagnostics) &&
         agree_on_part(print->comm, print_entries, print, diagnostics);
    entries_free(&print->own);
    entries_free(&print->shown);
    return ok;
}

bool storage_print(const Storage *storage, const char *name, Text *to, MPI_Comm comm,
                   Diagnostics *diagnostics) {
    Print print = {.storage = storage, .name = name, .to = to, .comm = comm};
    MPI_Comm_size(comm, &print.ranks);
    if (tensor_is_sparse(storage->home->tensor))
        return print_sparse(&print, diagnostics);
    return agree_on_part(comm, choose_sections, &print, diagnostics) &&
           sections_read(storage, print.sections.count, print.sections.items, comm, diagnostics) &&
           agree_on_part(comm, print_array, &print, diagnostics);
}
