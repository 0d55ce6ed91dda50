/* Semaphores, unnamed: wait, trywait, timedwait, post, the value; a bounded buffer between two threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

enum { ITEMS = 3000, SLOTS = 4 };

static sem_t full, empty;
static int buffer[SLOTS];

static void *produce(void *unused) {
    for (int item = 0; item < ITEMS; item++) {
        CHECK(sem_wait(&empty) == 0);
        buffer[item % SLOTS] = item;
        CHECK(sem_post(&full) == 0);
    }
    return unused;
}

int main(void) {
    pthread_t producer;
    int value = -1;
    CHECK(sem_init(&full, 0, 0) == 0);
    CHECK(sem_init(&empty, 0, SLOTS) == 0);
    CHECK(pthread_create(&producer, NULL, produce, NULL) == 0);
    for (int item = 0; item < ITEMS; item++) {
        CHECK(sem_wait(&full) == 0);
        CHECK(buffer[item % SLOTS] == item);
        CHECK(sem_post(&empty) == 0);
    }
    CHECK(pthread_join(producer, NULL) == 0);

    CHECK(sem_getvalue(&empty, &value) == 0);
    CHECK(value == SLOTS);
    for (int slot = 0; slot < SLOTS; slot++) {
        CHECK(sem_trywait(&empty) == 0);
    }
    CHECK(sem_trywait(&empty) == -1);
    CHECK(errno == EAGAIN);
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += 20 * 1000 * 1000;
    deadline.tv_sec += deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    CHECK(sem_timedwait(&empty, &deadline) == -1);
    CHECK(errno == ETIMEDOUT);
    CHECK(sem_post(&empty) == 0);
    CHECK(sem_timedwait(&empty, &deadline) == 0);
    CHECK(sem_destroy(&full) == 0);
    CHECK(sem_destroy(&empty) == 0);
    puts("ok");
    return 0;
}
