// SPDX-License-Identifier: BSD-3-Clause
// Products of a sparse tensor with others, most of them dense and all of them placed, on as many ranks as can
// be on several nodes. What statements at random say seldom needs the same elements of other ranks on several
// ranks.
#include "generate.h"
#include "sparse_input.h"

#include <string.h>

enum { LEAST_RANKS = 4, SPARSE = 1 }; // the number of the sparse tensor

static const char *const texts[] = {
    "tensor A(40): f64; tensor B(40, 37): f64; tensor C(37): f64\n"
    "A(i) = B(i, j) * C(j)",
    "tensor A(23, 6): f64; tensor B(23, 31): f64; tensor C(31, 6): f64\n"
    "A(i, k) = B(i, j) * C(j, k)",
    "tensor A(23, 6): i64; tensor B(23, 31): i64; tensor C(6, 31): i64\n"
    "A(i, k) += B(i, j) * C(k, j)",
    "tensor A(19, 29): f64; tensor B(19, 29): f64; tensor C(19, 5): f64; tensor D(5, 29): f64\n"
    "A(i, j) = B(i, j) * C(i, k) * D(k, j)",
    "tensor A(13, 11): f32; tensor B(13, 11, 17): f32; tensor C(17): f32\n"
    "A(i, j) = B(i, j, k) * C(k)",
    "tensor A(13, 4): f64; tensor B(13, 11, 9): f64; tensor C(11, 4): f64; tensor D(9, 4): f64\n"
    "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)",
    "tensor A(13): i64; tensor B(13, 11, 9): i64; tensor C(11, 9): i64\n"
    "A(i) = B(i, j, k) * C(j, k)",
    "tensor A(13): f64; tensor B(13, 14, 15): f64; tensor C(15, 14): f64\n"
    "A(i) = B(i, j, k) * C(k, j)",
};
enum { TEXTS = sizeof texts / sizeof *texts, TWO_MODES = 2 }; // the last ones: entries index two modes of C

// With a multiple of the ranks, of which each then owns several blocks, on a grid, so that they often are no
// rectangle together.
static void draw_larger_machine(Random *random, Draft *draft) {
    const Draft without = *draft;
    const DraftMachine *machine = &draft->machines[1];
    bool is_grid;
    do {
        *draft = without;
        draw_other_machine(random, draft, draft->ranks * random_between(random, 2, 3));
        is_grid = machine->order == 2;
        for (int d = 0; d < machine->order; d++)
            is_grid = is_grid && draft->sizes[machine->sizes[d]].value > 1;
    } while (!is_grid);
}

static void draw_many_processors(Random *random, Draft *draft) {
    const Draft none = *draft;
    do {
        *draft = none;
        draw_processors(random, draft);
    } while (draft->ranks < LEAST_RANKS || draft->machines[0].order == 0);
    if (draft_processors(&draft->machines[0], draft) == draft->ranks && random_chance(random, 60))
        draw_larger_machine(random, draft);
}

static void draw_storages(Random *random, Draft *draft) {
    static const int fills[] = {[FILL_NONE] = 3,   [FILL_ONE] = 3,   [FILL_ROW] = 10, [FILL_FEW] = 14,
                                [FILL_TENTH] = 35, [FILL_HALF] = 25, [FILL_ALL] = 10};
    const DraftTensor *sparse = &draft->tensors[SPARSE];
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        draw_mode_order(random, 20, tensor);
        if (t != SPARSE && (t < SPARSE || tensor->order < 2 || !random_chance(random, 35)))
            continue;
        tensor->fill = random_weighted(random, fills, FILL_COUNT);
        draw_usual_levels(random, tensor);
    }
    DraftTensor *result = &draft->tensors[0];
    if (result->order == sparse->order && random_chance(random, 60))
        draw_usual_levels(random, result);
}

// Each dimension of the machine partitions a mode of the result, the first one its first mode, and what the
// sparse tensor has of the same variable: ranks compute what they own, from their entries.
static void draw_owners(Random *random, Draft *draft) {
    const DraftMachine *machine = &draft->machines[0];
    const DraftTensor *result = &draft->tensors[0];
    const char *vars = draft->statements[0].vars;
    bool taken[DRAFT_ORDER] = {false};
    for (int l = 0, d = 0; l < machine->level_count; l++)
        for (int k = 0; k < machine->level_order[l]; k++, d++) {
            const int mode = d == 0 ? 0 : random_below(random, result->order);
            for (int t = 0; t <= SPARSE; t++) {
                DraftTensor *tensor = &draft->tensors[t];
                const char *var = strchr(draft_indices(&draft->statements[0], t), vars[mode]);
                tensor->entries[d] = taken[mode] || !var
                                         ? ENTRY_REPLICATE
                                         : (int)(var - draft_indices(&draft->statements[0], t));
            }
            taken[mode] = true;
        }
    for (int t = 0; t <= SPARSE; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        tensor->placed = true;
        tensor->machine = 0;
        memset(tensor->cycles, 0, sizeof tensor->cycles);
        memset(tensor->balance, 0, sizeof tensor->balance);
    }
}

// On a machine with a multiple of the ranks.
static void draw_pieces(Random *random, const Draft *draft, DraftTensor *tensor) {
    const DraftMachine *machine = &draft->machines[1];
    const bool cyclic = random_chance(random, 25);
    tensor->machine = 1;
    memset(tensor->balance, 0, sizeof tensor->balance);
    for (int l = 0, d = 0; l < machine->level_count; l++) {
        int modes[DRAFT_ORDER];
        for (int m = 0; m < tensor->order; m++)
            modes[m] = m;
        random_shuffle(random, modes, tensor->order);
        for (int k = 0; k < machine->level_order[l]; k++, d++) {
            tensor->entries[d] = k < tensor->order ? modes[k] : ENTRY_REPLICATE;
            tensor->cycles[d] = cyclic ? random_between(random, 1, 3) : 0;
        }
    }
}

void generate_gather_draft(uint64_t seed, int64_t index, Draft *draft) {
    Random random = random_stream(seed ^ 0x3C3C3C3Cu, (uint64_t)index);
    *draft = (Draft){
        .space = sparse_space, .seed = seed, .index = index, .input_seed = seed * 37 + (uint64_t)index * 2};
    draw_many_processors(&random, draft);
    const bool several = draft->machines[1].order > 0 &&
                         draft_processors(&draft->machines[1], draft) > draft->ranks &&
                         random_chance(&random, 80);
    const int text = several && random_chance(&random, 60) ? TEXTS - 1 - random_below(&random, TWO_MODES)
                                                           : random_below(&random, TEXTS);
    draft_read(&random, "gather", texts[text], draft);
    draw_storages(&random, draft);
    for (int t = 0; t < draft->tensor_count; t++)
        draw_placement(&random, draft, &draft->tensors[t]);
    if (random_chance(&random, 75))
        draw_owners(&random, draft);
    for (int t = SPARSE + 1; t < draft->tensor_count; t++) {
        draft->tensors[t].placed = true;
        if (several)
            draw_pieces(&random, draft, &draft->tensors[t]);
    }
    draw_params(draft);
    if (random_chance(&random, 20))
        draw_nonzero_placements(&random, draft);
    else if (random_chance(&random, 30))
        draw_sparse_schedules(&random, draft, true);
}
