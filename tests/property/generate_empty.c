// SPDX-License-Identifier: BSD-3-Clause
// Sums over variables that index no sparse tensor, most of them without terms: a sparse result has the
// entries of its sparse operands, whatever the schedule makes of the loops of such a sum.
#include "generate.h"
#include "sparse_input.h"

// Extents in the texts stand for others: from here on for those of modes of sparse tensors, less for those of
// sums.
enum { OTHER = 100 };

typedef struct {
    const char *text;
    int sparse; // the number of tensors that are, the first ones
} EmptySum;

static const EmptySum sums[] = {
    {"tensor A(101, 102): f64; tensor B(101, 102): f64; tensor C(91, 102): f64\n"
     "A(i, j) = B(i, j) * C(l, j)",
     2},
    {"tensor A(101, 102): f64; tensor B(101, 102): f64; tensor C(101, 91): f64; tensor D(91, 102): f64\n"
     "A(i, j) = B(i, j) * C(i, l) * D(l, j)",
     2},
    {"tensor A(101, 102): i64; tensor B(101, 103): i64; tensor C(103, 102): i64; tensor D(91): i64\n"
     "A(i, j) = B(i, k) * C(k, j) * D(l)",
     3},
    {"tensor A(101): f64; tensor B(101, 102): f64; tensor C(91, 92): f64\n"
     "A(i) = B(i, j) * C(l, m)",
     2},
    {"tensor A(101, 102): i64; tensor B(101, 102): i64; tensor C(102, 101): i64; tensor D(91): i64; "
     "tensor E(92, 101): i64\n"
     "A(i, j) = B(i, j) * D(l) + C(j, i) * E(m, i)",
     3},
    {"tensor A(101, 102): f32; tensor B(101, 102): f32; tensor C(101, 103): f32; tensor D(91, 103): f32\n"
     "A(i, j) = B(i, j) * C(i, k) * D(l, k)",
     3},
};

static void draw_extents(Random *random, Draft *draft) {
    static const int64_t others[] = {0, 1, 2, 3, 4, 5, 7, 13};
    static const int summed_weights[] = {75, 10, 5, 10}, other_weights[] = {3, 12, 15, 15, 15, 15, 15, 10};
    for (int s = 0; s < draft->size_count; s++) {
        DraftSize *size = &draft->sizes[s];
        if (size->letter == 'n')
            size->value = size->value < OTHER ? random_weighted(random, summed_weights, 4)
                                              : others[random_weighted(random, other_weights, 8)];
    }
}

static void draw_storages(Random *random, Draft *draft, int sparse) {
    static const int fills[] = {[FILL_NONE] = 3,   [FILL_ONE] = 5,   [FILL_ROW] = 10, [FILL_FEW] = 20,
                                [FILL_TENTH] = 20, [FILL_HALF] = 30, [FILL_ALL] = 12};
    for (int t = 0; t < draft->tensor_count; t++) {
        DraftTensor *tensor = &draft->tensors[t];
        draw_mode_order(random, 20, tensor);
        tensor->fill = random_weighted(random, fills, FILL_COUNT);
        if (t < sparse)
            draw_usual_levels(random, tensor);
        draw_placement(random, draft, tensor);
    }
    if (random_chance(random, 10))
        draft_make_dense(&draft->tensors[0]);
}

void generate_empty_draft(uint64_t seed, int64_t index, Draft *draft) {
    Random random = random_stream(seed ^ 0xE0E0E0E0u, (uint64_t)index);
    *draft = (Draft){
        .space = sparse_space, .seed = seed, .index = index, .input_seed = seed * 37 + (uint64_t)index * 2};
    const EmptySum *sum = &sums[random_below(&random, sizeof sums / sizeof *sums)];
    draw_processors(&random, draft);
    draft_read(&random, "empty", sum->text, draft);
    draw_extents(&random, draft);
    draw_storages(&random, draft, sum->sparse);
    DraftStatement *statement = &draft->statements[0];
    const int kind = random_below(&random, 100);
    if (kind < 60)
        draw_schedule(&random, draft, 0);
    else if (kind < 80)
        draw_rotations(&random, draft, 0);
    else
        draw_sparse_schedules(&random, draft, true);
    for (int c = 0; c < statement->command_count; c++)
        statement->commands[c].may_be_refused = true;
}
