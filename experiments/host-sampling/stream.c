/* A memory-bound loop: threads add one long array to another, again and again, and say how long the passes took.
 *
 * usage: stream SECONDS THREADS
 *
 * Prints the passes made, the cpu nanoseconds per pass (the smallest and the median), and the checksum of the result divided by
 * the passes, which is the same for any number of passes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ELEMENTS = 4 << 20, MOST_PASSES = 100000 };

static double *from, *into;
static double seconds;
static int threads;
static long passes[64];
static double *times[64];

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *work(void *argument)
{
    int self = (int)(size_t)argument;
    size_t first = (size_t)ELEMENTS / (size_t)threads * (size_t)self;
    size_t end = first + (size_t)ELEMENTS / (size_t)threads;
    double begun = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - begun < seconds && passes[self] < MOST_PASSES) {
        double before = now(CLOCK_THREAD_CPUTIME_ID);
        for (size_t i = first; i < end; i++)
            into[i] += from[i];
        times[self][passes[self]++] = now(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    return NULL;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    pthread_t ids[64];
    seconds = argc > 1 ? atof(argv[1]) : 1;
    threads = argc > 2 ? atoi(argv[2]) : 2;
    if (threads < 1 || threads > 64)
        return 2;
    from = malloc(sizeof *from * ELEMENTS);
    into = calloc(ELEMENTS, sizeof *into);
    if (!from || !into)
        return 2;
    for (size_t i = 0; i < ELEMENTS; i++)
        from[i] = (double)(i % 7);
    for (int i = 0; i < threads; i++) {
        times[i] = malloc(sizeof **times * MOST_PASSES);
        if (!times[i] || pthread_create(&ids[i], NULL, work, (void *)(size_t)i))
            return 2;
    }
    double checksum = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        qsort(times[i], (size_t)passes[i], sizeof **times, ascending);
        size_t first = (size_t)ELEMENTS / (size_t)threads * (size_t)i;
        for (size_t at = first; at < first + (size_t)ELEMENTS / (size_t)threads; at++)
            checksum += into[at] / (double)passes[i];
    }
    printf("passes %ld smallest_ns %.0f median_ns %.0f checksum %.1f\n", passes[0], times[0][0] * 1e9,
           times[0][passes[0] / 2] * 1e9, checksum);
    return 0;
}
