/* water-spatial: molecular dynamics of water, pairs found by a grid of cells.
 *
 * Each thread owns a block of cells (cells.h) and computes the forces on the molecules in them, from their own cells and the
 * 26 around. A pair of molecules in different cells is so computed twice, once for each; in return nobody writes to another
 * thread's molecules, and only moves between cells need locks. A time-step: predict, forces of the bonds, barrier, forces
 * of pairs, barrier, correct, barrier, move molecules between cells, barrier, and every few steps the potential energy.
 *
 * Who allocates what: the main thread the cells and their locks; each thread its own molecules, one by one.
 *
 * Timed: the forces at the start and all time-steps. Not timed: first writes, the proofs.
 *
 * Sources: see molecule.h and potential.h. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>

#include "cells.h"
#include "grid.h"
#include "options.h"
#include "potential.h"
#include "simulation.h"
#include "team.h"

struct run {
    struct simulation simulation;
    struct cells cells;
};

/* One thread's view. */
struct worker {
    struct run *run;
    int id;
    struct block block;
    struct proof proof;
    struct spin_local local;
};

/* A visit to one of the thread's cells. */
typedef void cell_visitor(struct worker *worker, int x, int y, int z, double *sum);

static double visit_own_cells(struct worker *worker, cell_visitor *visitor) {
    const struct block *block = &worker->block;
    double sum = 0.0;
    for (int z = block->begin[2]; z < block->end[2]; z++) {
        for (int y = block->begin[1]; y < block->end[1]; y++) {
            for (int x = block->begin[0]; x < block->end[0]; x++) {
                visitor(worker, x, y, z, &sum);
            }
        }
    }
    return sum;
}

/* A thread starts the molecules whose places lie in its cells. */
static void start_molecules(struct worker *worker) {
    struct simulation *simulation = &worker->run->simulation;
    for (long number = 0; number < simulation->molecules; number++) {
        double position[AXES];
        molecule_lattice_position(number, simulation->lattice_side, &simulation->box, position);
        struct cell *cell = cells_for(&worker->run->cells, position);
        if (cell->owner == worker->id) {
            struct molecule *molecule = GRID_ALLOCATE(struct molecule, 1, "molecule");
            molecule_start(molecule, number, simulation->lattice_side, &simulation->box);
            simulation_started(simulation, number, molecule);
            cell_push(cell, molecule);
        }
    }
}

/* Of the 27 places of a cell and its neighbours, in the order z, y, x, number 13 is the cell itself. */
enum { ITSELF = 13, DIRECTIONS = 27 };

static struct cell *neighbour_of(const struct cells *cells, int x, int y, int z, int direction) {
    return cells_at(cells, x + direction % 3 - 1, y + direction / 3 % 3 - 1, z + direction / 9 - 1);
}

/* What a pair of molecules is to do, both in the own cell or the second in a neighbour's; returns its energy. */
typedef double pair_visitor(struct molecule *one, struct molecule *other, const struct periodic_box *box);

/* Visits the pairs of the own cell once, and those with neighbours. Returns the sum of the energies, of which pairs with
 * neighbours count half: they are visited from the other side too. */
static double visit_pairs(struct worker *worker, int x, int y, int z, pair_visitor *own_pair, pair_visitor *far_pair) {
    const struct periodic_box *box = &worker->run->simulation.box;
    const struct cells *cells = &worker->run->cells;
    double own_energy = 0.0, far_energy = 0.0;
    for (struct molecule *one = cells_at(cells, x, y, z)->first; one != NULL; one = one->next) {
        for (struct molecule *other = one->next; other != NULL; other = other->next) {
            own_energy += own_pair(one, other, box);
        }
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            if (direction != ITSELF) {
                struct molecule *other = neighbour_of(cells, x, y, z, direction)->first;
                for (; other != NULL; other = other->next) {
                    far_energy += far_pair(one, other, box);
                }
            }
        }
    }
    return own_energy + 0.5 * far_energy;
}

static double push_both(struct molecule *one, struct molecule *other, const struct periodic_box *box) {
    return potential_pair_forces(one, other, box, one->force, other->force);
}

static double push_one(struct molecule *one, struct molecule *other, const struct periodic_box *box) {
    double ignored[AXES][ATOMS] = {{0.0}};
    return potential_pair_forces(one, other, box, one->force, ignored);
}

static double look_at(struct molecule *one, struct molecule *other, const struct periodic_box *box) {
    return potential_pair_energy(one, other, box);
}

static void forces_of_cell(struct worker *worker, int x, int y, int z, double *energy) {
    *energy += visit_pairs(worker, x, y, z, push_both, push_one);
}

static void energy_of_cell(struct worker *worker, int x, int y, int z, double *energy) {
    *energy += visit_pairs(worker, x, y, z, look_at, look_at);
    for (const struct molecule *one = cells_at(&worker->run->cells, x, y, z)->first; one != NULL; one = one->next) {
        double unused[AXES][ATOMS];
        *energy += potential_bonds(one, unused);
    }
}

static void bonds_of_cell(struct worker *worker, int x, int y, int z, double *energy) {
    for (struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        potential_set_site(molecule);
        *energy += potential_bonds(molecule, molecule->force);
    }
}

static void predict_cell(struct worker *worker, int x, int y, int z, double *sum) {
    (void)sum;
    for (struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        molecule_predict(molecule);
    }
}

