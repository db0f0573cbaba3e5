// SPDX-License-Identifier: BSD-3-Clause
// Memory of the caller on a GPU, which the host emulates: rows with gaps, used in place by kernels, products
// of matrices and messages, and changed by the caller between executions; and a stream of the caller.
// ranks: 6
#include "api.h"
#include "memory/emulated_streams.h"

#include <stdlib.h>
#include <string.h>

enum { N = 13, GAP = 3, ROW = N + GAP };
static const double gap = -7;

// A matrix on the GPU, of which a rank has rows, and what was copied of it to the host last.
typedef struct {
    distal_tensor *tensor;
    distal_piece box;
    int64_t bytes;
    double *there, *here;
} Matrix;

static void copy(const Matrix *matrix, bool to_gpu) {
    device_current()->copy(to_gpu ? matrix->there : matrix->here, matrix->bytes,
                           to_gpu ? matrix->here : matrix->there, matrix->bytes, matrix->bytes, 1);
}

static int64_t rows_of(const Matrix *matrix) {
    return matrix->box.hi[0] - matrix->box.lo[0];
}

// Element (i, j) is `factor` * (i - j), and 0 below the diagonal; what is between rows stays.
static double number(double factor, int64_t i, int64_t j) {
    return i > j ? 0 : factor * (double)(i - j);
}

static void put(const Matrix *matrix, double factor) {
    copy(matrix, false);
    for (int64_t i = 0; i < rows_of(matrix); i++)
        for (int64_t j = 0; j < N; j++)
            matrix->here[i * ROW + j] = number(factor, matrix->box.lo[0] + i, j);
    copy(matrix, true);
}

// All elements are what `expected` says, where they are, and for others who read them.
static void check(distal_context *d, const Matrix *matrix, const double *expected) {
    double whole[N * N];
    copy(matrix, false);
    OK(distal_tensor_gather(matrix->tensor, whole));
    for (int64_t i = 0; i < N * N; i++)
        CHECK(whole[i] == expected[i], "element %d is %g, not %g", (int)i, whole[i], expected[i]);
    for (int64_t i = 0; i < rows_of(matrix); i++)
        for (int64_t j = 0; j < ROW; j++) {
            const double should = j < N ? expected[(matrix->box.lo[0] + i) * N + j] : gap;
            CHECK(matrix->here[i * ROW + j] == should, "in memory, (%d, %d) is %g, not %g", (int)i, (int)j,
                  matrix->here[i * ROW + j], should);
        }
}

static Matrix attach(distal_context *d, const char *name, const char *placement) {
    Matrix matrix = {0};
    int64_t count;
    OK(distal_tensor_create(d, name, DISTAL_F64, 2, (int64_t[]){N, N}, placement, &matrix.tensor));
    OK(distal_tensor_piece_count(matrix.tensor, &count));
    if (count > 0)
        OK(distal_tensor_box(matrix.tensor, 0, &matrix.box));
    matrix.bytes = (int64_t)sizeof(double) * ROW * rows_of(&matrix);
    matrix.there = device_current()->allocate(matrix.bytes);
    matrix.here = malloc((size_t)matrix.bytes + 1);
    for (int64_t i = 0; i < ROW * rows_of(&matrix); i++)
        matrix.here[i] = gap;
    copy(&matrix, true);
    OK(distal_tensor_attach(matrix.tensor, count ? matrix.there : NULL, (int64_t[]){ROW, 1}));
    if (count > 0)
        OK(distal_tensor_piece(matrix.tensor, 0, &matrix.box));
    CHECK(matrix.box.data == (count ? matrix.there : NULL), "the piece is elsewhere");
    return matrix;
}

static void release(const Matrix *matrix) {
    device_current()->release(matrix->there);
    free(matrix->here);
}

static void multiply(double *c, const double *a, const double *b) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i * N + j] = 0;
            for (int k = 0; k < N; k++)
                c[i * N + j] += a[i * N + k] * b[k * N + j];
        }
}

static void set(double *a, double factor) {
    for (int i = 0; i < N * N; i++)
        a[i] = number(factor, i / N, i % N);
}

