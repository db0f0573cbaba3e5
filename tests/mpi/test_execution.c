// SPDX-License-Identifier: BSD-3-Clause
// The runtime without a planner: agreement on failures, datatypes, executions put together by hand for what
// no planned program does, and tensors in and out of files. ranks: 12
#include "base/random.h"
#include "io/generate.h"
#include "report.h"
#include "runtime/execution.h"
#include "runtime/load.h"
#include "runtime/message.h"
#include "runtime/save.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Asked by AddressSanitizer, which otherwise ends a program that asks for more memory than there is.
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

typedef struct {
    Arena *arena;
    Diagnostics *diagnostics;
} Scope;

static Scope scope_create(void) {
    Arena *arena = arena_create();
    return (Scope){arena, diagnostics_create(arena, (Source){"test", NULL})};
}

static const char *first_message(const Diagnostics *diagnostics) {
    return diagnostics->list.count ? diagnostics->list.items[0].message : "";
}

static void test_agree(MPI_Comm comm, int rank, int ranks) {
    Scope scope = scope_create();
    CHECK(agree(comm, true) && !agree(comm, rank != ranks - 1), "agree");
    CHECK(agree_on(comm, true, scope.diagnostics), "no rank failed");
    // Two fail: everybody hears of the lower one.
    int lower = ranks / 2;
    bool ok = rank < lower;
    if (!ok)
        diagnostics_error(scope.diagnostics, (Span){3, 4, 5}, "mistake of %d", rank);
    CHECK(!agree_on(comm, ok, scope.diagnostics), "somebody failed");
    char message[64];
    snprintf(message, sizeof message, "mistake of %d", lower);
    bool found = false;
    for (int64_t i = 0; i < scope.diagnostics->list.count; i++) {
        const Diagnostic *one = &scope.diagnostics->list.items[i];
        found = found || (strcmp(one->message, message) == 0 && one->span.line == 3 && one->span.length == 5);
    }
    CHECK(found && scope.diagnostics->errors > 0, "'%s' is missing", message);
    arena_free(scope.arena);
}

static Rect box(int order, const int64_t *lo, const int64_t *hi) {
    Rect rect = {.order = order};
    memcpy(rect.lo, lo, sizeof(int64_t) * (size_t)order);
    memcpy(rect.hi, hi, sizeof(int64_t) * (size_t)order);
    return rect;
}

static void check_message(MessageTypes *types, const Rect *rect, const int64_t *stride, ElementType type) {
    const int64_t size = (int64_t)type_info(type)->size;
    const int mode_order[] = {0, 1, 2};
    int64_t reach = size;
    for (int d = 0; d < rect->order; d++)
        reach += (rect->hi[d] - rect->lo[d] - 1) * stride[d] * size;
    Piece piece = {.rect = *rect, .type = type};
    memcpy(piece.stride, stride, sizeof(int64_t) * (size_t)rect->order);
    for (int collective = 0; collective < 2; collective++) {
        MessageType message;
        bool ok = collective ? message_collective(types, &piece, rect, mode_order, &message)
                             : message_single(types, &piece, rect, &message);
        MPI_Count bytes, low, extent;
        MPI_Type_size_x(message.type, &bytes);
        MPI_Type_get_true_extent_x(message.type, &low, &extent);
        CHECK(ok && bytes * message.count == rect_volume(rect) * size, "%lld bytes", (long long)bytes);
        CHECK(message.count > 1 || (low == 0 && extent == reach), "true extent %lld, not %" PRId64,
              (long long)extent, reach);
    }
}

