/* pthread_tryjoin_np and pthread_timedjoin_np. SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

static sem_t may_end;

static void *wait_for_leave(void *unused) {
    CHECK(sem_wait(&may_end) == 0);
    return unused;
}

static struct timespec in_milliseconds(long milliseconds) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += milliseconds % 1000 * 1000000;
    deadline.tv_sec += milliseconds / 1000 + deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    return deadline;
}

int main(void) {
    pthread_t thread;
    CHECK(sem_init(&may_end, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_leave, NULL) == 0);
    CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
    struct timespec deadline = in_milliseconds(20);
    CHECK(pthread_timedjoin_np(thread, NULL, &deadline) == ETIMEDOUT);
    CHECK(sem_post(&may_end) == 0);
    deadline = in_milliseconds(60000);
    CHECK(pthread_timedjoin_np(thread, NULL, &deadline) == 0);
    puts("ok");
    return 0;
}
