/* Threads that wait on C11 atomics without ever yielding: a sense-reversing barrier and a ticket lock.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 25 };

static atomic_int arrived, sense, next_ticket, now_serving;
static long counter;

static void meet(int *own_sense) {
    *own_sense = !*own_sense;
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&sense, *own_sense);
    } else {
        while (atomic_load(&sense) != *own_sense) {
        }
    }
}

static void *work(void *unused) {
    int own_sense = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        const int ticket = atomic_fetch_add(&next_ticket, 1);
        while (atomic_load_explicit(&now_serving, memory_order_acquire) != ticket) {
        }
        counter++;
        atomic_fetch_add_explicit(&now_serving, 1, memory_order_release);
        meet(&own_sense);
        CHECK(counter == (long)round * THREADS);
        meet(&own_sense);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, work, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    puts("ok");
    return 0;
}
