// SPDX-License-Identifier: BSD-3-Clause
#include "trial.h"

#include "emit/emit.h"
#include "generate.h"
#include "runtime/node.h"
#include "runtime/wait.h"
#include "sparse_reference.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

MPI_Comm trial_comms[MAX_RANKS + 1];

void trial_start(void) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (node_is_crowded(MPI_COMM_WORLD))
        wait_set_sleep(true);
    for (int n = 0; n <= MAX_RANKS; n++) {
        trial_comms[n] = MPI_COMM_NULL;
        if (n > 0 && n <= ranks)
            MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &trial_comms[n]);
    }
}

void trial_end(void) {
    for (int n = 0; n <= MAX_RANKS; n++)
        if (trial_comms[n] != MPI_COMM_NULL)
            MPI_Comm_free(&trial_comms[n]);
}

void trial_fail(Trial *trial, Verdict verdict, const char *format, ...) {
    if (trial->verdict != TRIAL_PASSED)
        return;
    trial->verdict = verdict;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(trial->why, sizeof trial->why, format, arguments);
    va_end(arguments);
}

// The last command of each statement that may be refused.
static bool drop_refusable(Draft *draft) {
    bool any = false;
    for (int s = 0; s < draft->statement_count; s++) {
        DraftStatement *statement = &draft->statements[s];
        int last = statement->command_count - 1;
        while (last >= 0 && !statement->commands[last].may_be_refused)
            last--;
        for (int c = last; c >= 0 && c + 1 < statement->command_count; c++)
            statement->commands[c] = statement->commands[c + 1];
        statement->command_count -= last >= 0;
        any |= last >= 0;
    }
    return any;
}

// The boundaries that follow from the entries of round 0.
static const Boundaries *find_boundaries(const Trial *trial, const BalanceTask *task,
                                         const BoundariesArray *known) {
    const Boundaries *boundaries = NULL;
    const DraftTensor *drawn = drawn_tensor(&trial->draft, task->tensor);
    int64_t extents[MAX_ORDER];
    Entries entries;
    for (int m = 0; m < task->tensor->order; m++)
        if (!int_eval(task->tensor->extents[m], trial->pipeline->params, NULL, &extents[m]))
            return NULL;
    const uint64_t seed = trial->draft.input_seed;
    if (sparse_input(drawn, task->tensor, extents, seed, seed, &entries))
        balance_whole(&task->division, known, &entries, trial->arena, &boundaries);
    entries_free(&entries);
    return boundaries;
}

static bool balance(Trial *trial) {
    BalanceTaskArray tasks = {0};
    BoundariesArray *known = arena_new(trial->arena, BoundariesArray);
    pipeline_balance_tasks(trial->pipeline, trial->arena, &tasks);
    for (int64_t i = 0; i < tasks.count; i++) {
        const Boundaries *boundaries = find_boundaries(trial, &tasks.items[i], known);
        if (!boundaries)
            return false;
        array_push(trial->arena, *known, boundaries);
    }
    trial->pipeline->plan_options.boundaries = known;
    return true;
}

static bool choose_program(Trial *trial) {
    trial->chosen = automatic_choose(&trial->draft, trial->pipeline);
    if (!trial->chosen)
        return false;
    Text text = text_create(trial->arena);
    program_print(trial->chosen->program, NULL, &text);
    trial->chosen_text = text_string(&text);
    return true;
}

// Goes on with the program that is printed with what was chosen.
static bool take_chosen(Trial *trial) {
    if (!trial->chosen_text && !choose_program(trial))
        return false;
    const Source source = {"chosen.distal", trial->chosen_text};
    trial->pipeline = pipeline_create(trial->arena, source, NULL, 0, trial->draft.ranks);
    return true;
}

// Those that are drawn to be in a shared file, and that the program places in disk.
static const HomeFile *drawn_files(const Trial *trial) {
    const Program *program = trial->pipeline->program;
    HomeFile *files = arena_array(trial->arena, HomeFile, program->tensor_count);
    for (int i = 0; i < program->tensor_count; i++)
        for (int t = 0; t < trial->draft.tensor_count; t++)
            if (trial->draft.tensors[t].in_one_file &&
                strcmp(trial->draft.tensors[t].name, program->tensors[i]->name) == 0)
                files[i] =
                    program_is_output(program, program->tensors[i]) ? FILE_SHARED_WRITTEN : FILE_SHARED;
    return files;
}

