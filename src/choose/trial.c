// SPDX-License-Identifier: BSD-3-Clause
#include "choose/trial.h"

#include "base/integer.h"
#include "choose/estimate.h"
#include "choose/known.h"
#include "choose/outside.h"
#include "choose/tiling.h"

#include <math.h>
#include <string.h>

static const Tensor *tensor_in(void *context, const Tensor *tensor) {
    const Tensor *const *tensors = context;
    return tensors[tensor->id];
}

static Statement with_tensors(const Search *search, const Statement *statement,
                              const Tensor *const *tensors) {
    void *context = (void *)tensors;
    Statement copy = *statement;
    copy.assignment = assignment_with_tensors(search->arena, statement->assignment, tensor_in, context);
    Command *commands = arena_array(search->arena, Command, statement->command_count);
    for (int c = 0; c < statement->command_count; c++)
        commands[c] = command_copy(search->arena, &statement->commands[c], tensor_in, context);
    copy.commands = commands;
    return copy;
}

void trial_build(Search *search, const unsigned char *places, const SearchStatement *statement,
                 const Candidate *candidate, const Form *form, Built *built) {
    const SearchStatement *reads = outside_write(search, statement, candidate, form, places, built);
    array_push(search->arena, built->statements, commands_build(search, reads, candidate, form));
}

Program trial_program(const Search *search, const unsigned char *places, const Built *built) {
    const Program *from = search->program;
    Arena *arena = search->arena;
    Program program = *from;
    const Machine **machines = arena_array(arena, const Machine *, search->machines.count);
    for (int64_t m = 0; m < search->machines.count; m++)
        machines[m] = search->machines.items[m].machine;
    const int added = (int)built->tensors.count;
    const Tensor **tensors = arena_array(arena, const Tensor *, from->tensor_count + added);
    for (int t = 0; t < added; t++)
        tensors[from->tensor_count + t] = built->tensors.items[t];
    for (int t = 0; t < from->tensor_count; t++) {
        Tensor *tensor = arena_copy(arena, from->tensors[t], sizeof *tensor);
        if (search->tensors[t].free && places[t] != NO_PLACE)
            tensor->placement = search->tensors[t].places[places[t]]->placement;
        tensors[t] = tensor;
    }
    Statement *copies = arena_array(arena, Statement, built->statements.count);
    for (int64_t s = 0; s < built->statements.count; s++)
        copies[s] = with_tensors(search, &built->statements.items[s], tensors);
    Repetition *repetitions = arena_array(arena, Repetition, from->repetition_count);
    for (int r = 0; r < from->repetition_count; r++) {
        repetitions[r] = from->repetitions[r];
        if (repetitions[r].until)
            repetitions[r].until =
                assignment_with_tensors(arena, repetitions[r].until, tensor_in, (void *)tensors);
    }
    program.machines = machines;
    program.machine_count = (int)search->machines.count;
    program.tensors = tensors;
    program.tensor_count += added;
    program.statement_count = (int)built->statements.count;
    program.statements = copies;
    program.repetitions = repetitions;
    return program;
}

// At most, of a rank: of tensors that lie nowhere while nothing but this statement is planned. They are whole
// on the first rank, but for those that a schedule of the program distributes, which are not known.
static int64_t bytes_elsewhere(const Search *search, const StatementPlan *plan) {
    double bytes = 0;
    for (int t = 0; t < search->program->tensor_count; t++)
        if (!plan->homes[t].known && !search->tensors[t].used_by_kept)
            bytes += search->tensors[t].bytes;
    return (int64_t)fmin(bytes, 1e18);
}

// Adds what the busiest rank receives or sends in all transfers, and the predicted time; the largest peak.
// False where the time is not known.
static bool add_figures(const Search *search, const StatementPlan *plan, Alternative *figures) {
    const StatementFigures *all = plan_figures(plan);
    const int64_t elsewhere = bytes_elsewhere(search, plan);
    Alternative most = {0};
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        int64_t bytes = 0, messages = 0, disk = 0;
        for (int t = 0; t < plan->spmd->transfer_count; t++) {
            bytes = saturated_add(bytes, all->transfers[t].bytes[rank]);
            messages = saturated_add(messages, all->transfers[t].messages[rank]);
            const IoCounts *io = all->transfers[t].io;
            if (io)
                disk = saturated_add(disk, saturated_add(io[rank].bytes_read, io[rank].bytes_written));
        }
        most.bytes = max_i64(most.bytes, bytes);
        most.disk_bytes = max_i64(most.disk_bytes, disk);
        most.messages = max_i64(most.messages, messages);
        figures->peak_bytes = max_i64(figures->peak_bytes, saturated_add(all->peak_bytes[rank], elsewhere));
    }
    figures->bytes = saturated_add(figures->bytes, most.bytes);
    figures->disk_bytes = saturated_add(figures->disk_bytes, most.disk_bytes);
    figures->messages = saturated_add(figures->messages, most.messages);
    const Prediction prediction = predict_statement(plan, &search->model);
    figures->seconds += prediction.total;
    return prediction.known;
}

