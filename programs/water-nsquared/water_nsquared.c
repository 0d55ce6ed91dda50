/* water-nsquared: molecular dynamics of water, every pair of molecules visited.
 *
 * The molecules are one array. A thread owns a run of them, and computes the pairs of each of its own with the half of all
 * others that follow it, around the end of the array. It collects the forces in an array of its own, one small block per
 * molecule, and then adds them to the shared records, each under a lock. A time-step: predict, forces of the bonds,
 * barrier, forces of pairs, barrier, correct, and every few steps the potential energy.
 *
 * Who allocates what: the main thread the array of molecules and the locks; each thread the blocks of its own forces,
 * one by one. Each thread writes its own molecules first.
 *
 * Timed: the forces at the start and all time-steps. Not timed: first writes, the proofs.
 *
 * Sources: see molecule.h and potential.h. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <string.h>

#include "grid.h"
#include "potential.h"
#include "simulation.h"
#include "team.h"

enum { LOCKS = 2048 };

struct run {
    struct simulation simulation;
    struct molecule *molecules;
    void *lock_block;
    struct spin_lock *locks;
};

typedef double pair_force[AXES][ATOMS];

/* One thread's view. */
struct worker {
    struct run *run;
    int id;
    long begin;
    long end;
    pair_force **forces; /* one block per molecule that this thread can meet, NULL for others */
    struct spin_local local;
};

/* The molecules that follow `number` and make pairs with it: half of the others. Where their count is odd, a molecule and
 * its opposite meet once. */
static long followers(const struct simulation *simulation, long number) {
    const long count = simulation->molecules;
    return count % 2 == 0 && number >= count / 2 ? count / 2 - 1 : count / 2;
}

/* How many molecules from its first one on a thread can meet. */
static long reach(const struct worker *worker) {
    const long count = worker->run->simulation.molecules, needed = worker->end - worker->begin + count / 2;
    return worker->end == worker->begin ? 0 : needed < count ? needed : count;
}

static void allocate_forces(struct worker *worker) {
    const long count = worker->run->simulation.molecules;
    worker->forces = GRID_ALLOCATE(pair_force *, count, "pointers to forces");
    memset(worker->forces, 0, (size_t)count * sizeof *worker->forces);
    for (long step = 0; step < reach(worker); step++) {
        worker->forces[(worker->begin + step) % count] = GRID_ALLOCATE(pair_force, 1, "forces of a molecule");
    }
}

static void free_forces(struct worker *worker) {
    for (long number = 0; number < worker->run->simulation.molecules; number++) {
        free(worker->forces[number]);
    }
    free(worker->forces);
}

/* The forces on all molecules for the positions of now. Returns this thread's share of the potential energy. */
static double compute_forces(struct worker *worker) {
    struct simulation *simulation = &worker->run->simulation;
    struct molecule *molecules = worker->run->molecules;
    const long count = simulation->molecules, met = reach(worker);
    double energy = 0.0;
    for (long number = worker->begin; number < worker->end; number++) {
        potential_set_site(&molecules[number]);
        energy += potential_bonds(&molecules[number], molecules[number].force);
    }
    for (long step = 0; step < met; step++) {
        memset(worker->forces[(worker->begin + step) % count], 0, sizeof(pair_force));
    }
    spin_barrier_wait(&simulation->barrier, &worker->local);
    for (long number = worker->begin; number < worker->end; number++) {
        for (long step = 1; step <= followers(simulation, number); step++) {
            const long other = number + step < count ? number + step : number + step - count;
            energy += potential_pair_forces(&molecules[number], &molecules[other], &simulation->box,
                                            *worker->forces[number], *worker->forces[other]);
        }
    }
    for (long step = 0; step < met; step++) {
        const long number = (worker->begin + step) % count;
        struct spin_lock *lock = &worker->run->locks[number % LOCKS];
        spin_lock_acquire(lock);
        for (int axis = 0; axis < AXES; axis++) {
            for (int atom = 0; atom < ATOMS; atom++) {
                molecules[number].force[axis][atom] += (*worker->forces[number])[axis][atom];
            }
        }
        spin_lock_release(lock);
    }
    spin_barrier_wait(&simulation->barrier, &worker->local);
    return energy;
}