static bool run_passes(Trial *trial) {
    Source source = {"drawn.distal", trial->text};
    trial->pipeline = pipeline_create(trial->arena, source, NULL, 0, trial->draft.ranks);
    if (trial->draft.automatic && !take_chosen(trial))
        return false;
    trial->pipeline->verified = trial->verified;
    trial->pipeline->plan_options.pipelined = trial_pipelines(&trial->draft) ? PIPELINE_ON : PIPELINE_GPU;
    // Drawn programs are small.
    if (draft_divides(&trial->draft)) {
        trial->pipeline->least_steps = LEAST_STEPS;
        trial->pipeline->least_bytes = trial->draft.automatic ? trial->pipeline->least_bytes : 0;
    }
    if (!pipeline_run(trial->pipeline, PASS_C) || !balance(trial))
        return false;
    if (!trial->draft.automatic) // for scratch files
        trial->pipeline->plan_options.files = drawn_files(trial);
    return pipeline_run(trial->pipeline, PASS_PLAN);
}

// A command may be refused; what the compiler gets wrong itself is never a refusal.
static bool may_be_refused(const Trial *trial) {
    Text text = text_create(trial->arena);
    diagnostics_print(trial->pipeline->diagnostics, &text);
    return !strstr(text_string(&text), "internal error");
}

// The normal form of a program is a program, and it is its own normal form.
static void check_printers(Trial *trial) {
    const Program *program = trial->pipeline->program;
    Text once = text_create(trial->arena), twice = text_create(trial->arena),
         other = text_create(trial->arena);
    program_print(program, NULL, &once);
    Source source = {"printed.distal", text_string(&once)};
    Diagnostics *diagnostics = diagnostics_create(trial->arena, source);
    const Program *read = program_parse(trial->arena, source, NULL, 0, trial->draft.ranks, diagnostics);
    if (!read) {
        diagnostics_print(diagnostics, &other);
        trial_fail(trial, TRIAL_PRINTED, "the printed program does not parse: %s", text_string(&other));
        return;
    }
    program_print(read, NULL, &twice);
    if (strcmp(text_string(&once), text_string(&twice)) != 0)
        trial_fail(trial, TRIAL_PRINTED, "the printed program is another one when it is read back:\n%s",
                   text_string(&once));
    for (int s = 0; s < program->statement_count; s++) {
        cin_print(trial->pipeline->statements[s].scheduled, program->param_names, &other);
        spmd_print(trial->pipeline->statements[s].spmd, program->param_names, &other);
    }
}

static void emit(Trial *trial, int number) {
    const Program *program = trial->pipeline->program;
    trial->kernels = arena_array(trial->arena, KernelFunctions, program->statement_count);
    Text functions = text_create(trial->arena);
    for (int s = 0; s < program->statement_count; s++) {
        StatementPasses *passes = &trial->pipeline->statements[s];
        passes->function = arena_printf(trial->arena, "drawn_%d_%d", number, s);
        Text title = text_create(trial->arena);
        statement_print(program, passes->statement, &title);
        const EmitOptions options = {passes->function, text_string(&title), true};
        text_append(&functions, "\n");
        emit_function(passes->loops, &options, &functions);
        if (!passes->structure)
            continue;
        const char *name = arena_printf(trial->arena, "%s_structure", passes->function);
        emit_function(passes->structure, &(EmitOptions){.function = name, .beside_gpu = true}, &functions);
    }
    trial->functions = text_string(&functions);
}

// Whether a workspace stores zeros where it has no value, which are NaN beside infinities (docs/schedule.md).
static bool has_partial_workspace(const Trial *trial) {
    const Plan *plan = trial->pipeline->plan;
    bool partial = false;
    for (int t = 0; t < plan->tensor_count; t++)
        partial |= plan->tensors[t]->partial;
    return partial;
}

