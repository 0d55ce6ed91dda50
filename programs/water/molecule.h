/* Liquid water: one molecule's record, the periodic box, and what both water programs do with a molecule by itself.
 *
 * The concept. A molecule is an oxygen and two hydrogens that move by Newton's laws; a fourth, massless site on the
 * bisector carries the negative charge. Positions and their time derivatives up to the sixth are kept scaled,
 * derivative[k] = d^k x / dt^k * dt^k / k!, as Gear's predictor-corrector wants them. The record is as large and as mixed as
 * that of the programs this follows: positions, which all neighbours read, stand beside what only the owner uses, and
 * the forces that neighbours add to stand at the end.
 *
 * Units are atomic ones: bohr, hartree, electron masses; 1 unit of time is 2.4188843e-17 s.
 *
 * Sources: J. P. Singh, W.-D. Weber, A. Gupta, "SPLASH: Stanford parallel applications for shared memory", Computer
 * Architecture News 20(1), 1992 (Water); S. C. Woo et al., "The SPLASH-2 programs", ISCA 1995; C. W. Gear, "Numerical
 * Initial Value Problems in Ordinary Differential Equations", 1971, chapter 9.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WATER_MOLECULE_H
#define WATER_MOLECULE_H

#include <stdint.h>

enum { OXYGEN = 0, HYDROGEN_1 = 1, HYDROGEN_2 = 2, ATOMS = 3, AXES = 3, ORDERS = 7 };

struct molecule {
    double derivative[ORDERS][AXES][ATOMS];
    double site[AXES]; /* the charged site, derived from the positions */
    double force[AXES][ATOMS];
    struct molecule *next; /* in its cell's list; water-nsquared has no cells */
};

/* A cube with periodic walls. Pairs interact fully up to switch_on and fade out until the cutoff (oxygen to oxygen). */
struct periodic_box {
    double side;
    double cutoff_squared;
    double switch_on_squared;
    double time_step;
};

/* `count` molecules at the density of the published input, 512 in a cube of 24.851 angstroms. */
struct periodic_box box_for(long count, double cutoff_angstrom, double time_step_s);

/* Where the oxygen of molecule `number` of side^3 starts. */
void molecule_lattice_position(long number, long lattice_side, const struct periodic_box *box, double position[AXES]);

/* Molecule `number` of side^3 on a cubic lattice; neighbours are turned differently. Velocities are Gaussian at 298 K,
 * drawn from a generator seeded by the number, so that who starts a molecule does not matter. */
void molecule_start(struct molecule *molecule, long number, long lattice_side, const struct periodic_box *box);

/* Sets the acceleration to that of the force now known, and nothing else: what the very first step begins with. */
void molecule_start_acceleration(struct molecule *molecule, const struct periodic_box *box);

void molecule_predict(struct molecule *molecule);

/* Corrects the prediction by the force now known. */
void molecule_correct(struct molecule *molecule, const struct periodic_box *box);

/* Brings a molecule whose oxygen has left the box back by the opposite wall, and sets its charged site. */
void molecule_wrap(struct molecule *molecule, const struct periodic_box *box);

/* The mass of an atom. */
double molecule_mass(int atom);

double molecule_kinetic_energy(const struct molecule *molecule, const struct periodic_box *box);

#endif
