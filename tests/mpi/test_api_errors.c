// SPDX-License-Identifier: BSD-3-Clause
// Wrong calls of the C library: every public call with NULL and with values that make no sense, mistakes on
// one rank only, calls in the wrong order. All of them return a status and say what was wrong. ranks: 4
#include "distal.h"
#include "memory/device.h"
#include "report.h"

#include <stdlib.h>

// What a call must return, and a part of what it must say.
static void expect(const distal_context *d, const char *call, distal_status is, distal_status should,
                   const char *says) {
    CHECK(is == should, "%s returned %d, not %d: %s", call, is, should, distal_error(d));
    if (should != DISTAL_OK) {
        const char *error = distal_error(d);
        CHECK(strstr(error, says), "%s says: %s", call, error);
        CHECK(strstr(error, "error: ") && error[strlen(error) - 1] == '\n', "%s says: %s", call, error);
    }
}

#define FINE(call) expect(d, #call, call, DISTAL_OK, "")
#define WRONG(call, says) expect(d, #call, call, DISTAL_INVALID, says)
#define FAILS(call, says) expect(d, #call, call, DISTAL_FAILED, says)
// Without a context that could keep the diagnostic.
#define NOTHING(call) expect(NULL, #call, call, DISTAL_INVALID, "NULL")

static distal_context *context_on(MPI_Comm comm, int ranks) {
    distal_context *d = NULL;
    FINE(distal_create(comm, &d));
    FINE(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    return d;
}

static distal_tensor *rows(distal_context *d, const char *name) {
    char placement[64];
    distal_tensor *tensor = NULL;
    snprintf(placement, sizeof placement, "%s(x, y) -> M(x)", name);
    FINE(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){8, 6}, placement, &tensor));
    return tensor;
}

static void test_null(MPI_Comm comm, int rank, int ranks) {
    (void)rank, (void)ranks;
    const int64_t four[] = {4};
    int64_t number;
    const distal_diagnostic *diagnostics;
    distal_piece piece;
    distal_figures figures;
    distal_tensor *tensor;
    distal_statement *statement;
    distal_plan *plan;
    const char *text;
    NOTHING(distal_create(comm, NULL));
    NOTHING(distal_create(MPI_COMM_NULL, &(distal_context *){NULL}));
    NOTHING(distal_diagnostics(NULL, &number, &diagnostics));
    CHECK(number == 0 && !diagnostics, "diagnostics of nothing");
    NOTHING(distal_param(NULL, "n", 1));
    NOTHING(distal_machine(NULL, "M", "grid(1)"));
    NOTHING(distal_machine_grid(NULL, "M", 1, four));
    NOTHING(distal_tensor_create(NULL, "A", DISTAL_F64, 1, four, NULL, &tensor));
    NOTHING(distal_tensor_declare(NULL, "A(4): f64", NULL, &tensor));
    NOTHING(distal_tensor_find(NULL, "A", &tensor));
    NOTHING(distal_tensor_shape(NULL, NULL, NULL, NULL));
    NOTHING(distal_tensor_piece_count(NULL, &number));
    NOTHING(distal_tensor_box(NULL, 0, &piece));
    NOTHING(distal_tensor_coordinates(NULL, 0, 0, (int64_t[]){0}));
    NOTHING(distal_tensor_piece(NULL, 0, &piece));
    NOTHING(distal_tensor_local(NULL, &piece));
    NOTHING(distal_scratch(NULL, "."));
    NOTHING(distal_gpu_stream(NULL, NULL));
    NOTHING(distal_gpu_memory_limit(NULL, 0));
    NOTHING(distal_tensor_attach(NULL, &number, four));
    NOTHING(distal_tensor_attach_pieces(NULL, 0, NULL));
    NOTHING(distal_tensor_fill(NULL, "ones"));
    NOTHING(distal_tensor_write(NULL, "A.npy"));
    NOTHING(distal_tensor_gather(NULL, &number));
    NOTHING(distal_redistribute(NULL, NULL));
    NOTHING(distal_statement_create(NULL, "a = 1", &statement));
    NOTHING(distal_statement_find(NULL, "a", 0, &statement));
    NOTHING(distal_divide(NULL, "i", "io", "ii", "2"));
    NOTHING(distal_split(NULL, "i", "io", "ii", "2"));
    NOTHING(distal_collapse(NULL, "i", "j", "f"));
    NOTHING(distal_reorder(NULL, "i, j"));
    NOTHING(distal_distribute(NULL, "i"));
    NOTHING(distal_distribute_onto(NULL, "i", "io", "ii", "M"));
    NOTHING(distal_communicate(NULL, "A", "i"));
    NOTHING(distal_rotate(NULL, "k", "i", "r"));
    NOTHING(distal_substitute(NULL, "i", "dot"));
    NOTHING(distal_parallelize(NULL, "i", "cpu_thread", NULL));
    NOTHING(distal_unroll(NULL, "i", "4"));
    NOTHING(distal_precompute(NULL, "B(i)", "i", "i", "W", NULL));
    NOTHING(distal_pos(NULL, "i", "p", "B(i)"));
    NOTHING(distal_schedule(NULL, "unroll(i, 4)"));
    NOTHING(distal_statement_text(NULL, &text));
    NOTHING(distal_program(NULL, "x", "param n = 1"));
    NOTHING(distal_choose(NULL, "x", "param n = 1", 0));
    NOTHING(distal_compile(NULL));
    NOTHING(distal_statement_source(NULL, &text));
    NOTHING(distal_use_kernel(NULL, NULL, NULL, NULL));
    NOTHING(distal_plan_create(NULL, &plan));
    NOTHING(distal_plan_figures(NULL, &figures));
    NOTHING(distal_execute(NULL));
    NOTHING(distal_plan_counted(NULL, "A", &number, &number));
    distal_free(NULL);
    distal_tensor_free(NULL);
    distal_statement_free(NULL);
    distal_plan_free(NULL);
    CHECK(!plan && !statement && !tensor && !text, "a handle was left as it was");
    CHECK(*distal_version(), "no version");
}

