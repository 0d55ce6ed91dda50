/* pthread barriers: nobody leaves early, exactly one thread is the serial one, reuse.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 7, ROUNDS = 200 };

static pthread_barrier_t barrier;
static atomic_int arrived, serial;

static void *meet(void *unused) {
    for (int round = 1; round <= ROUNDS; round++) {
        atomic_fetch_add(&arrived, 1);
        int status = pthread_barrier_wait(&barrier);
        CHECK(status == 0 || status == PTHREAD_BARRIER_SERIAL_THREAD);
        CHECK(atomic_load(&arrived) >= round * THREADS);
        atomic_fetch_add(&serial, status == PTHREAD_BARRIER_SERIAL_THREAD);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, meet, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(atomic_load(&serial) == ROUNDS);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
    puts("ok");
    return 0;
}
