// SPDX-License-Identifier: BSD-3-Clause
// What cores and memory do: kernels of the runtime, and programs of one statement, on one core; products and
// a loop that does little but read and write on all cores at once as well.
#include "cli/calibrate.h"

#include "distal.h"
#include "distal_kernel.h"
#include "memory/memory.h"
#include "runtime/agreement.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LARGEST_PRODUCT = 1024, SHARED_PRODUCT = 512 };

typedef struct {
    int64_t size;
    void *a, *b, *c;
} Arrays;

static bool arrays_create(Arrays *arrays) {
    void **const all[] = {&arrays->a, &arrays->b, &arrays->c};
    const int64_t count = (int64_t)LARGEST_PRODUCT * LARGEST_PRODUCT;
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        *all[i] = memory_allocate(MEMORY_HOST, count, TYPE_F64);
        ok = ok && *all[i];
        if (*all[i])
            memset(*all[i], 0, (size_t)count * sizeof(double));
    }
    return ok;
}

static void arrays_free(Arrays *arrays) {
    memory_release(MEMORY_HOST, arrays->a);
    memory_release(MEMORY_HOST, arrays->b);
    memory_release(MEMORY_HOST, arrays->c);
}

static void multiply(void *context) {
    const Arrays *x = context;
    const int64_t n = x->size;
    distal_gemm_f64(n, n, n, 1, x->a, n, 1, x->b, n, 1, x->c, n, 1);
}

static void multiply_single(void *context) {
    const Arrays *x = context;
    const int64_t n = x->size;
    distal_gemm_f32(n, n, n, 1, x->a, n, 1, x->b, n, 1, x->c, n, 1);
}

static void multiply_vector(void *context) {
    const Arrays *x = context;
    distal_gemv_f64(x->size, x->size, 1, x->a, x->size, 1, x->b, 1, x->c, 1);
}

static void measure_products(Calibration *calibration, Arrays *arrays) {
    Curve *gemm = &calibration->model.rates[MODEL_GEMM];
    for (int64_t n = 8; n <= LARGEST_PRODUCT; n *= 2) {
        arrays->size = n;
        const Measured measured = measure(calibration, MPI_COMM_SELF, multiply, arrays);
        const double flop = 2 * (double)n * (double)n * (double)n;
        curve_add(gemm, (double)n, flop / measured.median);
        calibrate_note(calibration, arena_printf(calibration->session->arena, "gemm %" PRId64, n),
                       1e-9 * flop / measured.median, "GFLOP/s", measured);
    }
    arrays->size = SHARED_PRODUCT;
    const Measured single = measure(calibration, MPI_COMM_SELF, multiply_single, arrays),
                   dual = measure(calibration, MPI_COMM_SELF, multiply, arrays);
    calibration->model.single = dual.median / single.median;
    calibrate_note(calibration, "single precision", calibration->model.single, "times", single);
}

static void measure_vectors(Calibration *calibration, Arrays *arrays) {
    static const int64_t sizes[] = {8, 32, 128, 256};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        arrays->size = sizes[s];
        const Measured measured = measure(calibration, MPI_COMM_SELF, multiply_vector, arrays);
        const double flop = 2 * (double)sizes[s] * (double)sizes[s];
        curve_add(&calibration->model.rates[MODEL_VECTOR], flop, flop / measured.median);
        calibrate_note(calibration, arena_printf(calibration->session->arena, "gemv %" PRId64, sizes[s]),
                       1e-9 * flop / measured.median, "GFLOP/s", measured);
    }
}

// One statement, planned and compiled, on this rank alone.
typedef struct {
    distal_context *context;
    distal_plan *plan;
} SmallProgram;

