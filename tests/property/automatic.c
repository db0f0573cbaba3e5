// SPDX-License-Identifier: BSD-3-Clause
#include "automatic.h"

#include "base/integer.h"
#include "generate.h"
#include "random.h"
#include "sparse_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AUTOMATIC_PERCENT = 20, MOST_RANKS = 12 };

static void drop_machines(Random *random, Draft *draft) {
    draft->machines[0] = draft->machines[1] = (DraftMachine){0};
    draft->ranks = random_between(random, 1, MOST_RANKS);
    for (int t = 0; t < draft->tensor_count; t++)
        draft->tensors[t].placed = false;
}

void draw_automatic(Draft *draft) {
    enum { MACHINE_PERCENT = 40, PLACED_PERCENT = 60, SCHEDULE_PERCENT = 15 };
    Random random = random_stream(draft->seed ^ 0xA070, (uint64_t)draft->index);
    draft->automatic = random_chance(&random, AUTOMATIC_PERCENT);
    if (!draft->automatic)
        return;
    const bool sparse = draft->space && strcmp(draft->space, sparse_space) == 0;
    const bool bare = draft->machines[0].level_count == 0 || !random_chance(&random, MACHINE_PERCENT);
    if (bare)
        drop_machines(&random, draft);
    bool any_schedule = false;
    for (int s = 0; s < draft->statement_count; s++) {
        DraftStatement *statement = &draft->statements[s];
        if (!bare && random_chance(&random, SCHEDULE_PERCENT)) {
            any_schedule |= statement->has_schedule;
            continue;
        }
        statement->has_schedule = false;
        statement->command_count = 0;
    }
    // A schedule may name the tensor that it distributes onto, and a placement the one that it is balanced
    // by.
    any_schedule |= sparse && random_chance(&random, PLACED_PERCENT);
    for (int t = 0; t < draft->tensor_count; t++) {
        draft->tensors[t].in_gpu = false;
        draft->tensors[t].placed &= any_schedule || (!sparse && random_chance(&random, PLACED_PERCENT));
    }
}

static double draw_factor(Random *random) {
    return exp2(random_between(random, -6, 6));
}

// Another ratio of computing, messages and bytes than the default one has, so that other candidates are best.
static MachineModel draw_model(Random *random) {
    MachineModel model = machine_model_default();
    for (int l = 0; l < model.level_count; l++) {
        model.levels[l].latency *= draw_factor(random) / 64;
        model.levels[l].bandwidth = curve_constant(model.levels[l].bandwidth.values[0] * draw_factor(random));
    }
    model.disk_read = curve_constant(model.disk_read.values[0] * draw_factor(random));
    model.disk_write = curve_constant(model.disk_write.values[0] * draw_factor(random));
    model.disk_space = random_chance(random, 20) ? 1 << random_between(random, 10, 16) : 0;
    model.rates[MODEL_GEMM] = curve_constant(model.rates[MODEL_GEMM].values[0] * draw_factor(random));
    model.overhead *= draw_factor(random) / 64;
    model.ranks = random_chance(random, 50) ? 0 : random_between(random, 1, 4);
    return model;
}

// The entries that sparse inputs have in the first round; of some none are known.
static Entries *draw_known(Random *random, const Draft *draft, const Pipeline *pipeline) {
    enum { KNOWN_PERCENT = 80 };
    const Program *program = pipeline->program;
    const int64_t *params = program_param_values(program, pipeline->arena);
    Entries *known = arena_array(pipeline->arena, Entries, program->tensor_count);
    for (int t = 0; t < program->tensor_count; t++) {
        const Tensor *tensor = program->tensors[t];
        int64_t extents[MAX_ORDER];
        bool knows = tensor_is_sparse(tensor) && program_is_input(program, tensor) &&
                     random_chance(random, KNOWN_PERCENT);
        for (int m = 0; m < tensor->order; m++)
            knows = int_eval(tensor->extents[m], params, NULL, &extents[m]) && knows;
        if (knows && !sparse_input(drawn_tensor(draft, tensor), tensor, extents, draft->input_seed,
                                   draft->input_seed, &known[t]))
            abort(); // there is little
    }
    return known;
}

