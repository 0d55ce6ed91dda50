/* Options, energies and proofs behind simulation.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "simulation.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "options.h"
#include "potential.h"
#include "team.h"

static const double PUBLISHED_TIME_STEP = 1.5e-16 / 2.4188843e-17; /* atomic units */

void simulation_prepare(struct simulation *simulation, const char *program, const char *summary, int argc,
                        char **argv) {
    *simulation = (struct simulation){
        .program = program, .threads = 1, .molecules = 512, .steps = 3, .energy_every = 3, .cutoff_angstrom = 6.212752};
    double time_step_s = 1.5e-16;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &simulation->threads, 1, TEAM_LARGEST, "threads"},
        {'n', "molecules", OPTION_COUNT, &simulation->molecules, 8, 2e6, "molecules, the cube of a number"},
        {'s', "steps", OPTION_COUNT, &simulation->steps, 1, 1e6, "time-steps"},
        {'t', "time-step", OPTION_REAL, &time_step_s, 1e-18, 1e-15, "seconds per time-step"},
        {'c', "cutoff", OPTION_REAL, &simulation->cutoff_angstrom, 3.5, 100.0, "cutoff in angstroms"},
        {'e', "energy-every", OPTION_COUNT, &simulation->energy_every, 1, 1e6,
         "time-steps between computations of the potential energy"},
    };
    const struct option_table table = {program, summary, entries, sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    simulation->lattice_side = lround(cbrt((double)simulation->molecules));
    const long side = simulation->lattice_side;
    if (side * side * side != simulation->molecules) {
        options_refuse(program, "%ld molecules do not fill a cube; take %ld or %ld", simulation->molecules,
                       side * side * side, (side + 1) * (side + 1) * (side + 1));
    }
    simulation->box = box_for(simulation->molecules, simulation->cutoff_angstrom, time_step_s);
    if (simulation->box.cutoff_squared > 0.2501 * simulation->box.side * simulation->box.side) {
        options_refuse(program, "a cutoff of %g angstroms is more than half of the box; take more molecules or less",
                       simulation->cutoff_angstrom);
    }
    spin_barrier_start(&simulation->barrier, (int)simulation->threads);
}

void simulation_sum_energy(struct simulation *simulation, struct spin_local *local, int id, double kinetic,
                           double potential, int is_start) {
    const double all_kinetic =
        spin_reduce_sum(&simulation->reduction, &simulation->barrier, local, kinetic);
    const double all_potential =
        spin_reduce_sum(&simulation->reduction, &simulation->barrier, local, potential);
    if (id == 0) {
        *(is_start ? &simulation->energy_at_start : &simulation->energy_at_end) = all_kinetic + all_potential;
        simulation->kinetic_at_end = all_kinetic;
    }
    spin_barrier_wait(&simulation->barrier, local);
}

/* A cube of eight in the middle of the lattice. Cells are two or more places wide, so its corners have neighbours in all
 * directions in other cells. */
static long sample_number(const struct simulation *simulation, int sample) {
    const long side = simulation->lattice_side, middle = side / 2 - 1;
    return ((middle + (sample >> 2)) * side + middle + (sample >> 1 & 1)) * side + middle + (sample & 1);
}

void simulation_started(struct simulation *simulation, long number, const struct molecule *molecule) {
    for (int sample = 0; sample < SIMULATION_SAMPLES; sample++) {
        if (number == sample_number(simulation, sample)) {
            simulation->proof.samples[sample].molecule = molecule;
        }
    }
}

struct proof simulation_begin_proof(const struct simulation *simulation) {
    struct proof proof = {0};
    for (int sample = 0; sample < SIMULATION_SAMPLES; sample++) {
        proof.samples[sample].molecule = simulation->proof.samples[sample].molecule;
    }
    return proof;
}

/* The energy of the pair; of the molecule's own bonds where there is no other. */
static double energy_with(const struct simulation *simulation, const struct molecule *one,
                          const struct molecule *other) {
    double unused[AXES][ATOMS];
    return other == NULL ? potential_bonds(one, unused) : potential_pair_energy(one, other, &simulation->box);
}

/* Adds the slope of one molecule's energy; `other` is NULL for its bonds. */
static void add_slope(const struct simulation *simulation, struct sample *sample, const struct molecule *other) {
    const double shift = 1e-5; /* bohr: the error of the difference is about 1e-8 of the force, rounding less */
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            struct molecule before = *sample->molecule, after = *sample->molecule;
            before.derivative[0][axis][atom] -= shift;
            after.derivative[0][axis][atom] += shift;
            potential_set_site(&before);
            potential_set_site(&after);
            sample->slope[axis][atom] +=
                (energy_with(simulation, &after, other) - energy_with(simulation, &before, other)) / (2.0 * shift);
        }
    }
}

void simulation_prove_with_samples(const struct simulation *simulation, struct proof *proof,
                                   const struct molecule *molecule) {
    for (int number = 0; number < SIMULATION_SAMPLES; number++) {
        struct sample *sample = &proof->samples[number];
        double unused[AXES][ATOMS] = {{0.0}};
        if (sample->molecule == molecule) {
            double bonds[AXES][ATOMS];
            potential_bonds(molecule, bonds);
            for (int axis = 0; axis < AXES; axis++) {
                for (int atom = 0; atom < ATOMS; atom++) {
                    sample->force[axis][atom] += bonds[axis][atom];
                }
            }
            add_slope(simulation, sample, NULL);
        } else if (potential_pair_forces(sample->molecule, molecule, &simulation->box, sample->force, unused) != 0.0) {
            add_slope(simulation, sample, molecule);
        }
    }
}

