/* Clocks: monotonic ones never go back, not even from one thread to the next; all advance with work; they agree.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double latest;

static double seconds(clockid_t clock_id) {
    struct timespec now;
    CHECK(clock_gettime(clock_id, &now) == 0);
    CHECK(now.tv_nsec >= 0 && now.tv_nsec < 1000000000);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *read_clock(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&mutex);
        double now = seconds(CLOCK_MONOTONIC);
        CHECK(now >= latest);
        latest = now;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, read_clock, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }

    static volatile double cells[4096];
    const double monotonic = seconds(CLOCK_MONOTONIC), real = seconds(CLOCK_REALTIME);
    const clock_t processor = clock();
    struct timeval day;
    for (int round = 0; round < 500; round++) {
        for (int cell = 0; cell < 4096; cell++) {
            cells[cell] += 1.0;
        }
    }
    CHECK(cells[0] == 500.0);
    const double elapsed = seconds(CLOCK_MONOTONIC) - monotonic;
    CHECK(elapsed > 0.0);
    CHECK(seconds(CLOCK_REALTIME) - real >= 0.0);
    CHECK(clock() >= processor);
    CHECK(gettimeofday(&day, NULL) == 0);
    const double of_day = (double)day.tv_sec + 1e-6 * (double)day.tv_usec;
    CHECK(of_day - seconds(CLOCK_REALTIME) < 1.0 && seconds(CLOCK_REALTIME) - of_day < 5.0);
    CHECK(time(NULL) - (time_t)of_day <= 5);
    CHECK(seconds(CLOCK_PROCESS_CPUTIME_ID) >= 0.0);
    CHECK(seconds(CLOCK_THREAD_CPUTIME_ID) >= 0.0);
    struct timespec resolution;
    CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0);
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    puts("ok");
    return 0;
}
