// SPDX-License-Identifier: BSD-3-Clause
// Ranks that stay: they execute the command again and again, each time for a process of `order`, which takes
// the place of mpirun, with its arguments, environment, folder, umask and streams. Rank R reads the ids of
// these processes from the pipe FOLDER/R; the first rank prints the status of each. They end when the pipe
// does.
#include "memory/device.h"
#include "runtime/blas_threads.h"
#include "runtime/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// `main` of the command, and what it calls to begin and to end with MPI, which it has here already.
int command_main(int count, char **arguments);
int __wrap_MPI_Init_thread(int *count, char ***arguments, int required, int *provided);
int __wrap_MPI_Finalize(void);

int __wrap_MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    (void)count, (void)arguments;
    *provided = required;
    return MPI_SUCCESS;
}

int __wrap_MPI_Finalize(void) {
    return MPI_SUCCESS;
}

int __real_MPI_Init_thread(int *count, char ***arguments, int required, int *provided);
int __real_MPI_Finalize(void);

extern char **environ;

enum { MAX_WORDS = 4096 };

// The strings of /proc/PROCESS/NAME, in memory that stays.
static int read_words(const char *process, const char *name, char **words) {
    char path[128], *text = NULL;
    size_t capacity = 0;
    snprintf(path, sizeof path, "/proc/%s/%s", process, name);
    FILE *file = fopen(path, "re");
    int count = 0;
    while (file && count < MAX_WORDS && getdelim(&text, &capacity, '\0', file) > 0)
        words[count++] = strdup(text);
    if (file)
        fclose(file);
    free(text);
    words[count] = NULL;
    return count;
}

// What MPI says of this rank, and what was chosen when libraries were loaded, stay.
static void take_environment(char **variables) {
    char *core = getenv("OPENBLAS_CORETYPE");
    core = core ? strdup(core) : NULL;
    clearenv();
    for (char **variable = variables; *variable; variable++)
        putenv(*variable);
    if (core)
        setenv("OPENBLAS_CORETYPE", core, 1);
    free(core);
}

static void take_umask(const char *process) {
    char path[128], line[256];
    unsigned mask;
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Umask: %o", &mask) == 1)
            umask((mode_t)mask);
    if (file)
        fclose(file);
}

// Of the process, or that of no process (NULL): an empty one.
static void take_stream(const char *process, int stream) {
    char path[128];
    const int flags = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_APPEND;
    snprintf(path, sizeof path, "/proc/%s/fd/%d", process ? process : "", stream);
    int fd = process ? open(path, flags) : -1;
    if (fd < 0)
        fd = open("/dev/null", flags);
    dup2(fd, stream);
    close(fd);
}

static int execute(const char *process, int rank) {
    static char *words[MAX_WORDS + 1], *variables[MAX_WORDS + 1];
    char folder[128];
    const int count = read_words(process, "cmdline", words);
    read_words(process, "environ", variables);
    snprintf(folder, sizeof folder, "/proc/%s/cwd", process);
    int first = 0; // of the words of the command, which come after -n and the number of ranks
    while (first < count && strcmp(words[first], "-n") != 0)
        first++;
    first += 2;
    if (first >= count || chdir(folder) != 0)
        return 1;
    take_environment(variables);
    take_umask(process);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        take_stream(stream == STDIN_FILENO && rank > 0 ? NULL : process, stream);
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    const int status = command_main(count - first, words + first);
    fflush(NULL);
    sched_setaffinity(0, sizeof cores, &cores); // the command may have bound the rank
    device_close();
    wait_set_sleep(false);
    return status;
}

// Where OpenBLAS has to be told the processor before it is loaded, the command would start again.
static void choose_blas_core(char **arguments) {
    const char *core = blas_better_core();
    if (!core || getenv("OPENBLAS_CORETYPE"))
        return;
    setenv("OPENBLAS_CORETYPE", core, 1);
    execv("/proc/self/exe", arguments);
}

int main(int count, char **arguments) {
    choose_blas_core(arguments);
    int provided, rank;
    __real_MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char path[4096], process[32];
    snprintf(path, sizeof path, "%s/%d", count > 1 ? arguments[1] : "", rank);
    FILE *orders = fopen(path, "re");
    const int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (!orders || answers < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (fgets(process, sizeof process, orders)) {
        process[strcspn(process, "\n")] = '\0';
        int status = execute(process, rank), worst;
        MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
            take_stream(NULL, stream);
        if (rank == 0)
            dprintf(answers, "%d\n", worst);
    }
    fclose(orders);
    __real_MPI_Finalize();
    return 0;
}
