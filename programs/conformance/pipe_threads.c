/* A pipe between two threads: one blocks in read until the other writes, and in write when the pipe is full; poll.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { MESSAGES = 200, LARGE = 300000 };

static int forth[2], back[2];
static char large[LARGE], received[LARGE];

static void *echo(void *unused) {
    int number;
    for (int message = 0; message < MESSAGES; message++) {
        CHECK(read(forth[0], &number, sizeof number) == sizeof number);
        number = 2 * number + 1;
        CHECK(write(back[1], &number, sizeof number) == sizeof number);
    }
    size_t total = 0;
    while (total < LARGE) {
        ssize_t count = read(forth[0], received + total, LARGE - total);
        CHECK(count > 0);
        total += (size_t)count;
    }
    char end;
    CHECK(read(forth[0], &end, 1) == 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    CHECK(pipe(forth) == 0);
    CHECK(pipe(back) == 0);
    CHECK(pthread_create(&thread, NULL, echo, NULL) == 0);
    for (int message = 0; message < MESSAGES; message++) {
        int answer = 0;
        CHECK(write(forth[1], &message, sizeof message) == sizeof message);
        struct pollfd ready = {back[0], POLLIN, 0};
        CHECK(poll(&ready, 1, -1) == 1);
        CHECK(read(back[0], &answer, sizeof answer) == sizeof answer);
        CHECK(answer == 2 * message + 1);
    }
    memset(large, 'x', sizeof large);
    size_t total = 0;
    while (total < LARGE) {
        ssize_t count = write(forth[1], large + total, LARGE - total);
        CHECK(count > 0);
        total += (size_t)count;
    }
    CHECK(close(forth[1]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(memcmp(large, received, LARGE) == 0);
    puts("ok");
    return 0;
}
