/* Mutexes: exclusion under contention, recursive, error-checking, trylock and timed lock.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 2000 };

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *count(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_mutex_lock(&plain) == 0);
        counter++;
        CHECK(pthread_mutex_unlock(&plain) == 0);
    }
    return unused;
}

static void *try_busy(void *mutex) {
    CHECK(pthread_mutex_trylock(mutex) == EBUSY);
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 10 * 1000 * 1000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    CHECK(pthread_mutex_timedlock(mutex, &deadline) == ETIMEDOUT);
    return NULL;
}

static void *unlock_foreign(void *mutex) {
    CHECK(pthread_mutex_unlock(mutex) == EPERM);
    return NULL;
}

static void in_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, count, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(counter == (long)THREADS * ROUNDS);

    CHECK(pthread_mutex_lock(&plain) == 0);
    CHECK(pthread_mutex_trylock(&plain) == EBUSY);
    in_thread(try_busy, &plain);
    CHECK(pthread_mutex_unlock(&plain) == 0);
    CHECK(pthread_mutex_trylock(&plain) == 0);
    CHECK(pthread_mutex_unlock(&plain) == 0);

    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    for (int depth = 0; depth < 5; depth++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
    }
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    for (int depth = 0; depth < 5; depth++) {
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    in_thread(try_busy, &mutex);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_destroy(&mutex) == 0);

    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
    in_thread(unlock_foreign, &mutex);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    puts("ok");
    return 0;
}
