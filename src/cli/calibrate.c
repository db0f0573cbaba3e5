// SPDX-License-Identifier: BSD-3-Clause
#include "cli/calibrate.h"

#include "base/clock.h"
#include "base/integer.h"
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/start.h"
#include "io/output.h"
#include "runtime/agreement.h"
#include "runtime/node.h"
#include "runtime/wait.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 11, MEASUREMENTS = 90 }; // the latter about, for the progress shown
static const double sample_seconds = 8e-3;

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Seconds of `calls` calls on the slowest rank.
static double sample(MPI_Comm comm, MeasuredBody body, void *context, int64_t calls) {
    barrier(comm);
    const double start = clock_seconds();
    for (int64_t c = 0; c < calls; c++)
        body(context);
    double seconds = clock_seconds() - start;
    all_reduce(&seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
}

Measured measured_of(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare);
    const double median = samples[count / 2];
    return (Measured){median, (samples[count * 3 / 4] - samples[count / 4]) / median};
}

Measured measure(Calibration *calibration, MPI_Comm comm, MeasuredBody body, void *context) {
    double samples[SAMPLES];
    int64_t calls = 1;
    body(context);
    // The same number on all ranks, as all have the seconds of the slowest one.
    for (double seconds = 0; seconds < sample_seconds;) {
        seconds = sample(comm, body, context, calls);
        calls = seconds < sample_seconds
                    ? (int64_t)ceil((double)calls * fmin(16, 1.2 * sample_seconds / fmax(seconds, 1e-9)))
                    : calls;
    }
    for (int s = 0; s < SAMPLES; s++)
        samples[s] = sample(comm, body, context, calls) / (double)calls;
    calibration->done++;
    if (calibration->rank == 0)
        progress_show(&calibration->progress, "calibrating", min_i64(calibration->done, MEASUREMENTS),
                      MEASUREMENTS);
    return measured_of(samples, SAMPLES);
}

void calibrate_join(Calibration *calibration) {
    wait_set_sleep(true);
    barrier(MPI_COMM_WORLD);
    wait_set_sleep(calibration->crowded);
}

void calibrate_note(Calibration *calibration, const char *figure, double value, const char *unit,
                    Measured measured) {
    text_printf(&calibration->spreads, "# %-32s %10.4g %-8s spread %.1f%%\n", figure, value, unit,
                100 * measured.spread);
}

void curve_add(Curve *curve, double size, double value) {
    curve->sizes[curve->count] = size;
    curve->values[curve->count++] = value;
}

static const char *processor_name(Arena *arena) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256], name[192] = "";
    while (file && !*name && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %191[^\n\"]", name) != 1)
            *name = '\0';
    if (file)
        fclose(file);
    return *name ? arena_string(arena, name, strlen(name)) : "a processor without a name";
}

// What is known without measuring: the levels, and how many units they have.
static void describe(Calibration *calibration, const CoreShare *cores, int64_t free_memory) {
    MachineModel *model = &calibration->model;
    const MachineModel standard = machine_model_default();
    *model = (MachineModel){.level_count = 2,
                            .single = standard.single,
                            .parallel = standard.parallel,
                            .oversubscribed = standard.oversubscribed,
                            .overlap = standard.overlap};
    const int64_t in_node = max_i64(1, cores->node_cores);
    snprintf(model->name, sizeof model->name, "%" PRId64 " core%s of %s", in_node, in_node == 1 ? "" : "s",
             processor_name(calibration->session->arena));
    model->levels[0] =
        (ModelLevel){.name = "node", .count = max_i64(1, calibration->ranks / calibration->node_ranks)};
    model->levels[0].memory = 1e6 * floor(1e-6 * (double)max_i64(free_memory, 0));
    model->levels[1] = (ModelLevel){.name = "core", .count = in_node};
}

static bool print_result(Calibration *calibration) {
    Session *session = calibration->session;
    Text text = text_create(session->arena);
    text_printf(&text, "# Measured by distal calibrate with %d rank%s, %s, %s.\n", calibration->ranks,
                calibration->ranks == 1 ? "" : "s", environment_mpi(session->arena),
                environment_blas(session->arena));
    machine_model_print(&calibration->model, &text);
    text_append(&text, "\n# Each figure as it was measured, and the distance of its quartiles:\n");
    text_append(&text, text_string(&calibration->spreads));
    progress_end(&calibration->progress);
    if (session->options->verbose)
        fputs(text_string(&calibration->spreads), stderr);
    if (session->options->output)
        return output_write_text(session->options->output, text_string(&text), session->diagnostics);
    return session_print(session, &text) == EXIT_FINE;
}

// Between MPI_Init and MPI_Finalize. All ranks return the same.
static ExitStatus calibrate_ranks(Session *session) {
    Calibration calibration = {.session = session, .spreads = text_create(session->arena)};
    MPI_Comm_rank(MPI_COMM_WORLD, &calibration.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &calibration.ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, calibration.rank, MPI_INFO_NULL,
                        &calibration.node);
    MPI_Comm_rank(calibration.node, &calibration.node_rank);
    MPI_Comm_size(calibration.node, &calibration.node_ranks);
    int first = calibration.rank == 0;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MAX, calibration.node);
    calibration.in_first_node = first;
    const int64_t memory = node_free_memory(calibration.node);
    const CoreShare cores = node_share_cores(calibration.node, launch_binds());
    environment_threads(1, &cores);
    calibration.crowded = wait_sleeps();
    calibration.progress = progress_start(calibration.rank == 0 && !session->options->quiet);
    describe(&calibration, &cores, memory);
    bool ok =
        calibrate_disk(&calibration) && calibrate_computing(&calibration) && calibrate_network(&calibration);
    ok = ok &&
         agree_on(MPI_COMM_WORLD, calibration.rank > 0 || print_result(&calibration), session->diagnostics);
    progress_end(&calibration.progress);
    MPI_Comm_free(&calibration.node);
    if (calibration.rank == 0)
        session_report(session);
    session->reported = true;
    fflush(NULL);
    return ok ? EXIT_FINE : EXIT_FAILED;
}

static ExitStatus calibrate(Session *session) {
    start_prepare(session);
    if (launch_is_inside())
        return start_here(session, calibrate_ranks);
    const char *path = session->options->output;
    const DraftToken token = draft_token_create();
    const Output output = output_create(path ? path : ".", &token, 0, session->arena);
    if (path && !output_possible(&output, session->diagnostics))
        return EXIT_FAILED;
    const int64_t ranks = session->options->ranks > 0 ? session->options->ranks : cores_available();
    if (!launch_fits_ranks(session, ranks))
        return EXIT_WRONG;
    return start(session, ranks, calibrate_ranks);
}

const Subcommand subcommand_calibrate = {
    .name = "calibrate",
    .arguments = "[-o FILE]",
    .summary = "measure this machine, and describe it for plan --machine",
    .text =
        "Measures in about a minute the rate of matrix products by size, of other kernels and of memory; "
        "latency and bandwidth of messages between the ranks, and what collective operations take; and disks "
        "in the folder of --scratch. Ranks are one for each core, unless -n says how many. Prints a "
        "description of the machine, in which comments say how much the samples of each figure spread. "
        "Nothing else should use the machine meanwhile.",
    .options = 1u << OPTION_RANKS | 1u << OPTION_OUTPUT | 1u << OPTION_SCRATCH | 1u << OPTION_OVERSUBSCRIBE |
               1u << OPTION_VERBOSE | 1u << OPTION_QUIET | 1u << OPTION_HELP,
    .run = calibrate,
};