static void test_in_place(MPI_Comm comm, int rank, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    Matrix a = attach(d, "A", "A(x, y) -> M(x) in gpu"), b = attach(d, "B", "B(x, y) -> M(x) in gpu"),
           c = attach(d, "C", "C(x, y) -> M(x) in gpu");
    distal_plan *product = planned(d, "C(i, j) = A(i, k) * B(k, j)", NULL),
                *sum = planned(d, "C(i, j) += A(j, i)", NULL);
    double of_a[N * N], of_b[N * N], expected[N * N];
    for (int round = 1; round <= 3; round++) {
        put(&a, round);
        put(&b, round + 1);
        set(of_a, round);
        set(of_b, round + 1);
        multiply(expected, of_a, of_b);
        OK(distal_execute(product));
        check_figures(d, product, rank);
        check(d, &c, expected);
        OK(distal_execute(sum));
        check_figures(d, sum, rank);
        for (int i = 0; i < N * N; i++)
            expected[i] += of_a[i % N * N + i / N];
        check(d, &c, expected);
        check(d, &a, of_a);
    }
    // Everything else that moves elements.
    OK(distal_redistribute(c.tensor, a.tensor));
    check(d, &c, of_a);
    double row[N];
    for (int j = 0; j < N; j++)
        row[j] = of_a[5 * N + j] = j;
    OK(distal_section_write(c.tensor, (int64_t[]){5, 0}, (int64_t[]){rank == 0 ? 6 : 5, N}, row));
    check(d, &c, of_a);
    OK(distal_tensor_fill(c.tensor, "const:3"));
    for (int i = 0; i < N * N; i++)
        expected[i] = 3;
    check(d, &c, expected);
    // Other memory, from which plans have to be made again.
    const Matrix before = c;
    c.there = device_current()->allocate(c.bytes);
    for (int64_t i = 0; i < ROW * rows_of(&c); i++)
        c.here[i] = gap;
    copy(&c, true);
    OK(distal_tensor_attach(c.tensor, c.bytes > 0 ? c.there : NULL, (int64_t[]){ROW, 1}));
    CHECK(distal_execute(sum) == DISTAL_INVALID, "a stale plan was executed");
    OK(distal_compute(d, "C(i, j) = 2 * B(i, j)"));
    for (int i = 0; i < N * N; i++)
        expected[i] = 2 * of_b[i];
    check(d, &c, expected);
    distal_free(d);
    device_current()->release(before.there);
    release(&a);
    release(&b);
    release(&c);
}

// What the caller does in its stream, without a wait.
static void in_stream(void *stream, const Matrix *matrix, double *rows, bool to_gpu) {
    device_set_caller_stream(stream);
    device_use(STREAM_COMPUTE, false);
    device_current()->copy(to_gpu ? matrix->there : rows, matrix->bytes, to_gpu ? rows : matrix->there,
                           matrix->bytes, matrix->bytes, 1);
    device_use(STREAM_COMPUTE, true);
    device_set_caller_stream(NULL);
}

static double *rows_for(const Matrix *matrix, double factor) {
    double *rows = malloc((size_t)matrix->bytes + 1);
    for (int64_t i = 0; i < rows_of(matrix) * ROW; i++)
        rows[i] = i % ROW < N ? number(factor, matrix->box.lo[0] + i / ROW, i % ROW) : gap;
    return rows;
}

// How the tensor in the middle is placed and computed.
typedef struct {
    const char *placement, *schedule;
} Middle;

