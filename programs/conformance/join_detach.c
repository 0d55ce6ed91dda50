/* Ends of threads: return values, pthread_exit from a callee, detach, joining oneself, identity, attributes.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static sem_t detached_done;
static int cleaned_up;
static pthread_t main_thread;

static void *return_argument(void *argument) {
    CHECK(!pthread_equal(pthread_self(), main_thread));
    return argument;
}

static void leave(void *value) {
    pthread_exit(value);
}

static void note_clean_up(void *flag) {
    *(int *)flag = 1;
}

static void *exit_from_callee(void *argument) {
    pthread_cleanup_push(note_clean_up, &cleaned_up);
    leave(argument);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *detach_self(void *unused) {
    CHECK(pthread_detach(pthread_self()) == 0);
    CHECK(sem_post(&detached_done) == 0);
    return unused;
}

static void *join_self(void *unused) {
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    return unused;
}

static void *use_large_stack(void *unused) {
    volatile char stack[3 << 20];
    for (size_t index = 0; index < sizeof stack; index += 4096) {
        stack[index] = 1;
    }
    CHECK(stack[4096] == 1);
    return unused;
}

int main(void) {
    int value;
    void *result = NULL;
    pthread_t thread;
    pthread_attr_t attributes;
    main_thread = pthread_self();
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);

    CHECK(pthread_create(&thread, NULL, return_argument, &value) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == &value);

    CHECK(pthread_create(&thread, NULL, exit_from_callee, &value) == 0);
    result = NULL;
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == &value);
    CHECK(cleaned_up);

    CHECK(pthread_create(&thread, NULL, join_self, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);

    CHECK(sem_init(&detached_done, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, detach_self, NULL) == 0);
    CHECK(sem_wait(&detached_done) == 0);

    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 4 << 20) == 0);
    CHECK(pthread_create(&thread, &attributes, use_large_stack, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_create(&thread, &attributes, return_argument, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    puts("ok");
    return 0;
}
