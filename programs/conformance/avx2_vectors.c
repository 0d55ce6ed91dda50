/* Code for AVX2 with 32-byte vectors in flight across calls, locks and thread switches. Where the processor lacks AVX2 it
 * says so on stderr and passes. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>

#include "check.h"

enum { THREADS = 4, ITEMS = 4096, ROUNDS = 50 };

typedef double vector4 __attribute__((vector_size(32)));
typedef int vector8 __attribute__((vector_size(32)));

static alignas(32) double left[ITEMS], right[ITEMS], results[THREADS][ITEMS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static vector4 total;
static vector8 counters;

static void *work(void *argument) {
    const int id = *(int *)argument;
    const double scale = id + 1.0;
    vector4 sum = {0.0, 0.0, 0.0, 0.0};
    for (int round = 0; round < ROUNDS; round++) {
        vector4 accumulators[4] = {{0}};
        for (int item = 0; item < ITEMS; item += 16) {
            for (int part = 0; part < 4; part++) {
                const vector4 a = *(const vector4 *)&left[item + 4 * part];
                const vector4 b = *(const vector4 *)&right[item + 4 * part];
                const vector4 product = a * b * scale;
                *(vector4 *)&results[id][item + 4 * part] = product;
                accumulators[part] += product;
            }
        }
        const vector4 partial = accumulators[0] + accumulators[1] + accumulators[2] + accumulators[3];
        if (round % 10 == id) {
            sched_yield();
        }
        pthread_mutex_lock(&mutex);
        counters += (vector8){1, 1, 1, 1, 1, 1, 1, 1};
        pthread_mutex_unlock(&mutex);
        sum += partial;
    }
    pthread_mutex_lock(&mutex);
    total += sum;
    pthread_mutex_unlock(&mutex);
    for (int item = 0; item < ITEMS; item++) {
        CHECK(results[id][item] == left[item] * right[item] * scale);
    }
    return NULL;
}

int main(void) {
    if (!__builtin_cpu_supports("avx2")) {
        fputs("skipped: this processor has no AVX2\n", stderr);
        puts("ok");
        return 0;
    }
    pthread_t threads[THREADS];
    int ids[THREADS];
    for (int item = 0; item < ITEMS; item++) {
        left[item] = item % 17;
        right[item] = item % 13;
    }
    double expected = 0.0;
    for (int item = 0; item < ITEMS; item++) {
        expected += left[item] * right[item];
    }
    expected *= ROUNDS * (1 + 2 + 3 + 4);
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, work, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(total[0] + total[1] + total[2] + total[3] == expected);
    for (int lane = 0; lane < 8; lane++) {
        CHECK(counters[lane] == THREADS * ROUNDS);
    }
    puts("ok");
    return 0;
}