static double potential_energy(const struct worker *worker) {
    const struct simulation *simulation = &worker->run->simulation;
    struct molecule *molecules = worker->run->molecules;
    double energy = 0.0;
    for (long number = worker->begin; number < worker->end; number++) {
        pair_force unused;
        energy += potential_bonds(&molecules[number], unused);
        for (long step = 1; step <= followers(simulation, number); step++) {
            energy += potential_pair_energy(&molecules[number], &molecules[(number + step) % simulation->molecules],
                                            &simulation->box);
        }
    }
    return energy;
}

static double kinetic_energy(const struct worker *worker) {
    double energy = 0.0;
    for (long number = worker->begin; number < worker->end; number++) {
        energy += molecule_kinetic_energy(&worker->run->molecules[number], &worker->run->simulation.box);
    }
    return energy;
}

static void correct(struct worker *worker) {
    const struct periodic_box *box = &worker->run->simulation.box;
    for (long number = worker->begin; number < worker->end; number++) {
        molecule_correct(&worker->run->molecules[number], box);
    }
}

/* While forces belong to positions. */
static void prove_start(struct worker *worker) {
    struct simulation *simulation = &worker->run->simulation;
    const double begun_s = worker->id == 0 ? team_part_ends() : 0.0;
    struct proof proof = simulation_begin_proof(simulation);
    for (long number = worker->begin; number < worker->end; number++) {
        simulation_prove_with_samples(simulation, &proof, &worker->run->molecules[number]);
    }
    simulation_end_start(simulation, &worker->local, worker->id, &proof, begun_s);
}

static void simulate(int id, void *shared) {
    struct run *run = shared;
    struct simulation *simulation = &run->simulation;
    struct worker worker = {.run = run, .id = id};
    worker.begin = team_share_begin((int)simulation->molecules, (int)simulation->threads, id);
    worker.end = team_share_end((int)simulation->molecules, (int)simulation->threads, id);
    allocate_forces(&worker);
    for (long number = worker.begin; number < worker.end; number++) {
        molecule_start(&run->molecules[number], number, simulation->lattice_side, &simulation->box);
        simulation_started(simulation, number, &run->molecules[number]);
    }
    spin_barrier_wait(&simulation->barrier, &worker.local);
    if (id == 0) {
        simulation->started_s = team_part_begins();
    }

    const double potential_at_start = compute_forces(&worker);
    simulation_sum_energy(simulation, &worker.local, id, kinetic_energy(&worker), potential_at_start, 1);
    prove_start(&worker);
    for (long number = worker.begin; number < worker.end; number++) {
        molecule_start_acceleration(&run->molecules[number], &simulation->box);
    }
    for (long step = 1; step <= simulation->steps; step++) {
        for (long number = worker.begin; number < worker.end; number++) {
            molecule_predict(&run->molecules[number]);
        }
        compute_forces(&worker);
        correct(&worker);
        for (long number = worker.begin; number < worker.end; number++) {
            molecule_wrap(&run->molecules[number], &simulation->box);
        }
        const double kinetic = kinetic_energy(&worker);
        spin_barrier_wait(&simulation->barrier, &worker.local);
        if (step % simulation->energy_every == 0 || step == simulation->steps) {
            simulation_sum_energy(simulation, &worker.local, id, kinetic, potential_energy(&worker), 0);
        }
    }
    if (id == 0) {
        simulation->finished_s = team_part_ends();
    }
    struct proof proof = simulation_begin_proof(simulation);
    for (long number = worker.begin; number < worker.end; number++) {
        simulation_prove_with_forces(&proof, &run->molecules[number]);
    }
    simulation_end_proof(simulation, &worker.local, &proof);
    free_forces(&worker);
}

int main(int argc, char **argv) {
    static struct run run;
    simulation_prepare(&run.simulation, "water-nsquared", "forces between water molecules, every pair visited", argc,
                       argv);
    const size_t count = (size_t)run.simulation.molecules;
    run.molecules = GRID_ALLOCATE(struct molecule, count, "molecules");
    run.lock_block = GRID_ALLOCATE(struct spin_lock, LOCKS + 1, "locks");
    run.locks = grid_align_to_line(run.lock_block);
    memset(run.locks, 0, LOCKS * sizeof *run.locks);

    team_run((int)run.simulation.threads, simulate, &run);

    const int status = simulation_report(&run.simulation);
    free(run.molecules);
    free(run.lock_block);
    return status;
}
