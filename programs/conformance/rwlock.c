/* Reader-writer locks: readers together, writers alone, try and timed forms.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { WRITERS = 3, READERS = 5, ROUNDS = 500 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long first, second;
static pthread_barrier_t both_reading;

static void *write_pairs(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        first++;
        second++;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return unused;
}

static void *read_pairs(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        CHECK(first == second);
        CHECK(pthread_rwlock_unlock(&lock) == 0);
    }
    return unused;
}

/* Returns only if two readers can hold the lock at once. */
static void *read_together(void *unused) {
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    pthread_barrier_wait(&both_reading);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    return unused;
}

static void *fail_to_enter(void *unused) {
    struct timespec deadline;
    CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 5 * 1000 * 1000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    CHECK(pthread_rwlock_timedrdlock(&lock, &deadline) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedwrlock(&lock, &deadline) == ETIMEDOUT);
    return unused;
}

int main(void) {
    pthread_t threads[WRITERS + READERS];
    for (int id = 0; id < WRITERS + READERS; id++) {
        CHECK(pthread_create(&threads[id], NULL, id < WRITERS ? write_pairs : read_pairs, NULL) == 0);
    }
    for (int id = 0; id < WRITERS + READERS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(first == (long)WRITERS * ROUNDS);

    CHECK(pthread_barrier_init(&both_reading, NULL, 2) == 0);
    for (int id = 0; id < 2; id++) {
        CHECK(pthread_create(&threads[id], NULL, read_together, NULL) == 0);
    }
    for (int id = 0; id < 2; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }

    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    CHECK(pthread_create(&threads[0], NULL, fail_to_enter, NULL) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
    CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
    puts("ok");
    return 0;
}
