// SPDX-License-Identifier: BSD-3-Clause
#include "jit/command.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// Starts a process in its own group with `input` as standard input (-1: empty) and `log` as standard output
// and error (NULL: none). By posix_spawn, as the caller may have many threads and much memory. 0 or errno.
static int start(char *const *words, int input, const char *log, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        if (input >= 0)
            posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        else
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log ? log : "/dev/null",
                                         O_WRONLY | (log ? O_CREAT | O_TRUNC | O_NOFOLLOW : 0), 0600);
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
        error = posix_spawnp(process, words[0], &actions, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void reap(pid_t process) {
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

// Starts a shell that reads from a pipe whose other end only this process has, and kills the group when that
// is closed: the kernel closes it in whatever way this process ends. -1 if it cannot be started.
static pid_t start_guard(pid_t group, int *lifeline) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    char script[64];
    snprintf(script, sizeof script, "read -r line; kill -s KILL -- -%ld", (long)group);
    char *const words[] = {"sh", "-c", script, NULL};
    pid_t guard;
    const int error = start(words, ends[0], NULL, &guard);
    close(ends[0]);
    *lifeline = ends[1];
    if (error == 0)
        return guard;
    close(ends[1]);
    return -1;
}

// Whether the process has ended. It stays a zombie, so that its process id is not reused.
static bool has_ended(pid_t process) {
    siginfo_t info = {.si_pid = 0};
    const int got = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
    return got == 0 ? info.si_pid == process : errno != EINTR;
}

// False if the time limit was reached first.
static bool wait_for(pid_t process, double limit) {
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    const double start_time = clock_seconds();
    while (!has_ended(process)) {
        if (limit > 0 && clock_seconds() - start_time > limit)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

bool command_run(char *const *words, const char *log, double limit, CommandResult *result) {
    pid_t process;
    const int error = start(words, -1, log, &process);
    if (error != 0) {
        errno = error;
        return false;
    }
    int lifeline = -1;
    const pid_t guard = start_guard(process, &lifeline);
    *result = (CommandResult){.timed_out = !wait_for(process, limit)};
    if (result->timed_out)
        kill(-process, SIGKILL);
    if (guard > 0) { // before the process id of the group can be reused
        kill(guard, SIGKILL);
        reap(guard);
        close(lifeline);
    }
    int status;
    pid_t ended;
    while ((ended = waitpid(process, &status, 0)) < 0 && errno == EINTR)
        continue;
    result->status = ended == process ? status : 0;
    return true;
}