static void start_acceleration_of_cell(struct worker *worker, int x, int y, int z, double *sum) {
    (void)sum;
    for (struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        molecule_start_acceleration(molecule, &worker->run->simulation.box);
    }
}

static void correct_cell(struct worker *worker, int x, int y, int z, double *sum) {
    (void)sum;
    for (struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        molecule_correct(molecule, &worker->run->simulation.box);
        molecule_wrap(molecule, &worker->run->simulation.box);
    }
}

static void move_leavers_of_cell(struct worker *worker, int x, int y, int z, double *sum) {
    (void)sum;
    cells_move_leavers(&worker->run->cells, cells_at(&worker->run->cells, x, y, z));
}

static void kinetic_of_cell(struct worker *worker, int x, int y, int z, double *kinetic) {
    for (const struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        *kinetic += molecule_kinetic_energy(molecule, &worker->run->simulation.box);
    }
}

static void prove_with_samples_of_cell(struct worker *worker, int x, int y, int z, double *sum) {
    (void)sum;
    for (const struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first; molecule != NULL;
         molecule = molecule->next) {
        simulation_prove_with_samples(&worker->run->simulation, &worker->proof, molecule);
    }
}

/* A molecule in a cell where it does not belong is as good as lost. */
static void prove_with_forces_of_cell(struct worker *worker, int x, int y, int z, double *sum) {
    const struct cell *cell = cells_at(&worker->run->cells, x, y, z);
    (void)sum;
    for (const struct molecule *molecule = cell->first; molecule != NULL; molecule = molecule->next) {
        if (cells_of(&worker->run->cells, molecule) == cell) {
            simulation_prove_with_forces(&worker->proof, molecule);
        }
    }
}

/* While forces belong to positions. */
static void prove_start(struct worker *worker) {
    struct simulation *simulation = &worker->run->simulation;
    const double begun_s = worker->id == 0 ? team_part_ends() : 0.0;
    worker->proof = simulation_begin_proof(simulation);
    visit_own_cells(worker, prove_with_samples_of_cell);
    simulation_end_start(simulation, &worker->local, worker->id, &worker->proof, begun_s);
}

static void free_cell(struct worker *worker, int x, int y, int z, double *sum) {
    struct molecule *molecule = cells_at(&worker->run->cells, x, y, z)->first;
    (void)sum;
    while (molecule != NULL) {
        struct molecule *next = molecule->next;
        free(molecule);
        molecule = next;
    }
}

/* The forces on all molecules for the positions of now. Returns this thread's share of the potential energy. */
static double compute_forces(struct worker *worker) {
    struct spin_barrier *barrier = &worker->run->simulation.barrier;
    double energy = visit_own_cells(worker, bonds_of_cell);
    spin_barrier_wait(barrier, &worker->local);
    energy += visit_own_cells(worker, forces_of_cell);
    spin_barrier_wait(barrier, &worker->local);
    return energy;
}

static void simulate(int id, void *shared) {
    struct run *run = shared;
    struct simulation *simulation = &run->simulation;
    struct worker worker = {.run = run, .id = id, .block = cells_block(&run->cells, id)};
    start_molecules(&worker);
    spin_barrier_wait(&simulation->barrier, &worker.local);
    if (id == 0) {
        simulation->started_s = team_part_begins();
    }

    const double potential_at_start = compute_forces(&worker);
    simulation_sum_energy(simulation, &worker.local, id, visit_own_cells(&worker, kinetic_of_cell),
                          potential_at_start, 1);
    prove_start(&worker);
    visit_own_cells(&worker, start_acceleration_of_cell);
    for (long step = 1; step <= simulation->steps; step++) {
        visit_own_cells(&worker, predict_cell);
        compute_forces(&worker);
        visit_own_cells(&worker, correct_cell);
        spin_barrier_wait(&simulation->barrier, &worker.local);
        visit_own_cells(&worker, move_leavers_of_cell);
        spin_barrier_wait(&simulation->barrier, &worker.local);
        const double kinetic = visit_own_cells(&worker, kinetic_of_cell);
        if (step % simulation->energy_every == 0 || step == simulation->steps) {
            simulation_sum_energy(simulation, &worker.local, id, kinetic, visit_own_cells(&worker, energy_of_cell), 0);
        }
    }
    if (id == 0) {
        simulation->finished_s = team_part_ends();
    }
    worker.proof = simulation_begin_proof(simulation);
    visit_own_cells(&worker, prove_with_forces_of_cell);
    simulation_end_proof(simulation, &worker.local, &worker.proof);
    visit_own_cells(&worker, free_cell);
}

int main(int argc, char **argv) {
    static struct run run;
    struct simulation *simulation = &run.simulation;
    simulation_prepare(simulation, "water-spatial", "forces between water molecules, pairs found by a grid of cells",
                       argc, argv);
    /* A hair less than the cutoff may be missing from the width: the published input's cutoff is a cell's width. */
    const int side = (int)(simulation->box.side / sqrt(simulation->box.cutoff_squared) + 1e-6);
    if (side < 3) {
        options_refuse("water-spatial", "the box is only %d cutoffs wide; three are needed: take more molecules", side);
    }
    cells_create(&run.cells, side, simulation->box.side, (int)simulation->threads);

    team_run((int)simulation->threads, simulate, &run);

    const int status = simulation_report(simulation);
    cells_free(&run.cells);
    return status;
}
