// SPDX-License-Identifier: BSD-3-Clause
// The property test: draws programs, runs them on 1 to 12 ranks in one MPI launch, and compares every result
// with the reference evaluator and every figure with the plan. A program that fails is printed as small as it
// can be made. `mpirun -n 12 property --count N --seed S`: N programs that are drawn whole, `--each N` more
// of each space (space.h), `--sparse N` with sparse tensors, `--broken N` broken ones, which are compiled
// only, as are N ambiguous ones.
// `--space NAME` draws of one space alone, and `--only INDEX` one program.
#include "broken.h"
#include "generate.h"
#include "refused.h"
#include "runtime/wait.h"
#include "shrink.h"
#include "space.h"

#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCH = 50, MAX_SHRUNK = 4, BROKEN_EACH = 10, NO_SPACE = -1, SPARSE = -2 };
#ifdef __SANITIZE_ADDRESS__
enum { LIMIT_SECONDS = 400 };
#else
enum { LIMIT_SECONDS = 200 };
#endif

typedef struct {
    int64_t count, only; // only: -1 for all
    int64_t each, broken, sparse;
    int space; // NO_SPACE: all
    uint64_t seed;
    bool verbose;
} Options;

// What a rank was doing, for the handlers of signals: they may only write.
static char folder[PATH_MAX], doing[PATH_MAX + 200];
static int world_rank;

// "property/1/17" or "matmul/1/17"
static const char *name_of(const Draft *draft) {
    static char name[80];
    snprintf(name, sizeof name, "%s/%" PRIu64 "/%" PRId64, draft->space ? draft->space : "property",
             draft->seed, draft->index);
    return name;
}

static void on_signal(int signal_number) {
    const char *what = signal_number == SIGALRM ? "\ntoo slow:" : "\ncrash:";
    // Where writing fails, there is no way to report it.
    if (write(STDOUT_FILENO, what, strlen(what)) < 0 || write(STDOUT_FILENO, doing, strlen(doing)) < 0)
        _exit(3);
    raise(signal_number); // as it would have ended without this handler
}

