/* 64 threads alive at once, more than the 16 processors of the default machine; then 500 short ones in turn.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 64, SHORT_THREADS = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived;

static void *arrive(void *unused) {
    pthread_mutex_lock(&mutex);
    arrived++;
    if (arrived == THREADS) {
        pthread_cond_broadcast(&all_here);
    }
    while (arrived < THREADS) {
        pthread_cond_wait(&all_here, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *increment(void *counter) {
    ++*(int *)counter;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, arrive, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(arrived == THREADS);
    int counter = 0;
    for (int id = 0; id < SHORT_THREADS; id++) {
        CHECK(pthread_create(&threads[0], NULL, increment, &counter) == 0);
        CHECK(pthread_join(threads[0], NULL) == 0);
    }
    CHECK(counter == SHORT_THREADS);
    puts("ok");
    return 0;
}