static void test_declarations(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm, ranks);
    const int64_t extents[13] = {4, 4}, negative[] = {4, -1}, huge[] = {INT64_MAX, 1},
                  many[] = {(int64_t)1 << 40, (int64_t)1 << 40};
    distal_tensor *t;
    CHECK(*distal_error(d) == '\0', "an error before any");
    WRONG(distal_param(d, NULL, 1), "the name of the param is NULL");
    WRONG(distal_param(d, "", 1), "cannot name");
    WRONG(distal_param(d, "2n", 1), "cannot name a param: a name has letters, digits and _");
    WRONG(distal_param(d, "n = 1\nparam m", 1), "cannot name");
    WRONG(distal_param(d, "tensor", 1), "cannot name a param: it is a reserved word");
    WRONG(distal_param(d, "ranks", 1), "ranks");
    WRONG(distal_param(d, "M", 1), "M");
    WRONG(distal_machine(d, NULL, "grid(1)"), "the name of the machine is NULL");
    WRONG(distal_machine(d, "N", NULL), "NULL");
    WRONG(distal_machine(d, "N", "grid()"), "dimension");
    WRONG(distal_machine(d, "N", "grid(0)"), "at least 1");
    WRONG(distal_machine(d, "N", "grid(nobody)"), "nobody");
    WRONG(distal_machine(d, "N", "grid(1)\ntensor A: f64"), "is not one line with matching brackets");
    WRONG(distal_machine(d, "N", "planet grid(1)"), "planet");
    WRONG(distal_machine(d, "M", "grid(1)"), "M");
    WRONG(distal_machine_grid(d, "N", 0, extents), "'N' has 0 dimensions; a machine has 1 to 12");
    WRONG(distal_machine_grid(d, "N", 13, extents), "dimensions");
    WRONG(distal_machine_grid(d, "N", 2, NULL), "the extents of machine 'N' are NULL");
    WRONG(distal_machine_grid(d, "N", 2, negative), "at least 1");
    FINE(distal_machine_grid(d, "N", 1, (int64_t[]){ranks})); // nothing of what failed is left
    WRONG(distal_tensor_create(d, NULL, DISTAL_F64, 2, extents, NULL, &t), "NULL");
    WRONG(distal_tensor_create(d, "A B", DISTAL_F64, 2, extents, NULL, &t), "cannot name");
    WRONG(distal_tensor_create(d, "A", (distal_type)17, 2, extents, NULL, &t), "distal_type");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, -1, extents, NULL, &t), "-1 modes; a tensor has 0 to 12");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 13, extents, NULL, &t), "modes");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, NULL, NULL, &t), "the extents of tensor 'A' are NULL");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, negative, NULL, &t), "negative");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, huge, NULL, &t), "at most 2^62");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, many, NULL, &t), "64-bit");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "A(x) -> M(x)", &t), "mode");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "A(x, y) -> Q(x)", &t), "Q");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "B(x, y) -> M(x)", &t), "B");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "A(x, y) -> M(99)", &t), "99");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "", &t),
          "the placement of the tensor is empty, where a line of the language is expected");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, "A(x, y) -> M(x); A(i, j) = 1", &t),
          "one line");
    WRONG(distal_machine(d, "N2", "grid(1) grid(2)"), "expected the end of the text, found 'grid'");
    FINE(distal_param(d, "E_dim0", 1));
    WRONG(distal_tensor_create(d, "E", DISTAL_F64, 2, extents, NULL, &t),
          "'E_dim0' is already declared as a param, and an extent of this tensor has that name");
    WRONG(distal_tensor_declare(d, NULL, NULL, &t), "NULL");
    WRONG(distal_tensor_declare(d, "A(4): f65", NULL, &t), "f64");
    WRONG(distal_tensor_declare(d, "A(n): f64", NULL, &t), "'n'");
    WRONG(distal_tensor_declare(d, "A(4): f64\ntensor B(4): f64", NULL, &t), "one line");
    WRONG(distal_tensor_declare(d, "M(4): f64", NULL, &t), "M");
    CHECK(!t, "a handle of nothing");
    WRONG(distal_tensor_find(d, "A", &t), "there is no tensor 'A'");
    WRONG(distal_tensor_find(d, "A", NULL), "NULL");
    t = rows(d, "A");
    WRONG(distal_tensor_create(d, "A", DISTAL_F64, 2, extents, NULL, &(distal_tensor *){NULL}), "A");
    WRONG(distal_tensor_find(d, "B", &(distal_tensor *){NULL}), "no tensor 'B'");
    WRONG(distal_tensor_create(d, "B", DISTAL_F64, 2, extents, "A(x, y) -> M(x)", &(distal_tensor *){NULL}),
          "this is the placement of 'A', and the tensor that is declared is 'B': write 'B' here");
    WRONG(distal_param(d, "A_dim1", 3), "param 'A_dim1' is an extent of a tensor; choose another name");
    FINE(distal_program(d, "x.distal", "param one = 1, more = one * 4611686018427387904"));
    WRONG(distal_param(d, "one", 4), "with 'one' = 4, param 'more' has no value that fits into 64 bits");
    FINE(distal_param(d, "one", 1));
    WRONG(distal_tensor_find(d, NULL, &(distal_tensor *){NULL}), "NULL");
    // A machine that does not fit the ranks is found when the tensor is needed: params may change until then.
    int64_t count;
    distal_tensor *misfit = NULL;
    FINE(distal_machine(d, "P", "grid(97)"));
    FINE(distal_tensor_declare(d, "C(4): f64", "C(x) -> P(x)", &misfit));
    if (97 % ranks != 0)
        WRONG(distal_tensor_piece_count(misfit, &count), "not a multiple");
    distal_free(d);
}