bool trial_reorders_products(const Trial *trial, const Assignment *assignment) {
    const Pipeline *pipeline = trial->pipeline;
    for (int s = 0; s < pipeline->program->statement_count; s++)
        if (pipeline->statements[s].statement->assignment == assignment)
            return pipeline_reorders_products(&pipeline->statements[s]);
    return false;
}

bool trial_is_refused_on_gpu(const char *diagnostics) {
    return strstr(diagnostics, "on a GPU") || strstr(diagnostics, "on GPUs");
}

static void print_draft(Trial *trial) {
    Text text = text_create(trial->arena);
    draft_print(&trial->draft, &text);
    trial->text = text_string(&text);
}

// As it is on ranks that do not execute it.
static Trial *trial_of(const Draft *draft) {
    Arena *arena = arena_create();
    Trial *trial = arena_new(arena, Trial);
    trial->arena = arena;
    trial->draft = *draft;
    print_draft(trial);
    return trial;
}

static bool drop_command(Trial *trial) {
    if (!drop_refusable(&trial->draft))
        return false;
    trial->dropped++;
    trial->chosen_text = NULL;
    print_draft(trial);
    return true;
}

static void fail_to_compile(Trial *trial) {
    Text text = text_create(trial->arena);
    diagnostics_print(trial->pipeline->diagnostics, &text);
    const char *diagnostics = text_string(&text);
    const bool sparse = trial->draft.space && strcmp(trial->draft.space, sparse_space) == 0;
    const bool unsupported =
        trial_is_refused_on_gpu(diagnostics) ||
        (sparse && (strstr(diagnostics, "not supported yet") || strstr(diagnostics, "known only when")));
    trial_fail(trial, unsupported ? TRIAL_UNSUPPORTED : TRIAL_DIAGNOSED, "%s", diagnostics);
}

static void finish_creation(Trial *trial, int number) {
    if (has_partial_workspace(trial))
        trial->draft.input_seed |= SEED_WITHOUT_SPECIAL;
    emit(trial, number);
}

Trial *trial_create(const Draft *draft, int number) {
    Trial *trial = trial_of(draft);
    bool ok = run_passes(trial);
    while (!ok && may_be_refused(trial) && drop_command(trial))
        ok = run_passes(trial);
    if (!ok) {
        fail_to_compile(trial);
        return trial;
    }
    check_printers(trial);
    const char *why = trial->chosen && !trial_pipelines(&trial->draft)
                          ? automatic_check(trial->chosen, trial->pipeline)
                          : NULL;
    if (why)
        trial_fail(trial, TRIAL_PLANNED, "%s", why);
    finish_creation(trial, number);
    return trial;
}

// The rank that finds what may be refused and what is chosen.
static int finder_of(int number, const Draft *draft) {
    return number % draft->ranks;
}

// What the finder of a trial found. Collective.
static void share_found(Trial *trial, int finder) {
    int found[] = {trial->dropped, (int)trial->verdict,
                   trial->chosen_text ? (int)strlen(trial->chosen_text) + 1 : 0};
    broadcast(found, 3, MPI_INT, finder, MPI_COMM_WORLD);
    while (trial->dropped < found[0] && drop_command(trial))
        continue;
    trial->verdict = (Verdict)found[1];
    if (found[2] > 0) {
        char *text = arena_array(trial->arena, char, found[2]);
        if (trial->chosen_text)
            memcpy(text, trial->chosen_text, (size_t)found[2]);
        broadcast(text, found[2], MPI_CHAR, finder, MPI_COMM_WORLD);
        trial->chosen_text = text;
    }
    if (trial->verdict != TRIAL_PASSED)
        broadcast(trial->why, MAX_WHY, MPI_CHAR, finder, MPI_COMM_WORLD);
}

void trials_create(const Draft *drafts, int count, void (*before)(const Draft *draft), Trial **trials) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < count; i++) {
        before(&drafts[i]);
        trials[i] = finder_of(i, &drafts[i]) == rank ? trial_create(&drafts[i], i) : trial_of(&drafts[i]);
    }
    alarm(0); // a rank that waits for the others is not slow
    for (int i = 0; i < count; i++)
        share_found(trials[i], finder_of(i, &drafts[i]));
    for (int i = 0; i < count; i++) {
        if (rank >= drafts[i].ranks || rank == finder_of(i, &drafts[i]) || trials[i]->verdict != TRIAL_PASSED)
            continue;
        before(&drafts[i]);
        trials[i]->verified = true;
        if (run_passes(trials[i]))
            finish_creation(trials[i], i);
        else
            fail_to_compile(trials[i]);
    }
    alarm(0);
}

