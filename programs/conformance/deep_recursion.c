/* Recursion through 6 MiB of main's stack and as much of a thread's. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>

#include "check.h"

enum { FRAME = 1024, DEPTH = 5500 };

static int (*volatile next)(int); /* keeps the recursion from being turned into a loop */

static int descend(int depth) {
    volatile char frame[FRAME];
    frame[depth % FRAME] = 1;
    return depth == 0 ? 0 : next(depth - 1) + frame[depth % FRAME];
}

static void *descend_in_thread(void *unused) {
    CHECK(descend(DEPTH) == DEPTH);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_attr_t attributes;
    next = descend;
    CHECK(descend(DEPTH) == DEPTH);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 8 << 20) == 0);
    CHECK(pthread_create(&thread, &attributes, descend_in_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
    return 0;
}
