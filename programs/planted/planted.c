/* planted: a program with five faults of memory locality, planted on purpose, and the same work without them (--clean).
 *
 * Each round does the same arithmetic in both forms, so both print the same sums. The faults:
 *
 *   statistics.hits, .misses   two fields of one line that threads of different nodes count in (false sharing)
 *   field                      written first by main, then used in bands by the threads (first touch puts it on one node)
 *   table                      filled by main, then only read, by all threads and in no order
 *   queue_lock                 a lock that main's node holds in memory and the threads of all other nodes fight for
 *   ticket                     a counter that every thread increments in turn (migratory)
 *
 * With --clean the two fields have lines of their own, each thread initialises its band, each node reads its own copy of
 * the table, each thread has its own lock, and tickets are counted per thread and added up at the end.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "grid.h"
#include "options.h"
#include "random.h"
#include "rset.h"
#include "spin.h"
#include "team.h"

enum { MOST_THREADS = TEAM_LARGEST, COUNT_EVERY = 32, JOBS = 16, JOB_LOOK_UPS = 96, DRAWS = 64, LOOK_UPS = 4 };

/* Present where the program runs on a simulated machine, or is linked with librset. */
#pragma weak rset_replicate

/* What threads count apart; in the planted form both fields share a line. */
struct statistics {
    atomic_long hits;
    atomic_long misses;
};

struct padded {
    alignas(SPIN_LINE_BYTES) atomic_long count;
};

struct guarded {
    alignas(SPIN_LINE_BYTES) pthread_mutex_t lock;
    long jobs;
};

static alignas(SPIN_LINE_BYTES) struct statistics statistics;
static alignas(SPIN_LINE_BYTES) atomic_long ticket;
static struct padded own_counts[MOST_THREADS];
static struct padded own_tickets[MOST_THREADS];
static struct guarded *queue_lock;

struct work {
    long cells;
    long entries;
    long rounds;
    long threads;
    int is_clean;
    double *field;
    uint32_t *table;
    struct spin_barrier barrier;
    struct padded sums[MOST_THREADS];
    double totals[MOST_THREADS];
};

/* The first thread counts hits, the last one misses, the others in words of their own. */
static void count(const struct work *work, int id) {
    atomic_long *word = &own_counts[id].count;
    if (!work->is_clean && id == 0) {
        word = &statistics.hits;
    } else if (!work->is_clean && id == work->threads - 1) {
        word = &statistics.misses;
    }
    atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
}

/* What a thread does with its band: in the first pass it sets the cells, later it counts on the way. */
static void use_band(const struct work *work, int id, int is_first) {
    const long begin = work->cells * id / work->threads;
    const long end = work->cells * (id + 1) / work->threads;
    for (long cell = begin; cell < end; cell++) {
        work->field[cell] = is_first ? (double)(cell % 7) : work->field[cell] * 0.5 + 1.0;
        if (!is_first && cell % COUNT_EVERY == 0) {
            count(work, id);
        }
    }
}

static double total_of_band(const struct work *work, int id) {
    double total = 0;
    for (long cell = work->cells * id / work->threads; cell < work->cells * (id + 1) / work->threads; cell++) {
        total += work->field[cell];
    }
    return total;
}

static void fill_table(const struct work *work) {
    uint64_t state = 42;
    for (long entry = 0; entry < work->entries; entry++) {
        work->table[entry] = random_bits(&state);
    }
}

static void draw_ticket(const struct work *work, int id) {
    atomic_fetch_add_explicit(work->is_clean ? &own_tickets[id].count : &ticket, 1, memory_order_relaxed);
}

/* Sums entries in an order of the thread's own. */
static long look_up(const struct work *work, const uint32_t *table, uint64_t *state, int look_ups) {
    long sum = 0;
    for (int look = 0; look < look_ups; look++) {
        sum += table[random_bits(state) % (uint64_t)work->entries] % 16;
    }
    return sum;
}

