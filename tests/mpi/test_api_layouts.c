// SPDX-License-Identifier: BSD-3-Clause
// Memory of the caller in drawn layouts, on the host or on an emulated GPU: a statement that copies or adds
// one tensor to another, with modes permuted, between any two placements, storage orders and distances of
// elements, which differ from rank to rank. What lies between the elements stays as it is. An argument is the
// number of draws in a case. ranks: 6
#include "api.h"
#include "memory/device.h"

#include <stdlib.h>

enum { MAX_MODES = 4, MAX_DIMS = 3, MAX_PIECES = 16, TEXT = 256 };
static const double gap = -7;
static const char modes[] = "xyzw";

static uint64_t below(uint64_t *random, uint64_t limit) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*random >> 33) % limit;
}

static void draw_permutation(uint64_t *random, int count, int *items) {
    for (int i = 0; i < count; i++) {
        const int at = (int)below(random, (uint64_t)i + 1);
        items[i] = i;
        items[i] = items[at];
        items[at] = i;
    }
}

// The sizes of a grid for the ranks, or for twice as many processors.
static int draw_machine(uint64_t *random, distal_context *d, int ranks, int *sizes) {
    char grid[TEXT] = "grid(";
    int count = 1 + (int)below(random, MAX_DIMS), left = ranks * (1 + (below(random, 3) == 0));
    for (int i = 0; i < count; i++) {
        sizes[i] = i + 1 < count ? 1 + (int)below(random, (uint64_t)left) : left;
        while (left % sizes[i] != 0)
            sizes[i]--;
        left /= sizes[i];
        sprintf(grid + strlen(grid), "%s%d", i ? ", " : "", sizes[i]);
    }
    OK(distal_machine(d, "M", strcat(grid, ")")));
    return count;
}

static void draw_entry(uint64_t *random, int order, int size, bool *is_used, char *text) {
    const int mode = (int)below(random, (uint64_t)order);
    const uint64_t kind = is_used[mode] ? 4 + below(random, 2) : below(random, 6);
    is_used[mode] |= kind < 4;
    if (kind < 2)
        sprintf(text, "%c", modes[mode]);
    else if (kind < 4)
        sprintf(text, "cyclic(%c, %d)", modes[mode], 1 + (int)below(random, 4));
    else if (kind == 4)
        sprintf(text, "%d", (int)below(random, (uint64_t)size));
    else
        strcpy(text, "*");
}

typedef struct {
    distal_tensor *tensor;
    int order;
    bool is_in_gpu;
    int64_t count;
    distal_piece pieces[MAX_PIECES];
    double *memory[MAX_PIECES];
    int64_t length[MAX_PIECES];
    int64_t *coordinates[MAX_PIECES][MAX_MODES];
    void *on_gpu[MAX_PIECES]; // where it is in gpu: what is attached, of which `memory` is a copy
} Array;

static void declare_drawn(uint64_t *random, distal_context *d, const char *name, const int64_t *extents,
                          int dim_count, const int *sizes, Array *array) {
    char list[TEXT] = "", stored[TEXT] = "", named[TEXT] = "", entries[TEXT] = "", line[5 * TEXT],
         place[5 * TEXT];
    int permutation[MAX_MODES];
    bool is_used[MAX_MODES] = {false};
    draw_permutation(random, array->order, permutation);
    for (int m = 0; m < array->order; m++) {
        sprintf(list + strlen(list), "%s%d", m ? ", " : "", (int)extents[m]);
        sprintf(stored + strlen(stored), "%s%d", m ? ", " : "", permutation[m]);
        sprintf(named + strlen(named), "%s%c", m ? ", " : "", modes[m]);
    }
    for (int i = 0; i < dim_count; i++) {
        strcat(entries, i ? ", " : "");
        draw_entry(random, array->order, sizes[i], is_used, entries + strlen(entries));
    }
    snprintf(line, sizeof line, "%s(%s): f64, order(%s)", name, list, stored);
    snprintf(place, sizeof place, "%s(%s) -> M(%s)%s", name, named, entries,
             below(random, 3) == 0 ? " in gpu" : "");
    array->is_in_gpu = strstr(place, "gpu");
    OK(distal_tensor_declare(d, line, place, &array->tensor));
}