void simulation_prove_with_forces(struct proof *proof, const struct molecule *molecule) {
    proof->count += 1.0;
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            proof->balance[axis] += molecule->force[axis][atom];
            proof->checksum += fabs(molecule->force[axis][atom]);
        }
    }
}

void simulation_end_proof(struct simulation *simulation, struct spin_local *local, const struct proof *proof) {
    struct proof *all = &simulation->proof;
    spin_lock_acquire(&simulation->proof_lock);
    all->checksum += proof->checksum;
    all->count += proof->count;
    for (int axis = 0; axis < AXES; axis++) {
        all->balance[axis] += proof->balance[axis];
        for (int atom = 0; atom < ATOMS; atom++) {
            for (int sample = 0; sample < SIMULATION_SAMPLES; sample++) {
                all->samples[sample].force[axis][atom] += proof->samples[sample].force[axis][atom];
                all->samples[sample].slope[axis][atom] += proof->samples[sample].slope[axis][atom];
            }
        }
    }
    spin_lock_release(&simulation->proof_lock);
    spin_barrier_wait(&simulation->barrier, local);
}

static double worse(double error, double difference) {
    return fabs(difference) > error || isnan(difference) ? fabs(difference) : error;
}

static void judge_samples(struct simulation *simulation) {
    double force_error = 0.0, gradient_error = 0.0, largest = 0.0;
    for (int number = 0; number < SIMULATION_SAMPLES; number++) {
        const struct sample *sample = &simulation->proof.samples[number];
        for (int axis = 0; axis < AXES; axis++) {
            for (int atom = 0; atom < ATOMS; atom++) {
                const double force = sample->force[axis][atom];
                force_error = worse(force_error, sample->molecule->force[axis][atom] - force);
                gradient_error = worse(gradient_error, sample->slope[axis][atom] + force);
                largest = fmax(largest, fabs(force));
            }
        }
    }
    simulation->force_error = force_error / largest;
    simulation->gradient_error = gradient_error / largest;
}

void simulation_end_start(struct simulation *simulation, struct spin_local *local, int id, const struct proof *proof,
                          double begun_s) {
    simulation_end_proof(simulation, local, proof);
    if (id == 0) {
        judge_samples(simulation);
        simulation->proof_s = team_part_begins() - begun_s;
    }
    spin_barrier_wait(&simulation->barrier, local);
}

/* An oscillator along each coordinate of a molecule, started with its exact derivatives and integrated for some periods:
 * the largest distance from cos(wt + phase), whose amplitude is 1. */
static double oscillator_error(const struct simulation *simulation) {
    enum { STEPS = 400 };
    const double turn = 0.05; /* radians per time-step */
    struct molecule molecule = {.next = NULL};
    double error = 0.0;
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0) {
            molecule_predict(&molecule);
        }
        for (int axis = 0; axis < AXES; axis++) {
            for (int atom = 0; atom < ATOMS; atom++) {
                const double phase = turn * step + axis + 0.3 * atom;
                double size = 1.0;
                for (int order = 0; step == 0 && order < ORDERS; order++) {
                    molecule.derivative[order][axis][atom] = size * cos(phase + 0.5 * order * acos(-1.0));
                    size *= turn / (order + 1);
                }
                const double acceleration = -turn * turn * molecule.derivative[0][axis][atom];
                molecule.force[axis][atom] = acceleration * molecule_mass(atom) / pow(simulation->box.time_step, 2);
            }
        }
        if (step > 0) {
            molecule_correct(&molecule, &simulation->box);
        }
        for (int axis = 0; axis < AXES; axis++) {
            for (int atom = 0; atom < ATOMS; atom++) {
                error = worse(error, molecule.derivative[0][axis][atom] - cos(turn * step + axis + 0.3 * atom));
            }
        }
    }
    return error;
}

int simulation_report(const struct simulation *simulation) {
    const struct proof *proof = &simulation->proof;
    const double *balance = proof->balance;
    const double drift = fabs(simulation->energy_at_end - simulation->energy_at_start) / simulation->kinetic_at_end;
    printf("%s: %ld molecules, %ld time-steps, cutoff %g angstroms, %ld threads\n", simulation->program,
           simulation->molecules, simulation->steps, simulation->cutoff_angstrom, simulation->threads);
    printf("energy: %.9f hartree per molecule, of it %.9f kinetic\n",
           simulation->energy_at_end / (double)simulation->molecules,
           simulation->kinetic_at_end / (double)simulation->molecules);
    team_report(simulation->finished_s - simulation->started_s - simulation->proof_s, proof->checksum, 1e-10);
    int wrong = 0;
    /* The start knows no derivatives above the second: one error of second order in the time-step, once. */
    wrong += team_verify("energy-drift", drift, 2e-3 * pow(simulation->box.time_step / PUBLISHED_TIME_STEP, 2));
    wrong += team_verify("forces-balance", (fabs(balance[0]) + fabs(balance[1]) + fabs(balance[2])) / proof->checksum, 1e-12);
    wrong += team_verify("force-against-plain-sum", simulation->force_error, 1e-10);
    wrong += team_verify("force-is-gradient", simulation->gradient_error, 1e-6);
    wrong += team_verify("oscillator", oscillator_error(simulation), 1e-9);
    wrong += team_verify("molecules-missing", fabs(proof->count - (double)simulation->molecules), 0.0);
    return wrong ? 1 : 0;
}