static void test_data(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm, ranks);
    distal_tensor *a = rows(d, "A"), *floating = NULL;
    distal_piece piece, pieces[2];
    double memory[64];
    FINE(distal_tensor_create(d, "U", DISTAL_F64, 1, (int64_t[]){3}, NULL, &floating));
    WRONG(distal_tensor_piece_count(a, NULL), "NULL");
    WRONG(distal_tensor_box(a, 0, NULL), "NULL");
    WRONG(distal_tensor_coordinates(a, 0, 0, NULL), "NULL");
    WRONG(distal_tensor_coordinates(a, -1, 0, (int64_t[]){0}), "none has index -1");
    WRONG(distal_tensor_coordinates(a, 0, -1, (int64_t[]){0}), "none has number -1");
    WRONG(distal_tensor_coordinates(a, 0, 9, (int64_t[]){0}), "none has number 9");
    WRONG(distal_tensor_piece(a, 0, NULL), "NULL");
    WRONG(distal_tensor_local(a, NULL), "NULL");
    WRONG(distal_tensor_box(a, -1, &piece), "of tensor 'A', and none has index -1");
    WRONG(distal_tensor_piece(a, 99, &piece), "index 99");
    WRONG(distal_tensor_coordinates(a, 0, 2, (int64_t[8]){0}), "has 2 modes, and none has number 2");
    CHECK(!piece.data && piece.order == 0, "a piece of nothing");
    WRONG(distal_tensor_local(floating, &piece), "has no placement, so it has no home before the first plan");
    WRONG(distal_tensor_attach(floating, memory, NULL), "no placement");
    WRONG(distal_tensor_write(floating, "U.npy"), "no placement");
    WRONG(distal_tensor_gather(floating, memory), "no placement");
    // Elements that would share memory.
    WRONG(distal_tensor_attach(a, memory, (int64_t[]){6, 0}), "has stride 0, and the modes with smaller");
    WRONG(distal_tensor_attach(a, memory, (int64_t[]){12, -1}), "has stride -1");
    if (8 / ranks > 1)
        WRONG(distal_tensor_attach(a, memory, (int64_t[]){3, 1}),
              "and the modes with smaller strides extend over 6 elements: elements would overlap");
    WRONG(distal_tensor_attach(a, memory, (int64_t[]){INT64_MAX - 2, 1}),
          "the strides of tensor 'A' overflow");
    WRONG(distal_tensor_attach(a, (char *)memory + 4, NULL),
          "gives for tensor 'A' is not aligned to 8 bytes, as elements of f64 are");
    WRONG(distal_tensor_attach_pieces(a, 2, pieces),
          "holds 1 piece of tensor 'A', and memory is given for 2");
    WRONG(distal_tensor_attach_pieces(a, 1, NULL), "the pieces of tensor 'A' are NULL");
    FINE(distal_tensor_box(a, 0, &pieces[0]));
    WRONG(distal_tensor_attach_pieces(a, 1, pieces), "and the memory for it is NULL");
    distal_tensor *in_disk = NULL;
    FINE(distal_tensor_create(d, "K", DISTAL_F64, 2, (int64_t[]){8, 6}, "K(x, y) -> M(x) in disk", &in_disk));
    WRONG(distal_tensor_attach(in_disk, memory, NULL), "is in disk, and cannot use the memory of the caller");
    FINE(distal_scratch(d, "/nowhere/at/all"));
    FAILS(distal_tensor_fill(in_disk, "ones"), "No such file or directory");
    FINE(distal_scratch(d, NULL));
    FINE(distal_gpu_stream(d, NULL));
    WRONG(distal_gpu_memory_limit(d, -1), "the limit is negative");
    distal_tensor_free(in_disk);
    pieces[0].data = memory;
    pieces[0].hi[0]++;
    WRONG(distal_tensor_attach_pieces(a, 1, pieces), "distal_tensor_box");
    // On one rank only: all ranks hear of it.
    char says[32];
    snprintf(says, sizeof says, "rank %d holds", ranks - 1);
    WRONG(distal_tensor_attach(a, rank == ranks - 1 ? NULL : memory, NULL), says);
    FINE(distal_tensor_attach(a, memory, NULL));
    WRONG(distal_tensor_fill(a, NULL), "the source of tensor 'A' is NULL");
    WRONG(distal_tensor_fill(a, "two"), "'two'");
    WRONG(distal_tensor_fill(a, "const:x"), "x");
    FAILS(distal_tensor_fill(a, "/dev/null/A.npy"), "/dev/null/A.npy");
    WRONG(distal_tensor_write(a, NULL), "the path for tensor 'A' is NULL");
    WRONG(distal_tensor_write(a, "A.txt"), ".npy");
    FAILS(distal_tensor_write(a, "/dev/null/A.npy"), "/dev/null/A.npy");
    WRONG(distal_tensor_gather(a, rank == 0 ? NULL : (double[48]){0}),
          "the place for the whole of tensor 'A' is NULL");
    if (ranks > 1)
        WRONG(distal_tensor_fill(a, rank == 0 ? "ones" : "zeros"), "different calls");
    double number;
    WRONG(distal_norm(a, rank == 0 ? NULL : &number), "the place for the norm is NULL");
    WRONG(distal_dot(a, a, rank == ranks - 1 ? NULL : &number), "the place for the product is NULL");
    FINE(distal_tensor_fill(a, "ones")); // all is still in order
    // The same call on something else.
    distal_tensor *uneven = NULL, *mixed = NULL;
    FINE(distal_tensor_create(d, "V", DISTAL_F64, 1, (int64_t[]){8 + rank}, "V(x) -> M(x)", &uneven));
    FINE(distal_tensor_create(d, "W", DISTAL_F64, 1, (int64_t[]){8}, rank ? "W(x) -> M(0)" : "W(x) -> M(x)",
                              &mixed));
    if (ranks > 1) {
        WRONG(distal_tensor_fill(uneven, "ones"), "different calls");
        WRONG(distal_tensor_gather(mixed, memory), "different calls");
        WRONG(distal_tensor_attach(rank ? a : mixed, memory, NULL), "different calls");
    }

    distal_context *other = context_on(comm, ranks);
    distal_tensor *wide = NULL;
    FINE(distal_tensor_create(d, "wide", DISTAL_F64, 2, (int64_t[]){8, 7}, "wide(x, y) -> M(x)", &wide));
    WRONG(distal_redistribute(a, rows(other, "B")), "different contexts");
    WRONG(distal_redistribute(a, NULL), "NULL");
    WRONG(distal_redistribute(a, wide),
          "mode 1 of 'A' has extent 6 and that of 'wide' 7: they have to be equal");
    WRONG(distal_redistribute(a, floating),
          "'A' has 2 modes and 'U' has 1: they have to have the same extents");
    distal_free(other);
    distal_free(d);
}

