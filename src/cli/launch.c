// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch.h"

#include "base/utf8.h"
#include "cli/drafts.h"
#include "cli/supervise.h"
#include "runtime/cores.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

// A rank that fails and has printed why exits with REPORTED + its status; for any other status of the
// launcher the reason still has to be reported.
enum { REPORTED = 100 };

// More are a mistake in almost all cases, and can block a machine for minutes.
enum { MAX_RANKS_OF_CORE = 16 };

static const char launched[] = "DISTAL_LAUNCHED";

// Values of that variable: whether the ranks bind themselves.
static const char binds[] = "bind", leaves[] = "leave";

bool launch_is_ours(void) {
    return getenv(launched) != NULL;
}

bool launch_binds(void) {
    const char *value = getenv(launched);
    return value && strcmp(value, binds) == 0;
}

// Whether the environment says how ranks or threads are bound.
static bool is_bound_by_user(void) {
    static const char *const policies[] = {"OMPI_MCA_hwloc_base_binding_policy",
                                           "PRTE_MCA_hwloc_default_binding_policy",
                                           "HYDRA_BINDING",
                                           "SLURM_CPU_BIND",
                                           "OMP_PROC_BIND",
                                           "OMP_PLACES",
                                           "GOMP_CPU_AFFINITY"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (getenv(policies[i]))
            return true;
    const char *launcher = getenv("DISTAL_MPIRUN");
    return launcher && strstr(launcher, "bind"); // --bind-to, --cpu-bind
}

const char *launch_executable(const char *name) {
    // A command that is started as an argument of the dynamic linker (ld.so distal ...) runs in a process
    // whose executable is the linker, the one program that has no linker.
    return getauxval(AT_BASE) ? "/proc/self/exe" : name;
}

bool launch_is_inside(void) {
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return launch_is_ours();
}

int launch_exit_status(ExitStatus status) {
    return status != EXIT_FINE && launch_is_ours() ? REPORTED + (int)status : (int)status;
}

// Determined once, as that takes 10 ms.
static int64_t cores(void) {
    static int64_t found;
    if (found == 0)
        found = cores_available();
    return found;
}

bool launch_fits_ranks(Session *session, int64_t ranks) {
    const int64_t available = cores();
    return session->options->oversubscribe || ranks <= MAX_RANKS_OF_CORE * available ||
           diagnostics_error(session->diagnostics, (Span){0},
                             "%" PRId64 " processes are too many for %" PRId64
                             " core%s: at most %d per core are started",
                             ranks, available, available == 1 ? "" : "s", MAX_RANKS_OF_CORE);
}

bool launch_fits(Session *session) {
    const Pipeline *pipeline = session->pipeline;
    const int64_t ranks = pipeline_ranks(pipeline);
    if (launch_fits_ranks(session, ranks))
        return true;
    const int64_t fewer = pipeline_fewer_ranks(pipeline, cores());
    diagnostics_note(
        session->diagnostics, (Span){0}, "-n %" PRId64 " runs the program on %" PRId64 " process%s%s", fewer,
        fewer, fewer == 1 ? "" : "es",
        pipeline->program->machine_count == 0 ? ""
                                              : ", each of which executes several processors of the machine");
    diagnostics_note(session->diagnostics, (Span){0}, "--oversubscribe starts all %" PRId64 " processes",
                     ranks);
    return false;
}

// Sets variables for the launcher and the ranks, unless the user has set them.
static void set_environment(int64_t ranks, bool verbose) {
    static const char *const always[][2] = {
        // Ranks bind themselves.
        {"OMPI_MCA_hwloc_base_binding_policy", "none"},
        {"PRTE_MCA_hwloc_default_binding_policy", "none"},
        // So Open MPI's ranks need not find out by discovering the node's topology, which takes tens of
        // milliseconds. (It sets this itself where it binds.)
        {"OMPI_MCA_orte_bound_at_launch", "1"},
        // When one rank fails, the others end at once.
        {"OMPI_MCA_odls_base_sigkill_timeout", "0"},
    };
    static const char *const crowded[][2] = {
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
        {"OMPI_MCA_mpi_yield_when_idle", "1"},
        {"OMP_WAIT_POLICY", "passive"},
    };
    static const char *const root[][2] = {
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
        {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    };
    setenv(launched, is_bound_by_user() ? leaves : binds, 1);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        setenv(always[i][0], always[i][1], 0);
    const bool is_crowded = ranks > cores();
    for (size_t i = 0; is_crowded && i < sizeof crowded / sizeof *crowded; i++)
        setenv(crowded[i][0], crowded[i][1], 0);
    for (size_t i = 0; geteuid() == 0 && i < sizeof root / sizeof *root; i++)
        setenv(root[i][0], root[i][1], 0);
    // Open MPI's help texts about a failed rank would hide the message of the rank.
    if (!verbose)
        setenv("OMPI_MCA_orte_execute_quiet", "1", 0);
    if (isatty(STDERR_FILENO))
        setenv("DISTAL_STDERR_IS_TERMINAL", "1", 1);
}

typedef Array(char *) Words;

static Words launcher_words(Session *session, int64_t ranks) {
    Arena *arena = session->arena;
    Words words = {0};
    const char *launcher = getenv("DISTAL_MPIRUN");
    char *text = arena_printf(arena, "%s", launcher && *launcher ? launcher : "mpirun");
    char *rest;
    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
        array_push(arena, words, word);
    array_push(arena, words, arena_printf(arena, "-n"));
    array_push(arena, words, arena_printf(arena, "%" PRId64, ranks));
    const char *executable = launch_executable(session->arguments[0]);
    static char self[PATH_MAX];
    array_push(arena, words, realpath(executable, self) ? self : arena_printf(arena, "%s", executable));
    for (int i = 1; i < session->argument_count; i++)
        array_push(arena, words, session->arguments[i]);
    array_push(arena, words, NULL);
    return words;
}

// A file descriptor that the first rank reads the program from; -1 with errno.
static int open_input(const Session *session) {
    const char *file = session->options->file;
    if (!file || strcmp(file, "-") != 0)
        return open("/dev/null", O_RDONLY);
    int fd = memfd_create("distal-program", MFD_CLOEXEC);
    const char *text = session->source.text;
    size_t left = strlen(text);
    while (fd >= 0 && left > 0) {
        ssize_t written = write(fd, text, left);
        if (written < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        text += written > 0 ? written : 0;
        left -= written > 0 ? (size_t)written : 0;
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -1;
}

// A file for what the ranks print, the results: the launcher would not report that it could not be written,
// so this process writes it when they have ended. -1 with errno.
static int open_output(void) {
    return memfd_create("distal-output", MFD_CLOEXEC);
}

static Text read_output(Session *session, int output) {
    Text text = text_create(session->arena);
    char block[4096];
    ssize_t got = lseek(output, 0, SEEK_SET) == 0 ? 1 : -1;
    while (got > 0) {
        got = read(output, block, sizeof block);
        if (got > 0)
            text_append_n(&text, block, (size_t)got);
    }
    close(output);
    return text;
}

// MPICH's launcher prints the signal that has ended a process among the results, between rules; its exit
// status does not always give it. Removes this from the output; 0 if there is none.
static int take_signal(Text *output, bool verbose) {
    static const char title[] = "\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n";
    char *first = output->data ? strstr(output->data, title) : NULL;
    if (!first)
        return 0;
    while (first > output->data && first[-1] == '=')
        first--;
    int number = 0;
    const char *signal_named = strstr(first, "(signal ");
    if (signal_named)
        sscanf(signal_named, "(signal %d)", &number);
    if (verbose)
        fputs(first, stderr);
    if (first > output->data)
        first--; // an empty line
    output->length = (size_t)(first - output->data);
    *first = '\0';
    return number;
}

static const char *command_line(Session *session, const Words *words) {
    Text text = text_create(session->arena);
    for (int64_t i = 0; words->items[i]; i++)
        text_printf(&text, "%s%s", i ? " " : "", words->items[i]);
    return text_string(&text);
}

// The exit status of the run, from the status that waitpid gave of the launcher and the signal that the
// launcher has printed (0: none).
static ExitStatus outcome(Session *session, const Words *words, int status, int named) {
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const bool is_reported = code == REPORTED + EXIT_FAILED || code == REPORTED + EXIT_WRONG;
    session->pipeline = NULL; // the first rank has printed the diagnostics of the program
    if (code == 0 || is_reported)
        return (ExitStatus)(code % REPORTED);
    // The exit status by which launchers and shells report that a signal has ended a process.
    const int number = named == 0 && code > 128 && code <= 128 + SIGRTMAX ? code - 128 : named;
    if (number)
        diagnostics_error(session->diagnostics, (Span){0}, "the run was ended: a process got signal %d (%s)",
                          number, strsignal(number));
    else
        diagnostics_error(session->diagnostics, (Span){0}, "the run failed: '%s' ended with status %d",
                          words->items[0], code);
    diagnostics_note(session->diagnostics, (Span){0},
                     "the processes were started with: %s; -v shows what %s says",
                     command_line(session, words), words->items[0]);
    return EXIT_FAILED;
}

ExitStatus launch(Session *session, int64_t ranks) {
    Words words = launcher_words(session, ranks);
    if (session->options->verbose)
        fprintf(stderr, "distal: starting %s\n", visible(command_line(session, &words), session->arena));
    const int input = open_input(session), output = open_output();
    fflush(NULL);
    set_environment(ranks, session->options->verbose);
    drafts_share_token();
    Supervised supervised = {0};
    const char *const *drafts = drafts_names(session->options, session->arena);
    const bool started =
        input >= 0 && output >= 0 && supervise(words.items, input, output, drafts, &supervised);
    unsetenv(launched);
    if (!started) {
        diagnostics_error(session->diagnostics, (Span){0}, "cannot start '%s'%s: %s", words.items[0],
                          getenv("DISTAL_MPIRUN") ? ", the launcher that DISTAL_MPIRUN names" : "",
                          strerror(errno));
        return EXIT_FAILED;
    }
    close(input);
    // This process is ended by the same signal.
    if (supervised.interrupted_by) {
        signal(supervised.interrupted_by, SIG_DFL);
        raise(supervised.interrupted_by);
    }
    Text results = read_output(session, output);
    const int named = take_signal(&results, session->options->verbose);
    const ExitStatus ended = outcome(session, &words, supervised.status, named),
                     printed = session_print(session, &results);
    return ended == EXIT_FINE ? printed : ended;
}