// Strides for the modes in a drawn order, with drawn distances between elements.
static void draw_strides(uint64_t *random, distal_piece *piece, int64_t *length) {
    int permutation[MAX_MODES];
    draw_permutation(random, piece->order, permutation);
    int64_t reach = below(random, 2) ? 1 : 1 + (int64_t)below(random, 3);
    for (int i = 0; i < piece->order; i++) {
        const int mode = permutation[i];
        piece->stride[mode] = reach;
        reach = reach * piece->extent[mode] + (int64_t)below(random, 3);
    }
    *length = reach;
}

// Puts the array into memory that is all gaps so far: where the library would have it, or in a drawn layout.
static void lay_out(uint64_t *random, distal_context *d, Array *array) {
    OK(distal_tensor_piece_count(array->tensor, &array->count));
    const bool is_drawn = below(random, 3) > 0;
    for (int64_t p = 0; p < array->count; p++) {
        distal_piece *piece = &array->pieces[p];
        OK(distal_tensor_box(array->tensor, p, piece));
        array->length[p] = 1;
        for (int m = 0; m < piece->order; m++)
            array->length[p] *= piece->extent[m];
        if (is_drawn)
            draw_strides(random, piece, &array->length[p]);
        piece->data = array->memory[p] = malloc(sizeof(double) * (size_t)array->length[p]);
        if (array->is_in_gpu)
            piece->data = array->on_gpu[p] =
                device_current()->allocate((int64_t)sizeof(double) * array->length[p]);
        for (int64_t i = 0; i < array->length[p]; i++)
            array->memory[p][i] = gap;
        for (int m = 0; m < piece->order; m++) {
            array->coordinates[p][m] = malloc(sizeof(int64_t) * (size_t)piece->extent[m]);
            OK(distal_tensor_coordinates(array->tensor, p, m, array->coordinates[p][m]));
        }
    }
    OK(distal_tensor_attach_pieces(array->tensor, array->count, array->pieces));
}

// Between what is attached and the copy of it on the host.
static void copy(const Array *array, bool to_gpu) {
    for (int64_t p = 0; p < array->count && array->is_in_gpu; p++) {
        const int64_t bytes = (int64_t)sizeof(double) * array->length[p];
        void *memory = array->memory[p], *there = array->on_gpu[p];
        device_current()->copy(to_gpu ? there : memory, bytes, to_gpu ? memory : there, bytes, bytes, 1);
    }
}

static void release(Array *array) {
    for (int64_t p = 0; p < array->count; p++) {
        free(array->memory[p]);
        if (array->is_in_gpu)
            device_current()->release(array->on_gpu[p]);
        for (int m = 0; m < array->order; m++)
            free(array->coordinates[p][m]);
    }
}

static bool next(const distal_piece *piece, int64_t *index) {
    for (int m = piece->order - 1; m >= 0; m--) {
        if (++index[m] < piece->extent[m])
            return true;
        index[m] = 0;
    }
    return false;
}

static double *element(const Array *array, int64_t p, const int64_t *index) {
    double *at = array->memory[p];
    for (int m = 0; m < array->order; m++)
        at += index[m] * array->pieces[p].stride[m];
    return at;
}

// A number that tells an element from all others, where the modes are named in that order.
static double number_of(const Array *array, int64_t p, const int64_t *index, const int *order) {
    double number = 0;
    for (int m = 0; m < array->order; m++)
        number = 100 * number + (double)array->coordinates[p][order[m]][index[order[m]]];
    return number + 1;
}

// Sets elements to their number, or to `value` where `order` is NULL.
static void set(Array *array, const int *order, double value) {
    for (int64_t p = 0; p < array->count; p++) {
        int64_t index[MAX_MODES] = {0};
        do
            *element(array, p, index) = order ? number_of(array, p, index, order) : value;
        while (next(&array->pieces[p], index));
    }
    copy(array, true);
}

