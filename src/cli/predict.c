// SPDX-License-Identifier: BSD-3-Clause
#include "cli/predict.h"

#include "base/utf8.h"
#include "pipeline/peaks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const MachineModel *predict_model(Session *session) {
    const Options *options = session->options;
    MachineModel *model = arena_new(session->arena, MachineModel);
    const char *text = session_read(session, options->machine);
    if (!text)
        return NULL;
    const Source source = {options->machine, text};
    Diagnostics *diagnostics = diagnostics_create(session->arena, source);
    if (!machine_model_read(source, session->arena, model, diagnostics)) {
        session_print_errors(session, diagnostics);
        return NULL;
    }
    return model;
}

const ModelRanks *predict_machine(Session *session) {
    const MachineModel *model = predict_model(session);
    if (!model)
        return NULL;
    ModelRanks *placed = arena_new(session->arena, ModelRanks);
    *placed = model_ranks(model, session->pipeline->ranks, session->options->threads);
    return placed;
}

void predict_print_machine(const ModelRanks *machine, Text *to) {
    const char *unit = machine->machine->levels[0].name;
    text_append(to, "predicted for ");
    text_append_visible(to, machine->machine->name, strlen(machine->machine->name));
    text_printf(to, ": %g rank%s in a %s, of %g thread%s", machine->in_unit[0],
                machine->in_unit[0] == 1 ? "" : "s", unit, machine->threads,
                machine->threads == 1 ? "" : "s");
    if (machine->core_share < 1)
        text_printf(to, ", more than it has cores");
    text_append(to, "\n");
}

// "  moved by the busiest rank: 4.0 MiB; by any schedule at least 3.5 MiB: ..."
static void print_bound(const LowerBound *bound, const ModelRanks *machine, Text *to) {
    static const char *const formulas[] = {
        [BOUND_MEMORY] = "2 I J K / (P sqrt(S)) + S elements",
        [BOUND_PRODUCT] = "the sides of I J K / P products",
        [BOUND_SIZES] = "a share of each tensor",
    };
    if (bound->kind == BOUND_NONE)
        return;
    text_printf(to, "  moved by the busiest rank: %s", report_bytes(bound->moved_bytes, to->arena));
    if (bound->disk_bytes > 0)
        text_printf(to, ", and read and written %s", report_bytes(bound->disk_bytes, to->arena));
    text_printf(to, "; by any schedule at least %s: %s, less what is at home",
                report_bytes((int64_t)ceil(bound->bytes), to->arena), formulas[bound->kind]);
    if (bound->kind != BOUND_SIZES)
        text_printf(to, "; I = %g, J = %g, K = %g, P = %" PRId64, bound->i, bound->j, bound->k,
                    machine->ranks);
    if (bound->kind == BOUND_MEMORY)
        text_printf(to, ", S = %.0f", floor(bound->memory));
    text_append(to, "\n");
}

void predict_print(const Pipeline *pipeline, int statement, const ModelRanks *machine, Text *to) {
    const StatementPlan *plan = pipeline->plan->statements[statement];
    const Prediction prediction = predict_statement(plan, machine);
    text_append(to, "  predicted: ");
    if (!prediction.known) {
        text_append(to, "not known, as it depends on entries that are not\n");
        return;
    }
    report_seconds(prediction.total, to);
    for (int r = 0; r < RESOURCE_COUNT; r++) {
        text_printf(to, "%s%s ", r ? ", " : ": ", resource_names[r]);
        report_seconds(prediction.seconds[r], to);
    }
    if (prediction.overlapped > 0) {
        text_append(to, "; ");
        report_seconds(prediction.overlapped, to);
        text_append(to, " of these at the same time as others");
    }
    if (prediction.total > 0)
        text_printf(to, "; %s takes %.0f%%", resource_names[prediction.critical],
                    100 * fmin(1, prediction.seconds[prediction.critical] / prediction.total));
    text_append(to, "\n");
    const LowerBound bound = predict_lower_bound(plan, machine->memory);
    print_bound(&bound, machine, to);
    int64_t peak = 0;
    const int64_t *peaks = peaks_of_statement(pipeline, statement, MEMORY_HOST, to->arena);
    for (int64_t r = 0; r < plan->ranks; r++)
        peak = peaks[r] > peak ? peaks[r] : peak;
    if ((double)peak > machine->memory)
        text_printf(to, "  a rank needs %s of memory; that machine has %s for each\n",
                    report_bytes(peak, to->arena), report_bytes((int64_t)machine->memory, to->arena));
}

void predict_print_total(const Pipeline *pipeline, const ModelRanks *machine, Text *to) {
    double total = 0;
    for (int s = 0; s < pipeline->plan->statement_count; s++) {
        const Prediction prediction = predict_statement(pipeline->plan->statements[s], machine);
        if (!prediction.known)
            return;
        total += prediction.total * (double)report_executions(pipeline, s, NULL).count;
    }
    text_append(to, "  predicted: ");
    report_seconds(total, to);
    text_append(to, "\n");
}

void predict_print_json(const StatementPlan *plan, const ModelRanks *machine, Text *to) {
    const Prediction prediction = predict_statement(plan, machine);
    const LowerBound bound = predict_lower_bound(plan, machine->memory);
    if (prediction.known) {
        text_append(to, ",\n   \"predicted\": {");
        for (int r = 0; r < RESOURCE_COUNT; r++)
            text_printf(to, "\"%s\": %.6g, ", resource_names[r], prediction.seconds[r]);
        text_printf(to, "\"overlapped\": %.6g, \"total\": %.6g, \"critical\": \"%s\"}", prediction.overlapped,
                    prediction.total, resource_names[prediction.critical]);
    } else {
        text_append(to, ",\n   \"predicted\": null");
    }
    text_append(to, ", \"moved_bytes\": ");
    text_printf(to, bound.moved_bytes < 0 ? "null" : "%" PRId64, bound.moved_bytes);
    text_printf(to, ", \"disk_bytes\": %" PRId64, bound.disk_bytes);
    text_append(to, ", \"moved_at_least\": ");
    text_printf(to, bound.kind == BOUND_NONE ? "null" : "%.0f", ceil(bound.bytes));
}
