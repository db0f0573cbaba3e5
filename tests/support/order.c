// SPDX-License-Identifier: BSD-3-Clause
// order SOCKET -n RANKS COMMAND...: in the place of mpirun, has ranks that are there already execute the
// command (resident.c). Whoever listens at the socket gets the id of this process and answers with the
// status, or with the words of a launcher that this process becomes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **words) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", count > 2 ? words[1] : "");
    if (peer < 0 || connect(peer, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(address.sun_path);
        return 1;
    }
    dprintf(peer, "%d\n", (int)getpid());
    char answer[4096] = "";
    for (size_t got = 0; got < sizeof answer - 1 && !strchr(answer, '\n');) {
        const ssize_t size = read(peer, answer + got, sizeof answer - 1 - got);
        if (size <= 0)
            return 1;
        got += (size_t)size;
    }
    char *end;
    const long status = strtol(answer, &end, 10);
    if (*end == '\n')
        return (int)status;
    enum { MAX_WORDS = 64 };
    char *launcher[MAX_WORDS + count], *rest;
    int n = 0;
    for (char *word = strtok_r(answer, " \n", &rest); word && n < MAX_WORDS;
         word = strtok_r(NULL, " \n", &rest))
        launcher[n++] = word;
    for (int i = 2; i <= count; i++)
        launcher[n++] = words[i]; // the terminating NULL, too
    execvp(launcher[0], launcher);
    perror(launcher[0]);
    return 127;
}