// Statements between copies of the caller in one stream: all see what is there at their time, and the next
// copy may change it. Some ranks have no stream, and wait. Returns how often all calls returned before what
// had been begun was executed.
static int follow_stream(distal_context *d, int rank, int ranks, void *stream, const Middle *middle) {
    enum { ROUNDS = 12 };
    int late = 0;
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    OK(distal_machine_grid(d, "Twice", 1, (int64_t[]){2 * ranks}));
    Matrix a = attach(d, "A", "A(x, y) -> M(x) in gpu"), c = attach(d, "C", "C(x, y) -> M(x) in gpu");
    distal_tensor *b = declare(d, "B(13, 13): f64", middle->placement);
    if (rank % 4 == 3)
        stream = NULL;
    OK(distal_gpu_stream(d, stream));
    distal_plan *plans[] = {planned(d, "B(i, j) = 2 * A(i, j)", middle->schedule),
                            planned(d, "C(i, j) = A(i, k) * B(k, j)", NULL),
                            planned(d, "C(i, j) += A(j, i) + B(i, j)", NULL)};
    double *given[ROUNDS], *got[ROUNDS], of_a[N * N], of_b[N * N], expected[N * N], whole[N * N];
    for (int r = 0; r < ROUNDS; r++) {
        given[r] = rows_for(&a, r + 1);
        got[r] = rows_for(&c, 0);
        in_stream(stream, &a, given[r], true);
        if (!stream)
            device_current()->synchronize();
        for (int p = 0; p < 3; p++)
            OK(distal_execute(plans[p]));
        in_stream(stream, &c, got[r], false);
        late += a.bytes > 0 && got[r][N - 1] == 0;
        if (!stream)
            device_current()->synchronize();
        // A call that is no execution is in the stream as well.
        if (r % 3 > 0)
            continue;
        OK(distal_tensor_gather(b, whole));
        set(of_b, 2 * (r + 1));
        for (int i = 0; i < N * N; i++)
            CHECK(whole[i] == of_b[i], "round %d with '%s': element %d of B is %g, not %g", r,
                  middle->placement, i, whole[i], of_b[i]);
    }
    OK(distal_gpu_stream(d, NULL)); // and waits
    for (int r = 0; r < ROUNDS; r++) {
        set(of_a, r + 1);
        set(of_b, 2 * (r + 1));
        multiply(expected, of_a, of_b);
        for (int64_t i = 0; i < rows_of(&c) * ROW; i++) {
            const int64_t row = c.box.lo[0] + i / ROW, column = i % ROW;
            const double should =
                column < N ? expected[row * N + column] + of_a[column * N + row] + of_b[row * N + column]
                           : gap;
            CHECK(got[r][i] == should, "round %d with '%s': (%d, %d) of C is %g, not %g", r,
                  middle->placement, (int)row, (int)column, got[r][i], should);
        }
        free(given[r]);
        free(got[r]);
    }
    release(&a);
    release(&c);
    return late;
}

// `shared`: as DISTAL_SHARED_MEMORY.
static int follow_streams(MPI_Comm comm, const char *shared, const Middle *middle) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    void *stream = emulated_stream_create();
    setenv("DISTAL_SHARED_MEMORY", shared, 1);
    distal_context *d = context_on(comm);
    const int late = follow_stream(d, rank, ranks, stream, middle);
    distal_free(d);
    unsetenv("DISTAL_SHARED_MEMORY");
    emulated_stream_free(stream);
    return late;
}

#define BY_COLUMNS "distribute({j}, {jo}, {ji}, Twice)"
static const Middle middles[] = {
    {"B(x, y) -> M(x) in gpu", NULL},    {"B(x, y) -> M(y) in gpu", NULL},
    {"B(x, y) -> M(x)", NULL},           {"B(x, y) -> M(y)", NULL},
    {"B(x, y) -> Twice(x)", BY_COLUMNS}, {"B(x, y) -> Twice(x) in gpu", BY_COLUMNS}};

static void test_stream(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    (void)ranks;
    for (size_t p = 0; p < sizeof middles / sizeof *middles; p++) {
        follow_streams(comm, "off", &middles[p]);
        follow_streams(comm, "0", &middles[p]);
        follow_streams(comm, "2", &middles[p]);
        follow_streams(MPI_COMM_SELF, "off", &middles[p]);
    }
    // Where no other rank and nothing on the host needs anything, no call waits.
    int late = 0;
    for (int i = 0; i < 3; i++)
        late += follow_streams(MPI_COMM_SELF, "off", &middles[0]);
    CHECK(late > 0, "all calls have waited");
    distal_context *d = context_on(MPI_COMM_SELF);
    CHECK(distal_gpu_stream(d, &late) == DISTAL_INVALID &&
              strstr(distal_error(d), "the stream that rank 0 gives is not of the emulated GPU"),
          "a stream that is none: %s", distal_error(d));
    distal_free(d);
}

