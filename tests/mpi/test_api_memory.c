// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out: in one run after the other, another allocation of the library fails on one rank,
// alone or with all later ones. Every call returns, with the same status on all ranks where it is collective,
// and all objects can be freed. A collective call that has failed is repeated with memory available: it and
// the later calls succeed then, with the right results. ranks: 3
#include "api.h"
#include "base/arena.h"
#include "base/diagnostic.h"
#include "memory/device.h"
#include "runtime/node.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Linked in place of the allocation functions, for the library's own calls only (--wrap).
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__real_arena_alloc(Arena *arena, size_t size);
void *__real_arena_alloc_items(Arena *arena, int64_t count, size_t size);
char *__real_arena_string(Arena *arena, const char *text, size_t length);
void *__real_array_grow(Arena *arena, const void *items, int64_t *capacity, size_t item_size);
void *__wrap_arena_alloc(Arena *arena, size_t size);
void *__wrap_arena_alloc_items(Arena *arena, int64_t count, size_t size);
char *__wrap_arena_string(Arena *arena, const char *text, size_t length);
void *__wrap_array_grow(Arena *arena, const void *items, int64_t *capacity, size_t item_size);
Diagnostics *__real_diagnostics_create(Arena *arena, Source source);
Diagnostics *__wrap_diagnostics_create(Arena *arena, Source source);
void *__real_emulated_allocate(int64_t bytes);
void *__real_emulated_allocate_shared(int64_t bytes, DeviceHandle *handle);
void *__wrap_emulated_allocate(int64_t bytes);
void *__wrap_emulated_allocate_shared(int64_t bytes, DeviceHandle *handle);

// Which allocations fail: calls of malloc and the like; allocations from arenas, as each may be the one for
// which the arena calls malloc; only those arena allocations that create diagnostics, as each part of a call
// does first; or allocations of GPU memory.
static enum { OF_SYSTEM, OF_ARENAS, OF_DIAGNOSTICS, OF_GPU } failing_kind;
static long allocations, failing; // of that kind so far; the one to fail, 0: none
static bool all_later;            // those after it, too

static bool fails(int kind) {
    if (kind != (int)failing_kind)
        return false;
    allocations++;
    return failing > 0 && (all_later ? allocations >= failing : allocations == failing);
}

void *__wrap_malloc(size_t size) {
    return fails(OF_SYSTEM) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails(OF_SYSTEM) ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails(OF_SYSTEM) ? NULL : __real_aligned_alloc(alignment, size);
}

static void let_arena_fail(Arena *arena, int kind) {
    if (fails(kind))
        __real_arena_alloc(arena, SIZE_MAX);
}

void *__wrap_arena_alloc(Arena *arena, size_t size) {
    let_arena_fail(arena, OF_ARENAS);
    return __real_arena_alloc(arena, size);
}

void *__wrap_arena_alloc_items(Arena *arena, int64_t count, size_t size) {
    let_arena_fail(arena, OF_ARENAS);
    return __real_arena_alloc_items(arena, count, size);
}

char *__wrap_arena_string(Arena *arena, const char *text, size_t length) {
    let_arena_fail(arena, OF_ARENAS);
    return __real_arena_string(arena, text, length);
}

void *__wrap_array_grow(Arena *arena, const void *items, int64_t *capacity, size_t item_size) {
    let_arena_fail(arena, OF_ARENAS);
    return __real_array_grow(arena, items, capacity, item_size);
}

Diagnostics *__wrap_diagnostics_create(Arena *arena, Source source) {
    let_arena_fail(arena, OF_DIAGNOSTICS);
    return __real_diagnostics_create(arena, source);
}

void *__wrap_emulated_allocate(int64_t bytes) {
    return fails(OF_GPU) ? NULL : __real_emulated_allocate(bytes);
}

void *__wrap_emulated_allocate_shared(int64_t bytes, DeviceHandle *handle) {
    return fails(OF_GPU) ? NULL : __real_emulated_allocate_shared(bytes, handle);
}

int64_t __real_node_free_memory(MPI_Comm node);
int64_t __wrap_node_free_memory(MPI_Comm node);
// What __wrap_node_free_memory returns, in bytes; 0: what the function itself returns.
static int64_t free_bytes;

int64_t __wrap_node_free_memory(MPI_Comm node) {
    return free_bytes > 0 ? free_bytes : __real_node_free_memory(node);
}

// The state of one run: it stops together where a call fails anywhere.
typedef struct {
    MPI_Comm comm;
    const char *path; // of a file to write
    distal_context *d;
    distal_status status;
    const char *call;
    bool repeats; // a collective call has failed and been made again
} Run;