// Whether the call of a library executes all loops of the leaf in a nest's body, if there is one.
static bool is_called(const SpmdNode *body) {
    const Leaf *leaf = spmd_leaf(body);
    return !leaf || (leaf->call && leaf->call_loops == leaf->loop_count);
}

static bool is_distributed(const Cin *cin) {
    bool distributed = false;
    for (int64_t d = 0; d < cin->directives.count; d++)
        distributed = distributed || cin->directives.items[d]->kind == DIRECTIVE_DISTRIBUTE;
    return distributed;
}

// Whether entries divide the loops, where the candidate says that they do.
static bool is_balanced(const StatementPasses *passes, const Candidate *candidate) {
    bool balanced = !candidate || !candidate->by;
    for (int64_t r = 0; r < passes->scheduled->relations.count; r++)
        balanced = balanced || passes->scheduled->relations.items[r]->kind->stored ||
                   passes->scheduled->relations.items[r]->kind == &relation_balance;
    return balanced;
}

static bool plan_program(Search *search, const Program *program, const Candidate *candidate, Trial *trial,
                         Diagnostics *diagnostics) {
    Pipeline *pipeline = search_pipeline(search, program, diagnostics);
    // Loops over entries may be refused.
    if (!pipeline_run(pipeline, search->any_sparse ? PASS_LOOPS : PASS_SPMD) ||
        !is_balanced(&pipeline->statements[program->statement_count - 1], candidate))
        return false;
    pipeline->params[0] = search->ranks;
    const PlanOptions options = {.ranks = search->ranks,
                                 .sampled = true,
                                 .threads = search->options->threads,
                                 .largest = search->processors};
    const Plan *plan = known_plan(search, pipeline, options, diagnostics);
    if (!plan)
        return false;
    trial->figures = (Alternative){0};
    trial->unknown = false;
    for (int s = 0; s < program->statement_count; s++)
        trial->unknown |= !add_figures(search, plan->statements[s], &trial->figures);
    const StatementPlan *statement = plan->statements[program->statement_count - 1];
    trial->alone = search->ranks > 1 && !is_distributed(statement->spmd->cin);
    trial->figures.pinned = trial->form.kind >= FORM_CHUNKS && !is_called(statement->spmd->nests[0].body);
    return !trial->unknown || diagnostics_error(diagnostics, statement->spmd->cin->assignment->span,
                                                "what moves of '%s' is known only when it has been computed",
                                                statement->target->name);
}

void trial_plan(Search *search, const unsigned char *places, const SearchStatement *statement, Trial *trial,
                Diagnostics *diagnostics) {
    const Candidate *candidate = trial->candidate < 0 ? NULL : &statement->candidates.items[trial->candidate];
    // All that is made for the plan goes, but for the figures.
    Search copy = *search;
    copy.arena = arena_create_within(search->arena);
    Built built = {0};
    trial_build(&copy, places, statement, candidate, &trial->form, &built);
    Program program = trial_program(&copy, places, &built);
    program.repetition_count = 0;
    trial->planned = plan_program(&copy, &program, candidate, trial, diagnostics);
    arena_free(copy.arena);
    const int64_t limit = search->limit;
    Alternative *figures = &trial->figures;
    figures->where = candidate ? commands_where(search, statement, candidate) : "";
    figures->how = commands_how(search, statement, candidate, &trial->form);
    if (statement->sparse && !candidate && !statement->kept)
        figures->how = trial->unknown ? "no schedule: the time is not known"
                       : trial->alone ? "no schedule, on one rank"
                                      : figures->how;
    figures->fits = limit <= 0 || figures->peak_bytes <= limit;
}

// What one candidate moves with these places, access by access.
typedef struct {
    Search *search;
    const SearchStatement *statement;
    const Candidate *candidate;
    const unsigned char *places;
    int count;                 // of accesses that may move in a loop
    double bytes[MOST_INSIDE]; // of the block that a rank uses; 0 where nothing of it moves
    double summed;             // of all accesses
} Traffic;

// In bytes, of the sampled processors.
static double largest_footprint(const Traffic *traffic, const UsedAccess *used) {
    const Search *search = traffic->search;
    int64_t most = 0;
    for (int i = 0; i < search->sample_count; i++) {
        Rect rect;
        if (estimate_footprint(search, traffic->statement, traffic->candidate, used, search->samples[i],
                               &rect))
            most = max_i64(most, rect_volume(&rect));
    }
    return (double)most * (double)type_info(used->access->tensor->type)->size;
}