static bool program_create(const char *text, const char *target, const char *const filled[],
                           const char *const source[], SmallProgram *program, Diagnostics *diagnostics) {
    distal_statement *statement;
    *program = (SmallProgram){NULL, NULL};
    bool ok = distal_create(MPI_COMM_SELF, &program->context) == DISTAL_OK &&
              distal_program(program->context, "calibrate", text) == DISTAL_OK &&
              distal_statement_find(program->context, target, 0, &statement) == DISTAL_OK;
    for (int t = 0; ok && filled[t]; t++) {
        distal_tensor *tensor;
        ok = distal_tensor_find(program->context, filled[t], &tensor) == DISTAL_OK &&
             distal_tensor_fill(tensor, source[t]) == DISTAL_OK;
    }
    ok = ok && distal_plan_create(statement, &program->plan) == DISTAL_OK &&
         distal_execute(program->plan) == DISTAL_OK;
    const char *why = program->context ? distal_error(program->context) : "out of memory";
    return ok || diagnostics_error(diagnostics, (Span){0}, "cannot measure loops: %.*s",
                                   (int)strcspn(why, "\n"), why);
}

static void program_free(SmallProgram *program) {
    if (program->context)
        distal_free(program->context);
}

static void execute(void *context) {
    distal_execute(((SmallProgram *)context)->plan);
}

// What one execution takes that computes next to nothing.
static bool measure_overhead(Calibration *calibration) {
    static const char text[] = "tensor a(2): f64\ntensor b(2): f64\na(i) = 2 * b(i)\n";
    static const char *filled[] = {"b", NULL}, *sources[] = {"ones", NULL};
    SmallProgram program;
    const bool ok = program_create(text, "a", filled, sources, &program, calibration->session->diagnostics);
    if (ok) {
        const Measured measured = measure(calibration, MPI_COMM_SELF, execute, &program);
        calibration->model.overhead = measured.median;
        calibrate_note(calibration, "overhead", 1e6 * measured.median, "us", measured);
    }
    program_free(&program);
    return ok;
}

// Bytes that a loop reads and writes per second on all ranks of a communicator, by those that each uses.
static bool measure_copies(Calibration *calibration, MPI_Comm comm, const char *who, int ranks,
                           Curve *curve) {
    static const int64_t sizes[] = {(int64_t)32 << 10, (int64_t)256 << 10, (int64_t)1 << 20,
                                    (int64_t)2 << 20,  (int64_t)4 << 20,   (int64_t)16 << 20,
                                    (int64_t)64 << 20, (int64_t)256 << 20};
    static const char *const inputs[] = {"B", "C", NULL}, *const sources[] = {"ones", "ones"};
    Diagnostics *diagnostics = calibration->session->diagnostics;
    bool ok = true;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && ok; s++) {
        const char *text =
            arena_printf(calibration->session->arena,
                         "param n = %" PRId64 "\ntensor A(n): f64\ntensor B(n): f64\ntensor C(n): f64\n"
                         "A(i) = B(i) + 0.5 * C(i)\n",
                         sizes[s] / (3 * (int64_t)sizeof(double)));
        SmallProgram program;
        ok = program_create(text, "A", inputs, sources, &program, diagnostics);
        ok = agree_on(comm, ok, diagnostics);
        if (ok) {
            const Measured measured = measure(calibration, comm, execute, &program);
            const double seconds = fmax(measured.median - calibration->model.overhead, 0.1 * measured.median);
            const double rate = (double)sizes[s] * ranks / seconds;
            curve_add(curve, (double)sizes[s], rate);
            calibrate_note(
                calibration,
                arena_printf(calibration->session->arena, "copy of %s, %" PRId64 " KiB", who, sizes[s] >> 10),
                1e-9 * rate, "GB/s", measured);
        }
        program_free(&program);
    }
    return ok;
}

// A statement of which the loops are measured: its extents, the operations, and the size that its rate is
// for; and what operands are filled with.
typedef struct {
    const char *name, *text, *target;
    ModelKernel kernel;
    int64_t n;
    double flop, size;
    const char *of_b, *of_c;
} LoopStatement;