// Placements that follow from entries.
static void test_balanced(distal_context *d) {
    distal_tensor *t, *later, *longer;
    distal_piece piece;
    FINE(distal_tensor_declare(d, "balanced(4, 4): f64, csr", "balanced(x, y) -> M(~x)", &t));
    FINE(distal_tensor_fill(t, "ones"));
    FINE(distal_tensor_declare(d, "later(4): f64", "later(x) -> M(weighted(x, balanced))", &later));
    FINE(distal_tensor_local(later, &piece));
    FINE(distal_tensor_declare(d, "longer(5): f64", "longer(x) -> M(weighted(x, balanced))", &longer));
    WRONG(distal_tensor_fill(longer, "ones"),
          "the mode has 5 coordinates, but that of 'balanced', whose blocks it is to have, 4");
    distal_tensor_free(longer);
    distal_tensor_free(t);
    distal_tensor_free(later);
}

// A param whose new value leaves a command without a number: said with its name and value, and the command.
static void test_numbers_of_commands(distal_context *d) {
    distal_statement *s;
    distal_plan *plan;
    FINE(distal_param(d, "chunk", 4));
    FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));
    FINE(distal_split(s, "j", "jo", "ji", "40 / chunk"));
    FINE(distal_param(d, "chunk", 0));
    WRONG(distal_plan_create(s, &plan), "40 / chunk overflows 64 bits or divides by a number that is not "
                                        "positive, where chunk = 0\n   2 |   split(j, jo, ji, 40 / chunk)\n");
    FINE(distal_param(d, "chunk", 41));
    WRONG(distal_plan_create(s, &plan), "but 40 / chunk is 0, where chunk = 41\n");
    FINE(distal_param(d, "chunk", 20));
    FINE(distal_plan_create(s, &plan));
    distal_plan_free(plan);
    distal_statement_free(s);
}