// Nothing is sent: no machine for tests has the memory.
static void test_large_messages(MPI_Comm comm, int rank, int ranks) {
    (void)comm, (void)rank, (void)ranks;
    const int64_t large = ((int64_t)3 << 30) + 5;
    MessageTypes *types = message_types_create();
    const struct {
        int64_t hi[3], stride[3];
    } shapes[] = {
        {{large, 1, 1}, {1, 1, 1}},                      // one long run
        {{large, 1, 1}, {7, 1, 1}},                      // elements far apart
        {{(int64_t)3 << 30, 1, 1}, {2, 1, 1}},           // a multiple of what is nested
        {{4, large, 1}, {2 * large, 1, 1}},              // long rows
        {{large, 3, 1}, {4, 1, 1}},                      // many rows
        {{50000, 40000, 2}, {80000 * (int64_t)3, 3, 1}}, // many elements, short modes
        {{1, 1, 1}, {1, 1, 1}},
    };
    const int64_t lo[3] = {0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Rect rect = box(3, lo, shapes[i].hi);
        check_message(types, &rect, shapes[i].stride, TYPE_F64);
    }
    // More shapes than the cache begins with; each is found again.
    for (int round = 0; round < 2; round++)
        for (int64_t n = 2; n < 100; n++) {
            Rect rect = box(3, lo, (int64_t[]){n, 3, 2});
            check_message(types, &rect, (int64_t[]){n * 40, 20, 3}, TYPE_F64);
        }
    message_types_free(types);
}

// A tensor in blocks of rows, one a rank, and one transfer of it, made by hand.
typedef struct {
    Scope scope;
    Tensor tensor;
    Access access;
    Transfer transfer;
    Home home;
    Storage *storage;
    Group everyone;
    Communicators *communicators;
} Fixture;

// Two rows on each rank, all of them on the last, or all on every rank.
static void place(Home *home, const Tensor *tensor, int ranks, PlaceKind kind, Arena *arena) {
    Layout layout = {.grid = {1, {ranks}}, .order = 2, .extents = {2 * ranks, 3}};
    layout.dims[0].kind = kind;
    layout.dims[0].coordinate = ranks - 1;
    layout.dims[0].length = 2 * ranks;
    layout.dims[0].block = 2;
    home_from_layout(home, tensor, layout.extents, &layout, ranks, arena);
}

static void fixture_create(Fixture *fixture, int rank, int ranks, TransferKind kind, bool only_last) {
    *fixture = (Fixture){.scope = scope_create()};
    Arena *arena = fixture->scope.arena;
    fixture->tensor = (Tensor){.name = "T", .type = TYPE_I64, .order = 2, .mode_order = {0, 1}};
    fixture->tensor.levels[0] = fixture->tensor.levels[1] = level_type_dense();
    fixture->access = (Access){.tensor = &fixture->tensor};
    fixture->transfer =
        (Transfer){.kind = kind, .access = &fixture->access, .statement_access = &fixture->access, .at = -1};
    int64_t *members = arena_array(arena, int64_t, ranks);
    for (int64_t r = 0; r < ranks; r++)
        members[r] = r;
    fixture->everyone = (Group){ranks, members};
    place(&fixture->home, &fixture->tensor, ranks, only_last ? PLACE_FIX : PLACE_PARTITION, arena);
    fixture->storage = storage_create(&fixture->home, rank, true, (Scratch){0}, fixture->scope.diagnostics);
    for (int64_t i = 0; i < fixture->storage->piece_count; i++)
        generate(generator_named("iota"), &(GeneratorValues){0}, fixture->home.extents,
                 &fixture->storage->pieces[i]);
}

static void fixture_free(Fixture *fixture) {
    communicators_free(fixture->communicators);
    storage_free(fixture->storage);
    arena_free(fixture->scope.arena);
}

static distal_execution *assemble(Fixture *fixture, const RankTransfer *const *plans, int count,
                                  MPI_Comm comm, int ranks) {
    Storage *storages[2] = {fixture->storage, fixture->storage};
    const int64_t rank = fixture->storage->rank, coordinates[] = {2 * rank, 2 * rank + 1};
    ExecutionParts parts = {.transfer_count = count,
                            .transfers = plans,
                            .storages = storages,
                            .group_count = ranks > 1,
                            .groups = &fixture->everyone,
                            .processors = 2 * ranks - 1,
                            .per_rank = 2,
                            .values = coordinates,
                            .value_count = 1};
    fixture->communicators = communicators_create(comm);
    return execution_assemble(&parts, fixture->communicators, fixture->scope.diagnostics);
}

static int64_t at(const distal_view *view, int64_t i, int64_t j) {
    return ((const int64_t *)
                view->values)[(i - view->lo[0]) * view->stride[0] + (j - view->lo[1]) * view->stride[1]];
}