#define SUM_OF_PRODUCTS                                                                                      \
    "tensor A(n): f64\ntensor B(n, n): f64\ntensor C(n, n): f64\ntensor d(n): f64\n"                         \
    "A(i) = B(i, j) * C(i, j) * d(j)"
#define THREE_FACTORS                                                                                        \
    "param r = 32\ntensor A(n, r): f64\ntensor B(n, n, n): f64\ntensor C(n, r): f64\ntensor d(n, r): f64\n"  \
    "A(i, l) = B(i, j, k) * C(j, l) * d(k, l)\n"                                                             \
    "machine M = grid(1)\nschedule A {\n  distribute({i}, {io}, {ii}, M)\n}"
#define FOUR_MODES                                                                                           \
    "tensor A(n, n, n, n): f64\ntensor B(n, n, n, n): f64\ntensor C(n, n, n, n): f64\n"                      \
    "A(a, b, i, j) = B(a, c, i, k) * C(c, b, k, j)"

#define THREE_MODES                                                                                          \
    "tensor A(2, n, n): f64\ntensor B(2, n, n): f64\ntensor C(n, n): f64\nA(i, j, l) = B(i, j, k) * C(k, l)"

#define ONES "ones", "ones"
#define ENTRIES(seed) "sparse:" #seed ":100000" // in 2000 rows
#define SPARSE_PRODUCT "tensor A(n): f64\ntensor B(n, n): f64, csr\ntensor C(n): f64\nA(i) = B(i, j) * C(j)"
#define SPARSE_SUM                                                                                           \
    "tensor A(n, n): f64, csr\ntensor B(n, n): f64, csr\ntensor C(n, n): f64, csr\n"                         \
    "A(i, j) = B(i, j) + C(i, j)"

// A product of 2n x n x n.
#define OF_PANELS(n) (n), 4.0 * (n) * (n) * (n), 1.2 * (n)
// Of the contraction, extents of the product are those of two modes.
#define OF_EXTENT(n) (n), 2.0 * (n) * (n) * (n) * (n) * (n) * (n), (n) * (n)
static const LoopStatement loop_statements[] = {
    {"loops, 1.5 for an element", SUM_OF_PRODUCTS, "A", MODEL_LOOPS, 160, 3.0 * 160 * 160, 1.5, ONES},
    {"loops, 90 for an element", THREE_FACTORS, "A", MODEL_LOOPS, 96, 3.0 * 96 * 96 * 96 * 32, 90, ONES},
    {"panels 9.6", THREE_MODES, "A", MODEL_PANELS, OF_PANELS(8), ONES},
    {"panels 19.2", THREE_MODES, "A", MODEL_PANELS, OF_PANELS(16), ONES},
    {"panels 38.4", THREE_MODES, "A", MODEL_PANELS, OF_PANELS(32), ONES},
    {"panels 76.8", THREE_MODES, "A", MODEL_PANELS, OF_PANELS(64), ONES},
    {"panels 153.6", THREE_MODES, "A", MODEL_PANELS, OF_PANELS(128), ONES},
    {"contraction 16", FOUR_MODES, "A", MODEL_CONTRACTION, OF_EXTENT(4), ONES},
    {"contraction 64", FOUR_MODES, "A", MODEL_CONTRACTION, OF_EXTENT(8), ONES},
    {"contraction 144", FOUR_MODES, "A", MODEL_CONTRACTION, OF_EXTENT(12), ONES},
    {"contraction 256", FOUR_MODES, "A", MODEL_CONTRACTION, OF_EXTENT(16), ONES},
    {"contraction 576", FOUR_MODES, "A", MODEL_CONTRACTION, OF_EXTENT(24), ONES},
    {"sparse", SPARSE_PRODUCT, "A", MODEL_SPARSE, 2000, 2e5, 1, ENTRIES(1), "ones"},
    {"merge", SPARSE_SUM, "A", MODEL_MERGE, 2000, 2e5, 1, ENTRIES(1), ENTRIES(2)},
};

