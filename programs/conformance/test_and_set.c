/* Locks that spin by writing: atomic_flag, __sync_lock_test_and_set, and compare-and-swap.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 200 };

static atomic_flag flag = ATOMIC_FLAG_INIT;
static volatile int old_style;
static atomic_int swapped;
static long counters[3];

static void *work(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {
        }
        counters[0]++;
        atomic_flag_clear_explicit(&flag, memory_order_release);

        while (__sync_lock_test_and_set(&old_style, 1)) {
        }
        counters[1]++;
        __sync_lock_release(&old_style);

        int expected = 0;
        while (!atomic_compare_exchange_weak(&swapped, &expected, 1)) {
            expected = 0;
        }
        counters[2]++;
        atomic_store(&swapped, 0);
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
    for (int kind = 0; kind < 3; kind++) {
        CHECK(counters[kind] == (long)THREADS * ROUNDS);
    }
    puts("ok");
    return 0;
}
