// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/shared_buffer.h"

#include "memory/shared.h"
#include "runtime/wait.h"

#include <stdlib.h>

bool shared_buffer_create(SharedBuffer *buffer, Reading *reading, int transfer, int64_t bytes) {
    const int members = reading_neighbours(reading)->count;
    *buffer = (SharedBuffer){.reading = reading,
                             .transfer = transfer,
                             .bytes = bytes,
                             .places = calloc(2 * (size_t)members, sizeof *buffer->places),
                             .mapped = calloc((size_t)members, sizeof *buffer->mapped)};
    if (!buffer->places || !buffer->mapped)
        return false;
    buffer->mapped_count = members;
    if (bytes > 0)
        buffer->memory = shared_allocate(bytes);
    return buffer->memory || bytes == 0;
}

void shared_buffer_exchange(const SharedBuffer *buffer) {
    const int64_t own[] = {buffer->memory ? shared_offset(buffer->memory) : -1, buffer->bytes};
    all_gather(own, buffer->places, 2, MPI_INT64_T, reading_neighbours(buffer->reading)->node);
}

const char *shared_buffer_map(SharedBuffer *buffer, const StatementPlan *plan, int64_t member) {
    const Neighbours *neighbours = reading_neighbours(buffer->reading);
    SharedMapping *mapping = &buffer->mapped[member];
    int rank;
    if (mapping->memory)
        return mapping->memory;
    MPI_Comm_rank(neighbours->all, &rank);
    mapping->rank = nodes_member(plan->plan->nodes, rank, member);
    if (mapping->rank == rank)
        return mapping->memory = buffer->memory;
    mapping->bytes = buffer->places[2 * member + 1];
    mapping->memory =
        shared_map(neighbours->files[member], buffer->places[2 * member], mapping->bytes, false);
    return mapping->memory && reading_join(buffer->reading, mapping->rank) ? mapping->memory : NULL;
}

void shared_buffer_free(SharedBuffer *buffer) {
    for (int m = 0; m < buffer->mapped_count; m++)
        if (buffer->mapped[m].memory != buffer->memory)
            shared_unmap(buffer->mapped[m].memory, buffer->mapped[m].bytes);
    free(buffer->mapped);
    free(buffer->places);
    shared_release(buffer->memory);
    *buffer = (SharedBuffer){0};
}

void shared_buffer_received(const SharedBuffer *buffer) {
    if (buffer->memory)
        reading_receive(buffer->reading, buffer->transfer);
}

void shared_buffer_wait(const SharedBuffer *buffer) {
    for (int m = 0; m < buffer->mapped_count; m++)
        if (buffer->mapped[m].memory)
            reading_wait_received(buffer->reading, buffer->transfer, buffer->mapped[m].rank);
}
