/* What both water programs share around their force computations: options, energies, proofs, the report.
 *
 * Proofs in each run. At the start, where forces belong to positions and not to predictions: for some molecules the force
 * is the sum over all other molecules, and equals minus the gradient of their energy, found by central differences; both
 * over plain pairs, which know neither cells nor half shells. At the end: a harmonic
 * oscillator, integrated like the molecules, swings as it should; no molecule is lost, all forces add up to
 * nothing, the total energy is kept. Each thread proves with its own molecules, while they are in its caches: a proof by
 * one thread would stand out in the counts of a machine with far memory.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WATER_SIMULATION_H
#define WATER_SIMULATION_H

#include "molecule.h"
#include "spin.h"

enum { SIMULATION_SAMPLES = 8 };

/* Force and gradient of the energy of one molecule. */
struct sample {
    const struct molecule *molecule;
    double force[AXES][ATOMS];
    double slope[AXES][ATOMS];
};

/* Sums over molecules, one thread's or everybody's. */
struct proof {
    struct sample samples[SIMULATION_SAMPLES];
    double balance[AXES]; /* the sum of all forces */
    double checksum;      /* and of their sizes */
    double count;         /* molecules */
};

struct simulation {
    const char *program;
    long threads;
    long molecules; /* a cube */
    long lattice_side;
    long steps;
    long energy_every; /* time-steps between computations of the potential energy; the last step has one too */
    double cutoff_angstrom;
    struct periodic_box box;
    struct spin_barrier barrier;
    struct spin_reduction reduction;
    double started_s;
    double finished_s;
    double energy_at_start; /* hartree, of all molecules */
    double energy_at_end;
    double kinetic_at_end;
    struct spin_lock proof_lock;
    struct proof proof;
    double proof_s; /* what the proof at the start took of the time */
    double force_error; /* both relative to the largest component */
    double gradient_error;
};

/* Parses the command line and prepares box, barrier and reduction. */
void simulation_prepare(struct simulation *simulation, const char *program, const char *summary, int argc, char **argv);

/* All threads: the sum of everybody's kinetic and potential energy, kept as the energy of the start or of the end. Ends
 * with a barrier. */
void simulation_sum_energy(struct simulation *simulation, struct spin_local *local, int id, double kinetic,
                           double potential, int is_start);

/* Whoever starts a molecule tells where it is. */
void simulation_started(struct simulation *simulation, long number, const struct molecule *molecule);

/* Proofs by each thread: an empty one, then one own molecule after the other, then added to everybody's, with a barrier. At
 * the start, once forces are known, `with_samples`; then the records of the samples are compared before anybody goes on,
 * and the time since `begun_s` is not counted. At the end `with_forces`. */
struct proof simulation_begin_proof(const struct simulation *simulation);
void simulation_prove_with_samples(const struct simulation *simulation, struct proof *proof,
                                   const struct molecule *molecule);
void simulation_end_start(struct simulation *simulation, struct spin_local *local, int id, const struct proof *proof,
                          double begun_s);
void simulation_prove_with_forces(struct proof *proof, const struct molecule *molecule);
void simulation_end_proof(struct simulation *simulation, struct spin_local *local, const struct proof *proof);

/* Prints the result and the proofs; returns the exit code. */
int simulation_report(const struct simulation *simulation);

#endif