static void find_traffic(Traffic *traffic, int64_t candidate) {
    const SearchStatement *statement = traffic->statement;
    traffic->count = statement->access_count < MOST_INSIDE ? statement->access_count : MOST_INSIDE;
    for (int a = 0; a < statement->access_count; a++) {
        const UsedAccess *used = &statement->accesses[a];
        const int place = traffic->places[used->access->tensor->id];
        if (place == NO_PLACE || statement->costs[candidate][a * MOST_PLACES + place] <= 0)
            continue;
        const double bytes = largest_footprint(traffic, used);
        if (a < traffic->count)
            traffic->bytes[a] = bytes;
        traffic->summed += bytes;
    }
}

// The accesses that move and have a variable; *bytes is set to theirs.
static uint64_t inside(const Traffic *traffic, int var, double *bytes) {
    uint64_t set = 0;
    *bytes = 0;
    for (int a = 0; a < traffic->count; a++)
        if (traffic->bytes[a] > 0 && traffic->statement->accesses[a].vars >> var & 1) {
            set |= (uint64_t)1 << a;
            *bytes += traffic->bytes[a];
        }
    return set;
}

// The parts that all operands that move are divided into along the variable, where they lie; 0 where these
// are different.
static int64_t parts_of(const Traffic *traffic, int var, uint64_t set) {
    int64_t parts = 0;
    for (int a = 0; a < traffic->count; a++) {
        if (!(set >> a & 1))
            continue;
        const UsedAccess *used = &traffic->statement->accesses[a];
        const int id = used->access->tensor->id;
        const Placement *placement = traffic->search->tensors[id].places[traffic->places[id]]->placement;
        int64_t own = 0;
        if (used->is_result || !placement)
            return 0;
        for (int d = 0; d < placement->machine->order; d++) {
            const PlaceEntry *entry = &placement->entries[d];
            if (entry->kind == PLACE_PARTITION && access_mode_var(used->access, entry->mode) == var &&
                !entry->cycle && entry->balance == BALANCE_NONE && own == 0)
                int_eval(placement->machine->extents[d], traffic->search->params, NULL, &own);
        }
        if (own == 0 || (parts > 0 && own != parts))
            return 0;
        parts = own;
    }
    return parts;
}

static void add_form(const Traffic *traffic, int64_t candidate, Form form, int64_t steps,
                     TrialArray *trials) {
    const double seconds =
        sequence_cost(traffic->statement, candidate, traffic->places) +
        traffic->search->rates.latency * (double)(steps - 1) * (double)__builtin_popcountll(form.inside);
    array_push(traffic->search->arena, *trials,
               (Trial){.candidate = candidate, .form = form, .estimate = seconds});
}

// The longest chunks that fit into the limit, else as many as the grid has parts.
static int64_t chunk_of(const Traffic *traffic, const Places *places, int var, double bytes) {
    const int64_t length = estimate_block(traffic->statement, traffic->candidate, var),
                  limit = traffic->search->limit;
    int64_t parts = 2;
    for (int d = 0; d < traffic->candidate->count; d++)
        parts = max_i64(parts, traffic->candidate->sizes[d]);
    int64_t size = ceil_div(length, parts);
    if (limit > 0) {
        const double left = (double)limit - (double)places->bytes - (traffic->summed - bytes);
        const double fitting = floor(left / (bytes / (double)max_i64(1, length)));
        size = fitting < 1 ? 1 : min_i64(size, (int64_t)fmin(fitting, (double)size));
    }
    return max_i64(1, size);
}

// Loops over tiles in the best orders. Plans list each message of a copy: of those with too many there is
// none.
static void add_found(const Traffic *traffic, const Places *places, int64_t candidate, int rotated,
                      int64_t steps, uint64_t outside, int most, TrialArray *trials) {
    Search *search = traffic->search;
    const double memory = tiling_memory(search, places->places);
    const double most_messages = 1 << 18;
    Tiling *found = arena_array(search->arena, Tiling, most);
    const int count = tiling_find(search, traffic->statement, traffic->candidate, places->places, memory,
                                  rotated, steps, outside, found, most);
    for (int i = 0; i < count; i++) {
        const Form form = {.kind = FORM_TILES, .tiling = &found[i], .memory = memory};
        if (outside_messages(search, traffic->statement, traffic->candidate, &form, places->places) <=
            most_messages)
            array_push(search->arena, *trials,
                       (Trial){.candidate = candidate, .form = form, .estimate = found[i].seconds});
    }
}

