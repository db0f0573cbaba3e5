// SPDX-License-Identifier: BSD-3-Clause
#include "api/fibers.h"

#include "format/level_list.h"
#include "runtime/exchange_entries.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct {
    distal_context *context;
    const distal_tensor *tensor;
    int above_count, above[MAX_ORDER]; // modes of the levels above fibers
    Entries *own;                      // one entry of each fiber that this rank has
    Entries received;                  // one or more of each that it has to have
    distal_status status;
} FiberCheck;

static bool refuse(const char *why, Diagnostics *diagnostics) {
    return !why || diagnostics_error(diagnostics, (Span){0}, "%s", why);
}

static bool find_own(void *arguments, Diagnostics *diagnostics) {
    FiberCheck *check = arguments;
    const Tensor *tensor = check->tensor->tensor;
    Entries *own = check->own;
    for (int l = 0; !level_is_padded(tensor->order, tensor->levels, l); l++)
        check->above[check->above_count++] = tensor->mode_order[l];
    const Region pieces = home_pieces(&check->tensor->home, check->context->rank, diagnostics->arena);
    if (!refuse(entries_keep_within(own, &pieces), diagnostics))
        return false;
    uint8_t *begins = calloc((size_t)own->count + 1, sizeof *begins);
    if (!begins)
        return refuse("not enough memory to find its fibers", diagnostics);
    for (int64_t e = 0; e < own->count; e++)
        for (int i = 0; i < check->above_count && !begins[e]; i++) {
            const int64_t *x = own->coordinates[check->above[i]];
            begins[e] = e == 0 || x[e] != x[e - 1];
        }
    const char *why = entries_keep(own, begins);
    free(begins);
    return refuse(why, diagnostics);
}

static distal_status refuse_missing(const FiberCheck *check, const Entries *points, int64_t missing) {
    Text text = text_create(check->context->scratch);
    for (int d = 0; d < check->tensor->tensor->order; d++) {
        int at = 0;
        while (at < check->above_count && check->above[at] != d)
            at++;
        text_append(&text, d > 0 ? ", " : "");
        if (at < check->above_count)
            text_printf(&text, "%" PRId64, points->coordinates[at][missing]);
        else
            text_append(&text, "*");
    }
    return invalid(
        check->context,
        "the arrays of tensor '%s' on rank %d lack fiber (%s), of which another rank stores a part: "
        "all ranks that have a part of it at home have to store theirs, even if that is zeros",
        check->tensor->name, check->context->rank, text_string(&text));
}

// Ranks send a fiber to all that have a part of it, themselves among them, so that this rank lacks one if it
// receives others than its own.
static bool compare(void *arguments, Diagnostics *diagnostics) {
    FiberCheck *check = arguments;
    Entries own = {0}, needed = {0};
    const char *why = entries_distinct(check->own, check->above_count, check->above, &own);
    if (!why)
        why = entries_distinct(&check->received, check->above_count, check->above, &needed);
    int64_t same = 0;
    for (bool equal = !why; equal && same < own.count; same += equal) {
        equal = same < needed.count;
        for (int i = 0; i < check->above_count && equal; i++)
            equal = own.coordinates[i][same] == needed.coordinates[i][same];
    }
    check->status = why ? DISTAL_FAILED : DISTAL_OK;
    if (!why && same < needed.count)
        check->status = refuse_missing(check, &needed, same);
    entries_free(&own);
    entries_free(&needed);
    return refuse(why, diagnostics) && check->status == DISTAL_OK;
}

distal_status fibers_check(distal_context *context, const distal_tensor *tensor, Entries *entries) {
    FiberCheck check = {.context = context, .tensor = tensor, .own = entries, .status = DISTAL_FAILED};
    const bool ok =
        agree_on_part(context->comm, find_own, &check, context->diagnostics) &&
        send_entries_home(tensor->storage, entries, &check.received, context->comm, context->diagnostics) &&
        agree_on_part(context->comm, compare, &check, context->diagnostics);
    entries_free(&check.received);
    return ok ? DISTAL_OK : check.status == DISTAL_INVALID ? DISTAL_INVALID : DISTAL_FAILED;
}
