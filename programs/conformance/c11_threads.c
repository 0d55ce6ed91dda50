/* <threads.h>: threads, mutexes of each kind, conditions, thread-specific storage, call_once, sleep.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <threads.h>
#include <time.h>

#include "check.h"

enum { THREADS = 6, ROUNDS = 500 };

static mtx_t mutex;
static cnd_t changed;
static tss_t storage;
static once_flag flag = ONCE_FLAG_INIT;
static int counter, initialised, is_open, freed;

static void initialise(void) {
    initialised++;
}

static void count_freed(void *value) {
    CHECK(mtx_lock(&mutex) == thrd_success);
    freed++;
    CHECK(mtx_unlock(&mutex) == thrd_success);
    free(value);
}

static int work(void *argument) {
    const int id = *(int *)argument;
    call_once(&flag, initialise);
    int *own = malloc(sizeof *own);
    CHECK(own != NULL);
    *own = id;
    CHECK(tss_set(storage, own) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    while (!is_open) {
        CHECK(cnd_wait(&changed, &mutex) == thrd_success);
    }
    CHECK(mtx_unlock(&mutex) == thrd_success);
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(mtx_lock(&mutex) == thrd_success);
        counter++;
        CHECK(mtx_unlock(&mutex) == thrd_success);
        thrd_yield();
    }
    CHECK(*(int *)tss_get(storage) == id);
    if (id % 2 == 0) {
        thrd_exit(id + 100);
    }
    return id + 100;
}

int main(void) {
    thrd_t threads[THREADS];
    int ids[THREADS];
    CHECK(mtx_init(&mutex, mtx_plain) == thrd_success);
    CHECK(cnd_init(&changed) == thrd_success);
    CHECK(tss_create(&storage, count_freed) == thrd_success);
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(thrd_create(&threads[id], work, &ids[id]) == thrd_success);
    }
    CHECK(mtx_lock(&mutex) == thrd_success);
    is_open = 1;
    CHECK(cnd_broadcast(&changed) == thrd_success);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    for (int id = 0; id < THREADS; id++) {
        int result = 0;
        CHECK(thrd_join(threads[id], &result) == thrd_success);
        CHECK(result == id + 100);
    }
    CHECK(counter == THREADS * ROUNDS);
    CHECK(initialised == 1);
    CHECK(freed == THREADS);

    mtx_t timed;
    struct timespec deadline;
    CHECK(mtx_init(&timed, mtx_timed | mtx_recursive) == thrd_success);
    CHECK(mtx_lock(&timed) == thrd_success);
    CHECK(mtx_trylock(&timed) == thrd_success);
    CHECK(mtx_unlock(&timed) == thrd_success);
    CHECK(mtx_unlock(&timed) == thrd_success);
    CHECK(mtx_lock(&mutex) == thrd_success);
    CHECK(mtx_trylock(&mutex) == thrd_busy);
    CHECK(timespec_get(&deadline, TIME_UTC) == TIME_UTC);
    CHECK(cnd_timedwait(&changed, &mutex, &deadline) == thrd_timedout);
    CHECK(mtx_unlock(&mutex) == thrd_success);
    const struct timespec pause = {0, 1000000};
    CHECK(thrd_sleep(&pause, NULL) == 0);
    CHECK(thrd_equal(thrd_current(), thrd_current()));
    mtx_destroy(&timed);
    mtx_destroy(&mutex);
    cnd_destroy(&changed);
    tss_delete(storage);
    puts("ok");
    return 0;
}