// Loops over tiles; and with shifts, where operands lie in equal parts of a variable; and with operands that
// are copied first.
static void add_tilings(Search *search, const Traffic *traffic, const Places *places, double copied,
                        int64_t candidate, TrialArray *trials) {
    enum { MOST_TILINGS = 3, MOST_SHIFTED = 2, MOST_OUTSIDE = 2 };
    const SearchStatement *statement = traffic->statement;
    const int64_t first = trials->count;
    for (int v = -1; v < statement->cin->var_count; v++) {
        double bytes;
        int64_t parts = 1;
        if (v >= 0) {
            if (!(statement->nests[0].loops >> v & 1) ||
                estimate_block(statement, traffic->candidate, v) != statement->extents[v])
                continue;
            parts = parts_of(traffic, v, inside(traffic, v, &bytes));
            if (parts < 2)
                continue;
        }
        add_found(traffic, places, candidate, v, parts, 0, v < 0 ? MOST_TILINGS : MOST_SHIFTED, trials);
    }
    // Where some operand is brought more than once, and others than its owners use it.
    const Tiling *inside = trials->items[first].form.tiling;
    uint64_t possible = outside_possible(search, statement, places->places);
    for (int a = 0; a < traffic->count; a++)
        if (traffic->bytes[a] <= 0)
            possible &= ~((uint64_t)1 << a);
    for (uint64_t set = possible; set && inside->loop_count > 0; set = (set - 1) & possible)
        if (outside_fits(search, statement, traffic->candidate, places->places, set, copied))
            add_found(traffic, places, candidate, -1, 1, set, MOST_OUTSIDE, trials);
}

bool trial_retile(Search *search, const Places *places, const SearchStatement *statement, double factor,
                  Trial *trial) {
    const Tiling *before = trial->form.tiling;
    Tiling *tiling = arena_new(search->arena, Tiling);
    trial->form.memory *= factor;
    *tiling = tiling_resize(search, statement, &statement->candidates.items[trial->candidate], places->places,
                            trial->form.memory, trial->form.tiling);
    trial->form.tiling = tiling;
    return tiling->loop_count != before->loop_count ||
           memcmp(tiling->loops, before->loops, sizeof tiling->loops) != 0 ||
           memcmp(tiling->lengths, before->lengths, sizeof tiling->lengths) != 0 ||
           memcmp(tiling->at, before->at, sizeof tiling->at) != 0;
}

void trial_forms(Search *search, const Places *places, double copied, const SearchStatement *statement,
                 int64_t candidate, TrialArray *trials) {
    enum { MOST_CHUNKED = 2 };
    Traffic traffic = {.search = search,
                       .statement = statement,
                       .candidate = &statement->candidates.items[candidate],
                       .places = places->places};
    find_traffic(&traffic, candidate);
    if (statement->tiled) { // one tile is all at once
        add_tilings(search, &traffic, places, copied, candidate, trials);
        return;
    }
    add_form(&traffic, candidate, (Form){.kind = FORM_ONCE}, 1, trials);
    if (traffic.candidate->by)
        return;
    if (statement->default_count > 0)
        add_form(&traffic, candidate, (Form){.kind = FORM_ONCE, .fused = true}, 1, trials);
    if (statement->nest_count != 1 || statement->default_count > 0 || traffic.summed <= 0)
        return;
    uint64_t tried = 0;
    for (int i = 0; i < MOST_CHUNKED; i++) {
        int best = -1;
        double most = 0;
        for (int v = 0; v < statement->cin->var_count; v++) {
            double bytes;
            if (!(statement->nests[0].loops >> v & 1) || (tried | statement->sparse) >> v & 1 ||
                estimate_block(statement, traffic.candidate, v) < 2)
                continue;
            inside(&traffic, v, &bytes);
            if (bytes > most) {
                most = bytes;
                best = v;
            }
        }
        if (best < 0)
            return;
        tried |= (uint64_t)1 << best;
        double bytes;
        const uint64_t set = inside(&traffic, best, &bytes);
        const int64_t size = chunk_of(&traffic, places, best, bytes);
        // Where the variable is distributed, each of its shares is divided into as many parts: a layer
        // of 2.5D.
        const int64_t shares =
            ceil_div(statement->extents[best], estimate_block(statement, traffic.candidate, best));
        const int64_t parts = parts_of(&traffic, best, set), steps = parts / shares;
        if (steps > 1 && parts % shares == 0)
            add_form(&traffic, candidate,
                     (Form){.kind = FORM_ROTATE, .var = best, .size = steps, .inside = set}, steps, trials);
        if (size < estimate_block(statement, traffic.candidate, best))
            add_form(&traffic, candidate,
                     (Form){.kind = FORM_CHUNKS, .var = best, .size = size, .inside = set},
                     ceil_div(estimate_block(statement, traffic.candidate, best), size), trials);
    }
}