static bool all_fine(Run *run, const char *call, distal_status status, bool collective) {
    int worst[2] = {(int)status, -(int)status};
    run->call = call;
    const long before = failing; // counting stops here: MPI is not ours
    failing = 0;
    all_reduce(worst, 2, MPI_INT, MPI_MAX, run->comm);
    failing = before;
    run->status = (distal_status)worst[0];
    CHECK(!collective || worst[0] == -worst[1], "%s: ranks disagree: %d", call, (int)status);
    CHECK(status != DISTAL_INVALID, "%s: %s", call, distal_error(run->d));
    int64_t count;
    const distal_diagnostic *diagnostics;
    CHECK(status == DISTAL_OK || *distal_error(run->d), "%s failed and does not say why", call);
    CHECK(!run->d || status == DISTAL_OK ||
              (distal_diagnostics(run->d, &count, &diagnostics) == DISTAL_OK && count > 0 &&
               strstr(distal_error(run->d), diagnostics[0].message)),
          "%s failed without a diagnostic", call);
    return worst[0] == DISTAL_OK;
}

// Whether a call that has failed is made again, which must succeed: there is memory again.
static bool can_repeat(Run *run, const char *call) {
    if (all_later)
        return false;
    CHECK(!run->repeats, "%s fails with memory, after a failure: %s", call, distal_error(run->d));
    failing = 0;
    run->repeats = true;
    return !report_failure[0];
}

#define LOCAL(call) all_fine(run, #call, call, false)
#define TOGETHER(call)                                                                                       \
    (all_fine(run, #call, call, true) || (can_repeat(run, #call) && all_fine(run, #call, call, true)))

// Creates the context of a run.
static bool begin(Run *run) {
    const bool created = distal_create(run->comm, &run->d) == DISTAL_OK;
    return all_fine(run, "distal_create", created ? DISTAL_OK : DISTAL_FAILED, true);
}

static bool compute(Run *run, int ranks) {
    const int64_t extents[] = {12, 10};
    distal_tensor *a = NULL, *b = NULL, *u = NULL;
    distal_statement *s = NULL, *t = NULL;
    distal_plan *p = NULL, *q = NULL;
    double whole[120], wide[240] = {0};
    const char *text;
    int64_t count = 0;
    distal_piece piece;
    if (!begin(run))
        return false;
    bool fine =
        LOCAL(distal_param(run->d, "parts", 1)) && LOCAL(distal_machine(run->d, "M", "grid(parts)")) &&
        LOCAL(distal_tensor_create(run->d, "A", DISTAL_F64, 2, extents, "A(x, y) -> M(x)", &a)) &&
        LOCAL(
            distal_tensor_declare(run->d, "B(12, 10): f64, order(1, 0)", "B(x, y) -> M(cyclic(y, 1))", &b)) &&
        LOCAL(distal_param(run->d, "parts", ranks)) &&
        LOCAL(distal_program(run->d, "u", "tensor U(10, 12): f64; tensor v: f64; v = U(i, j)")) &&
        LOCAL(distal_tensor_find(run->d, "U", &u)) && LOCAL(distal_statement_find(run->d, "v", 0, &t)) &&
        LOCAL(distal_statement_create(run->d, "A(i, j) = 2 * B(i, j) + U(j, i)", &s)) &&
        LOCAL(distal_distribute_onto(s, "i", "io", "ii", "A")) && LOCAL(distal_communicate(s, "B", "io")) &&
        LOCAL(distal_statement_text(s, &text)) && LOCAL(distal_statement_source(s, &text)) &&
        TOGETHER(distal_compile(s)) && TOGETHER(distal_tensor_attach(b, wide, (int64_t[]){2, 24})) &&
        TOGETHER(distal_tensor_fill(b, "iota")) && LOCAL(distal_tensor_piece_count(a, &count)) &&
        LOCAL(distal_tensor_local(a, &piece)) && TOGETHER(distal_plan_create(s, &p)) &&
        TOGETHER(distal_plan_create(t, &q)) && TOGETHER(distal_execute(p)) && TOGETHER(distal_execute(q)) &&
        TOGETHER(distal_redistribute(b, a)) && TOGETHER(distal_tensor_attach(a, whole, NULL)) &&
        TOGETHER(distal_tensor_gather(b, whole)) && TOGETHER(distal_tensor_write(b, run->path)) &&
        TOGETHER(distal_tensor_fill(b, run->path));
    for (int i = 0; fine && i < 120; i++)
        CHECK(whole[i] == 2 * i, "B[%d] is %g", i, whole[i]);
    return fine;
}

// Sparse tensors, from entries and from the caller's arrays, whose values and structures move; tensors that
// lie where entries say; results with the structure of an operand and others; `+=`, after whose failure the
// result has what it had.
static bool compute_sparse(Run *run, int ranks) {
    enum { N = 6 };
    const int64_t rows[] = {0, 1, 2, 3, 4, 5, 5}, columns[] = {0, 2, 4, 1, 3, 5, 0};
    const double ones[] = {1, 1, 1, 1, 1, 1, 1};
    const int64_t *const coordinates[] = {rows, columns}, *const other[] = {columns, rows};
    int64_t pos[N + 1] = {0};
    int32_t crd[N] = {0};
    double values[N] = {0}, whole[N * N] = {0}, sum = 0;
    distal_tensor *a = NULL, *b = NULL, *c = NULL, *u = NULL;
    distal_statement *s = NULL, *t = NULL;
    distal_plan *p = NULL, *q = NULL;
    int rank, own = 0;
    MPI_Comm_rank(run->comm, &rank);
    const int block = (N + ranks - 1) / ranks, first = rank * block;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N && i >= first && i < first + block; j++)
            if (j == N - 1 - i) {
                crd[own] = j;
                values[own++] = 2;
            }
        pos[i + 1] = own;
    }
    const distal_level_arrays levels[] = {{0}, {.pos = pos, .crd = crd}};
    if (!begin(run))
        return false;
    bool fine = LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
                LOCAL(distal_tensor_declare(run->d, "A(6, 6): f64, csr", "A(x, y) -> M(y)", &a)) &&
                LOCAL(distal_tensor_declare(run->d, "B(6, 6): f64, dcsr", "B(x, y) -> M(~x)", &b)) &&
                LOCAL(distal_tensor_declare(run->d, "u(6): f64", "u(x) -> M(weighted(x, B))", &u)) &&
                LOCAL(distal_tensor_declare(run->d, "C(6, 6): f64, csr", "C(x, y) -> M(x)", &c)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) += B(i, k) * C(k, j) * u(i)", &s)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) = B(j, i)", &t)) &&
                TOGETHER(distal_tensor_entries(b, rank == 0 ? 7 : 0, coordinates, ones)) &&
                TOGETHER(distal_tensor_fill(u, "ones")) &&
                TOGETHER(distal_tensor_attach_levels(c, levels, values)) &&
                TOGETHER(distal_plan_create(t, &q)) && TOGETHER(distal_execute(q)) &&
                TOGETHER(distal_plan_create(s, &p)) && TOGETHER(distal_execute(p)) &&
                TOGETHER(distal_tensor_entries(b, rank == 0 ? 7 : 0, other, ones)) &&
                TOGETHER(distal_execute(p)) && TOGETHER(distal_tensor_gather(a, whole));
    for (int e = 0; fine && e < N * N; e++)
        sum += whole[e];
    CHECK(!fine || sum == 7 + 14 + 14, "the sum of A is %g", sum);
    return fine;
}