// Elements are `scale` times their number plus `offset`, and all else is as it was. Leaves gaps only.
static void check_array(Array *array, const int *order, double scale, double offset) {
    copy(array, false);
    for (int64_t p = 0; p < array->count; p++) {
        int64_t index[MAX_MODES] = {0};
        do {
            double *at = element(array, p, index);
            const double expected = scale * number_of(array, p, index, order) + offset;
            CHECK(*at == expected, "an element is %g, not %g", *at, expected);
            *at = gap;
        } while (next(&array->pieces[p], index));
        for (int64_t i = 0; i < array->length[p]; i++)
            CHECK(array->memory[p][i] == gap, "memory between elements is %g", array->memory[p][i]);
    }
}

static void list_variables(const int *order, int count, char *text) {
    for (int m = 0; m < count; m++)
        sprintf(text + strlen(text), "%s%c", m ? ", " : "", modes[order[m]]);
}

static void test_draw(MPI_Comm comm, int rank, int ranks, uint64_t seed) {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 8};
    uint64_t random = seed * 31 + 7, own = random + (uint64_t)rank * 977;
    distal_context *d = context_on(comm);
    int grid[MAX_DIMS], permutation[MAX_MODES], plain[MAX_MODES] = {0, 1, 2, 3};
    const int dim_count = draw_machine(&random, d, ranks, grid);
    const int order = 1 + (int)below(&random, MAX_MODES);
    draw_permutation(&random, order, permutation);
    int64_t extents[MAX_MODES], permuted[MAX_MODES];
    for (int m = 0; m < order; m++)
        extents[m] = sizes[below(&random, 6)];
    for (int m = 0; m < order; m++)
        permuted[m] = extents[permutation[m]];
    Array a = {.order = order}, b = {.order = order};
    declare_drawn(&random, d, "A", extents, dim_count, grid, &a);
    declare_drawn(&random, d, "B", permuted, dim_count, grid, &b);
    lay_out(&own, d, &a);
    lay_out(&own, d, &b);

    const bool adds = below(&random, 3) == 0;
    char left[TEXT] = "", right[TEXT] = "", text[3 * TEXT];
    list_variables(plain, order, left);
    list_variables(permutation, order, right);
    snprintf(text, sizeof text, "A(%s) %s B(%s)", left, adds ? "+=" : "=", right);
    distal_statement *s = NULL;
    distal_plan *p = NULL;
    OK(distal_statement_create(d, text, &s));
    OK(distal_plan_create(s, &p));
    set(&a, NULL, 0.5);
    set(&b, plain, 0);
    OK(distal_execute(p));
    OK(distal_execute(p));
    check_array(&a, permutation, adds ? 2 : 1, adds ? 0.5 : 0);
    check_array(&b, plain, 1, 0);
    distal_free(d);
    release(&a);
    release(&b);
}

static long draws = 10;

static void test_draws(MPI_Comm comm, int rank, int ranks) {
    for (long draw = 1; draw <= draws; draw++) {
        test_draw(comm, rank, ranks, (uint64_t)(100 * draw + ranks));
        int failed = report_failure[0] != '\0';
        all_reduce(&failed, 1, MPI_INT, MPI_MAX, comm);
        if (failed) {
            if (rank == 0)
                fprintf(stderr, "draw %ld of %ld on %d ranks\n", draw, draws, ranks);
            return;
        }
    }
}

int main(int argc, char **argv) {
    const char *why = NULL;
    report_start(&argc, &argv);
    setenv("DISTAL_GPU", "emulated", 1);
    device_open(0, &why);
    if (argc > 1)
        draws = atol(argv[1]);
    for (int ranks = 1; ranks <= 6; ranks += ranks < 4 ? 3 : 2)
        run_case("api_layouts/drawn", ranks, test_draws);
    return report_end();
}
