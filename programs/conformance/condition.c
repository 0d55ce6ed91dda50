/* Condition variables: a wait without a loop (old programs rely on no spurious wake-ups), signal, broadcast, timed wait.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { THREADS = 8, ROUNDS = 100 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int arrived;
static int turn;
static int is_released;

/* A barrier as SPLASH programs write it: one wait, no loop. */
static void *meet_without_loop(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        arrived++;
        int before = round * THREADS;
        if (arrived == before + THREADS) {
            CHECK(pthread_cond_broadcast(&changed) == 0);
        } else {
            CHECK(pthread_cond_wait(&changed, &mutex) == 0);
        }
        CHECK(arrived >= before + THREADS);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return unused;
}

static void *take_turns(void *argument) {
    const int me = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_mutex_lock(&mutex) == 0);
        while (turn % 2 != me) {
            CHECK(pthread_cond_wait(&changed, &mutex) == 0);
        }
        turn++;
        CHECK(pthread_cond_signal(&changed) == 0);
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return NULL;
}

static struct timespec in_milliseconds(long milliseconds) {
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += milliseconds * 1000000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    return deadline;
}

static void *release(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    is_released = 1;
    CHECK(pthread_cond_signal(&changed) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[2] = {0, 1};
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, meet_without_loop, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(arrived == THREADS * ROUNDS);

    for (int id = 0; id < 2; id++) {
        CHECK(pthread_create(&threads[id], NULL, take_turns, &ids[id]) == 0);
    }
    for (int id = 0; id < 2; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(turn == 2 * ROUNDS);

    CHECK(pthread_mutex_lock(&mutex) == 0);
    struct timespec deadline = in_milliseconds(20);
    CHECK(pthread_cond_timedwait(&changed, &mutex, &deadline) == ETIMEDOUT);
    struct timespec now = in_milliseconds(0);
    CHECK(now.tv_sec > deadline.tv_sec || (now.tv_sec == deadline.tv_sec && now.tv_nsec >= deadline.tv_nsec));
    CHECK(pthread_create(&threads[0], NULL, release, NULL) == 0);
    deadline = in_milliseconds(60000);
    while (!is_released) {
        CHECK(pthread_cond_timedwait(&changed, &mutex, &deadline) == 0);
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    puts("ok");
    return 0;
}