// A result with the first level of its operand, on the first rank. A tensor that its own entries place, and
// others that follow them, of which one has memory on the first rank only.
static bool compute_weighted(Run *run, int ranks) {
    enum { N = 6 };
    const int64_t rows[] = {0, 1, 2, 3, 4, 5, 5}, columns[] = {0, 2, 4, 1, 3, 5, 0};
    const int64_t low[] = {0, 0, 0, 0, 0, 1, 5};
    const double ones[] = {1, 1, 1, 1, 1, 1, 1};
    const int64_t *const coordinates[] = {rows, columns}, *const other[] = {low, columns};
    double whole[N] = {0}, sums[N] = {0}, entries[N] = {0};
    distal_tensor *t = NULL, *w = NULL, *x = NULL, *y = NULL, *u = NULL, *v = NULL;
    distal_statement *s = NULL, *r = NULL;
    distal_plan *p = NULL, *q = NULL;
    distal_piece piece;
    int rank;
    MPI_Comm_rank(run->comm, &rank);
    if (!begin(run))
        return false;
    bool fine =
        LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
        LOCAL(distal_tensor_declare(run->d, "T(6, 6): f64, dcsr", "T(x, y) -> M(weighted(x))", &t)) &&
        LOCAL(distal_tensor_declare(run->d, "w(6): f64, {compressed}", "w(x) -> M(weighted(x, T))", &w)) &&
        LOCAL(distal_tensor_declare(run->d, "x(6): f64", "x(x) -> M(weighted(x, T))", &x)) &&
        LOCAL(distal_tensor_declare(run->d, "y(6): f64", "y(x) -> M(weighted(x, T))", &y)) &&
        LOCAL(distal_tensor_declare(run->d, "U(6, 6): f64, dcsr", NULL, &u)) &&
        LOCAL(distal_tensor_declare(run->d, "v(6): f64, {compressed}", NULL, &v)) &&
        LOCAL(distal_statement_create(run->d, "v(i) = U(i, j)", &r)) &&
        TOGETHER(distal_tensor_entries(u, rank == 0 ? 7 : 0, other, ones)) &&
        TOGETHER(distal_plan_create(r, &q)) && TOGETHER(distal_execute(q)) && TOGETHER(distal_execute(q)) &&
        TOGETHER(distal_tensor_gather(v, entries)) &&
        LOCAL(distal_statement_create(run->d, "w(i) = T(i, j) * x(j)", &s)) &&
        TOGETHER(distal_tensor_entries(t, rank == 0 ? 7 : 0, coordinates, ones)) &&
        LOCAL(rank == 0 ? distal_tensor_local(y, &piece) : DISTAL_OK) &&
        TOGETHER(distal_tensor_fill(x, "iota")) && TOGETHER(distal_plan_create(s, &p)) &&
        TOGETHER(distal_execute(p)) && TOGETHER(distal_execute(p)) &&
        TOGETHER(distal_tensor_gather(w, whole)) &&
        TOGETHER(distal_tensor_entries(t, rank == 0 ? 7 : 0, other, ones)) && TOGETHER(distal_execute(p)) &&
        TOGETHER(distal_tensor_gather(w, sums)) && TOGETHER(distal_tensor_gather(y, whole));
    for (int e = 0; fine && e < N; e++) {
        const double right[N] = {0 + 2 + 4 + 1 + 3, 5};
        const double counts[N] = {5, 1, 0, 0, 0, 1};
        CHECK(entries[e] == counts[e], "v[%d] is %g", e, entries[e]);
        CHECK(sums[e] == right[e], "w[%d] is %g", e, sums[e]);
        CHECK(whole[e] == 0, "y[%d] is %g", e, whole[e]);
    }
    return fine;
}