// Memory of the caller for tensors in gpu, on an emulated one.
static void test_gpu(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm, ranks);
    distal_tensor *a = NULL;
    double memory[8 * 6];
    char says[64];
    FINE(distal_tensor_create(d, "A", DISTAL_F64, 2, (int64_t[]){8, 6}, "A(x, y) -> M(x) in gpu", &a));
    WRONG(distal_tensor_attach(a, NULL, NULL), "rank 0 holds a part of tensor 'A', and the memory for it");
    WRONG(distal_tensor_attach(a, memory, NULL),
          "the memory that rank 0 gives for tensor 'A', which is in gpu, is not that of a GPU");
    char *there = device_current()->allocate((int64_t)sizeof memory + 1);
    snprintf(says, sizeof says, "the memory that rank %d gives for tensor 'A'", ranks - 1);
    WRONG(distal_tensor_attach(a, rank == ranks - 1 ? (void *)memory : there, NULL), says);
    WRONG(distal_tensor_attach(a, there + 1, NULL), "in gpu, is not aligned to the size of an element");
    WRONG(distal_tensor_attach(a, there, (int64_t[]){43, 1}), "in gpu, ends before the last element");
    WRONG(distal_tensor_attach(a, there, (int64_t[]){5, 1}), "elements would overlap");
    WRONG(distal_tensor_attach(a, there, (int64_t[]){INT64_MAX / 8, 1}), "overflow 64 bits");
    FINE(distal_tensor_attach(a, there, NULL));
    FINE(distal_tensor_fill(a, "ones"));
    distal_free(d);
    device_current()->release(there);
}

static void test_statements(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm, ranks);
    rows(d, "A");
    rows(d, "B");
    distal_statement *s;
    WRONG(distal_statement_create(d, "A(i, j) = B(i, j)", NULL), "NULL");
    WRONG(distal_statement_create(d, NULL, &s), "the text of the statement is NULL");
    WRONG(distal_statement_create(d, "", &s), "not one statement");
    WRONG(distal_statement_create(d, "A(i, j)", &s), "expected");
    WRONG(distal_statement_create(d, "A(i, j) = C(i, j)", &s), "'C' (tensors: A B)");
    WRONG(distal_statement_create(d, "A(i, j) = B(i)", &s), "B");
    WRONG(distal_statement_create(d, "A(i, j) = B(j, i)", &s), "8");
    WRONG(distal_statement_create(d, "A(i, j) = A(j, i)", &s), "A");
    WRONG(distal_statement_create(d, "A(i, j) = 1; B(i, j) = 2", &s), "not one statement");
    WRONG(distal_statement_create(d, "tensor Z: f64\nZ = 1", &s), "declares something");
    CHECK(!s, "a handle of nothing");
    WRONG(distal_statement_find(d, "A", 0, &s), "no statement assigns 'A'");
    WRONG(distal_statement_find(d, NULL, 0, &s), "NULL");

    // Each of these on a statement of its own, as the first mistake spoils it.