static bool measure_statement(Calibration *calibration, const LoopStatement *statement) {
    static const char *const inputs[] = {"B", "C", NULL};
    const char *const sources[] = {statement->of_b, statement->of_c};
    const char *text = arena_printf(calibration->session->arena, "param n = %" PRId64 "\n%s\n", statement->n,
                                    statement->text);
    SmallProgram program;
    const bool ok =
        program_create(text, statement->target, inputs, sources, &program, calibration->session->diagnostics);
    if (ok) {
        const Measured measured = measure(calibration, MPI_COMM_SELF, execute, &program);
        const double seconds = fmax(measured.median - calibration->model.overhead, 0.1 * measured.median);
        curve_add(&calibration->model.rates[statement->kernel], statement->size, statement->flop / seconds);
        calibrate_note(calibration, statement->name, 1e-9 * statement->flop / seconds, "GFLOP/s", measured);
    }
    program_free(&program);
    return ok;
}

static bool measure_loops(Calibration *calibration) {
    for (size_t s = 0; s < sizeof loop_statements / sizeof *loop_statements; s++)
        if (!measure_statement(calibration, &loop_statements[s]))
            return false;
    return true;
}

// On the first rank, while the others wait.
static bool measure_alone(Calibration *calibration, Diagnostics *diagnostics) {
    Arrays arrays;
    bool ok = arrays_create(&arrays) || diagnostics_error(diagnostics, (Span){0}, "out of memory");
    if (ok) {
        measure_products(calibration, &arrays);
        measure_vectors(calibration, &arrays);
    }
    arrays_free(&arrays);
    return ok && measure_overhead(calibration) &&
           measure_copies(calibration, MPI_COMM_SELF, "a core", 1, &calibration->model.levels[1].copy) &&
           measure_loops(calibration);
}

// On as many ranks of a node as it has cores, while the others wait.
static bool measure_together(Calibration *calibration, MPI_Comm comm, Arrays *arrays) {
    MachineModel *model = &calibration->model;
    int ranks;
    MPI_Comm_size(comm, &ranks);
    arrays->size = SHARED_PRODUCT;
    const Measured measured = measure(calibration, comm, multiply, arrays);
    const double flop = 2.0 * SHARED_PRODUCT * SHARED_PRODUCT * SHARED_PRODUCT;
    if (calibration->rank == 0 && ranks > 1) {
        const double alone = curve_at(&model->rates[MODEL_GEMM], SHARED_PRODUCT);
        const double all = ranks * flop / measured.median;
        model->parallel = fmax(0, fmin(1, (all / alone - 1) / (ranks - 1)));
        calibrate_note(calibration, "gemm 512 on all cores", 1e-9 * all, "GFLOP/s", measured);
    }
    return measure_copies(calibration, comm, "all cores", ranks, &model->levels[0].copy);
}

bool calibrate_computing(Calibration *calibration) {
    Diagnostics *diagnostics = calibration->session->diagnostics;
    bool ok = calibration->rank > 0 || measure_alone(calibration, diagnostics);
    calibrate_join(calibration);
    Arrays arrays = {0};
    if (!agree_on(MPI_COMM_WORLD, ok, diagnostics))
        return false;
    ok = arrays_create(&arrays) || diagnostics_error(diagnostics, (Span){0}, "out of memory");
    ok = agree_on(MPI_COMM_WORLD, ok, diagnostics);
    MPI_Comm together;
    MPI_Comm_split(calibration->node,
                   calibration->node_rank < calibration->model.levels[1].count ? 0 : MPI_UNDEFINED,
                   calibration->node_rank, &together);
    if (ok && together != MPI_COMM_NULL)
        ok = measure_together(calibration, together, &arrays);
    calibrate_join(calibration);
    if (together != MPI_COMM_NULL)
        MPI_Comm_free(&together);
    arrays_free(&arrays);
    return agree_on(MPI_COMM_WORLD, ok, diagnostics);
}