// Fibers of block-cyclic modes, of which ranks store elements between those at home as well. First from
// entries, then the caller's arrays.
static bool compute_padded(Run *run, int ranks) {
    const int64_t rows[] = {1, 1, 4}, columns[] = {0, 5, 2};
    const double ones[] = {1, 1, 1};
    const int64_t *const coordinates[] = {rows, columns};
    double values[6] = {0}, whole[36] = {0}, others[36] = {0};
    distal_tensor *a = NULL, *b = NULL;
    distal_statement *s = NULL;
    distal_plan *p = NULL;
    int rank;
    MPI_Comm_rank(run->comm, &rank);
    const distal_level_arrays levels[] = {{.pos = (int64_t[]){0, 1}, .crd = (int32_t[]){3}},
                                          {.first = 2 * rank, .count = rank == 0 ? 6 : 2}};
    for (int j = 0; j < (rank == 0 ? 6 : 2); j++)
        values[j] = rank == 0 && j / 2 % ranks != 0 ? 0 : 3;
    if (!begin(run))
        return false;
    bool fine = LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
                LOCAL(distal_tensor_declare(run->d, "A(6, 6): f64, {compressed, dense}",
                                            "A(x, y) -> M(cyclic(y, 2))", &a)) &&
                LOCAL(distal_tensor_declare(run->d, "B(6, 6): f64, {compressed, dense}",
                                            "B(x, y) -> M(cyclic(y, 2))", &b)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) = 2 * B(i, j)", &s)) &&
                TOGETHER(distal_tensor_entries(b, rank == 0 ? 3 : 0, coordinates, ones)) &&
                TOGETHER(distal_plan_create(s, &p)) && TOGETHER(distal_execute(p)) &&
                TOGETHER(distal_execute(p)) && TOGETHER(distal_tensor_gather(a, whole)) &&
                TOGETHER(distal_tensor_attach_levels(b, levels, values)) && TOGETHER(distal_execute(p)) &&
                TOGETHER(distal_tensor_gather(a, others));
    for (int e = 0; fine && e < 36; e++) {
        const double right = e == 6 || e == 11 || e == 26 ? 2 : 0;
        CHECK(whole[e] == right, "A[%d] is %g", e, whole[e]);
        CHECK(others[e] == (e / 6 == 3 ? 6 : 0), "A[%d] is then %g", e, others[e]);
    }
    return fine;
}

static void set_place(const int64_t *x, void *element, void *argument) {
    (void)argument;
    *(double *)element = (double)(10 * x[0] + x[1]);
}

