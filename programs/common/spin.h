/* User-level synchronisation: a test-and-test-and-set lock, a sense-reversing barrier and global reductions.
 *
 * The programs of the published measurements synchronised by user-level spinning, so that no operating-system call
 * enters the results; so do these. A waiter spins on a plain C11 atomic load of a line that stays in its own cache
 * until the holder writes it. After SPIN_POLLS loads without a change it offers its processor to others once, which
 * matters only where there are more threads than processors.
 *
 * Sources: J. Mellor-Crummey, M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors",
 * ACM TOCS 9(1), 1991 (algorithms 1 and 7).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_SPIN_H
#define PROGRAMS_SPIN_H

#include <stdalign.h>
#include <stdatomic.h>

enum {
    SPIN_LINE_BYTES = 128, /* words that different threads write are at least this far apart */
    SPIN_POLLS = 4096      /* loads before a waiter yields its processor */
};

struct spin_lock {
    alignas(SPIN_LINE_BYTES) atomic_int is_held;
};

struct spin_barrier {
    alignas(SPIN_LINE_BYTES) atomic_int arrived;
    alignas(SPIN_LINE_BYTES) atomic_int sense;
    int participants;
};

/* What one thread remembers between its calls. Each thread owns one, started as all zeros. */
struct spin_local {
    int sense;
    unsigned reductions; /* how many global reductions this thread has taken part in */
};

/* A value that every thread contributes to and every thread reads. A team has one, for sums and maxima alike: the turns
 * that a thread counts in its spin_local are turns of this one object. Three slots in rotation need one barrier per
 * reduction instead of three: a slot is emptied while no thread can be reading or filling it. */
struct spin_reduction {
    struct spin_lock lock;
    double slots[3];
};

void spin_lock_acquire(struct spin_lock *lock);
void spin_lock_release(struct spin_lock *lock);

/* Returns once `word` holds `value`; what its writer did before is visible then. For flags between two threads. */
void spin_wait_for(const atomic_int *word, int value);

void spin_barrier_start(struct spin_barrier *barrier, int participants);

/* Returns after all participants have called it: 1 to the last to arrive, 0 to the others. What they wrote before is
 * visible after. */
int spin_barrier_wait(struct spin_barrier *barrier, struct spin_local *local);

/* The sum over all threads. The order of addition is the order of arrival: equal to rounding, not bit for bit. */
double spin_reduce_sum(struct spin_reduction *reduction, struct spin_barrier *barrier, struct spin_local *local,
                       double value);

/* The largest value over all threads; values must not be negative. Exact in any order. */
double spin_reduce_max(struct spin_reduction *reduction, struct spin_barrier *barrier, struct spin_local *local,
                       double value);

#endif
