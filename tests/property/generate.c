// SPDX-License-Identifier: BSD-3-Clause
// Machine, ranks and placements of a drawn program.
#include "generate.h"
#include "automatic.h"
#include "base/integer.h"

#include <string.h>

int draw_size(Random *random, Draft *draft, char letter, int64_t value) {
    static const int weights[] = {
        [SIZE_LITERAL] = 40, [SIZE_PARAM] = 45, [SIZE_DIFFERENCE] = 10, [SIZE_HALF] = 5};
    draft->sizes[draft->size_count] =
        (DraftSize){letter, (SizeForm)random_weighted(random, weights, 4), value};
    return draft->size_count++;
}

// `count` factors of `product`, 1 among them, in any order.
static void draw_factors(Random *random, int product, int count, int *factors) {
    for (int d = 0; d < count; d++)
        factors[d] = 1;
    for (int prime = 2; product > 1; prime++)
        while (product % prime == 0) {
            factors[random_below(random, count)] *= prime;
            product /= prime;
        }
}

static void draw_machine(Random *random, Draft *draft) {
    static const int few[] = {2, 4, 6, 8, 12}, many[] = {14, 16, 18, 20, 24};
    static const int levels_weights[] = {8, 60, 24, 6, 2}, dims_weights[] = {30, 45, 25};
    static const char *const names[] = {"node", "socket", "core", "gpu"};
    DraftMachine *machine = &draft->machines[0];
    machine->level_count = random_weighted(random, levels_weights, 5);
    if (machine->level_count == 0)
        return;
    int size = random_chance(random, 10)   ? many[random_below(random, 5)]
               : random_chance(random, 50) ? few[random_below(random, 5)]
                                           : random_between(random, 1, 12);
    int skip = machine->level_count == 1 ? 0 : random_below(random, 5 - machine->level_count);
    for (int l = 0; l < machine->level_count; l++) {
        machine->levels[l] = machine->level_count == 1 && random_chance(random, 90) ? "" : names[skip + l];
        machine->level_order[l] = machine->level_count == 1   ? 1 + random_weighted(random, dims_weights, 3)
                                  : machine->level_count <= 3 ? random_between(random, 1, 2)
                                                              : 1;
        machine->order += machine->level_order[l];
    }
    int factors[DRAFT_DIMS];
    draw_factors(random, size, machine->order, factors);
    for (int d = 0; d < machine->order; d++)
        machine->sizes[d] = draw_size(random, draft, 'g', factors[d]);
}

// As many as there are processors, or a divisor of that; at most 12.
static int draw_ranks(Random *random, const Draft *draft) {
    int64_t processors = draft_processors(&draft->machines[0], draft);
    if (draft->machines[0].level_count == 0)
        return random_between(random, 1, 5);
    if (processors <= 12 && random_chance(random, 70))
        return (int)processors;
    int divisors[12], count = 0;
    for (int n = 1; n <= 12; n++)
        if (processors % n == 0)
            divisors[count++] = n;
    return divisors[count - 1 - (random_chance(random, 60) ? 0 : random_below(random, count))];
}

void draw_other_machine(Random *random, Draft *draft, int processors) {
    DraftMachine *machine = &draft->machines[1];
    int factors[2];
    *machine = (DraftMachine){.level_count = 1, .levels = {""}, .order = random_between(random, 1, 2)};
    machine->level_order[0] = machine->order;
    if (machine->order == 2 && random_chance(random, 40))
        *machine =
            (DraftMachine){.level_count = 2, .levels = {"socket", "core"}, .level_order = {1, 1}, .order = 2};
    draw_factors(random, processors, machine->order, factors);
    for (int d = 0; d < machine->order; d++)
        machine->sizes[d] = draw_size(random, draft, 'g', factors[d]);
}

void draw_idle_ranks(Draft *draft) {
    enum { PERCENT = 10, MOST_RANKS = 12, MOST_IDLE = 3 };
    Random random = random_stream(draft->seed ^ 0x1D7E, (uint64_t)draft->index);
    const int64_t processors = draft_processors(&draft->machines[0], draft);
    if (draft->machines[0].level_count == 0 || draft->machines[1].level_count > 0 ||
        processors >= MOST_RANKS || draft->size_count + 2 > DRAFT_SIZES || !random_chance(&random, PERCENT))
        return;
    for (int s = 0; s < draft->size_count; s++)
        if (draft->sizes[s].form == SIZE_RANKS)
            draft->sizes[s].form = SIZE_LITERAL;
    const int64_t most = min_i64(processors + MOST_IDLE, MOST_RANKS);
    draft->ranks = random_between(&random, (int)processors + 1, (int)most);
    draw_other_machine(&random, draft, draft->ranks);
}