// Statements by their text, and elements as values, in arrays of either order. What is printed goes nowhere.
static bool compute_values(Run *run, int ranks) {
    const int64_t extents[] = {6, 4}, rows[] = {0, 3, 5}, columns[] = {1, 2, 0};
    const int64_t *const coordinates[] = {rows, columns};
    const double ones[] = {1, 1, 1}, two = 2;
    double whole[24] = {0}, sparse[24] = {0}, part[4] = {0}, total = 0, norm = 0, dot = 0, ones_of_u = 0;
    distal_tensor *a = NULL, *b = NULL, *s = NULL, *alpha = NULL, *u = NULL;
    int rank;
    MPI_Comm_rank(run->comm, &rank);
    const int64_t lo[] = {2 * rank, 1}, hi[] = {2 * rank + 2, 3};
    bool created = distal_create_f(MPI_Comm_c2f(run->comm), &run->d) == DISTAL_OK;
    if (!all_fine(run, "distal_create_f", created ? DISTAL_OK : DISTAL_FAILED, true))
        return false;
    bool fine =
        LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
        LOCAL(distal_use_layout(run->d, DISTAL_COLUMN_MAJOR)) &&
        LOCAL(distal_tensor_create(run->d, "A", DISTAL_F64, 2, extents, "A(x, y) -> M(x)", &a)) &&
        LOCAL(distal_tensor_create(run->d, "B", DISTAL_F64, 2, extents, "B(x, y) -> M(y)", &b)) &&
        LOCAL(distal_tensor_declare(run->d, "S(6, 4): f64, csr", "S(x, y) -> M(x)", &s)) &&
        LOCAL(distal_tensor_create(run->d, "alpha", DISTAL_F64, 0, NULL, NULL, &alpha)) &&
        LOCAL(distal_tensor_create(run->d, "u", DISTAL_F64, 1, extents, NULL, &u)) &&
        TOGETHER(distal_tensor_fill(u, "ones")) && TOGETHER(distal_compute(run->d, "alpha = u(i)")) &&
        LOCAL(distal_get(alpha, &ones_of_u)) && TOGETHER(distal_tensor_fill_by(a, set_place, NULL)) &&
        LOCAL(distal_set(alpha, &two)) && TOGETHER(distal_compute(run->d, "B(i, j) = alpha * A(i, j)")) &&
        TOGETHER(distal_compute(run->d, "B(i, j) = alpha * A(i, j)")) &&
        TOGETHER(distal_tensor_entries(s, rank == 0 ? 3 : 0, coordinates, ones)) &&
        TOGETHER(distal_section_read(b, lo, hi, part)) && TOGETHER(distal_section_write(b, lo, hi, part)) &&
        TOGETHER(distal_tensor_gather(b, whole)) && TOGETHER(distal_tensor_gather_to(s, 0, sparse)) &&
        TOGETHER(distal_compute(run->d, "alpha = B(i, j) * S(i, j)")) && LOCAL(distal_get(alpha, &total)) &&
        TOGETHER(distal_norm(s, &norm)) && TOGETHER(distal_dot(a, b, &dot)) &&
        TOGETHER(distal_tensor_print(b)) && TOGETHER(distal_tensor_print(s));
    for (int i = 0; fine && i < 24; i++) {
        const int x = i % 6, y = i / 6;
        CHECK(whole[i] == 2 * (10 * x + y), "B[%d] is %g", i, whole[i]);
        CHECK(rank != 0 || sparse[i] == ((x == 0 && y == 1) || (x == 3 && y == 2) || (x == 5 && y == 0)),
              "S[%d] is %g", i, sparse[i]);
    }
    CHECK(!fine ||
              (part[1] == 2 * (20 * rank + 11) && total == 2 + 64 + 100 && fabs(norm * norm - 3) < 1e-14),
          "%g, %g, %g", part[1], total, norm);
    CHECK(!fine || ones_of_u == 6, "the sum of u is %g", ones_of_u);
    CHECK(!fine || dot == 47768, "the product of A and B is %g", dot);
    return fine;
}

// Another structure of one operand takes little memory, and the copy of another, which there is, takes none.
// Both get entries of other ranks.
static void test_existing_copies(MPI_Comm comm, int rank, int ranks) {
    enum { N = 40, ALL = N * N, FREE = 32 * N * 8 };
    int64_t rows[ALL], columns[ALL];
    double ones[ALL];
    for (int e = 0; e < ALL; e++) {
        rows[e] = e / N;
        columns[e] = e % N;
        ones[e] = 1;
    }
    const int64_t *const coordinates[] = {rows, columns}, *const other[] = {columns, rows};
    distal_context *d = context_on(comm);
    OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
    distal_tensor *a = declare(d, "a(40): f64", "a(x) -> M(x)");
    distal_tensor *b = declare(d, "B(40, 40): f64, csr", "B(x, y) -> M(y)");
    distal_tensor *c = declare(d, "C(40, 40): f64, csr", "C(x, y) -> M(y)");
    distal_statement *s = statement_of(d, "a(i) = B(i, j) * C(i, j)");
    OK(distal_distribute_onto(s, "i", "io", "ii", "a"));
    OK(distal_communicate(s, "B", "io"));
    OK(distal_communicate(s, "C", "io"));
    OK(distal_tensor_entries(b, rank == 0 ? ALL : 0, coordinates, ones));
    OK(distal_tensor_entries(c, rank == 0 ? N : 0, coordinates, ones));
    distal_plan *p = plan_of(d, s);
    OK(distal_execute(p));
    OK(distal_tensor_entries(c, rank == 0 ? N : 0, other, ones));
    free_bytes = FREE;
    OK(distal_execute(p));
    free_bytes = 0;
    double whole[N] = {0};
    OK(distal_tensor_gather(a, whole));
    for (int i = 0; i < N; i++)
        CHECK(whole[i] == 1, "a[%d] is %g", i, whole[i]);
    distal_free(d);
}

