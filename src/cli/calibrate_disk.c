// SPDX-License-Identifier: BSD-3-Clause
// The disk in the scratch folder: a file without a name that is written and read again in requests of several
// sizes, past the page cache where the file system lets it be.
#include "cli/calibrate.h"

#include "base/clock.h"
#include "memory/disk.h"
#include "runtime/agreement.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ALIGNMENT = 4096, LARGEST_REQUEST = 1 << 24, PASSES = 5 };
static const int64_t file_bytes = (int64_t)1 << 27;
static const double most_seconds = 1; // of one pass, which then ends early

typedef struct {
    int fd;
    bool direct; // O_DIRECT
    char *buffer;
} Disk;

static bool transfer(const Disk *disk, bool writes, int64_t at, int64_t bytes) {
    while (bytes > 0) {
        const ssize_t done = writes ? pwrite(disk->fd, disk->buffer, (size_t)bytes, at)
                                    : pread(disk->fd, disk->buffer, (size_t)bytes, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = EIO;
        if (done <= 0)
            return false;
        // What is left of a short transfer is a request of its own, which has to be aligned.
        const int64_t whole = done < bytes ? done / ALIGNMENT * ALIGNMENT : done;
        if (whole == 0) {
            errno = EIO;
            return false;
        }
        at += whole;
        bytes -= whole;
    }
    return true;
}

// Bytes per second of one pass over the file, or as much of it as the time allows; negative with errno.
static double pass(const Disk *disk, bool writes, int64_t request) {
    const double start = clock_seconds();
    int64_t at = 0;
    if (!disk->direct && !writes)
        posix_fadvise(disk->fd, 0, 0, POSIX_FADV_DONTNEED);
    for (; at < file_bytes && clock_seconds() - start < most_seconds; at += request)
        if (!transfer(disk, writes, at, request))
            return -1;
    if (writes && fdatasync(disk->fd) != 0)
        return -1;
    return (double)at / (clock_seconds() - start);
}

static bool measure_requests(Calibration *calibration, const Disk *disk, bool writes, int64_t request,
                             Curve *curve) {
    double rates[PASSES];
    for (int p = 0; p < PASSES; p++) {
        rates[p] = pass(disk, writes, request);
        if (rates[p] < 0)
            return false;
    }
    const Measured rate = measured_of(rates, PASSES);
    curve_add(curve, (double)request, rate.median);
    calibrate_note(calibration,
                   arena_printf(calibration->session->arena, "%s %" PRId64 " KiB", writes ? "write" : "read",
                                request >> 10),
                   1e-9 * rate.median, "GB/s", rate);
    return true;
}

static bool measure_disk(Calibration *calibration, const char *folder, Disk *disk) {
    static const int64_t sizes[] = {(int64_t)1 << 16, (int64_t)1 << 20, LARGEST_REQUEST};
    MachineModel *model = &calibration->model;
    struct statvfs space;
    if (fstatvfs(disk->fd, &space) == 0 &&
        (double)space.f_bavail * (double)space.f_frsize < 2 * (double)file_bytes) {
        errno = ENOSPC;
        return false;
    }
    memset(disk->buffer, 1, LARGEST_REQUEST);
    for (int64_t at = 0; at < file_bytes; at += LARGEST_REQUEST)
        if (!transfer(disk, true, at, LARGEST_REQUEST))
            return false;
    const int flags = fcntl(disk->fd, F_GETFL);
    disk->direct = fsync(disk->fd) == 0 && fcntl(disk->fd, F_SETFL, flags | O_DIRECT) == 0 &&
                   pread(disk->fd, disk->buffer, ALIGNMENT, 0) == ALIGNMENT;
    if (!disk->direct)
        fcntl(disk->fd, F_SETFL, flags);
    text_printf(&calibration->spreads, "# disk in %s, %s\n", folder,
                disk->direct ? "past the page cache (O_DIRECT)" : "through the page cache");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        if (!measure_requests(calibration, disk, true, sizes[s], &model->disk_write) ||
            !measure_requests(calibration, disk, false, sizes[s], &model->disk_read))
            return false;
    return true;
}

// The first rank for all.
bool calibrate_disk(Calibration *calibration) {
    Diagnostics *diagnostics = calibration->session->diagnostics;
    bool ok = true;
    if (calibration->rank == 0) {
        const char *folder = disk_folder(calibration->session->options->scratch);
        Disk disk = {.fd = disk_open_unnamed(folder), .buffer = aligned_alloc(ALIGNMENT, LARGEST_REQUEST)};
        ok = disk.fd >= 0 && disk.buffer && measure_disk(calibration, folder, &disk);
        if (!ok)
            diagnostics_error(diagnostics, (Span){0}, "cannot measure the disk in '%s': %s", folder,
                              strerror(errno));
        free(disk.buffer);
        if (disk.fd >= 0)
            close(disk.fd);
    }
    calibrate_join(calibration);
    return agree_on(MPI_COMM_WORLD, ok, diagnostics);
}