static void on_death(void) {
    if (write(STDOUT_FILENO, doing, strlen(doing)) < 0)
        _exit(3);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch_signals(void) {
    static const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    const bool sanitized = __sanitizer_set_death_callback != NULL;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    for (size_t i = 0; i < (sanitized ? 1 : sizeof signals / sizeof *signals); i++)
        sigaction(signals[i], &action, NULL);
    if (sanitized)
        __sanitizer_set_death_callback(on_death);
}

static void write_file(const char *path, const char *text, const char *more) {
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    fputs(more, file);
    fputs(text, file);
    fclose(file);
}

// A crash or a hang cannot be shrunk, as it takes this process with it; so the program is written down first.
static void before_trial(const Trial *trial) {
    char path[PATH_MAX + 20];
    snprintf(path, sizeof path, "%s/running.distal", folder);
    if (world_rank == 0)
        write_file(path, trial->text, "");
    snprintf(doing, sizeof doing, "\nFAIL %s: did not end on rank %d; see %s\n", name_of(&trial->draft),
             world_rank, path);
    alarm(LIMIT_SECONDS);
}

static void before_compilation(const Draft *draft) {
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/compiled-%d.distal", folder, world_rank);
    Arena *arena = arena_create();
    Text text = text_create(arena);
    draft_print(draft, &text);
    write_file(path, text_string(&text), "");
    arena_free(arena);
    snprintf(doing, sizeof doing, "\nFAIL %s: did not end while it was compiled; see %s\n", name_of(draft),
             path);
    alarm(LIMIT_SECONDS);
}

static void before_broken(const char *text) {
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/broken-%d.distal", folder, world_rank);
    write_file(path, text, "");
    snprintf(doing, sizeof doing, "\nFAIL property/broken: did not end; see %s\n", path);
    alarm(LIMIT_SECONDS);
}

static void print_indented(const char *text) {
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        printf("    %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
}

static void failure_path(const Draft *draft, const char *kind, char *path, size_t size) {
    snprintf(path, size, "%s/%s%sseed-%" PRIu64 "-%" PRId64 "%s.distal", folder,
             draft->space ? draft->space : "", draft->space ? "-" : "", draft->seed, draft->index, kind);
}

static void print_failure(const Trial *failed, const Trial *small) {
    const Draft *draft = &failed->draft;
    char path[PATH_MAX + 80], *why = strdup(failed->why);
    if (why)
        why[strcspn(why, "\n")] = '\0';
    printf("FAIL %s on %d, %s: %s\n", name_of(draft), draft->ranks, trial_flags(failed), why);
    print_indented(failed->why);
    free(why);
    failure_path(draft, "", path, sizeof path);
    write_file(path, failed->text, "");
    if (small) {
        print_indented("made smaller:");
        print_indented(small->why);
        print_indented(small->text);
        failure_path(draft, "-small", path, sizeof path);
        write_file(path, small->text, "");
    } else {
        print_indented(failed->text);
    }
    if (failed->chosen) {
        print_indented("chosen:");
        print_indented((small ? small : failed)->pipeline->source.text);
    }
    printf("    %s\n", path);
}

static void report(const Trial *trial, int *shrunk) {
    if (trial->verdict == TRIAL_UNSUPPORTED) {
        if (world_rank == 0)
            printf("-- %s: %.*s\n", name_of(&trial->draft), (int)strcspn(trial->why, "\n"), trial->why);
        return;
    }
    if (trial->verdict == TRIAL_PASSED) {
        if (world_rank > 0)
            return;
        Text text = text_create(trial->arena);
        draft_print_statement(&trial->draft, &trial->draft.statements[0], &text);
        printf("ok %s on %d, %s: %s\n", name_of(&trial->draft), trial->draft.ranks, trial_flags(trial),
               text_string(&text));
        return;
    }
    Trial *small = ++*shrunk <= MAX_SHRUNK ? shrink(trial, before_trial) : NULL;
    if (world_rank == 0)
        print_failure(trial, small);
    if (small)
        trial_free(small);
}

// Program `number` of the run: those that are drawn whole, those of each space, those with sparse tensors.
static void draw(const Options *options, int64_t number, Draft *draft) {
    const int64_t of_spaces = options->count + options->each * space_count();
    if (options->space == SPARSE)
        generate_sparse_draft(options->seed, number, draft);
    else if (options->space != NO_SPACE)
        space_draft(options->seed, options->space, number, draft);
    else if (options->only >= 0 || number < options->count)
        generate_draft(options->seed, number, draft);
    else if (number < of_spaces)
        space_draft(options->seed, (int)((number - options->count) / options->each),
                    (number - options->count) % options->each, draft);
    else
        generate_sparse_draft(options->seed, number - of_spaces, draft);
}

// How programs with sparse tensors went.
typedef struct {
    int64_t all, unsupported;
} SparseCount;

// Programs first .. last - 1; the number that failed.
static int64_t run_batch(const Options *options, int64_t first, int64_t last, int *shrunk,
                         SparseCount *sparse) {
    Trial *trials[BATCH];
    int count = 0, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Draft *drafts = malloc(BATCH * sizeof *drafts);
    for (int64_t index = first; drafts && index < last; index++) {
        draw(options, index, &drafts[count]);
        if (drafts[count].ranks <= ranks)
            count++;
        else if (world_rank == 0)
            printf("%s needs %d ranks, passed over\n", name_of(&drafts[count]), drafts[count].ranks);
    }
    trials_create(drafts, count, before_compilation, trials);
    free(drafts);
    TrialLibrary library = trial_compile(trials, count);
    for (int i = 0; i < count; i++) {
        if (trials[i]->verdict != TRIAL_PASSED)
            continue;
        before_trial(trials[i]);
        if (options->verbose && world_rank == 0)
            printf("%s", trials[i]->pipeline->source.text);
        fflush(stdout);
        trial_execute(trials[i], options->only >= 0 || (first + i) % 3 == 0);
        alarm(0);
    }
    trial_agree(trials, count);
    int64_t failed = 0;
    for (int i = 0; i < count; i++) {
        const bool unsupported = trials[i]->verdict == TRIAL_UNSUPPORTED;
        failed += trials[i]->verdict != TRIAL_PASSED && !unsupported;
        sparse->all += trials[i]->draft.space == sparse_space;
        sparse->unsupported += unsupported;
        report(trials[i], shrunk);
        trial_free(trials[i]);
    }
    alarm(0);
    fflush(stdout);
    trial_unload(&library);
    return failed;
}

static int64_t run_programs(const Options *options) {
    int64_t first = 0, failed = 0;
    int64_t last = options->space == NO_SPACE
                       ? options->count + options->each * space_count() + options->sparse
                   : options->space == SPARSE ? options->sparse
                                              : options->each;
    int shrunk = 0;
    SparseCount sparse = {0};
    if (options->only >= 0) {
        first = options->only;
        last = first + 1;
    }
    for (; first < last; first += BATCH)
        failed += run_batch(options, first, last < first + BATCH ? last : first + BATCH, &shrunk, &sparse);
    if (world_rank == 0 && sparse.all > 0)
        printf("%" PRId64 " of %" PRId64 " programs with sparse tensors ran, %" PRId64
               " are not supported yet\n",
               sparse.all - sparse.unsupported, sparse.all, sparse.unsupported);
    return failed;
}

// Programs that are compiled only.
typedef struct {
    const char *name;
    bool (*check)(uint64_t seed, int64_t index, Text *text, void (*before)(const char *text),
                  const char **why);
} Mistakes;

// The ranks share the programs among them.
static int64_t run_mistakes(const Options *options, const Mistakes *mistakes, int64_t count) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int64_t failed = 0;
    for (int64_t index = world_rank; index < count; index += ranks) {
        Arena *arena = arena_create();
        Text text = text_create(arena);
        const char *why;
        if (!mistakes->check(options->seed, index, &text, before_broken, &why)) {
            failed++;
            printf("FAIL property/%s/%" PRIu64 "/%" PRId64 ": %s\n", mistakes->name, options->seed, index,
                   why);
            print_indented(text_string(&text));
        }
        arena_free(arena);
    }
    alarm(0);
    all_reduce(&failed, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (failed == 0 && world_rank == 0)
        printf("ok property/%s/%" PRIu64 ": %" PRId64 " programs\n", mistakes->name, options->seed, count);
    return failed;
}

static bool read_options(int count, char **arguments, Options *options) {
    static const struct option names[] = {{"count", required_argument, NULL, 'c'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"each", required_argument, NULL, 'e'},
                                          {"space", required_argument, NULL, 'p'},
                                          {"broken", required_argument, NULL, 'b'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"sparse", required_argument, NULL, 'z'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {0}};
    *options = (Options){
        .count = 300, .only = -1, .each = 5, .broken = -1, .sparse = -1, .space = NO_SPACE, .seed = 1};
    for (int name; (name = getopt_long(count, arguments, "v", names, NULL)) != -1;) {
        if (name == 'c')
            options->count = strtoll(optarg, NULL, 10);
        else if (name == 's')
            options->seed = strtoull(optarg, NULL, 10);
        else if (name == 'e')
            options->each = strtoll(optarg, NULL, 10);
        else if (name == 'z')
            options->sparse = strtoll(optarg, NULL, 10);
        else if (name == 'p' && strcmp(optarg, sparse_space) == 0)
            options->space = SPARSE;
        else if (name == 'p' && space_by_name(optarg) >= 0)
            options->space = space_by_name(optarg);
        else if (name == 'b')
            options->broken = strtoll(optarg, NULL, 10);
        else if (name == 'o')
            options->only = strtoll(optarg, NULL, 10);
        else if (name == 'v')
            options->verbose = true;
        else
            return false;
    }
    if (options->sparse < 0)
        options->sparse = options->count;
    if (options->broken < 0)
        options->broken = options->count * BROKEN_EACH;
    return optind == count;
}

// Failing programs and kernels go beside the executable. GPUs are emulated, unless DISTAL_GPU says otherwise.
static void set_folder(void) {
    char path[PATH_MAX], cache[PATH_MAX + 10];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    snprintf(folder, sizeof folder, "%.3000s/failures", dirname(path));
    mkdir(folder, 0777);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("XDG_CACHE_HOME", cache, 0);
    setenv("DISTAL_GPU", "emulated", 0);
}

int main(int count, char **arguments) {
    Options options;
    int provided;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (!read_options(count, arguments, &options)) {
        if (world_rank == 0)
            fprintf(
                stderr,
                "usage: property [--count N] [--each N] [--sparse N] [--broken N] [--seed S] [--space NAME] "
                "[--only INDEX] [--verbose]\n");
        MPI_Finalize();
        return 2;
    }
    set_folder();
    watch_signals();
    trial_start();
    int64_t failed = run_programs(&options);
    if (options.only < 0 && options.space == NO_SPACE) {
        failed += run_mistakes(&options, &(Mistakes){"broken", broken_check}, options.broken);
        failed += run_mistakes(&options, &(Mistakes){"refused", refused_check}, options.count);
    }
    if (world_rank == 0)
        printf("%" PRId64 " failed of seed %" PRIu64 "\n", failed, options.seed);
    trial_end();
    MPI_Finalize();
    return failed > 0;
}
