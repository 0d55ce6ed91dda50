/* OpenMP: parallel loops with each schedule, reductions, critical, atomic, barrier, single, sections, tasks, locks.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <omp.h>

#include "check.h"

enum { ITEMS = 10000, THREADS = 4 };

static double values[ITEMS];

static long fibonacci(int n) {
    long first, second;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(first) if (n > 8)
    first = fibonacci(n - 1);
#pragma omp task shared(second) if (n > 8)
    second = fibonacci(n - 2);
#pragma omp taskwait
    return first + second;
}

int main(void) {
    int team = 0, singles = 0, criticals = 0, atomics = 0, sections = 0, ordered = 0;
    double sum = 0.0;
    omp_set_num_threads(THREADS);
#pragma omp parallel
    {
#pragma omp critical
        criticals++;
#pragma omp atomic
        atomics++;
#pragma omp single
        {
            team = omp_get_num_threads();
            singles++;
        }
#pragma omp barrier
        CHECK(criticals == team);
    }
    CHECK(atomics == team);
    CHECK(singles == 1);

#pragma omp parallel for
    for (int item = 0; item < ITEMS; item++) {
        values[item] = item;
    }
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
    for (int item = 0; item < ITEMS; item++) {
        sum += values[item];
    }
    CHECK(sum == 0.5 * ITEMS * (ITEMS - 1));
    double largest = 0.0;
#pragma omp parallel for schedule(guided) reduction(max : largest)
    for (int item = 0; item < ITEMS; item++) {
        largest = values[item] > largest ? values[item] : largest;
    }
    CHECK(largest == ITEMS - 1);
#pragma omp parallel for ordered schedule(static, 1)
    for (int item = 0; item < 20; item++) {
#pragma omp ordered
        {
            CHECK(ordered == item);
            ordered++;
        }
    }
#pragma omp parallel sections reduction(+ : sections)
    {
#pragma omp section
        sections += 1;
#pragma omp section
        sections += 10;
    }
    CHECK(sections == 11);

    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fibonacci(18);
    CHECK(result == 2584);

    omp_lock_t lock;
    int locked = 0;
    omp_init_lock(&lock);
#pragma omp parallel for
    for (int item = 0; item < 200; item++) {
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    CHECK(locked == 200);
    puts("ok");
    return 0;
}