#define SPOILS(call, says)                                                                                   \
    do {                                                                                                     \
        distal_plan *plan;                                                                                   \
        FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));                                           \
        WRONG(call, says);                                                                                   \
        WRONG(distal_compile(s), "failed before");                                                           \
        WRONG(distal_plan_create(s, &plan), says);                                                           \
        distal_statement_free(s);                                                                            \
    } while (0)
    SPOILS(distal_divide(s, NULL, "io", "ii", "2"), "NULL");
    SPOILS(distal_divide(s, "x", "io", "ii", "2"), "'x'");
    SPOILS(distal_divide(s, "i", "io", "ii", "0"), "divide");
    SPOILS(distal_divide(s, "i", "io", "ii", "p"), "'p'");
    SPOILS(distal_divide(s, "i", "io", "io", "2"), "io");
    SPOILS(distal_divide(s, "i", "io", "ii", "2); unroll(j, 2"), "integer expression");
    SPOILS(distal_split(s, "i", "i o", "ii", "2"), "a name");
    SPOILS(distal_split(s, "i", "io", "ii", ""), "integer expression");
    SPOILS(distal_collapse(s, "j", "i", "f"), "collapse");
    SPOILS(distal_collapse(s, "i", NULL, "f"), "NULL");
    SPOILS(distal_reorder(s, "i, kx"), "'kx'");
    SPOILS(distal_reorder(s, ""), "list of names");
    SPOILS(distal_reorder(s, NULL), "NULL");
    SPOILS(distal_distribute(s, "i}"), "list of names");
    SPOILS(distal_distribute(s, "k"), "'k'");
    SPOILS(distal_distribute_onto(s, "i", "io", "ii", "Q"), "'Q'");
    SPOILS(distal_distribute_onto(s, "i, j", "io", "ii", "M"), "distribute");
    SPOILS(distal_distribute_onto(s, "i", "io", "ii", NULL), "NULL");
    SPOILS(distal_communicate(s, "C", "i"), "'C'");
    SPOILS(distal_communicate(s, "B", "x"), "'x'");
    SPOILS(distal_rotate(s, "i", "j", "j"), "j");
    SPOILS(distal_rotate(s, "i", NULL, "r"), "NULL");
    SPOILS(distal_substitute(s, "i, j", "gem"), "gem");
    SPOILS(distal_substitute(s, "i, j", NULL), "NULL");
    SPOILS(distal_parallelize(s, "i", "abacus", NULL), "abacus");
    SPOILS(distal_parallelize(s, "i", "cpu_thread", "wild"), "wild");
    SPOILS(distal_unroll(s, "j", "-1"), "unroll");
    SPOILS(distal_unroll(s, "j", NULL), "NULL");
    SPOILS(distal_precompute(s, NULL, "i, j", "i, j", "W", NULL), "NULL");
    SPOILS(distal_precompute(s, "B(i, j)", NULL, "i, j", "W", NULL), "NULL");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j", NULL, "W", NULL), "NULL");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j", "i, j", NULL, NULL), "NULL");
    SPOILS(distal_precompute(s, "", "i, j", "i, j", "W", NULL), "tensor expression");
    SPOILS(distal_precompute(s, "B(i, j", "i, j", "i, j", "W", NULL), "tensor expression");
    SPOILS(distal_precompute(s, "B(i, j), i", "i, j", "i, j", "W", NULL), "tensor expression");
    SPOILS(distal_precompute(s, "B(i, j)) (", "i, j", "i, j", "W", NULL), "tensor expression");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j}", "i, j", "W", NULL), "list of names");
    SPOILS(distal_precompute(s, "C(i, j)", "i, j", "i, j", "W", NULL), "'C'");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j", "", "W", NULL), "0 names for 2 variables");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j", "i, j", "A", NULL), "'A'");
    SPOILS(distal_precompute(s, "B(i, j)", "i, j", "i, j", "W", "c(r"), "list of names");
    SPOILS(distal_pos(s, "i", "p", "B(i, j)"), "'B' stores every coordinate of 'i'");
    SPOILS(distal_pos(s, "i", "p", NULL), "NULL");
    SPOILS(distal_schedule(s, NULL), "the text of the commands is NULL");
    SPOILS(distal_schedule(s, "fly(i)"), "'fly'");
    SPOILS(distal_schedule(s, "unroll(j, 2)\n}\nA(i, j) = 1\nschedule A {\n"),
           "expected schedule commands, separated by");
    SPOILS(distal_schedule(s, "unroll(j"), "");

    // A call whose arguments are no text of a command leaves nothing of it in the statement.
    const char *text;
    FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));
    WRONG(distal_split(s, "i", NULL, "ii", "2"), "NULL");
    WRONG(distal_schedule(s, "unroll(j"), "   2 | unroll(j\n");
    WRONG(distal_compile(s), "error: the outer loop is NULL");
    WRONG(distal_compile(s),
          "distal_split of the statement 'A(i, j) = B(i, j)' has failed before with this error");
    distal_statement_free(s);

    // What only the whole schedule shows is found when it is compiled.
    FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));
    FINE(distal_substitute(s, "i, j", "gemm"));
    WRONG(distal_compile(s), "gemm");
    distal_statement_free(s);
    FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));
    WRONG(distal_statement_text(s, NULL), "NULL");
    WRONG(distal_statement_source(s, NULL), "NULL");
    FINE(distal_statement_source(s, &text));
    CHECK(strstr(text, "void distal_kernel_0("), "no kernel in %s", text);
    WRONG(distal_use_kernel(s, NULL, NULL, "id"), "or its id, is NULL");
    WRONG(distal_use_kernel(s, (distal_kernel_function)abort, NULL, NULL), "NULL");
    WRONG(distal_use_kernel(s, (distal_kernel_function)abort, NULL, "id"),
          "emitted for another program than");
    const char *id = strstr(text, "distal_kernel_0_id[] = \"");
    char own_id[33] = "";
    CHECK(id && sscanf(id, "distal_kernel_0_id[] = \"%32[0-9a-f]\"", own_id) == 1, "no id in %s", text);
    distal_plan *plan;
    FINE(distal_use_kernel(s, (distal_kernel_function)abort, NULL, own_id));
    FINE(distal_unroll(s, "j", "2"));
    WRONG(distal_plan_create(s, &plan), "have changed since distal_use_kernel: emit the function again");
    distal_statement *of_gpu;
    FINE(distal_statement_create(d, "A(i, j) = 2 * B(i, j)", &of_gpu));
    FINE(distal_parallelize(of_gpu, "i", "gpu_block", NULL));
    WRONG(distal_use_kernel(of_gpu, (distal_kernel_function)abort, NULL, own_id),
          "cannot be compiled ahead of time yet");
    distal_statement_free(of_gpu);
    test_numbers_of_commands(d);
    test_balanced(d);
    WRONG(distal_statement_find(d, "A", 1, &s), "statement assigns 'A', and none of them has index 1");
    WRONG(distal_statement_find(d, "A", -1, &s), "index -1");
    distal_free(d);
}