void trial_free(Trial *trial) {
    arena_free(trial->arena);
}

static const char *join_functions(Trial *const *trials, int count, Arena *arena) {
    Text text = text_create(arena);
    bool gpu = false;
    for (int i = 0; i < count; i++)
        for (int s = 0;
             trials[i]->verdict == TRIAL_PASSED && s < trials[i]->pipeline->program->statement_count; s++)
            gpu = gpu || trials[i]->pipeline->statements[s].spmd->on_gpu;
    emit_prelude(gpu, &text);
    // Threads work however little there is to do.
    text_append(&text, "#define DISTAL_PARALLEL_WORK 0\n");
    for (int i = 0; i < count; i++)
        if (trials[i]->verdict == TRIAL_PASSED)
            text_append(&text, trials[i]->functions);
    return text_string(&text);
}

// Where the file as a whole does not compile: finds the programs that are to blame.
static void compile_alone(Trial *const *trials, int count) {
    for (int i = 0; i < count; i++) {
        if (trials[i]->verdict != TRIAL_PASSED)
            continue;
        Arena *arena = arena_create();
        const char *source = join_functions(&trials[i], 1, arena);
        Diagnostics *diagnostics = diagnostics_create(arena, (Source){"drawn.c", source});
        bool hit;
        double seconds;
        if (!jit_compile(source, &hit, &seconds, diagnostics)) {
            Text text = text_create(arena);
            diagnostics_print(diagnostics, &text);
            trial_fail(trials[i], TRIAL_C, "%s", text_string(&text));
        }
        arena_free(arena);
    }
}

static bool is_executed(const Trial *trial) {
    return trial->verdict == TRIAL_PASSED && trial->functions;
}