// The same with messages from GPU to GPU.
static void test_messages(MPI_Comm comm, int rank, int ranks) {
    setenv("DISTAL_GPU_MPI", "on", 1);
    for (size_t p = 0; p < sizeof middles / sizeof *middles; p++)
        follow_streams(comm, "off", &middles[p]);
    setenv("DISTAL_SHARED_MEMORY", "off", 1);
    test_in_place(comm, rank, ranks);
    unsetenv("DISTAL_SHARED_MEMORY");
    unsetenv("DISTAL_GPU_MPI");
}

// A sum on GPUs of tiles of B, which come from the host, the next one while one is added, and a contraction.
static const char sum_text[] = "C(i, j) = A(i, j) + B(i, j)",
                  contraction_text[] = "C(i, j) = T(i, k, l) * T(j, l, k)";
static const char by_tiles[] = "distribute({i}, {io}, {ii}, M); split(j, jo, ji, 4); "
                               "reorder({io, jo, ii, ji}); communicate({B}, jo)";

static distal_context *with_matrices(MPI_Comm comm, int ranks) {
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    OK(distal_tensor_fill(declare(d, "A(13, 13): f64", "A(x, y) -> M(x) in gpu"), "iota"));
    OK(distal_tensor_fill(declare(d, "B(13, 13): f64", "B(x, y) -> M(x)"), "iota"));
    declare(d, "C(13, 13): f64", "C(x, y) -> M(x) in gpu");
    declare(d, "T(13, 3, 3): f64", "T(x, y, z) -> M(x) in gpu");
    return d;
}

static int64_t free_on_gpu(void) {
    return device_current()->free_bytes();
}

// What the plan of the sum takes of the GPU is what is planned, and the result is twice an operand.
static distal_figures execute_sum(distal_context *d, int rank, int64_t before) {
    distal_figures figures = {0};
    double whole[N * N];
    distal_tensor *c = NULL;
    distal_plan *plan = planned(d, sum_text, by_tiles);
    OK(distal_tensor_find(d, "C", &c));
    for (int round = 0; plan && round < 2; round++) {
        OK(distal_plan_figures(plan, &figures));
        CHECK(before - free_on_gpu() == figures.gpu_peak_bytes[rank], "%lld bytes taken, %lld planned",
              (long long)(before - free_on_gpu()), (long long)figures.gpu_peak_bytes[rank]);
        OK(distal_execute(plan));
        check_figures(d, plan, rank);
        OK(distal_tensor_gather(c, whole));
        for (int i = 0; i < N * N; i++)
            CHECK(whole[i] == 2 * i, "element %d is %g", i, whole[i]);
    }
    return figures;
}

static void refuse_plan(distal_context *d, const char *text, const char *schedule, const char *error,
                        const char *note) {
    const int64_t before = free_on_gpu();
    distal_statement *statement = statement_of(d, text);
    distal_plan *plan = NULL;
    if (schedule)
        OK(distal_schedule(statement, schedule));
    CHECK(distal_plan_create(statement, &plan) == DISTAL_FAILED && !plan && strstr(distal_error(d), error) &&
              strstr(distal_error(d), note),
          "in place of '%s' and '%s': %s", error, note, distal_error(d));
    CHECK(free_on_gpu() == before, "a plan that was refused has taken memory");
}

// A word that says nothing is refused where a GPU executes something; that of the first rank holds.
static void test_messages_choice(MPI_Comm comm, int rank, int ranks) {
    setenv("DISTAL_GPU_MPI", rank == 0 ? "yes" : "on", 1);
    distal_context *d = with_matrices(comm, ranks);
    declare(d, "D(13, 13): f64", "D(x, y) -> M(x)");
    OK(distal_execute(planned(d, "D(i, j) = B(j, i)", NULL)));
    for (int round = 0; round < 2; round++)
        refuse_plan(d, sum_text, by_tiles, "DISTAL_GPU_MPI is 'yes', which is neither 'on' nor 'off'", "");
    setenv("DISTAL_GPU_MPI", rank == 0 ? "on" : "yes", 1);
    OK(distal_execute(planned(d, sum_text, by_tiles)));
    distal_free(d);
    unsetenv("DISTAL_GPU_MPI");
}