// What is in disk needs no memory, but for buffers of direct I/O: those of both ranks are more than calls
// leave unchecked.
static void test_in_disk(MPI_Comm comm, int rank, int ranks) {
    (void)rank;
    enum { TENSORS = 10 };
    for (int direct = 0; direct < 2; direct++) {
        distal_context *d = context_on(comm);
        OK(distal_machine_grid(d, "M", 1, (int64_t[]){ranks}));
        declare(d, "S(8): f64", "S(x) -> M(x)");
        char name[8], place[32], text[32 * TENSORS] = "S(i) = T0(i)";
        for (int i = 0; i < TENSORS; i++) {
            distal_tensor *t = NULL;
            snprintf(name, sizeof name, "T%d", i);
            snprintf(place, sizeof place, "%s(x) -> M(x) in disk", name);
            OK(distal_tensor_create(d, name, DISTAL_F64, 1, (int64_t[]){8}, place, &t));
            if (i > 0)
                snprintf(text + strlen(text), sizeof text - strlen(text), " + %s(i)", name);
        }
        distal_tensor *large = declare(d, "L(2048, 2048): f64", "L(x, y) -> M(x) in disk");
        distal_statement *s = statement_of(d, text);
        free_bytes = 1;
        OK(distal_tensor_fill(large, "ones"));
        OK(distal_scratch_direct(d, direct));
        distal_plan *p = NULL;
        const distal_status status = distal_plan_create(s, &p);
        free_bytes = 0;
        CHECK(direct ? status == DISTAL_FAILED && strstr(distal_error(d), "not enough memory for the plan")
                     : status == DISTAL_OK,
              "direct %d: %d, %s", direct, status, distal_error(d));
        distal_free(d);
    }
}

// Operands and a result whose homes are files that all ranks share: the result is complete in the end.
static bool compute_files(Run *run, int ranks) {
    enum { N = 6 };
    double whole[N * N] = {0};
    distal_tensor *a = NULL, *b = NULL, *f = NULL;
    distal_statement *s = NULL;
    distal_plan *p = NULL;
    char input[128];
    snprintf(input, sizeof input, "%.*s/B.npy", (int)(strrchr(run->path, '/') - run->path), run->path);
    if (!begin(run))
        return false;
    bool fine = LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
                LOCAL(distal_tensor_declare(run->d, "F(6, 6): f64", "F(x, y) -> M(x)", &f)) &&
                LOCAL(distal_tensor_declare(run->d, "A(6, 6): f64", "A(x, y) -> M(x) in disk", &a)) &&
                LOCAL(distal_tensor_declare(run->d, "B(6, 6): f64", "B(x, y) -> M(*) in disk", &b)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) = 2 * B(j, i)", &s)) &&
                TOGETHER(distal_tensor_fill(f, "iota")) && TOGETHER(distal_tensor_write(f, input)) &&
                TOGETHER(distal_tensor_attach_file(b, input)) &&
                TOGETHER(distal_tensor_attach_output(a, run->path)) && TOGETHER(distal_plan_create(s, &p)) &&
                TOGETHER(distal_execute(p)) && TOGETHER(distal_tensor_write(a, run->path)) &&
                TOGETHER(distal_tensor_fill(f, run->path)) && TOGETHER(distal_tensor_gather(f, whole));
    for (int e = 0; fine && e < N * N; e++)
        CHECK(whole[e] == 2 * (e % N * N + e / N), "A[%d] is %g", e, whole[e]);
    return fine;
}

// On GPUs, whose memory ranks open: homes of others, and partial results of others. Tiles come from the host.
static bool compute_on_gpus(Run *run, int ranks) {
    enum { N = 6 };
    double whole[N * N] = {0};
    distal_tensor *a = NULL, *b = NULL, *c = NULL, *h = NULL;
    distal_statement *s = NULL, *t = NULL;
    distal_plan *p = NULL, *q = NULL;
    if (!begin(run))
        return false;
    bool fine = LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
                LOCAL(distal_tensor_declare(run->d, "A(6, 6): f64", "A(x, y) -> M(x) in gpu", &a)) &&
                LOCAL(distal_tensor_declare(run->d, "B(6, 6): f64", "B(x, y) -> M(y) in gpu", &b)) &&
                LOCAL(distal_tensor_declare(run->d, "C(6, 6): f64", "C(x, y) -> M(x) in gpu", &c)) &&
                LOCAL(distal_tensor_declare(run->d, "H(6, 6): f64", "H(x, y) -> M(x)", &h)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) = B(i, j) + H(i, j)", &s)) &&
                LOCAL(distal_schedule(s, "distribute({i}, {io}, {ii}, M); split(j, jo, ji, 2); "
                                         "reorder({io, jo, ii, ji}); communicate({B, H}, jo)")) &&
                LOCAL(distal_statement_create(run->d, "C(i, j) = A(i, j) * B(j, k)", &t)) &&
                LOCAL(distal_schedule(t, "distribute({k}, {ko}, {ki}, M)")) &&
                TOGETHER(distal_tensor_fill(h, "iota")) && TOGETHER(distal_plan_create(s, &p)) &&
                TOGETHER(distal_tensor_fill(b, "ones")) && TOGETHER(distal_execute(p)) &&
                TOGETHER(distal_plan_create(t, &q)) && TOGETHER(distal_execute(q)) &&
                TOGETHER(distal_tensor_gather(c, whole));
    for (int e = 0; fine && e < N * N; e++)
        CHECK(whole[e] == N * (1 + e), "C[%d] is %g", e, whole[e]);
    return fine;
}