// All that rank 0 has. The other ranks have the same functions of the programs that they execute.
static const char *share_source(Trial *const *trials, int count, const char *source, Arena *arena) {
    int rank, length = source ? (int)strlen(source) + 1 : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    broadcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    char *shared = arena_array(arena, char, length);
    if (source)
        memcpy(shared, source, (size_t)length);
    broadcast(shared, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (is_executed(trials[i]) && !strstr(shared, trials[i]->functions))
            trial_fail(trials[i], TRIAL_C, "rank %d has other C than rank 0:\n%s", rank,
                       trials[i]->functions);
    return shared;
}

// Loads the functions of all statements; returns the handle of their library, NULL with a diagnostic.
static void *load_functions(Trial *const *trials, int count, const char *source, Diagnostics *diagnostics) {
    Arena *arena = diagnostics->arena;
    Array(const char *) names = {0};
    Array(KernelFunctions *) targets = {0};
    for (int i = 0; i < count; i++)
        for (int s = 0; is_executed(trials[i]) && s < trials[i]->pipeline->program->statement_count; s++) {
            array_push(arena, names, trials[i]->pipeline->statements[s].function);
            array_push(arena, targets, &trials[i]->kernels[s]); // NOLINT(bugprone-sizeof-expression)
        }
    KernelFunctions *functions = arena_array(arena, KernelFunctions, names.count);
    Kernel kernel;
    if (!jit_load(source, (int)names.count, names.items, &kernel, functions, diagnostics))
        return NULL;
    for (int64_t n = 0; n < names.count; n++)
        *targets.items[n] = functions[n];
    return kernel.handle;
}

// Their handle, NULL where none of them is left.
static void *compile_level(Trial *const *trials, int count) {
    Arena *arena = arena_create();
    void *handle = NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (bool compiled = false; !compiled;) {
        int first = 0;
        while (first < count && trials[first]->verdict != TRIAL_PASSED)
            first++;
        if (first == count)
            break;
        const char *source =
            share_source(trials, count, rank == 0 ? join_functions(trials, count, arena) : NULL, arena);
        Diagnostics *diagnostics = diagnostics_create(arena, (Source){"drawn.c", source});
        bool hit;
        double seconds;
        compiled = rank != 0 || jit_compile(source, &hit, &seconds, diagnostics);
        if (!agree(MPI_COMM_WORLD, compiled)) {
            compiled = false;
            if (rank == 0)
                compile_alone(trials, count);
            trial_agree(trials, count);
            bool blamed = false;
            for (int i = 0; i < count; i++)
                blamed |= trials[i]->verdict == TRIAL_C;
            if (!blamed)
                trial_fail(trials[first], TRIAL_C,
                           "the file of all programs does not compile, each alone does");
            continue;
        }
        handle = load_functions(trials, count, source, diagnostics);
        if (!handle) {
            Text text = text_create(arena);
            diagnostics_print(diagnostics, &text);
            for (int i = 0; i < count; i++)
                trial_fail(trials[i], TRIAL_C, "%s", text_string(&text));
        }
    }
    arena_free(arena);
    return handle;
}

#ifdef DISTAL_RACES
// Clang warns of what it makes of OpenMP itself, and version 14 loses iterations of `parallel for simd
// reduction` at -O1.
#define MORE_FLAGS " -O2 -g -fsanitize=thread"
#else
// Generated C is free of warnings, under the flags that this project compiles itself with.
#define WARNINGS " -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
#ifdef __SANITIZE_ADDRESS__
#define MORE_FLAGS WARNINGS " -fsanitize=address,undefined -fno-sanitize-recover=all"
#else
#define MORE_FLAGS WARNINGS
#endif
#endif

static const char *const level_flags[TRIAL_LEVELS] = {"-O1", "-O3 -march=native"};

// One in four; a program keeps its level while it is made smaller.
static int level_of(const Trial *trial) {
    return trial->draft.index % 4 == 1;
}

const char *trial_flags(const Trial *trial) {
    return level_flags[level_of(trial)];
}

static void use_flags(int level) {
    char flags[200];
    snprintf(flags, sizeof flags, "%s" MORE_FLAGS, level_flags[level]);
    setenv("DISTAL_CFLAGS", flags, 1);
}

void trial_use_flags(const Trial *trial) {
    use_flags(level_of(trial));
}

TrialLibrary trial_compile(Trial *const *trials, int count) {
    Trial **of_level = malloc(sizeof *of_level * (size_t)count);
    TrialLibrary library = {{NULL}};
    for (int level = 0; of_level && level < TRIAL_LEVELS; level++) {
        int of_level_count = 0;
        for (int i = 0; i < count; i++)
            if (level_of(trials[i]) == level)
                of_level[of_level_count++] = trials[i];
        use_flags(level);
        library.handles[level] = compile_level(of_level, of_level_count);
    }
    free(of_level);
    trial_agree(trials, count);
    return library;
}

void trial_unload(TrialLibrary *library) {
    for (int level = 0; level < TRIAL_LEVELS; level++)
        if (library->handles[level])
            dlclose(library->handles[level]);
}

const DraftTensor *drawn_tensor(const Draft *draft, const Tensor *tensor) {
    int t = 0;
    while (strcmp(draft->tensors[t].name, tensor->name) != 0)
        t++;
    return &draft->tensors[t];
}

void trial_agree(Trial *const *trials, int count) {
    enum { NONE = 1 << 20 };
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *failed = malloc(sizeof(int) * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        failed[i] = trials[i]->verdict == TRIAL_PASSED ? NONE : rank;
    all_reduce(failed, count, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        if (failed[i] == NONE)
            continue;
        int verdict = (int)trials[i]->verdict;
        broadcast(&verdict, 1, MPI_INT, failed[i], MPI_COMM_WORLD);
        broadcast(trials[i]->why, MAX_WHY, MPI_CHAR, failed[i], MPI_COMM_WORLD);
        trials[i]->verdict = (Verdict)verdict;
    }
    free(failed);
}

void trial_finish(Trial *trial) {
    TrialLibrary library = trial_compile(&trial, 1);
    if (trial->verdict == TRIAL_PASSED) {
        trial_execute(trial, true);
        trial_agree(&trial, 1);
    }
    trial_unload(&library);
}