static int draw_entry(Random *random, int64_t size, const DraftTensor *tensor, bool *used) {
    int free_modes[DRAFT_ORDER], count = 0;
    for (int m = 0; m < tensor->order; m++)
        if (!used[m])
            free_modes[count++] = m;
    if (count > 0 && random_chance(random, 65)) {
        int mode = free_modes[random_below(random, count)];
        used[mode] = true;
        return mode;
    }
    if (random_chance(random, 55))
        return ENTRY_REPLICATE;
    return ENTRY_FIX - (random_chance(random, 60) ? 0 : random_below(random, (int)size));
}

// Short blocks, so that several fit, and now and then one that takes all.
static int draw_cycle(Random *random) {
    static const int weights[] = {40, 25, 15, 10, 5, 5}, lengths[] = {1, 2, 3, 4, 7, 1000};
    return lengths[random_weighted(random, weights, 6)];
}

void draw_placement(Random *random, Draft *draft, DraftTensor *tensor) {
    const bool first = tensor == draft->tensors;
    tensor->machine = draft->machines[1].order > 0 && !first && random_chance(random, 50);
    const DraftMachine *machine = &draft->machines[tensor->machine];
    // M has to be in use for another machine to be allowed.
    tensor->placed =
        machine->level_count > 0 && (random_chance(random, 70) || (first && draft->machines[1].order > 0));
    // The modes in order along the dimensions in order, as most programs have them, or anything.
    bool natural = random_chance(random, 35);
    for (int l = 0, d = 0; l < machine->level_count; l++) {
        bool used[DRAFT_ORDER] = {false};
        for (int k = 0; k < machine->level_order[l]; k++, d++)
            tensor->entries[d] =
                natural && k < tensor->order
                    ? k
                    : draw_entry(random, draft->sizes[machine->sizes[d]].value, tensor, used);
        for (int k = 0; natural && k < machine->level_order[l]; k++)
            if (k >= tensor->order)
                tensor->entries[d - machine->level_order[l] + k] = ENTRY_REPLICATE;
    }
    const bool cyclic = random_chance(random, 25);
    for (int d = 0; d < machine->order; d++)
        tensor->cycles[d] = cyclic && random_chance(random, 75) ? draw_cycle(random) : 0;
    draw_lengths(random, machine->order, tensor);
}

void draw_processors(Random *random, Draft *draft) {
    draw_machine(random, draft);
    draft->ranks = draw_ranks(random, draft);
    for (int d = 0; d < draft->machines[0].order; d++) {
        DraftSize *size = &draft->sizes[draft->machines[0].sizes[d]];
        if (size->value == draft->ranks && random_chance(random, 15))
            size->form = SIZE_RANKS;
    }
    if (draft->ranks > 1 && draft->machines[0].order > 0 && random_chance(random, 12))
        draw_other_machine(random, draft, random_between(random, 1, draft->ranks));
}

void draw_mode_order(Random *random, int percent, DraftTensor *tensor) {
    tensor->reordered = tensor->order > 1 && random_chance(random, percent);
    for (int m = 0; m < tensor->order; m++)
        tensor->mode_order[m] = m;
    if (tensor->reordered)
        random_shuffle(random, tensor->mode_order, tensor->order);
}

void draw_placements(Random *random, Draft *draft) {
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        tensor->formats = random_chance(random, 4);
        tensor->in_host = random_chance(random, 4);
        draw_mode_order(random, 12, tensor);
        draw_placement(random, draft, tensor);
    }
}

// Of some programs, any tensors that are placed. From numbers of its own: all else is drawn as without.
static void draw_disk(Draft *draft) {
    enum { PROGRAMS_PERCENT = 30, TENSORS_PERCENT = 65, IN_ONE_FILE_PERCENT = 40 };
    Random random = random_stream(draft->seed ^ 0xD15Cu, (uint64_t)draft->index);
    const bool some = random_chance(&random, PROGRAMS_PERCENT);
    for (int t = 0; t < draft->tensor_count; t++)
        draft->tensors[t].in_disk = random_chance(&random, TENSORS_PERCENT) && some;
    for (int t = 0; t < draft->tensor_count; t++)
        draft->tensors[t].in_one_file = random_chance(&random, IN_ONE_FILE_PERCENT);
}

