/* nanosleep, usleep, clock_nanosleep, poll and select as sleeps: at least as long as asked for, in parallel, in order.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4 };

static atomic_int finished;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Thread k sleeps (k + 1) * 100 ms: far enough apart that a busy machine keeps the order. */
static void *sleep_by_rank(void *argument) {
    const int rank = *(int *)argument;
    const struct timespec pause = {0, (rank + 1) * 100 * 1000 * 1000};
    CHECK(nanosleep(&pause, NULL) == 0);
    CHECK(atomic_fetch_add(&finished, 1) == rank);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ranks[THREADS];
    double before = now_s();
    for (int rank = 0; rank < THREADS; rank++) {
        ranks[rank] = rank;
        CHECK(pthread_create(&threads[rank], NULL, sleep_by_rank, &ranks[rank]) == 0);
    }
    for (int rank = 0; rank < THREADS; rank++) {
        CHECK(pthread_join(threads[rank], NULL) == 0);
    }
    CHECK(now_s() - before >= 0.4);

    before = now_s();
    CHECK(usleep(10000) == 0);
    CHECK(now_s() - before >= 0.0099);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 10 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    before = now_s();
    CHECK(before >= (double)until.tv_sec + 1e-9 * (double)until.tv_nsec - 1e-6);
    CHECK(poll(NULL, 0, 10) == 0);
    struct timeval pause = {0, 10000};
    CHECK(select(0, NULL, NULL, NULL, &pause) == 0);
    CHECK(now_s() - before >= 0.0199);
    puts("ok");
    return 0;
}
