/* Threads that wait on plain volatile variables, as programs older than C11 do: a flag, and a relay.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 25 };

static volatile int is_started;
static volatile int turn;
static int payload;

static void *relay(void *argument) {
    const int me = *(int *)argument;
    while (!is_started) {
    }
    CHECK(payload == 42);
    for (int round = 0; round < ROUNDS; round++) {
        while (turn != round * THREADS + me) {
        }
        turn++;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS];
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, relay, &ids[id]) == 0);
    }
    payload = 42;
    __sync_synchronize();
    is_started = 1;
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(turn == THREADS * ROUNDS);
    puts("ok");
    return 0;
}
