// SPDX-License-Identifier: BSD-3-Clause
// Messages between pairs of ranks in both directions at once, all pairs of a node together, and collective
// operations among the first 2, 4, ... ranks, as the runtime makes them.
#include "cli/calibrate.h"

#include "runtime/agreement.h"
#include "runtime/wait.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST_MESSAGE = 1 << 24, LARGEST_COLLECTIVE = 1 << 21, OVERLAPPED = 1 << 22 };

typedef struct {
    MPI_Comm comm;
    int ranks; // in it
    int peer;  // -1: none
    int bytes;
    char *from, *to;
    int next_root; // of collective operations
    double work_seconds;
} Messages;

static void exchange(void *context) {
    const Messages *messages = context;
    MPI_Request requests[2];
    if (messages->peer < 0)
        return;
    MPI_Irecv(messages->to, messages->bytes, MPI_BYTE, messages->peer, 0, messages->comm, &requests[0]);
    MPI_Isend(messages->from, messages->bytes, MPI_BYTE, messages->peer, 0, messages->comm, &requests[1]);
    wait_all(2, requests);
}

// Pairs of neighbours among the ranks of `comm`; the last one of an odd number has none.
static int neighbour(int rank, int ranks) {
    const int peer = rank ^ 1;
    return peer < ranks ? peer : -1;
}

// Latency and bandwidth by size into a level, from pairs of ranks.
static void measure_pairs(Calibration *calibration, Messages *messages, const char *where,
                          ModelLevel *level) {
    static const int sizes[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16,
                                1 << 18, 1 << 20, 1 << 22, LARGEST_MESSAGE};
    const double share = model_ranks(&calibration->model, calibration->ranks, 1).core_share;
    messages->bytes = 8;
    Measured measured = measure(calibration, messages->comm, exchange, messages);
    level->latency = measured.median * share;
    level->bandwidth = (Curve){0};
    calibrate_note(calibration, arena_printf(calibration->session->arena, "latency %s", where),
                   1e6 * measured.median, "us", measured);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        messages->bytes = sizes[s];
        measured = measure(calibration, messages->comm, exchange, messages);
        const double seconds = fmax(measured.median - level->latency / share, 0.1 * measured.median);
        curve_add(&level->bandwidth, sizes[s], sizes[s] / (seconds * share));
        calibrate_note(calibration,
                       arena_printf(calibration->session->arena, "message %s, %d KiB", where, sizes[s] >> 10),
                       1e-9 * sizes[s] / seconds, "GB/s", measured);
    }
}

// Each collective operation as the runtime makes it: without waiting where ranks share cores.
static void finish(MPI_Request request) {
    wait_all(1, &request);
}

static void all_broadcast(void *context) {
    Messages *m = context;
    const int root = m->next_root++ % m->ranks;
    MPI_Request request;
    if (wait_sleeps()) {
        MPI_Ibcast(m->from, m->bytes, MPI_BYTE, root, m->comm, &request);
        finish(request);
    } else {
        MPI_Bcast(m->from, m->bytes, MPI_BYTE, root, m->comm);
    }
}

static void gather_at_all(void *context) {
    Messages *m = context;
    const int part = m->bytes / (m->ranks - 1); // received from each of the others
    MPI_Request request;
    if (wait_sleeps()) {
        MPI_Iallgather(m->from, part, MPI_BYTE, m->to, part, MPI_BYTE, m->comm, &request);
        finish(request);
    } else {
        MPI_Allgather(m->from, part, MPI_BYTE, m->to, part, MPI_BYTE, m->comm);
    }
}

static void sum_to_one(void *context) {
    Messages *m = context;
    const int count = m->bytes / (int)sizeof(double), root = m->next_root++ % m->ranks;
    MPI_Request request;
    if (wait_sleeps()) {
        MPI_Ireduce(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, root, m->comm, &request);
        finish(request);
    } else {
        MPI_Reduce(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, root, m->comm);
    }
}

static void sum_to_all(void *context) {
    Messages *m = context;
    const int count = m->bytes / (int)sizeof(double);
    MPI_Request request;
    if (wait_sleeps()) {
        MPI_Iallreduce(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, m->comm, &request);
        finish(request);
    } else {
        MPI_Allreduce(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, m->comm);
    }
}

// Of `bytes` contributed to others, each rank has as many parts as there are others.
static void sum_to_each(void *context) {
    Messages *m = context;
    const int count = m->bytes / (int)sizeof(double) / (m->ranks - 1);
    MPI_Request request;
    if (wait_sleeps()) {
        MPI_Ireduce_scatter_block(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, m->comm, &request);
        finish(request);
    } else {
        MPI_Reduce_scatter_block(m->from, m->to, count, MPI_DOUBLE, MPI_SUM, m->comm);
    }
}

static const MeasuredBody collectives[COLLECTIVE_COUNT] = {
    [COLLECTIVE_BROADCAST] = all_broadcast, [COLLECTIVE_ALL_GATHER] = gather_at_all,
    [COLLECTIVE_REDUCE] = sum_to_one,       [COLLECTIVE_REDUCE_SCATTER] = sum_to_each,
    [COLLECTIVE_ALL_REDUCE] = sum_to_all,
};

