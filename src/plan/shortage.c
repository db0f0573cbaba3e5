// SPDX-License-Identifier: BSD-3-Clause
#include "plan/shortage.h"

#include <inttypes.h>

// "rank 0 needs 1.0 MiB of GPU memory, "
static Text text_of_need(MemoryId kind, int64_t rank, int64_t needed, Arena *arena) {
    Text text = text_create(arena);
    text_printf(&text, "rank %" PRId64 " needs ", rank);
    text_append_bytes(&text, needed);
    text_append(&text, kind == MEMORY_GPU ? " of GPU memory, " : " of memory, ");
    return text;
}

void shortage_of_limit(Diagnostics *diagnostics, MemoryId kind, int64_t rank, int64_t needed, int64_t limit) {
    Text text = text_of_need(kind, rank, needed, diagnostics->arena);
    text_append(&text, "more than the limit of ");
    text_append_bytes(&text, limit);
    diagnostics_error(diagnostics, (Span){0}, "%s", text_string(&text));
}

void shortage_of_free(Diagnostics *diagnostics, MemoryId kind, int64_t rank, int64_t needed, int64_t free) {
    Text text = text_of_need(kind, rank, needed, diagnostics->arena);
    text_append(&text, "of which ");
    text_append_bytes(&text, free);
    text_append(&text, " are free");
    diagnostics_error(diagnostics, (Span){0}, "%s", text_string(&text));
}

void shortage_add(Text *list, int64_t bytes, const char *what) {
    if (bytes == 0)
        return;
    text_append(list, list->length > 0 ? "; " : "");
    text_append_bytes(list, bytes);
    text_printf(list, " %s", what);
}

Text shortage_list(const StatementPlan *plan, MemoryId kind, int64_t rank, Arena *arena) {
    Text list = text_create(arena);
    for (int t = 0; t < plan->plan->tensor_count; t++) {
        const TensorFigures figures = plan_tensor_figures(plan, t);
        const int64_t home = plan->homes[t].memory == kind ? figures.home_bytes[rank] : 0;
        const int64_t *of_kind = kind == MEMORY_GPU ? figures.gpu_buffer_bytes : figures.known_buffer_bytes;
        if (home == 0 && of_kind[rank] == 0)
            continue;
        text_printf(&list, "%s%s", list.length > 0 ? "; " : "", figures.tensor->name);
        if (home > 0) {
            text_append(&list, " ");
            text_append_bytes(&list, home);
            text_append(&list, " at home");
        }
        if (of_kind[rank] > 0) {
            text_append(&list, home > 0 ? ", " : " ");
            text_append_bytes(&list, of_kind[rank]);
            text_append(&list, " in buffers");
        }
    }
    if (kind == MEMORY_GPU && plan->spmd->on_gpu) {
        shortage_add(&list, plan->spmd->gpu_contracts ? DEVICE_SPACE : 0, "for operands of contractions");
        shortage_add(&list, plan_rows_bytes(plan), "for row workspaces");
        shortage_add(&list, DEVICE_SCRATCH, "for partial results of blocks");
    }
    return list;
}

void shortage_note(Diagnostics *diagnostics, const StatementPlan *plan, int64_t rank, const Text *list) {
    diagnostics_note(diagnostics, (Span){0}, "rank %" PRId64 " while it computes %s: %s", rank,
                     plan->target->name, text_string(list));
}