// Every step brings the block of the next rank, of which the next but one is asked for before it is used.
static void pipelined_kernel(distal_execution *execution, const int64_t *params) {
    const int64_t rank = params[0], ranks = params[1];
    CHECK(distal_processor_count(execution) == 2, "processors");
    CHECK(distal_coordinates(execution, 0)[0] == 2 * rank && distal_takes_part(execution, 0), "first one");
    CHECK(!!distal_takes_part(execution, 1) == (2 * rank + 1 < 2 * ranks - 1), "second one");
    distal_start(execution, 0);
    distal_start(execution, 1);
    const distal_view *views[] = {distal_wait(execution, 0), distal_wait(execution, 1)};
    for (int64_t t = 0; t < 2; t++) {
        int64_t first = (rank + t + 1) % ranks * 2;
        for (int64_t i = first; i < first + 2; i++)
            for (int64_t j = 0; j < 2; j++)
                CHECK(at(views[t], i, j) == 3 * i + j, "element (%" PRId64 ", %" PRId64 ")", i, j);
    }
}

// Two transfers under way at once, between the same ranks.
static void test_overlap(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_FETCH, false);
    Transfer transfers[2];
    Part parts[2][2];
    RankOperation moves[2];
    RankStep steps[2];
    RankTransfer plans[2];
    const int r = rank;
    for (int t = 0; t < 2; t++) {
        int source = (r + t + 1) % ranks, target = (r + (t + 1) * (ranks - 1)) % ranks;
        transfers[t] = fixture.transfer;
        transfers[t].id = t;
        // Two of the three columns: the rows are no run.
        Rect wanted = box(2, (int64_t[]){2 * source, 0}, (int64_t[]){2 * source + 2, 2});
        Rect given = box(2, (int64_t[]){2 * r, 0}, (int64_t[]){2 * r + 2, 2});
        const bool own = source == r;
        parts[t][0] = (Part){.rect = wanted, .peer = source, .piece = own ? 0 : -1};
        parts[t][1] = (Part){.rect = given, .peer = target, .piece = 0};
        moves[t] = (RankOperation){.operation = own ? &operation_local : &operation_gather,
                                   .group = -1,
                                   .root = -1,
                                   .receive_count = 1,
                                   .receives = &parts[t][0],
                                   .send_count = !own,
                                   .sends = &parts[t][1],
                                   .bytes = own ? 0 : 32,
                                   .messages = !own};
        steps[t] = (RankStep){.view = wanted, .piece = -1, .operation_count = 1};
        memcpy(steps[t].first, wanted.lo, sizeof wanted.lo);
        plans[t] = (RankTransfer){.rank = r,
                                  .transfer = &transfers[t],
                                  .step_count = 1,
                                  .steps = &steps[t],
                                  .operation_count = 1,
                                  .operations = &moves[t],
                                  .buffer_count = 1,
                                  .buffer_elements = 4};
    }
    distal_execution *execution =
        assemble(&fixture, (const RankTransfer *[]){&plans[0], &plans[1]}, 2, comm, ranks);
    CHECK(execution, "%s", first_message(fixture.scope.diagnostics));
    for (int round = 0; round < 3 && execution; round++) {
        execution_run(execution, pipelined_kernel, (int64_t[]){rank, ranks});
        CHECK(execution_bytes(execution, 0) == (ranks > 1 ? 32 : 0), "bytes");
    }
    execution_free(execution);
    fixture_free(&fixture);
}

// The last rank owns everything and adds to its home; the others add to a buffer.
static void home_kernel(distal_execution *execution, const int64_t *params) {
    const distal_view *view = distal_accumulate(execution, 0);
    int64_t *data = view->values;
    for (int64_t i = 0; i < 2 * params[1] * 3; i++)
        data[i] += 100 + params[0];
    distal_reduce(execution, 0);
}