// The factor by which such an operation takes longer than one message of the bytes that are counted: the
// geometric mean over some sizes.
static void measure_factor(Calibration *calibration, Messages *messages, CollectiveId collective) {
    static const int sizes[] = {1 << 15, 1 << 18, LARGEST_COLLECTIVE};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const ModelRanks ranks = model_ranks(&calibration->model, messages->ranks, 1);
    const int level = messages->ranks > ranks.in_unit[0] ? 0 : 1;
    const double latency =
        calibration->model.levels[level].latency / ranks.core_share * ceil(log2(messages->ranks));
    double product = 1;
    Measured last = {0};
    for (int s = 0; s < SIZES; s++) {
        messages->bytes = sizes[s];
        last = measure(calibration, messages->comm, collectives[collective], messages);
        const double one = model_message_seconds(&ranks, level, 1, sizes[s]);
        product *= fmax(last.median - latency, 0.1 * last.median) / one;
    }
    const double mean = pow(product, 1.0 / SIZES);
    curve_add(&calibration->model.factors[collective], messages->ranks, mean);
    calibrate_note(calibration,
                   arena_printf(calibration->session->arena, "%s, %d ranks", collective_names[collective],
                                messages->ranks),
                   mean, "times", last);
}

static void measure_collectives(Calibration *calibration, Messages *messages) {
    int ranks = 1;
    while (ranks < calibration->ranks) {
        ranks = 2 * ranks < calibration->ranks ? 2 * ranks : calibration->ranks;
        MPI_Comm_split(MPI_COMM_WORLD, calibration->rank < ranks ? 0 : MPI_UNDEFINED, calibration->rank,
                       &messages->comm);
        if (messages->comm != MPI_COMM_NULL) {
            messages->ranks = ranks;
            messages->next_root = 0;
            for (int c = COLLECTIVE_NONE + 1; c < COLLECTIVE_COUNT; c++)
                measure_factor(calibration, messages, (CollectiveId)c);
            MPI_Comm_free(&messages->comm);
        }
        calibrate_join(calibration);
    }
}

// A message that arrives while its rank computes as long as the message takes.
static void exchange_and_work(void *context) {
    const Messages *messages = context;
    MPI_Request requests[2];
    MPI_Irecv(messages->to, messages->bytes, MPI_BYTE, messages->peer, 0, messages->comm, &requests[0]);
    MPI_Isend(messages->from, messages->bytes, MPI_BYTE, messages->peer, 0, messages->comm, &requests[1]);
    const double end = MPI_Wtime() + messages->work_seconds;
    while (MPI_Wtime() < end)
        ;
    wait_all(2, requests);
}

static void measure_overlap(Calibration *calibration, Messages *messages) {
    messages->bytes = OVERLAPPED;
    const Measured alone = measure(calibration, messages->comm, exchange, messages);
    messages->work_seconds = alone.median;
    const Measured both = measure(calibration, messages->comm, exchange_and_work, messages);
    calibration->model.overlap = fmax(0, fmin(1, 2 - both.median / alone.median));
    calibrate_note(calibration, "overlap", calibration->model.overlap, "", both);
}

// The first rank with the first one of another node; -1 where there is none.
static int first_elsewhere(const Calibration *calibration) {
    const int first = calibration->node_rank == 0 && calibration->rank > 0 ? calibration->rank : INT32_MAX;
    int least = first;
    all_reduce(&least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return least == INT32_MAX ? -1 : least;
}

static void measure_pair_between_nodes(Calibration *calibration, Messages *messages, int other) {
    const int rank = calibration->rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == other ? 0 : MPI_UNDEFINED, rank, &messages->comm);
    if (messages->comm != MPI_COMM_NULL) {
        messages->peer = rank == 0 ? 1 : 0;
        measure_pairs(calibration, messages, "between nodes", &calibration->model.levels[0]);
        MPI_Comm_free(&messages->comm);
    }
    calibrate_join(calibration);
}

// Pairs in the first node, which is all that there is where it has all ranks.
static void measure_first_node(Calibration *calibration, Messages *messages) {
    MachineModel *model = &calibration->model;
    messages->comm = calibration->node;
    messages->peer = neighbour(calibration->node_rank, calibration->node_ranks);
    measure_pairs(calibration, messages, "in a node", &model->levels[1]);
    model->levels[0].latency = model->levels[1].latency;
    model->levels[0].bandwidth = model->levels[1].bandwidth;
    MPI_Comm pair;
    MPI_Comm_split(calibration->node, calibration->node_rank < 2 ? 0 : MPI_UNDEFINED, calibration->node_rank,
                   &pair);
    if (pair == MPI_COMM_NULL)
        return;
    messages->comm = pair;
    measure_overlap(calibration, messages);
    MPI_Comm_free(&pair);
}

bool calibrate_network(Calibration *calibration) {
    MachineModel *model = &calibration->model;
    const MachineModel standard = machine_model_default();
    Messages messages = {.from = calloc(2, LARGEST_MESSAGE), .to = calloc(2, LARGEST_MESSAGE)};
    Diagnostics *diagnostics = calibration->session->diagnostics;
    const bool ok =
        agree_on(MPI_COMM_WORLD,
                 (messages.from && messages.to) || diagnostics_error(diagnostics, (Span){0}, "out of memory"),
                 diagnostics);
    if (ok) {
        for (int l = 0; l < 2; l++) {
            model->levels[l].latency = standard.levels[l].latency;
            model->levels[l].bandwidth = standard.levels[l].bandwidth;
        }
        if (calibration->in_first_node && calibration->node_ranks > 1)
            measure_first_node(calibration, &messages);
        calibrate_join(calibration);
        const int other = first_elsewhere(calibration);
        if (other >= 0)
            measure_pair_between_nodes(calibration, &messages, other);
        measure_collectives(calibration, &messages);
        for (int c = COLLECTIVE_NONE + 1; c < COLLECTIVE_COUNT; c++)
            if (model->factors[c].count == 0)
                model->factors[c] = standard.factors[c];
    }
    free(messages.from);
    free(messages.to);
    return ok;
}
