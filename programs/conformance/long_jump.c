/* setjmp and longjmp: out of nested calls, many times, in several threads and in main.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 200 };

static void descend(jmp_buf target, int depth, int value) {
    volatile char frame[256];
    frame[0] = (char)depth;
    if (depth < 0) {
        return; /* not reached; keeps compilers from calling the recursion endless */
    }
    if (depth == 0) {
        longjmp(target, value);
    }
    descend(target, depth - 1, value);
    CHECK(frame[0] == (char)depth);
}

static void *jump(void *unused) {
    jmp_buf target;
    volatile int round = 0;
    int value = setjmp(target);
    if (value != 0) {
        CHECK(value == round);
    }
    if (round < ROUNDS) {
        round++;
        descend(target, 50, round);
    }
    CHECK(round == ROUNDS);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, jump, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    jump(NULL);
    puts("ok");
    return 0;
}