static void test_programs(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    distal_context *d = context_on(comm, ranks);
    WRONG(distal_program(d, "x.distal", NULL), "the text of the program is NULL");
    WRONG(distal_program(d, "x.distal", "param n = 4\ntensor A(m): f64"), "x.distal:2:10: error:");
    WRONG(distal_program(d, NULL, "tensor"), "program:1:");
    WRONG(distal_program(d, NULL, "tensor a: f64; tensor b: f64; repeat 3 { a = b }"),
          "no repetitions: call distal_execute in a loop");
    WRONG(distal_program(d, NULL, "tensor a: f64; tensor b: f64; a = b; schedule a { fly(i) }"), "fly");
    // The second declaration meets a name that is taken: the first is taken back.
    WRONG(distal_program(d, "x.distal", "param q = 3; tensor a: f64; machine M = grid(q)"), "M");
    distal_tensor *a = NULL;
    WRONG(distal_tensor_find(d, "a", &a), "no tensor 'a'");
    FINE(distal_program(d, "x.distal", "tensor a: f64"));
    FINE(distal_program(d, NULL, ""));
    distal_free(d);
}

static bool is_diagnostic(const distal_diagnostic *one, distal_severity severity, const char *source,
                          const int place[3], const char *says) {
    return one->severity == severity && strcmp(one->source, source) == 0 && one->line == place[0] &&
           one->column == place[1] && one->length == place[2] && strstr(one->message, says) &&
           !strchr(one->message, '\n');
}

// What is right, and probably not meant.
static void test_warnings(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    const char *text = "B(i, l) = C(i, j) * D(j, k) * E(k, l)";
    const char *names[] = {"B", "C", "D", "E"};
    distal_context *d = context_on(comm, ranks);
    distal_statement *s;
    distal_plan *plan;
    int64_t count;
    const distal_diagnostic *all;
    for (int t = 0; t < 4; t++)
        FINE(distal_tensor_create(d, names[t], DISTAL_F64, 2, (int64_t[]){90, 90}, NULL, NULL));
    FINE(distal_statement_create(d, text, &s));
    FINE(distal_schedule(s, "reorder({i, j, k, l})"));
    FINE(distal_plan_create(s, &plan));
    FINE(distal_diagnostics(d, &count, &all));
    CHECK(count == 2, "%d diagnostics: %s", (int)count, distal_error(d));
    if (count < 2)
        return;
    CHECK(is_diagnostic(&all[count - 2], DISTAL_WARNING, "distal_plan_create", (int[]){1, 1, 37},
                        "[-Wfused-product]"),
          "%s", distal_error(d));
    CHECK(is_diagnostic(&all[count - 1], DISTAL_NOTE, "distal_plan_create", (int[]){1, 1, 37}, "precompute("),
          "%s", distal_error(d));
    // Plans of the same program are not warned of again.
    distal_plan *again;
    distal_tensor *a;
    WRONG(distal_tensor_find(d, "A", &a), "no tensor 'A'");
    FINE(distal_plan_create(s, &again));
    CHECK(strstr(distal_error(d), "no tensor 'A'"), "%s", distal_error(d));
    distal_free(d);
}

// What distal_error says, as values.
static void test_diagnostics(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm, ranks);
    int64_t count = 7;
    const distal_diagnostic *all;
    // Asking for what was wrong leaves that as it is.
    NOTHING(distal_diagnostics(d, NULL, &all));
    NOTHING(distal_diagnostics(d, &count, NULL));
    FINE(distal_diagnostics(d, &count, &all));
    CHECK(count == 0, "%d diagnostics before any", (int)count);

    WRONG(distal_program(d, "x.distal", "tensor A(n): f64\ntensor A(4): f64\ntensor B(4): f65"), "'n'");
    FINE(distal_diagnostics(d, &count, &all));
    CHECK(count == 4, "%d diagnostics: %s", (int)count, distal_error(d));
    if (count != 4)
        return;
    const char *source = "x.distal";
    CHECK(is_diagnostic(&all[0], DISTAL_ERROR, source, (int[]){1, 10, 1}, "unknown param 'n'"), "first");
    CHECK(is_diagnostic(&all[1], DISTAL_ERROR, source, (int[]){2, 8, 1}, "'A' is already"), "second");
    CHECK(is_diagnostic(&all[2], DISTAL_NOTE, source, (int[]){1, 8, 1}, "it is declared here"), "third");
    CHECK(is_diagnostic(&all[3], DISTAL_ERROR, source, (int[]){3, 14, 3}, "'f65'"), "fourth");
    // They stay until the next call of this context that fails.
    const distal_diagnostic *again;
    distal_tensor *a = rows(d, "A");
    NOTHING(distal_param(NULL, "n", 1));
    FINE(distal_diagnostics(d, &count, &again));
    CHECK(count == 4 && again == all && strcmp(all[2].message, "it is declared here") == 0, "they are gone");

    // Of one rank, on all of them.
    double memory[64];
    WRONG(distal_tensor_attach(a, rank == ranks - 1 ? NULL : memory, NULL), "holds");
    FINE(distal_diagnostics(d, &count, &all));
    CHECK(count == 1 && is_diagnostic(&all[0], DISTAL_ERROR, "distal_tensor_attach", (int[3]){0}, "holds"),
          "one rank's");
    distal_statement *s;
    FINE(distal_statement_create(d, "A(i, j) = 1", &s));
    WRONG(distal_reorder(s, "kx"), "'kx'");
    FINE(distal_diagnostics(d, &count, &all));
    CHECK(count == 1 && all[0].line > 0 && all[0].column == 12 && all[0].length == 2, "not at kx: %s",
          distal_error(d));
    distal_free(d);
}