// What the first two ranks, which are on a node, use of the third one, at the coordinates of entries: of a
// sparse operand, of which another structure follows, and of a dense one.
static bool compute_on_nodes(Run *run, int ranks) {
    enum { N = 6, ALL = N * N };
    int64_t rows[ALL], columns[ALL];
    double ones[ALL], twos[N], whole[ALL] = {0}, sums[N] = {0};
    distal_tensor *a = NULL, *b = NULL, *c = NULL, *x = NULL, *y = NULL;
    distal_statement *s = NULL, *t = NULL;
    distal_plan *p = NULL, *q = NULL;
    int rank;
    MPI_Comm_rank(run->comm, &rank);
    for (int e = 0; e < ALL; e++) {
        rows[e] = e / N;
        columns[e] = e % N;
        ones[e] = 1;
        twos[e % N] = 2;
    }
    const int64_t *const all[] = {rows, columns}, *const column[] = {columns, rows};
    setenv("DISTAL_SHARED_MEMORY", "2", 1);
    const bool begun = begin(run);
    unsetenv("DISTAL_SHARED_MEMORY");
    if (!begun)
        return false;
    bool fine = LOCAL(distal_machine_grid(run->d, "M", 1, (int64_t[]){ranks})) &&
                LOCAL(distal_tensor_declare(run->d, "A(6, 6): f64, csr", "A(x, y) -> M(x)", &a)) &&
                LOCAL(distal_tensor_declare(run->d, "B(6, 6): f64, csr", "B(x, y) -> M(x)", &b)) &&
                LOCAL(distal_tensor_declare(run->d, "C(6, 6): f64, dcsr", "C(x, y) -> M(x)", &c)) &&
                LOCAL(distal_tensor_declare(run->d, "x(6): f64", "x(x) -> M(x)", &x)) &&
                LOCAL(distal_tensor_declare(run->d, "y(6): f64", "y(x) -> M(x)", &y)) &&
                LOCAL(distal_statement_create(run->d, "A(i, j) = B(i, k) * C(k, j)", &s)) &&
                LOCAL(distal_statement_create(run->d, "y(i) = B(i, j) * x(j)", &t)) &&
                TOGETHER(distal_tensor_entries(b, rank == 0 ? ALL : 0, all, ones)) &&
                TOGETHER(distal_tensor_entries(c, rank == 0 ? ALL : 0, all, ones)) &&
                TOGETHER(distal_tensor_fill(x, "ones")) && TOGETHER(distal_plan_create(s, &p)) &&
                TOGETHER(distal_execute(p)) && TOGETHER(distal_plan_create(t, &q)) &&
                TOGETHER(distal_execute(q)) &&
                TOGETHER(distal_tensor_entries(c, rank == 0 ? N : 0, column, twos)) &&
                TOGETHER(distal_execute(p)) && TOGETHER(distal_execute(p)) &&
                TOGETHER(distal_tensor_gather(a, whole)) && TOGETHER(distal_tensor_gather(y, sums));
    for (int e = 0; fine && e < ALL; e++) {
        CHECK(whole[e] == (e % N == 0 ? 2 * N : 0), "A[%d] is %g", e, whole[e]);
        CHECK(sums[e % N] == N, "y[%d] is %g", e % N, sums[e % N]);
    }
    return fine;
}

// Removes the files of these names in the folder; how many there were.
static int remove_files(const char *folder, const char *names) {
    char pattern[96];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s", folder, names);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    const int count = (int)found.gl_pathc;
    for (int i = 0; i < count; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
    return count;
}

// How many files in the folder this process has open.
static int open_files(const char *folder) {
    int count = 0;
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        char target[256];
        const ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target);
        count += length > (ssize_t)strlen(folder) && strncmp(target, folder, strlen(folder)) == 0;
    }
    if (descriptors)
        closedir(descriptors);
    return count;
}