static const Chosen *choose_drawn(Random *random, Pipeline *pipeline, ChooseOptions options) {
    enum { LIMIT_PERCENT = 60, ALL_PERCENT = 30 };
    bool fits;
    const Chosen *chosen = choose(pipeline->arena, pipeline->program, &options, &fits, pipeline->diagnostics);
    if (!chosen || !random_chance(random, LIMIT_PERCENT))
        return chosen;
    // With less memory than that nothing may fit, which is no mistake.
    const int percent = random_chance(random, ALL_PERCENT) ? 100 : random_between(random, 20, 99);
    options.memory_limit = max_i64(1, chosen->peak_bytes * percent / 100);
    Diagnostics *refused = diagnostics_create(pipeline->arena, pipeline->source);
    const Chosen *fitting = choose(pipeline->arena, pipeline->program, &options, &fits, refused);
    if (fitting || (!fits && percent < 100))
        return fitting ? fitting : chosen;
    pipeline->diagnostics = refused;
    return NULL;
}

const Chosen *automatic_choose(const Draft *draft, Pipeline *pipeline) {
    Random random = random_stream(draft->seed ^ 0xA071, (uint64_t)draft->index);
    const MachineModel model = draw_model(&random);
    ChooseOptions options = {.ranks = draft->ranks,
                             .threads = 1,
                             .least_steps = draft_divides(draft) ? LEAST_STEPS : 0,
                             .model = &model};
    if (!pipeline_run(pipeline, PASS_PROGRAM))
        return NULL;
    Entries *known = draw_known(&random, draft, pipeline);
    options.entries = known;
    const Chosen *chosen = choose_drawn(&random, pipeline, options);
    for (int t = 0; t < pipeline->program->tensor_count; t++)
        entries_free(&known[t]);
    return chosen;
}

// Adds what the busiest rank receives, or sends of results, and what any reads and writes in disk; the most
// memory that any has.
static void add_busiest(const StatementPlan *plan, Alternative *sum) {
    const StatementFigures *figures = plan_figures(plan);
    Alternative most = {0};
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        int64_t bytes = 0, messages = 0, disk = 0;
        for (int t = 0; t < plan->spmd->transfer_count; t++) {
            bytes += figures->transfers[t].bytes[rank];
            messages += figures->transfers[t].messages[rank];
            if (figures->transfers[t].io)
                disk +=
                    figures->transfers[t].io[rank].bytes_read + figures->transfers[t].io[rank].bytes_written;
        }
        most.bytes = max_i64(most.bytes, bytes);
        most.messages = max_i64(most.messages, messages);
        most.disk_bytes = max_i64(most.disk_bytes, disk);
        sum->peak_bytes = max_i64(sum->peak_bytes, figures->peak_bytes[rank]);
    }
    sum->bytes += most.bytes;
    sum->messages += most.messages;
    sum->disk_bytes += most.disk_bytes;
}

const char *automatic_check(const Chosen *chosen, const Pipeline *pipeline) {
    for (int s = 0; s < chosen->program->statement_count; s++) {
        Alternative planned = {0};
        for (int c = s - chosen->copies[s]; c <= s; c++)
            add_busiest(pipeline->plan->statements[c], &planned);
        // The plan does not know what sparse tensors store: what moves and is in buffers is a bound. An
        // execution compares that.
        if (assignment_sparse(chosen->program->statements[s].assignment))
            continue;
        if (planned.peak_bytes > chosen->peak_bytes)
            return arena_printf(pipeline->arena,
                                "a rank has %" PRId64 " bytes of memory in statement %d, chosen for %" PRId64,
                                planned.peak_bytes, s, chosen->peak_bytes);
        if (chosen->alternatives[s].count == 0)
            continue;
        const Alternative *said = &chosen->alternatives[s].items[0];
        if (planned.bytes != said->bytes || planned.messages != said->messages)
            return arena_printf(pipeline->arena,
                                "statement %d moves %" PRId64 " bytes in %" PRId64
                                " messages, chosen for %" PRId64 " in %" PRId64,
                                s, planned.bytes, planned.messages, said->bytes, said->messages);
        if (planned.disk_bytes != said->disk_bytes)
            return arena_printf(pipeline->arena,
                                "statement %d reads and writes %" PRId64
                                " bytes in disk, chosen for %" PRId64,
                                s, planned.disk_bytes, said->disk_bytes);
    }
    return NULL;
}
