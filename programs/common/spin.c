/* The spin lock, barrier and reductions behind spin.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "spin.h"

#include <sched.h>

void spin_lock_acquire(struct spin_lock *lock) {
    while (atomic_exchange_explicit(&lock->is_held, 1, memory_order_acquire) != 0) {
        int polls = 0;
        while (atomic_load_explicit(&lock->is_held, memory_order_relaxed) != 0) {
            if (++polls == SPIN_POLLS) {
                polls = 0;
                sched_yield();
            }
        }
    }
}

void spin_lock_release(struct spin_lock *lock) {
    atomic_store_explicit(&lock->is_held, 0, memory_order_release);
}

void spin_wait_for(const atomic_int *word, int value) {
    int polls = 0;
    while (atomic_load_explicit(word, memory_order_acquire) != value) {
        if (++polls == SPIN_POLLS) {
            polls = 0;
            sched_yield();
        }
    }
}

void spin_barrier_start(struct spin_barrier *barrier, int participants) {
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->sense, 0);
    barrier->participants = participants;
}

int spin_barrier_wait(struct spin_barrier *barrier, struct spin_local *local) {
    local->sense = !local->sense;
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) == barrier->participants - 1) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->sense, local->sense, memory_order_release);
        return 1;
    }
    spin_wait_for(&barrier->sense, local->sense);
    return 0;
}

/* The slot of the previous reduction is emptied after this one's barrier: everybody has read it by then, and it is
 * filled again only after the next barrier, which the emptying thread reaches later. */
static double finish(struct spin_reduction *reduction, struct spin_barrier *barrier, struct spin_local *local) {
    unsigned turn = local->reductions++;
    if (spin_barrier_wait(barrier, local)) {
        reduction->slots[(turn + 2) % 3] = 0.0;
    }
    return reduction->slots[turn % 3];
}

double spin_reduce_sum(struct spin_reduction *reduction, struct spin_barrier *barrier, struct spin_local *local,
                       double value) {
    spin_lock_acquire(&reduction->lock);
    reduction->slots[local->reductions % 3] += value;
    spin_lock_release(&reduction->lock);
    return finish(reduction, barrier, local);
}

double spin_reduce_max(struct spin_reduction *reduction, struct spin_barrier *barrier, struct spin_local *local,
                       double value) {
    double *slot = &reduction->slots[local->reductions % 3];
    spin_lock_acquire(&reduction->lock);
    if (value > *slot) {
        *slot = value;
    }
    spin_lock_release(&reduction->lock);
    return finish(reduction, barrier, local);
}
