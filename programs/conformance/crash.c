/* Dies of SIGSEGV in a thread, after some work: the launcher must pass the signal on.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>

#include "check.h"

static int *volatile nowhere;
static int values[10000];

static void *fault(void *unused) {
    for (int index = 0; index < 10000; index++) {
        values[index] = index;
    }
    *nowhere = 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    puts("before");
    fflush(stdout);
    CHECK(pthread_create(&thread, NULL, fault, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("after");
    return 0;
}
