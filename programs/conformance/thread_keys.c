/* Thread-specific data: one value per thread and key, destructors at thread end, repeated while they set values again.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 5 };

static pthread_key_t counted_key, stubborn_key;
static atomic_int destroyed, stubborn_rounds;
static int values[THREADS];

static void count_destruction(void *value) {
    CHECK((int *)value >= values && (int *)value < values + THREADS);
    atomic_fetch_add(&destroyed, 1);
}

static void set_again_once(void *value) {
    if (atomic_fetch_add(&stubborn_rounds, 1) == 0) {
        pthread_setspecific(stubborn_key, value);
    }
}

static void *use_keys(void *argument) {
    CHECK(pthread_getspecific(counted_key) == NULL);
    CHECK(pthread_setspecific(counted_key, argument) == 0);
    CHECK(pthread_getspecific(counted_key) == argument);
    if (argument == &values[0]) {
        CHECK(pthread_setspecific(stubborn_key, argument) == 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    CHECK(pthread_key_create(&counted_key, count_destruction) == 0);
    CHECK(pthread_key_create(&stubborn_key, set_again_once) == 0);
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, use_keys, &values[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(atomic_load(&destroyed) == THREADS);
    CHECK(atomic_load(&stubborn_rounds) == 2);
    CHECK(pthread_getspecific(counted_key) == NULL);
    CHECK(pthread_key_delete(counted_key) == 0);
    puts("ok");
    return 0;
}
