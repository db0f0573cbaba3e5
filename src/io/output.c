// SPDX-License-Identifier: BSD-3-Clause
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <unistd.h>

static const char changed_meanwhile[] =
    "it has changed since its contents were copied; replacing it would lose the change";

enum { TOKEN_BYTES = 16 };
_Static_assert(sizeof((DraftToken *)0)->digits == 2 * TOKEN_BYTES + 1, "two digits a byte");

DraftToken draft_token_create(void) {
    unsigned char bytes[TOKEN_BYTES];
    DraftToken token = {""};
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort(); // does not happen for up to 256 bytes
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(token.digits + 2 * i, 3, "%02x", bytes[i]);
    return token;
}

bool draft_token_parse(const char *text, DraftToken *token) {
    const size_t length = sizeof token->digits - 1;
    if (!text || strlen(text) != length || strspn(text, "0123456789abcdef") != length)
        return false;
    memcpy(token->digits, text, length + 1);
    return true;
}

// "." for "A.npy", "/" for "/A.npy".
static const char *folder_of(const char *path, Arena *arena) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_string(arena, path, (size_t)(slash - path));
}

// Resolves symbolic links in the last component, also one to a file that does not exist yet.
static const char *follow_links(const char *path, Arena *arena) {
    enum { MOST = 40 }; // as many as the kernel follows
    char target[4096];
    for (int i = 0; i < MOST; i++) {
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0)
            break;
        target[length] = '\0';
        path = target[0] == '/' ? arena_printf(arena, "%s", target)
                                : arena_printf(arena, "%s/%s", folder_of(path, arena), target);
    }
    return path;
}

