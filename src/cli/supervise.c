// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervise.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Seconds that an interrupted launcher has to end its processes, among them those on other machines, which
// only the launcher can end.
enum { PATIENCE = 4 };

static volatile sig_atomic_t supervisor; // in the process that asks for supervision
static volatile sig_atomic_t launcher_group, interrupted_by, seconds_since; // in the one that supervises

// A launcher that is still starting processes may miss a signal, so it is sent again every second.
static void ask_to_end(int kind) {
    (void)kind;
    const int error = errno;
    if (launcher_group > 0)
        kill(-(pid_t)launcher_group, SIGTERM);
    seconds_since++;
    alarm(1);
    errno = error;
}

static void interrupt(int kind) {
    if (!interrupted_by)
        interrupted_by = kind;
    ask_to_end(kind);
}

// Signals that interrupt wait from here on until they are handled, so that a process that has just been
// started is not ended without a word.
static sigset_t hold_signals(void) {
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, &before);
    return before;
}

static void release_signals(const sigset_t *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
}

static void handle_signals(void (*handler)(int kind)) {
    const struct sigaction ends = {.sa_handler = handler}, reminds = {.sa_handler = ask_to_end};
    sigaction(SIGTERM, &ends, NULL);
    sigaction(SIGHUP, &ends, NULL);
    sigaction(SIGINT, &ends, NULL);
    sigaction(SIGALRM, &reminds, NULL);
}

// The parent of a process; -1 where there is no such process any more.
static pid_t parent_of(const char *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    FILE *file = fopen(path, "re");
    int parent = -1;
    // "PID (NAME) STATE PARENT ...": a name of at most 15 characters, which may be any.
    char line[128] = "";
    if (file && fgets(line, sizeof line, file)) {
        const char *end = NULL;
        for (const char *c = line; *c; c++)
            end = *c == ')' ? c : end;
        if (!end || sscanf(end, ") %*c %d", &parent) != 1)
            parent = -1;
    }
    if (file)
        fclose(file);
    return parent;
}

// Kills the children of this process. Their children become children of this process, see adopt_orphans.
static void kill_children(void) {
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    // cppcheck-suppress readdirCalled // there is one thread
    while (processes && (entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
            kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
    if (processes)
        closedir(processes);
}

// From now on, a descendant whose parent ends becomes a child of this process, not of init.
static void adopt_orphans(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Kills all descendants of this process. Each round kills those that the round before has orphaned.
static void kill_descendants(void) {
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    for (;;) {
        kill_children();
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (ended < 0 && errno == ECHILD)
            return;
        nanosleep(&pause, NULL);
    }
}

// In the new process: runs the command. If it cannot be started, writes errno to the pipe `failed`.
static void become(char *const *words, int input, int output, pid_t parent, int failed,
                   const sigset_t *signals) {
    // If this process is killed, so is the launcher; a signal from the terminal does not reach it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);
    release_signals(signals);
    if (getppid() == parent && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
        execvp(words[0], words);
    const int error = errno;
    const ssize_t written = write(failed, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

// Whether the command has been started: the pipe then closes empty. Else false with errno.
static bool has_started(int failed) {
    int error;
    ssize_t got;
    while ((got = read(failed, &error, sizeof error)) < 0 && errno == EINTR)
        continue;
    close(failed);
    if (got == sizeof error)
        errno = error;
    return got == 0;
}

// Waits for the launcher and, if this process is interrupted, for all descendants; reaps adopted orphans.
static void wait_for(pid_t launcher, Supervised *supervised) {
    bool runs = true;
    while (runs || interrupted_by) {
        int status;
        const pid_t ended = waitpid(-1, &status, 0);
        if (ended == launcher) {
            supervised->status = status;
            runs = false;
        }
        if (ended < 0 && errno == ECHILD)
            return;
        if (interrupted_by && seconds_since > PATIENCE)
            kill_descendants();
    }
    if (supervised->status != 0)
        kill_descendants();
}

// The outcome of supervision, sent by the supervisor to the process that has asked for it.
typedef struct {
    bool started;
    int error; // errno if it has not been started
    Supervised supervised;
} Outcome;

// `signals`: those that are not held while the launcher runs.
static Outcome run_launcher(char *const *words, int input, int output, const sigset_t *signals) {
    Outcome outcome = {0};
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0)
        return (Outcome){.error = errno};
    adopt_orphans();
    const pid_t parent = getpid(), launcher = fork();
    if (launcher == 0)
        become(words, input, output, parent, failed[1], signals);
    outcome.error = errno;
    close(failed[1]);
    if (launcher < 0) {
        close(failed[0]);
        return outcome;
    }
    setpgid(launcher, launcher); // here too, so that it is done before a signal is sent to the group
    launcher_group = launcher;
    handle_signals(interrupt);
    release_signals(signals);
    outcome.started = has_started(failed[0]);
    outcome.error = errno;
    if (!outcome.started) {
        waitpid(launcher, NULL, 0);
        return outcome;
    }
    wait_for(launcher, &outcome.supervised);
    alarm(0);
    outcome.supervised.interrupted_by = interrupted_by;
    return outcome;
}

static void pass_on(int kind) {
    const int error = errno;
    if (supervisor > 0)
        kill((pid_t)supervisor, kind);
    errno = error;
}

// Supervision is done by a child, which outlives this process should that be killed, and then ends the rest.
// It is a process group of its own, as whoever kills this process may kill its group.
bool supervise(char *const *words, int input, int output, const char *const *leftovers,
               Supervised *supervised) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    const sigset_t signals = hold_signals();
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(EXIT_FAILURE);
        setpgid(0, 0);
        const Outcome outcome = run_launcher(words, input, output, &signals);
        for (const char *const *path = leftovers; *path; path++)
            unlink(*path);
        _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    const int error = errno;
    close(ends[1]);
    if (child > 0) {
        supervisor = child;
        handle_signals(pass_on);
    }
    release_signals(&signals);
    Outcome outcome = {.error = error};
    if (child > 0) {
        ssize_t got;
        while ((got = read(ends[0], &outcome, sizeof outcome)) < 0 && errno == EINTR)
            continue;
        if (got != sizeof outcome)
            outcome = (Outcome){.error = ECHILD}; // the supervisor was killed
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    close(ends[0]);
    *supervised = outcome.supervised;
    errno = outcome.error;
    return outcome.started;
}
