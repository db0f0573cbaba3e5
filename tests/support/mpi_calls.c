// SPDX-License-Identifier: BSD-3-Clause
// Counts the collective calls of a process, those that make communicators included, and adds the count as a
// line to the file that MPI_CALLS names when the process ends.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;

#define LIST(...) __VA_ARGS__
#define COUNTED(name, parameters, arguments)                                                                 \
    int MPI_##name(parameters) {                                                                             \
        calls++;                                                                                             \
        return PMPI_##name(arguments);                                                                       \
    }
// A collective that waits, and the one with a request.
#define COLLECTIVE(waiting, starting, parameters, arguments)                                                 \
    COUNTED(waiting, LIST(parameters), LIST(arguments))                                                      \
    COUNTED(starting, LIST(parameters, MPI_Request *request), LIST(arguments, request))

COLLECTIVE(Barrier, Ibarrier, MPI_Comm comm, comm)
COLLECTIVE(Bcast, Ibcast, LIST(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(values, count, type, root, comm))
COLLECTIVE(Reduce, Ireduce,
           LIST(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           LIST(from, to, count, type, op, root, comm))
COLLECTIVE(Allreduce, Iallreduce,
           LIST(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(from, to, count, type, op, comm))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           LIST(const void *from, void *to, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(from, to, counts, type, op, comm))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
           LIST(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           LIST(from, to, count, type, op, comm))
COLLECTIVE(Gather, Igather,
           LIST(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                int root, MPI_Comm comm),
           LIST(from, count, type, to, to_count, to_type, root, comm))
COLLECTIVE(Scatter, Iscatter,
           LIST(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                int root, MPI_Comm comm),
           LIST(from, count, type, to, to_count, to_type, root, comm))
COLLECTIVE(Allgather, Iallgather,
           LIST(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           LIST(from, count, type, to, to_count, to_type, comm))
COLLECTIVE(Allgatherv, Iallgatherv,
           LIST(const void *from, int count, MPI_Datatype type, void *to, const int *counts,
                const int *offsets, MPI_Datatype to_type, MPI_Comm comm),
           LIST(from, count, type, to, counts, offsets, to_type, comm))
COLLECTIVE(Alltoall, Ialltoall,
           LIST(const void *from, int count, MPI_Datatype type, void *to, int to_count, MPI_Datatype to_type,
                MPI_Comm comm),
           LIST(from, count, type, to, to_count, to_type, comm))
COLLECTIVE(Alltoallw, Ialltoallw,
           LIST(const void *from, const int *counts, const int *offsets, const MPI_Datatype *types, void *to,
                const int *to_counts, const int *to_offsets, const MPI_Datatype *to_types, MPI_Comm comm),
           LIST(from, counts, offsets, types, to, to_counts, to_offsets, to_types, comm))

COUNTED(Comm_idup, LIST(MPI_Comm comm, MPI_Comm *made, MPI_Request *request), LIST(comm, made, request))
COUNTED(Comm_split, LIST(MPI_Comm comm, int color, int key, MPI_Comm *made), LIST(comm, color, key, made))
COUNTED(Comm_split_type, LIST(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *made),
        LIST(comm, split_type, key, info, made))
COUNTED(Comm_create_group, LIST(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
        LIST(comm, group, tag, made))

int MPI_Finalize(void) {
    FILE *file = fopen(getenv("MPI_CALLS"), "a");
    if (!file || fprintf(file, "%ld\n", calls) < 0 || fclose(file) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return PMPI_Finalize();
}