static void test_in_home(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_REDUCE, true);
    const bool owner = rank == ranks - 1;
    Rect whole = rect_whole(2, fixture.home.extents);
    Part part = {.rect = whole, .peer = ranks - 1, .piece = owner ? 0 : -1};
    RankOperation sum = {.operation = &operation_reduce,
                         .root = ranks - 1,
                         .contributes = !owner,
                         .exclusive = true,
                         .send_count = !owner,
                         .sends = &part,
                         .receive_count = owner,
                         .receives = &part,
                         .bytes = owner ? 0 : 48 * ranks,
                         .messages = !owner};
    RankStep step = {.view = whole, .piece = owner ? 0 : -1, .operation_count = ranks > 1};
    RankTransfer plan = {.rank = rank,
                         .transfer = &fixture.transfer,
                         .step_count = 1,
                         .steps = &step,
                         .operation_count = 1,
                         .operations = &sum,
                         .buffer_count = !owner,
                         .buffer_elements = 6 * ranks};
    distal_execution *execution = assemble(&fixture, (const RankTransfer *[]){&plan}, 1, comm, ranks);
    CHECK(execution, "%s", first_message(fixture.scope.diagnostics));
    if (execution) {
        execution_run(execution, home_kernel, (int64_t[]){rank, ranks});
        CHECK(execution_messages(execution, 0) == !owner, "messages");
        CHECK(execution_bytes(execution, 0) == (owner ? 0 : 48 * ranks), "bytes");
    }
    for (int64_t i = 0; i < 6 * ranks && owner; i++) {
        int64_t value = ((const int64_t *)fixture.storage->pieces[0].data)[i];
        CHECK(value == i + 100 * ranks + ranks * (ranks - 1) / 2, "element %" PRId64 " is %" PRId64, i,
              value);
    }
    execution_free(execution);
    fixture_free(&fixture);
}

// All threads but the second add to copies, the first to the home, which lies spread out in memory.
static void copies_kernel(distal_execution *execution, const int64_t *params) {
    const distal_view *view = distal_accumulate(execution, 0);
    const int threads = distal_thread_count(execution, 0, INT64_MAX);
    CHECK(threads == omp_get_max_threads(), "%d threads", threads);
    for (int t = threads - 1; t >= 0 && view->values; t--) {
        if (t == 1)
            continue;
        int64_t *own = distal_thread_copy(execution, 0, t);
        CHECK((t == 0) == (own == view->values), "the copy of thread %d", t);
        for (int64_t i = 0; i < 2; i++)
            for (int64_t j = 0; j < 3; j++)
                own[i * view->stride[0] + j * view->stride[1]] += params[0] * (t + 1);
    }
    if (view->values)
        distal_merge_copies(execution, 0);
    distal_reduce(execution, 0);
}

// The blocks of rows of the ranks, with `stride` from one row to the next.
static distal_execution *assemble_copies(Fixture *fixture, RankTransfer *plan, RankStep *step,
                                         int64_t *memory, int64_t stride, MPI_Comm comm, int ranks) {
    fixture->transfer.copy_limit = INT64_MAX;
    Piece piece = {
        .rect = fixture->storage->pieces[0].rect, .stride = {stride, 1}, .type = TYPE_I64, .data = memory};
    storage_free(fixture->storage);
    fixture->storage = storage_wrap(&fixture->home, plan->rank, &piece);
    *step = (RankStep){.view = piece.rect, .piece = 0};
    plan->transfer = &fixture->transfer;
    plan->step_count = 1;
    plan->steps = step;
    return assemble(fixture, (const RankTransfer *[]){plan}, 1, comm, ranks);
}

