/* pthread_once: one thread runs the function, all others wait until it has finished.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { THREADS = 8 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int runs, is_finished;

static void prepare(void) {
    const struct timespec pause = {0, 5 * 1000 * 1000};
    runs++;
    nanosleep(&pause, NULL);
    is_finished = 1;
}

static void *use(void *unused) {
    CHECK(pthread_once(&once, prepare) == 0);
    CHECK(is_finished);
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, use, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(runs == 1);
    puts("ok");
    return 0;
}