/* Threads of all nodes but main's take a job, in the clean form each from a queue of its own. */
static long take_job(const struct work *work, int id, const uint32_t *table, uint64_t *state) {
    struct guarded *queue = &queue_lock[work->is_clean ? id : 0];
    if (4 * id < work->threads) {
        return 0;
    }
    pthread_mutex_lock(&queue->lock);
    queue->jobs++;
    const long sum = look_up(work, table, state, JOB_LOOK_UPS);
    pthread_mutex_unlock(&queue->lock);
    return sum;
}

static void run(int id, void *argument) {
    struct work *work = argument;
    struct spin_local local = {0};
    uint64_t state = (uint64_t)id + 1;
    const uint32_t *table = work->table;
    long sum = 0;

    if (work->is_clean) {
        use_band(work, id, 1);
        spin_barrier_wait(&work->barrier, &local);
        const void *copy = table;
        if (rset_replicate != NULL && rset_replicate(work->table, (size_t)work->entries * sizeof *table, &copy) == 0) {
            table = copy;
        }
    }
    spin_barrier_wait(&work->barrier, &local);
    for (long round = 0; round < work->rounds; round++) {
        use_band(work, id, 0);
        for (int job = 0; job < JOBS; job++) {
            for (int draw = 0; draw < DRAWS; draw++) {
                sum += look_up(work, table, &state, LOOK_UPS);
                draw_ticket(work, id);
            }
            sum += take_job(work, id, table, &state);
        }
        spin_barrier_wait(&work->barrier, &local);
    }
    atomic_store(&work->sums[id].count, sum);
    work->totals[id] = total_of_band(work, id);
}

int main(int argc, char **argv) {
    static struct work work = {.cells = 1 << 21, .entries = 1 << 19, .rounds = 10, .threads = 16};
    const struct option_entry entries[] = {
        {'n', "cells", OPTION_COUNT, &work.cells, 1024, 1 << 26, "cells of the field"},
        {'t', "table", OPTION_COUNT, &work.entries, 1024, 1 << 26, "entries of the table"},
        {'r', "rounds", OPTION_COUNT, &work.rounds, 1, 100000, "rounds of work"},
        {'p', "threads", OPTION_COUNT, &work.threads, 1, MOST_THREADS, "threads"},
        {0, "clean", OPTION_FLAG, &work.is_clean, 0, 1, "the same work without the faults"},
    };
    const struct option_table table = {
        .program = "planted",
        .summary = "work with five faults of locality planted in it",
        .entries = entries,
        .entry_count = sizeof entries / sizeof entries[0],
    };
    options_parse(&table, argc, argv);

    work.field = GRID_ALLOCATE(double, work.cells, "the field");
    work.table = GRID_ALLOCATE(uint32_t, work.entries, "the table");
    queue_lock = GRID_ALLOCATE(struct guarded, work.threads, "the locks");
    fill_table(&work);
    for (long id = 0; id < work.threads; id++) {
        pthread_mutex_init(&queue_lock[id].lock, NULL);
        queue_lock[id].jobs = 0;
        if (!work.is_clean) {
            use_band(&work, (int)id, 1);
        }
    }
    spin_barrier_start(&work.barrier, (int)work.threads);
    team_run((int)work.threads, run, &work);

    long tickets = atomic_load(&ticket);
    long sum = 0;
    long jobs = 0;
    double total = 0;
    for (long id = 0; id < work.threads; id++) {
        tickets += atomic_load(&own_tickets[id].count);
        sum += atomic_load(&work.sums[id].count);
        jobs += queue_lock[id].jobs;
        total += work.totals[id];
    }
    const long takers = work.threads - (work.threads + 3) / 4;
    if (tickets != work.threads * work.rounds * JOBS * DRAWS || jobs != takers * work.rounds * JOBS) {
        fprintf(stderr, "planted: %ld tickets and %ld jobs are not as many as were drawn\n", tickets, jobs);
        return 1;
    }
    printf("checksum: %.12e\n", total + (double)(sum % 1000));
    return 0;
}
