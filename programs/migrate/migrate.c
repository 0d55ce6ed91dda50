/* migrate: a program that programs the monitor card while it runs, and moves its hot pages to where they are used.
 *
 * Main allocates and fills an array, so that all of it lies on main's node; then the threads sweep over bands of their own in
 * three phases: as the array lies; with a threshold, so that a page whose counter of a node reaches it is moved there, once;
 * and as it lies then. The program prints how many accesses left their node in each. With --stay it counts only.
 *
 * On hardware without a monitor, and where librset is not linked, it computes and says that there is none.
 *
 * Source: B. Brock et al., "Experience with building a commodity Intel-based ccNUMA system", IBM Journal of Research and
 * Development 45 (2001), which intends the card's interrupts for such dynamic tuning.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "options.h"
#include "rset.h"
#include "spin.h"
#include "team.h"

#pragma weak rset_monitor_init
#pragma weak rset_monitor_region
#pragma weak rset_monitor_start
#pragma weak rset_monitor_read
#pragma weak rset_monitor_clear
#pragma weak rset_monitor_threshold
#pragma weak rset_monitor_phase
#pragma weak rset_move

enum { PAGE_BYTES = 4096, PHASES = 3 };

struct work {
    long cells;
    long rounds; /* of each phase */
    long threads;
    long threshold;
    int stays;
    int region; /* negative where there is no monitor */
    double *field;
    unsigned char *has_moved; /* by page: copying it counts, too, and must not send it on */
    uint64_t moved;
    uint64_t remote[PHASES]; /* accesses that left their node */
    struct spin_barrier barrier;
};

/* A node has reached a page from afar often enough: the page moves there. */
static void move_page(const struct rset_monitor_event *event, void *argument) {
    struct work *work = argument;
    struct rset_report report;
    char policy[24];
    const size_t page = (size_t)((const char *)event->address - (const char *)work->field) / PAGE_BYTES;
    if (work->has_moved[page]) {
        return;
    }
    work->has_moved[page] = 1;
    snprintf(policy, sizeof policy, "node:%u", event->node);
    if (rset_move(0, event->address, PAGE_BYTES, NULL, policy, 0, 0, &report) == 0) {
        work->moved += report.moved;
    }
}

static void sweep(const struct work *work, int id) {
    const long begin = work->cells * id / work->threads;
    const long end = work->cells * (id + 1) / work->threads;
    for (long cell = begin; cell < end; cell++) {
        work->field[cell] = 0.5 * work->field[cell] + 1.0;
    }
}

static void begin_phase(struct work *work, int phase) {
    static const char *const names[PHASES] = {"as allocated", "moving", "moved"};
    if (work->region < 0) {
        return;
    }
    rset_monitor_phase(names[phase]);
    rset_monitor_clear(work->region);
    const int moves = phase == 1 && !work->stays;
    rset_monitor_threshold(work->region, moves ? (uint64_t)work->threshold : 0, moves ? move_page : NULL, work);
    rset_monitor_start();
}

static void run(int id, void *argument) {
    struct work *work = argument;
    struct spin_local local = {0};
    for (int phase = 0; phase < PHASES; phase++) {
        if (id == 0) {
            begin_phase(work, phase);
        }
        for (long round = 0; round < work->rounds; round++) {
            spin_barrier_wait(&work->barrier, &local);
            sweep(work, id);
        }
        spin_barrier_wait(&work->barrier, &local);
        if (id == 0 && work->region >= 0) {
            rset_monitor_read(work->region, NULL, -1, &work->remote[phase]);
        }
    }
}

int main(int argc, char **argv) {
    static struct work work = {.cells = 1 << 22, .rounds = 4, .threads = 16, .threshold = 64, .region = -1};
    const struct option_entry entries[] = {
        {'n', "cells", OPTION_COUNT, &work.cells, 1024, 1 << 28, "cells of the array"},
        {'r', "rounds", OPTION_COUNT, &work.rounds, 1, 100000, "sweeps in each phase"},
        {'p', "threads", OPTION_COUNT, &work.threads, 1, TEAM_LARGEST, "threads"},
        {'t', "threshold", OPTION_COUNT, &work.threshold, 1, 1 << 30, "accesses from afar after which a page moves"},
        {0, "stay", OPTION_FLAG, &work.stays, 0, 1, "count only"},
    };
    const struct option_table table = {
        .program = "migrate",
        .summary = "sweeps over an array whose hot pages it moves to their users",
        .entries = entries,
        .entry_count = sizeof entries / sizeof entries[0],
    };
    options_parse(&table, argc, argv);

    work.field = GRID_ALLOCATE(double, work.cells, "the array");
    for (long cell = 0; cell < work.cells; cell++) {
        work.field[cell] = (double)(cell % 7);
    }
    if (rset_monitor_init != NULL && rset_monitor_init() == 0) {
        work.region = rset_monitor_region("array", work.field, (size_t)work.cells * sizeof(double), PAGE_BYTES,
                                          RSET_MONITOR_OUTBOUND);
    }
    work.has_moved = GRID_ALLOCATE(unsigned char, work.cells * (long)sizeof(double) / PAGE_BYTES + 1, "marks of pages");
    memset(work.has_moved, 0, (size_t)work.cells * sizeof(double) / PAGE_BYTES + 1);
    spin_barrier_start(&work.barrier, (int)work.threads);
    const double started_s = team_clock_s();
    team_run((int)work.threads, run, &work);
    const double seconds = team_clock_s() - started_s;

    if (work.region < 0) {
        printf("there is no monitor here\n");
    } else {
        printf("remote accesses: %llu as allocated, %llu while %llu pages moved, %llu then\n",
               (unsigned long long)work.remote[0], (unsigned long long)work.remote[1], (unsigned long long)work.moved,
               (unsigned long long)work.remote[2]);
    }
    double total = 0;
    for (long cell = 0; cell < work.cells; cell++) {
        total += work.field[cell];
    }
    team_report(seconds, total, 1e-12);
    /* Each sweep halves the distance of every cell from 2. */
    double distance = 2.0 * (double)work.cells - total;
    for (long round = 0; round < PHASES * work.rounds; round++) {
        distance *= 2.0;
    }
    double begun = 0;
    for (long cell = 0; cell < work.cells; cell++) {
        begun += 2.0 - (double)(cell % 7);
    }
    return team_verify("sweeps", begun > distance ? begun - distance : distance - begun, 1e-6 * (double)work.cells);
}