static void test_thread_copies(MPI_Comm comm, int rank, int ranks) {
    const int threads_before = omp_get_max_threads();
    omp_set_num_threads(4);
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_REDUCE, false);
    RankTransfer plan = {.rank = rank};
    RankStep step;
    int64_t memory[8] = {1, 2, 3, 77, 78, 4, 5, 6};
    distal_execution *execution = assemble_copies(&fixture, &plan, &step, memory, 5, comm, ranks);
    CHECK(execution, "%s", first_message(fixture.scope.diagnostics));
    for (int64_t round = 1; round <= 2 && execution; round++) {
        execution_run(execution, copies_kernel, (int64_t[]){10 * round});
        for (int i = 0; i < 8; i++) {
            const int64_t value = i < 3 ? i + 1 : i - 1, sum = round * (round + 1) / 2 * 10 * (1 + 3 + 4);
            CHECK(memory[i] == (i == 3 || i == 4 ? 74 + i : value + sum), "element %d is %" PRId64, i,
                  memory[i]);
        }
    }
    execution_free(execution);
    fixture_free(&fixture);

    // Copies that one rank cannot have.
    fixture_create(&fixture, rank, ranks, TRANSFER_REDUCE, false);
    execution = assemble_copies(&fixture, &plan, &step, memory, rank == ranks - 1 ? (int64_t)1 << 57 : 3,
                                comm, ranks);
    CHECK(!execution, "an execution without memory");
    char expected[160];
    snprintf(expected, sizeof expected,
             "rank %d has not enough memory for the 3 copies of tensor T that its threads add to, "
             "144115188075855875 elements each",
             ranks - 1);
    CHECK(strcmp(first_message(fixture.scope.diagnostics), expected) == 0, "'%s'",
          first_message(fixture.scope.diagnostics));
    execution_free(execution);
    fixture_free(&fixture);
    omp_set_num_threads(threads_before);
}

// Buffers that one rank cannot have: no rank goes on, and each says why.
static void test_no_memory(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_FETCH, false);
    RankTransfer plan = {
        .rank = rank, .transfer = &fixture.transfer, .buffer_count = 1, .buffer_elements = 8};
    if (rank == ranks - 1)
        plan.buffer_elements = (int64_t)1 << 55;
    distal_execution *execution = assemble(&fixture, (const RankTransfer *[]){&plan}, 1, comm, ranks);
    CHECK(!execution, "an execution without memory");
    char expected[128];
    snprintf(expected, sizeof expected,
             "rank %d has not enough memory for the buffers of tensor T, 288230376151711744 bytes",
             ranks - 1);
    CHECK(strcmp(first_message(fixture.scope.diagnostics), expected) == 0, "'%s'",
          first_message(fixture.scope.diagnostics));
    execution_free(execution);
    fixture_free(&fixture);
}

// Files: every rank writes its rows, or all hold everything; what is read back is what was written.
static char folder[64];

static void with_files(MPI_Comm comm, int rank, int ranks, bool replicated) {
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_FETCH, false);
    Home everywhere;
    if (replicated)
        place(&everywhere, &fixture.tensor, ranks, PLACE_REPLICATE, fixture.scope.arena);
    Diagnostics *diagnostics = fixture.scope.diagnostics;
    Storage *storage =
        storage_create(replicated ? &everywhere : &fixture.home, rank, true, (Scratch){0}, diagnostics);
    SourceSpec random = {.generator = generator_named("random"), .values.seed = 5};
    CHECK(storage_load(storage, &random, comm, diagnostics), "load random");
    char path[128];
    snprintf(path, sizeof path, "%s/T.npy", folder);
    CHECK(storage_save(storage, path, draft_token_create(), comm, diagnostics), "save: %s",
          first_message(diagnostics));
    SourceSpec file = {.format = &file_format_npy, .text = path};
    storage_zero(storage);
    CHECK(storage_load(storage, &file, comm, diagnostics), "load: %s", first_message(diagnostics));
    int64_t *whole = storage_gather(storage, comm, diagnostics);
    for (int64_t i = 0; i < 6 * ranks && whole; i++)
        CHECK(whole[i] == (int64_t)(1024 * random_fraction(5, i)), "element %" PRId64, i);
    free(whole);
    // The ranks after the first have none of it.
    void *gathered = NULL, *read = NULL;
    CHECK(storage_gather_first(storage, &gathered, comm, diagnostics), "gather on the first rank");
    CHECK(storage_read_first(storage, &file, &read, comm, diagnostics), "read on the first rank");
    CHECK(!gathered == (rank > 0) && !read == (rank > 0), "what ranks have");
    for (int64_t i = 0; i < 6 * ranks && rank == 0 && gathered && read; i++)
        CHECK(((int64_t *)gathered)[i] == (int64_t)(1024 * random_fraction(5, i)) &&
                  ((int64_t *)read)[i] == ((int64_t *)gathered)[i],
              "element %" PRId64 " on the first rank", i);
    free(gathered);
    free(read);
    barrier(comm);
    if (rank == 0)
        unlink(path);
    storage_free(storage);
    fixture_free(&fixture);
}