// What a plan needs of the memory of GPUs is compared with what is free and with a limit, on all ranks; where
// only the first one lacks any, all say what it lacks.
static void test_memory(MPI_Comm comm, int rank, int ranks) {
    const int64_t before = free_on_gpu();
    distal_context *d = with_matrices(comm, ranks);
    const distal_figures figures = execute_sum(d, rank, before);
    int64_t buffers = 0, peak = 0;
    if (figures.ranks == ranks) {
        const distal_tensor_figures *b = &figures.tensors[2];
        buffers = b->gpu_buffer_bytes[rank];
        peak = figures.gpu_peak_bytes[rank];
        CHECK(strcmp(b->tensor, "B") == 0 && (buffers > 0) == (rank * ((N + ranks - 1) / ranks) < N),
              "%lld bytes of buffers of %s", (long long)buffers, b->tensor);
    }
    distal_free(d);
    CHECK(free_on_gpu() == before, "memory of the GPU is lost");

    // The peak is allowed, and with a byte less the second buffer of each tile is not made.
    for (int less = 0; less < 2; less++) {
        d = with_matrices(comm, ranks);
        OK(distal_gpu_memory_limit(d, peak - (buffers > 0 ? less : 0)));
        const distal_figures limited = execute_sum(d, rank, before);
        if (limited.ranks == ranks)
            CHECK(limited.gpu_peak_bytes[rank] == peak - (less ? buffers / 2 : 0), "%lld bytes planned",
                  (long long)limited.gpu_peak_bytes[rank]);
        // A limit is that of all that the plan needs, what is there already included.
        OK(distal_gpu_memory_limit(d, rank == 0 ? peak - buffers : 0));
        refuse_plan(d, sum_text, by_tiles, "rank 0 needs ", "; B ");
        refuse_plan(d, sum_text, by_tiles, " of GPU memory, more than the limit of ", "in buffers");
        OK(distal_gpu_memory_limit(d, rank == 0 ? 1 << 20 : 0));
        refuse_plan(d, contraction_text, NULL, " of GPU memory, more than the limit of 1.0 MiB",
                    "; 64.0 MiB for operands of contractions; 16384 B for partial results of blocks");
        OK(distal_gpu_memory_limit(d, 0));
        distal_free(d);
    }

    // As much as is needed is free, or less on one rank.
    d = with_matrices(comm, ranks);
    const int64_t needed = peak - (before - free_on_gpu());
    void *rest = device_current()->allocate(free_on_gpu() - needed + buffers / 2 + 1);
    if (rank > 0) {
        device_current()->release(rest);
        rest = NULL;
    }
    refuse_plan(d, sum_text, by_tiles, "rank 0 needs ", " for partial results of blocks");
    refuse_plan(d, sum_text, by_tiles, " of GPU memory, of which ", " of this is already allocated");
    device_current()->release(rest);
    rest = device_current()->allocate(free_on_gpu() - needed + (rank == 0 ? buffers / 2 : 0));
    const distal_plan *plan = planned(d, sum_text, by_tiles);
    distal_figures last = {0};
    OK(distal_plan_figures(plan, &last));
    if (last.ranks == ranks)
        CHECK(last.gpu_peak_bytes[rank] == peak - buffers / 2, "%lld bytes planned",
              (long long)last.gpu_peak_bytes[rank]);
    distal_free(d);
    device_current()->release(rest);
    CHECK(free_on_gpu() == before, "memory of the GPU is lost");
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {
        {"api_gpu/in_place", test_in_place}, {"api_gpu/stream", test_stream},
        {"api_gpu/messages", test_messages}, {"api_gpu/messages_choice", test_messages_choice},
        {"api_gpu/memory", test_memory},     {NULL, NULL}};
    const char *why = NULL;
    setenv("DISTAL_GPU", "emulated", 1);
    setenv("DISTAL_GPU_MEMORY", "268435456", 1); // less than is free on the host
    device_open(0, &why);
    return report_all(argc, argv, cases);
}