static void test_plans(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm, ranks);
    rows(d, "A");
    distal_tensor *b = rows(d, "B");
    distal_statement *s;
    distal_plan *plan = NULL;
    int64_t number;
    FINE(distal_statement_create(d, "A(i, j) = B(i, j)", &s));
    WRONG(distal_plan_create(s, rank == 0 ? NULL : &plan), "the place for the plan is NULL");
    // Ranks that have declared different things do not go on together.
    FINE(distal_param(d, "extra", rank));
    if (ranks > 1) {
        WRONG(distal_plan_create(s, &plan), "different calls");
        CHECK(!plan, "a plan of nothing");
    }
    FINE(distal_param(d, "extra", 0));
    // No compiler, and a kernel that no cache holds.
    char text[64];
    distal_statement *fresh;
    snprintf(text, sizeof text, "A(i, j) = B(i, j) * %d.5", (int)(MPI_Wtime() * 1000) % 1000000);
    broadcast(text, sizeof text, MPI_CHAR, 0, comm);
    FINE(distal_statement_create(d, text, &fresh));
    setenv("DISTAL_CC", "/dev/null/cc", 1);
    FAILS(distal_compile(fresh), "/dev/null/cc");
    FAILS(distal_plan_create(fresh, &plan), "/dev/null/cc");
    barrier(comm);
    unsetenv("DISTAL_CC");
    FINE(distal_plan_create(s, &plan));
    WRONG(distal_plan_figures(plan, NULL), "NULL");
    WRONG(distal_plan_counted(plan, NULL, &number, NULL), "NULL");
    WRONG(distal_plan_counted(plan, "M", &number, NULL), "the statement of the plan accesses no tensor 'M'");
    FINE(distal_plan_counted(plan, "B", NULL, NULL));
    FINE(distal_execute(plan));
    // More memory than any machine has.
    distal_tensor *large = NULL;
    FINE(distal_tensor_create(d, "L", DISTAL_F64, 2, (int64_t[]){1 << 28, 1 << 28}, "L(x, y) -> M(x)",
                              &large));
    FAILS(distal_tensor_fill(large, "ones"), "not enough memory for L: the ranks of a node need ");
    // No machine for tests has this, and it could be asked for: it is refused before.
    distal_tensor *half = NULL;
    FINE(
        distal_tensor_create(d, "H", DISTAL_F64, 2, (int64_t[]){1 << 20, 1 << 17}, "H(x, y) -> M(x)", &half));
    FAILS(distal_tensor_fill(half, "ones"), "not enough memory for H");
    FINE(distal_statement_create(d, "H(i, j) = 1", &fresh));
    FAILS(distal_plan_create(fresh, &plan), "not enough memory for the plan");
    CHECK(!plan, "a plan of nothing");
    FINE(distal_plan_create(s, &plan));
    distal_tensor_free(b);
    WRONG(distal_execute(plan), "tensor 'B' of the plan has been freed");
    WRONG(distal_compile(s), "'B'");
    distal_free(d); // with a plan and statements that are of no use any more
}

static const ReportCase cases[] = {
    {"api_errors/null", test_null},
    {"api_errors/declarations", test_declarations},
    {"api_errors/data", test_data},
    {"api_errors/gpu", test_gpu},
    {"api_errors/statements", test_statements},
    {"api_errors/programs", test_programs},
    {"api_errors/plans", test_plans},
    {"api_errors/diagnostics", test_diagnostics},
    {"api_errors/warnings", test_warnings},
};

// Asked by AddressSanitizer, which otherwise ends a program that asks for more memory than there is.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

int main(int argc, char **argv) {
    report_start(&argc, &argv);
    setenv("DISTAL_GPU", "emulated", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int ranks = 1; ranks <= 4; ranks += 3)
            run_case(cases[i].name, ranks, cases[i].test);
    return report_end();
}
