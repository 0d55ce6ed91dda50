/* pthread spin locks. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 2000 };

static pthread_spinlock_t lock;
static long counter;

static void *count(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(pthread_spin_lock(&lock) == 0);
        counter++;
        CHECK(pthread_spin_unlock(&lock) == 0);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE) == 0);
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, count, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(counter == (long)THREADS * ROUNDS);
    CHECK(pthread_spin_trylock(&lock) == 0);
    CHECK(pthread_spin_trylock(&lock) == EBUSY);
    CHECK(pthread_spin_unlock(&lock) == 0);
    CHECK(pthread_spin_destroy(&lock) == 0);
    puts("ok");
    return 0;
}