// The same in memory of a GPU, of others among these programs.
void draw_gpu(Draft *draft) {
    enum { PROGRAMS_PERCENT = 30, TENSORS_PERCENT = 65 };
    Random random = random_stream(draft->seed ^ 0x96D0u, (uint64_t)draft->index);
    const bool some = random_chance(&random, PROGRAMS_PERCENT);
    for (int t = 0; t < draft->tensor_count; t++)
        draft->tensors[t].in_gpu = random_chance(&random, TENSORS_PERCENT) && some;
}

// Of some statements on a GPU, schedules with workspaces, of which most are filled inside of loops. From
// numbers of its own as well.
void draw_gpu_workspaces(Draft *draft) {
    enum { STATEMENTS_PERCENT = 60 };
    Random random = random_stream(draft->seed ^ 0xA57Eu, (uint64_t)draft->index);
    for (int s = 0; s < draft->statement_count; s++)
        if (random_chance(&random, STATEMENTS_PERCENT))
            draw_workspaces_on_gpu(&random, draft, s);
}

// Puts the value of a size in place of some integers, but not in arguments of calls and in divisors, whose
// values matter.
static void put_size(Random *random, DraftStatement *statement, int node, int size) {
    enum { PERCENT = 50 };
    DraftNode *at = &statement->nodes[node];
    if (at->kind == NODE_NUMBER && strspn(at->number, "0123456789") == strlen(at->number) &&
        random_chance(random, PERCENT))
        *at = (DraftNode){.kind = NODE_NUMBER, .size = size};
    if (at->kind == NODE_ACCESS || at->kind == NODE_NUMBER || at->kind == NODE_CALL)
        return;
    put_size(random, statement, at->left, size);
    if (at->right >= 0 && at->kind != NODE_DIV)
        put_size(random, statement, at->right, size);
}

// A param that is a value. From numbers of its own.
void draw_params(Draft *draft) {
    Random random = random_stream(draft->seed ^ 0x9A4Au, (uint64_t)draft->index);
    if (draft->size_count == DRAFT_SIZES)
        return;
    const int size = draft->size_count++;
    draft->sizes[size] =
        (DraftSize){.letter = 'v', .form = SIZE_PARAM, .value = random_between(&random, 1, 9)};
    for (int s = 0; s < draft->statement_count; s++)
        put_size(&random, &draft->statements[s], draft->statements[s].root, size);
}

void draw_schedules(Random *random, Draft *draft) {
    for (int s = 0; s < draft->statement_count; s++)
        if (random_chance(random, 82))
            draw_schedule(random, draft, s);
}

void generate_draft(uint64_t seed, int64_t index, Draft *draft) {
    static const int statement_weights[] = {72, 20, 8};
    static const ElementType types[] = {TYPE_F64,  TYPE_F64, TYPE_F64, TYPE_F32, TYPE_C64,
                                        TYPE_C128, TYPE_I32, TYPE_I64, TYPE_I64};
    Random random = random_stream(seed, (uint64_t)index);
    *draft = (Draft){.seed = seed, .index = index, .input_seed = seed * 31 + (uint64_t)index * 2};
    draft->products = random_chance(&random, 8);
    if (draft->products)
        draft->ranks = random_between(&random, 1, 3);
    else
        draw_processors(&random, draft);
    ElementType type = types[random_below(&random, 9)];
    bool mixed = random_chance(&random, 12);
    int count = 1 + random_weighted(&random, statement_weights, 3);
    for (int s = 0; s < count; s++) {
        draft->statement_count = s + 1;
        draw_statement(&random, draft, s, type, mixed);
        if (!draft->products)
            draw_reductions(&random, draft, &draft->statements[s]);
        draw_update(&random, draft, &draft->statements[s]);
        draw_indices(&random, draft, s, 25);
    }
    if (!draft->products)
        draw_repetitions(&random, draft);
    draw_placements(&random, draft);
    draw_disk(draft);
    draw_gpu(draft);
    draw_params(draft);
    if (!draft->products)
        draw_schedules(&random, draft);
    if (!draft->products)
        draw_gpu_workspaces(draft);
    draw_idle_ranks(draft);
    draw_automatic(draft);
}
