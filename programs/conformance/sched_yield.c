/* Loops that yield while they wait; processor number, affinity and processor count can be asked.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 6, ROUNDS = 100 };

static atomic_int turn;

static void *relay(void *argument) {
    const int me = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        while (atomic_load(&turn) % THREADS != me) {
            CHECK(sched_yield() == 0);
        }
        atomic_fetch_add(&turn, 1);
        CHECK(sched_getcpu() >= 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    cpu_set_t allowed;
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, relay, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(atomic_load(&turn) == THREADS * ROUNDS);
    CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1);
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CHECK(CPU_COUNT(&allowed) >= 1);
    puts("ok");
    return 0;
}
