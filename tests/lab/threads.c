/*
 * threads: an OpenMP program that prints, for each of its threads in order, the first cpu that it may run on and how many
 * such cpus there are.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

enum { MOST_THREADS = 64 };

int main(void)
{
    int first[MOST_THREADS];
    int count[MOST_THREADS];
    int threads = 0;
#pragma omp parallel
    {
        int self = omp_get_thread_num();
        cpu_set_t cpus;
        sched_getaffinity(0, sizeof cpus, &cpus);
        first[self] = 0;
        while (!CPU_ISSET(first[self], &cpus))
            first[self]++;
        count[self] = CPU_COUNT(&cpus);
#pragma omp single
        threads = omp_get_num_threads();
    }
    for (int thread = 0; thread < threads; thread++)
        printf("%d/%d ", first[thread], count[thread]);
    printf("\n");
    return 0;
}
