/* A thread calls exit while others wait for ever: atexit functions run, output is flushed, the code is passed on.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void at_end(void) {
    puts("ok");
}

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        pthread_cond_wait(&never, &mutex);
    }
    return unused;
}

static void *leave(void *unused) {
    exit(3);
    return unused;
}

int main(void) {
    pthread_t waiting, leaving;
    CHECK(atexit(at_end) == 0);
    CHECK(pthread_create(&waiting, NULL, wait_for_ever, NULL) == 0);
    CHECK(pthread_create(&leaving, NULL, leave, NULL) == 0);
    wait_for_ever(NULL);
    return 0;
}