// What is run again and again, each time with another allocation that fails.
typedef struct {
    const char *name;
    bool (*body)(Run *run, int ranks);
    // The rank on which allocations fail. ON_EACH: on the first rank, then on the next one, and so on; where
    // all later allocations fail as well, on the last rank only.
    enum { ON_FIRST, ON_LAST, ON_EACH } failing_ranks;
    bool fails_all_diagnostics; // also a run in which all later allocations of diagnostics fail
    long stride;   // on several ranks, where runs take longer, only every stride-th allocation fails
    bool on_gpus;  // allocations of GPU memory fail as well, on one rank after the other
    bool on_nodes; // on three ranks, else on one and on two
} Series;

static const Series all_series[] = {
    {"files", compute_files, ON_EACH, true, 3, false, false},
    {"dense", compute, ON_LAST, false, 3, false, false},
    {"sparse", compute_sparse, ON_LAST, false, 7, false, false},
    {"weighted", compute_weighted, ON_FIRST, false, 5, false, false},
    {"padded", compute_padded, ON_FIRST, false, 1, false, false},
    {"values", compute_values, ON_LAST, true, 5, false, false},
    {"on nodes", compute_on_nodes, ON_EACH, false, 11, false, true},
    {"on GPUs", compute_on_gpus, ON_LAST, false, 3, true, false},
};
static const Series *series; // of the running case

// Makes one allocation fail at a time; of those from arenas, of which there are many more, with a longer
// stride.
static void fail_on(MPI_Comm comm, int rank, int ranks, int failing_rank) {
    const long every = ranks == 1 || failing_kind == OF_GPU ? 1 : series->stride;
    const long stride = failing_kind != OF_ARENAS ? every : ranks == 1 ? 31 : 97;
    long process = (long)getpid(), last = 0;
    broadcast(&process, 1, MPI_LONG, 0, comm);
    char folder[64], path[96];
    snprintf(folder, sizeof folder, "/tmp/distal-test-memory-%ld", process);
    snprintf(path, sizeof path, "%s/A.npy", folder);
    mkdir(folder, 0700); // by the first rank that comes here
    bool fine = false;
    for (long n = 0; !fine || last >= n; n += n == 0 ? 1 : stride) {
        Run run = {.comm = comm, .path = path};
        allocations = 0;
        failing = rank == failing_rank ? n : 0;
        fine = series->body(&run, ranks);
        last = allocations;
        failing = 0;
        CHECK(n > 0 || fine, "%s failed where memory was there", run.call);
        CHECK(rank != 0 || remove_files(folder, "distal-*.tmp") == 0, "%s has left a draft behind", run.call);
        distal_free(run.d);
        CHECK(open_files(folder) == 0, "a file is open after distal_free");
        broadcast(&last, 1, MPI_LONG, failing_rank, comm);
        if (n == 0)
            fine = false;
        if (report_failure[0])
            break;
    }
    if (rank == 0) {
        remove_files(folder, "*.npy");
        rmdir(folder);
    }
}

// What the runs print goes nowhere.
static void test_series(MPI_Comm comm, int rank, int ranks) {
    fflush(stdout);
    const int before = dup(1), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    const bool each = (series->failing_ranks == ON_EACH || failing_kind == OF_GPU) && !all_later;
    const int first = each || series->failing_ranks == ON_FIRST ? 0 : ranks - 1;
    for (int failing_rank = first; failing_rank <= (each ? ranks - 1 : first); failing_rank++)
        fail_on(comm, rank, ranks, failing_rank);
    fflush(stdout);
    dup2(before, 1);
    close(before);
    close(nowhere);
}

int main(int argc, char **argv) {
    static const char *const kinds[] = {
        [OF_SYSTEM] = "system", [OF_ARENAS] = "arenas", [OF_DIAGNOSTICS] = "diagnostics", [OF_GPU] = "GPU"};
    setenv("DISTAL_GPU", "emulated", 1);
    report_start(&argc, &argv);
    run_case("api_memory/existing copies", 2, test_existing_copies);
    run_case("api_memory/in disk", 2, test_in_disk);
    for (int ranks = 1; ranks <= 3; ranks++)
        for (int kind = OF_SYSTEM; kind <= OF_GPU; kind++)
            for (size_t s = 0; s < sizeof all_series / sizeof *all_series; s++)
                for (int after = 0; after < 2; after++) {
                    char name[64];
                    failing_kind = kind;
                    series = &all_series[s];
                    all_later = after;
                    if (series->on_nodes != (ranks == 3))
                        continue;
                    if (kind == OF_DIAGNOSTICS && all_later && !series->fails_all_diagnostics)
                        continue;
                    if (kind == OF_GPU && !series->on_gpus)
                        continue;
                    snprintf(name, sizeof name, "api_memory/%s, %s, %s", all_later ? "all_after" : "each",
                             kinds[kind], series->name);
                    run_case(name, ranks, test_series);
                }
    return report_end();
}
