/* bwmem: how fast threads copy, read or write memory, after the tests of that kind that the papers took from public suites.
 *
 * Each thread has areas of its own of the size given (for copying a source and a target), which it allocates and writes itself,
 * so that "local" and "remote" placement mean its own node; it passes over them once untimed and then some times timed, in
 * steps of a double word. Reported is what all threads together processed per second: bytes copied, read
 * or written, each counted once.
 *
 * Proof in each run: the sum of what was read, the last pass's value in each word written, the copy equal to its source.
 *
 * Sources: B. Brock et al., IBM J. Res. Dev. 45(2), 2001, section 6 (BwMemCp, BwMemRd, BwMemWr and their multithreaded forms).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "grid.h"
#include "options.h"
#include "spin.h"
#include "team.h"

enum operation { OPERATION_COPY, OPERATION_READ, OPERATION_WRITE };

struct test {
    enum operation operation;
    long bytes;
    long passes;
    int threads;
    double started_s, finished_s;
    double checksum, error;
    struct spin_barrier barrier;
    struct spin_reduction sums;
};

static double pass_over(const struct test *test, double *target, const double *source, double value) {
    const long words = test->bytes / (long)sizeof(double);
    double sum = 0.0;
    switch (test->operation) {
    case OPERATION_COPY:
        for (long word = 0; word < words; word++) {
            target[word] = source[word];
        }
        break;
    case OPERATION_READ:
        for (long word = 0; word < words; word++) {
            sum += source[word];
        }
        break;
    case OPERATION_WRITE:
        for (long word = 0; word < words; word++) {
            target[word] = value;
        }
        break;
    }
    return sum;
}

/* How many words are not what the last pass must have left. */
static double wrong_words(const struct test *test, const double *target, const double *source, double sum) {
    const long words = test->bytes / (long)sizeof(double);
    double wrong = 0.0;
    for (long word = 0; word < words; word++) {
        const double wanted = test->operation == OPERATION_COPY ? source[word] : (double)test->passes;
        wrong += test->operation != OPERATION_READ && target[word] != wanted;
    }
    /* The words are 0, 1, 2, ..., whose sums are exact in a double up to far larger areas. */
    const double all = (double)test->passes * (0.5 * (double)words * (double)(words - 1));
    return wrong + (test->operation == OPERATION_READ && sum != all);
}

static void measure(int id, void *shared) {
    struct test *test = shared;
    struct spin_local local = {0};
    const long words = test->bytes / (long)sizeof(double);
    double *source = GRID_ALLOCATE(double, words, "source");
    double *target = GRID_ALLOCATE(double, words, "target");
    for (long word = 0; word < words; word++) {
        source[word] = (double)word;
        target[word] = -1.0;
    }
    pass_over(test, target, source, 0.0);
    spin_barrier_wait(&test->barrier, &local);
    if (id == 0) {
        test->started_s = team_part_begins();
    }
    double sum = 0.0;
    for (long pass = 1; pass <= test->passes; pass++) {
        sum += pass_over(test, target, source, (double)pass);
    }
    spin_barrier_wait(&test->barrier, &local);
    if (id == 0) {
        test->finished_s = team_part_ends();
    }
    const double error = spin_reduce_sum(&test->sums, &test->barrier, &local, wrong_words(test, target, source, sum));
    const double checksum = spin_reduce_sum(&test->sums, &test->barrier, &local, sum + target[words - 1]);
    if (id == 0) {
        test->error = error;
        test->checksum = checksum / test->threads;
    }
    free(source);
    free(target);
}

int main(int argc, char **argv) {
    static struct test test;
    long threads = 1, operation = OPERATION_READ;
    test.bytes = 8388608;
    test.passes = 4;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'o', "operation", OPTION_COUNT, &operation, 0, 2, "0 copies, 1 reads, 2 writes"},
        {'b', "bytes", OPTION_COUNT, &test.bytes, 4096, 1e9, "size of each area of a thread"},
        {'n', "passes", OPTION_COUNT, &test.passes, 1, 1e6, "timed passes"},
    };
    const struct option_table table = {"bwmem", "rate at which threads copy, read or write memory", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    test.operation = (enum operation)operation;
    test.threads = (int)threads;
    spin_barrier_start(&test.barrier, test.threads);
    team_run(test.threads, measure, &test);

    const char *const names[] = {"copy", "read", "write"};
    const double seconds = test.finished_s - test.started_s;
    const double bytes = (double)test.bytes * (double)test.passes * (double)threads;
    printf("bwmem: %s, %ld bytes an area, %ld passes, %ld threads\n", names[operation], test.bytes, test.passes, threads);
    team_report(seconds, test.checksum, 0.0);
    printf("figure: benchmark_bytes_per_s %.6e\n", bytes / seconds);
    return team_verify("words", test.error, 0.0) ? 1 : 0;
}