Output output_create(const char *path, const DraftToken *token, int64_t number, Arena *arena) {
    const char *target = follow_links(path, arena), *folder = folder_of(target, arena);
    // Not derived from the target's name, which may have the greatest length that the file system allows.
    const char *draft =
        number > 0 ? arena_printf(arena, "%s/distal-%s-%lld.tmp", folder, token->digits, (long long)number)
                   : arena_printf(arena, "%s/distal-%s.tmp", folder, token->digits);
    return (Output){.path = path, .target = target, .folder = folder, .draft = draft, .fd = -1};
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool output_same_file(const char *a, const char *b, Arena *arena) {
    struct stat in_a, in_b;
    a = follow_links(a, arena);
    b = follow_links(b, arena);
    return strcmp(name_of(a), name_of(b)) == 0 && stat(folder_of(a, arena), &in_a) == 0 &&
           stat(folder_of(b, arena), &in_b) == 0 && in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
}

bool output_refuse(const Output *output, const char *why, Diagnostics *diagnostics) {
    return diagnostics_error(diagnostics, (Span){0}, "cannot write '%s': %s", output->path, why);
}

bool output_possible(const Output *output, Diagnostics *diagnostics) {
    struct stat status;
    const bool is_new = lstat(output->target, &status) != 0;
    if ((is_new && errno != ENOENT) || access(output->folder, W_OK | X_OK) != 0)
        return output_refuse(output, strerror(errno), diagnostics);
    if (is_new)
        return true;
    if (S_ISLNK(status.st_mode))
        return output_refuse(output, strerror(ELOOP), diagnostics);
    if (!S_ISREG(status.st_mode))
        return output_refuse(output, "it is not a regular file", diagnostics);
    return access(output->target, W_OK) == 0 || output_refuse(output, strerror(errno), diagnostics);
}

// Gives a draft the owner and the mode of the file that it will replace. If the group cannot be kept, the new
// group gets the permissions of other users. False with errno.
static bool take_after(int fd, const struct stat *old) {
    mode_t mode = old->st_mode & 0777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode = (mode & 0707) | (mode & 07) << 3;
    return fchmod(fd, mode) == 0;
}

// The path of an open file in /proc.
static const char *name_of_descriptor(int fd, char name[32]) {
    snprintf(name, 32, "/proc/self/fd/%d", fd);
    return name;
}

// -1 where the file system has no unnamed files, or could not give this one a name later.
static int open_unnamed(const char *folder, int access_mode, mode_t mode) {
    char name[32];
    const int fd = open(folder, O_TMPFILE | access_mode | O_CLOEXEC, mode);
    if (fd < 0 || access(name_of_descriptor(fd, name), F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

static int access_mode(const Output *output) {
    return output->is_read ? O_RDWR : O_WRONLY;
}

bool output_create_draft(Output *output, UnnamedDraft *unnamed) {
    struct stat old, status;
    const bool replaces = lstat(output->target, &old) == 0;
    const mode_t mode = replaces ? 0600 : 0666;
    if (unnamed)
        output->fd = open_unnamed(output->folder, access_mode(output), mode);
    output->is_unnamed = output->fd >= 0;
    if (output->fd < 0)
        output->fd =
            open(output->draft, access_mode(output) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (output->fd < 0 || fstat(output->fd, &status) != 0)
        return false;
    if (output->is_unnamed)
        *unnamed = (UnnamedDraft){getpid(), output->fd, (int64_t)status.st_dev, (int64_t)status.st_ino};
    output->is_creator = true;
    return !replaces || take_after(output->fd, &old);
}

static bool has_changed(const Output *output) {
    struct stat now;
    const struct stat *old = &output->old;
    if (lstat(output->target, &now) != 0)
        return output->had_old || errno != ENOENT;
    return !output->had_old || now.st_dev != old->st_dev || now.st_ino != old->st_ino ||
           now.st_size != old->st_size || now.st_mtim.tv_sec != old->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != old->st_mtim.tv_nsec;
}

bool output_copy_old(Output *output) {
    enum { AT_ONCE = 1 << 30 };
    const int old = open(output->target, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    output->has_copy = true;
    if (old < 0)
        return errno == ENOENT;
    output->had_old = fstat(old, &output->old) == 0;
    ssize_t copied;
    do
        copied = sendfile(output->fd, old, NULL, AT_ONCE);
    while (copied > 0 || (copied < 0 && errno == EINTR));
    const int error = errno;
    close(old);
    errno = error;
    return copied == 0;
}

bool output_name_draft(Output *output, Diagnostics *diagnostics) {
    char name[32];
    if (output->is_unnamed && linkat(AT_FDCWD, name_of_descriptor(output->fd, name), AT_FDCWD, output->draft,
                                     AT_SYMLINK_FOLLOW) != 0)
        return output_refuse(output, strerror(errno), diagnostics);
    output->is_unnamed = false;
    return true;
}

bool output_open_draft(Output *output) {
    output->fd = open(output->draft, access_mode(output) | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (output->fd < 0 || fstat(output->fd, &status) != 0)
        return false;
    // Other users who may rename files in this folder could have put a link to another file in its place.
    if (S_ISREG(status.st_mode) && status.st_nlink == 1)
        return true;
    errno = EPERM;
    return false;
}

static bool is_draft(const struct stat *status, const UnnamedDraft *unnamed) {
    return S_ISREG(status->st_mode) && status->st_nlink == 0 && (int64_t)status->st_dev == unnamed->device &&
           (int64_t)status->st_ino == unnamed->inode;
}

bool output_open_unnamed(Output *output, const UnnamedDraft *unnamed) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)unnamed->process,
             (long long)unnamed->descriptor);
    // Examined before it is opened, too: opening a pipe or a device could wait or change something.
    if (stat(path, &status) != 0 || !is_draft(&status, unnamed))
        return false;
    output->fd = open(path, access_mode(output) | O_CLOEXEC);
    if (output->fd < 0 || (fstat(output->fd, &status) == 0 && is_draft(&status, unnamed)))
        return output->fd >= 0;
    close(output->fd);
    output->fd = -1;
    return false;
}

static bool close_draft(Output *output, bool ok, Diagnostics *diagnostics) {
    if (output->fd >= 0 && close(output->fd) != 0 && ok)
        ok = output_refuse(output, strerror(errno), diagnostics);
    output->fd = -1;
    return ok;
}

bool output_close(Output *output, bool ok, Diagnostics *diagnostics) {
    return output->is_creator ? ok : close_draft(output, ok, diagnostics);
}

bool output_finish(Output *output, bool ok, Diagnostics *diagnostics) {
    ok = ok && output_name_draft(output, diagnostics);
    ok = close_draft(output, ok, diagnostics);
    if (!output->is_creator)
        return ok;
    output->is_creator = false;
    const bool changed = ok && output->has_copy && has_changed(output);
    if (ok && !changed && rename(output->draft, output->target) == 0)
        return true;
    const int error = errno;
    if (!output->is_unnamed)
        unlink(output->draft);
    return ok ? output_refuse(output, changed ? changed_meanwhile : strerror(error), diagnostics) : false;
}

// False with errno.
static bool write_text(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t written = write(fd, text, left);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        left -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

// Opens a pipe or a device; -1 where the path is not one.
static int open_stream(const Output *output) {
    const int fd = open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)))
        return fd;
    close(fd);
    return -1;
}

bool output_write_text(const char *path, const char *text, Diagnostics *diagnostics) {
    const DraftToken token = draft_token_create();
    Output output = output_create(path, &token, 0, diagnostics->arena);
    output.fd = open_stream(&output);
    if (output.fd < 0 && !output_possible(&output, diagnostics))
        return false;
    const bool ok =
        (output.fd >= 0 || output_create_draft(&output, &(UnnamedDraft){0})) && write_text(output.fd, text);
    if (!ok)
        output_refuse(&output, strerror(errno), diagnostics);
    return output_finish(&output, ok, diagnostics);
}
