/* _Thread_local variables: initial values, one copy per thread, aligned, larger than a page.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>

#include "check.h"

enum { THREADS = 6, ROUNDS = 1000, LARGE = 3000 };

static _Thread_local int initialised = 41;
static _Thread_local int zero;
static _Thread_local alignas(64) double aligned[8] = {1.5};
static _Thread_local int large[LARGE];

static void *use(void *argument) {
    const int id = *(int *)argument;
    CHECK(initialised == 41);
    CHECK(zero == 0);
    CHECK(aligned[0] == 1.5);
    CHECK((uintptr_t)aligned % 64 == 0);
    for (int round = 0; round < ROUNDS; round++) {
        zero += id;
        large[round % LARGE] += id + 1;
        errno = id;
    }
    CHECK(zero == id * ROUNDS);
    CHECK(large[ROUNDS - 1] == id + 1);
    CHECK(large[LARGE - 1] == 0);
    CHECK(errno == id);
    return &zero;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, use, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        void *address;
        CHECK(pthread_join(threads[id], &address) == 0);
        CHECK(address != &zero);
    }
    CHECK(zero == 0);
    CHECK(initialised == 41);
    puts("ok");
    return 0;
}