static void test_files(MPI_Comm comm, int rank, int ranks) {
    with_files(comm, rank, ranks, false);
}

static void test_replicated_files(MPI_Comm comm, int rank, int ranks) {
    with_files(comm, rank, ranks, true);
}

static int files_in(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count - 2;
}

// What fails on rank 0 alone, or on all, is the same on all; nothing is left behind.
static void test_bad_files(MPI_Comm comm, int rank, int ranks) {
    Fixture fixture;
    fixture_create(&fixture, rank, ranks, TRANSFER_FETCH, false);
    char path[128], expected[256];
    snprintf(path, sizeof path, "%s/missing/T.npy", folder);
    CHECK(!storage_save(fixture.storage, path, draft_token_create(), comm, fixture.scope.diagnostics),
          "no such folder");
    CHECK(strstr(first_message(fixture.scope.diagnostics), "No such file or directory"), "'%s'",
          first_message(fixture.scope.diagnostics));
    // A folder of this name: everything is written, then the name cannot be had.
    snprintf(path, sizeof path, "%s/folder.npy", folder);
    Scope scope = scope_create();
    CHECK(!storage_save(fixture.storage, path, draft_token_create(), comm, scope.diagnostics),
          "a folder in the way");
    CHECK(scope.diagnostics->errors == 1, "one error");
    CHECK(rank != 0 || files_in(folder) == 1, "%d files are left", files_in(folder));
    arena_free(scope.arena);
    barrier(comm);

    scope = scope_create();
    snprintf(path, sizeof path, "%s/other.npy", folder);
    if (rank == 0) {
        Rect rect = rect_whole(1, (int64_t[]){3});
        Piece piece = {.rect = rect, .stride = {1}, .type = TYPE_F64, .data = (double[]){1, 2, 3}};
        FileTensor tensor = {.type = TYPE_F64, .order = 1, .extents = {3}};
        const int fd = open(path, O_WRONLY | O_CREAT, 0666);
        CHECK(!file_format_npy.create(fd, &tensor, scope.diagnostics->arena) &&
                  !file_format_npy.write(fd, &tensor, 1, &(PiecePart){piece, rect}),
              "cannot write");
        close(fd);
    }
    barrier(comm);
    CHECK(!storage_load(fixture.storage, &(SourceSpec){.format = &file_format_npy, .text = path}, comm,
                        scope.diagnostics),
          "another shape");
    snprintf(expected, sizeof expected, "cannot read T from '%s': its shape is (3,), that of T is (%d, 3)",
             path, 2 * ranks);
    CHECK(strcmp(first_message(scope.diagnostics), expected) == 0, "'%s'", first_message(scope.diagnostics));
    barrier(comm);
    if (rank == 0)
        unlink(path);
    arena_free(scope.arena);
    fixture_free(&fixture);
}

int main(int argc, char **argv) {
    static const ReportCase cases[] = {
        {"failures are agreed on", test_agree},
        {"messages beyond 31 bits", test_large_messages},
        {"two transfers at once", test_overlap},
        {"partial results in the home", test_in_home},
        {"copies of threads", test_thread_copies},
        {"no memory on one rank", test_no_memory},
        {"a tensor through a file", test_files},
        {"a replicated tensor through a file", test_replicated_files},
        {"files that cannot be had", test_bad_files},
    };
    report_start(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/distal-XXXXXX", temporary ? temporary : "/tmp");
    char blocked[128];
    if (rank == 0) {
        if (!mkdtemp(folder))
            MPI_Abort(MPI_COMM_WORLD, 1);
        snprintf(blocked, sizeof blocked, "%s/folder.npy", folder);
        mkdir(blocked, 0755);
    }
    broadcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int count = 1; count <= ranks; count++)
            run_case(cases[i].name, count, cases[i].test);
    wait_set_sleep(true); // as few ranks on many cores have not done so far
    run_case("two transfers at once, asleep", ranks, test_overlap);
    if (rank == 0) {
        rmdir(blocked);
        rmdir(folder);
    }
    return report_end();
}
