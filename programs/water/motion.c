/* The start and the motion behind molecule.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <math.h>
#include <string.h>

#include "molecule.h"
#include "potential.h"
#include "random.h"

static const double BOHR_ANGSTROM = 0.529177249;
static const double SECONDS_PER_UNIT = 2.4188843e-17;
static const double ELECTRON_MASSES_PER_DALTON = 1822.8885;
static const double HARTREE_PER_KELVIN = 3.1668116e-6;
static const double TEMPERATURE_KELVIN = 298.0;
static const double SIDE_OF_512_ANGSTROM = 24.851008;
/* Where a pair begins to fade, as a share of the cutoff. */
static const double SWITCH_ON = 0.9;

double molecule_mass(int atom) {
    return (atom == OXYGEN ? 15.99491 : 1.007825) * ELECTRON_MASSES_PER_DALTON;
}

struct periodic_box box_for(long count, double cutoff_angstrom, double time_step_s) {
    const double cutoff = cutoff_angstrom / BOHR_ANGSTROM;
    return (struct periodic_box){
        .side = SIDE_OF_512_ANGSTROM / BOHR_ANGSTROM * cbrt((double)count / 512.0),
        .cutoff_squared = cutoff * cutoff,
        .switch_on_squared = SWITCH_ON * SWITCH_ON * cutoff * cutoff,
        .time_step = time_step_s / SECONDS_PER_UNIT,
    };
}

static double gaussian(uint64_t *state) {
    const double pi = acos(-1.0);
    const double radius = sqrt(-2.0 * log(1.0 - random_unit(state)));
    return radius * cos(2.0 * pi * random_unit(state));
}

static void lattice_place(long number, long lattice_side, long place[AXES]) {
    place[0] = number % lattice_side;
    place[1] = number / lattice_side % lattice_side;
    place[2] = number / (lattice_side * lattice_side);
}

void molecule_lattice_position(long number, long lattice_side, const struct periodic_box *box, double position[AXES]) {
    long place[AXES];
    lattice_place(number, lattice_side, place);
    for (int axis = 0; axis < AXES; axis++) {
        position[axis] = ((double)place[axis] + 0.25) * box->side / (double)lattice_side;
    }
}

void molecule_start(struct molecule *molecule, long number, long lattice_side, const struct periodic_box *box) {
    long place[AXES];
    double position[AXES];
    lattice_place(number, lattice_side, place);
    molecule_lattice_position(number, lattice_side, box, position);
    /* The plane of the molecule is spanned by two axes, in turn; the bisector points up or down. */
    const int along = (int)((place[0] + place[1] + place[2]) % AXES), across = (along + 1) % AXES;
    const double up = place[along] % 2 == 0 ? 1.0 : -1.0;
    const double half_angle = 0.5 * POTENTIAL_ANGLE;
    uint64_t state = (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15) + 1;

    memset(molecule, 0, sizeof *molecule);
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            molecule->derivative[0][axis][atom] = position[axis];
            const double speed = sqrt(HARTREE_PER_KELVIN * TEMPERATURE_KELVIN / molecule_mass(atom));
            molecule->derivative[1][axis][atom] = speed * gaussian(&state) * box->time_step;
        }
    }
    molecule->derivative[0][along][HYDROGEN_1] += up * POTENTIAL_BOND * cos(half_angle);
    molecule->derivative[0][along][HYDROGEN_2] += up * POTENTIAL_BOND * cos(half_angle);
    molecule->derivative[0][across][HYDROGEN_1] += POTENTIAL_BOND * sin(half_angle);
    molecule->derivative[0][across][HYDROGEN_2] -= POTENTIAL_BOND * sin(half_angle);
}

/* Pascal's triangle: each derivative gains the Taylor terms of the higher ones. */
void molecule_predict(struct molecule *molecule) {
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            for (int first = 0; first < ORDERS - 1; first++) {
                for (int order = ORDERS - 2; order >= first; order--) {
                    molecule->derivative[order][axis][atom] += molecule->derivative[order + 1][axis][atom];
                }
            }
        }
    }
}

static double scaled_acceleration(const struct molecule *molecule, const struct periodic_box *box, int axis, int atom) {
    return 0.5 * box->time_step * box->time_step / molecule_mass(atom) * molecule->force[axis][atom];
}

void molecule_start_acceleration(struct molecule *molecule, const struct periodic_box *box) {
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            molecule->derivative[2][axis][atom] = scaled_acceleration(molecule, box, axis, atom);
        }
    }
}

void molecule_correct(struct molecule *molecule, const struct periodic_box *box) {
    /* Gear's coefficients for seven values and a second-order equation. */
    static const double CORRECTOR[ORDERS] = {863.0 / 6048.0, 665.0 / 1008.0, 1.0,        25.0 / 36.0,
                                             35.0 / 144.0,   1.0 / 24.0,     1.0 / 360.0};
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            const double error =
                scaled_acceleration(molecule, box, axis, atom) - molecule->derivative[2][axis][atom];
            for (int order = 0; order < ORDERS; order++) {
                molecule->derivative[order][axis][atom] += CORRECTOR[order] * error;
            }
        }
    }
}

void molecule_wrap(struct molecule *molecule, const struct periodic_box *box) {
    for (int axis = 0; axis < AXES; axis++) {
        double *position = molecule->derivative[0][axis];
        const double shift = position[OXYGEN] >= box->side ? -box->side : position[OXYGEN] < 0.0 ? box->side : 0.0;
        if (shift != 0.0) {
            for (int atom = 0; atom < ATOMS; atom++) {
                position[atom] += shift;
            }
        }
    }
    potential_set_site(molecule);
}

double molecule_kinetic_energy(const struct molecule *molecule, const struct periodic_box *box) {
    double sum = 0.0;
    for (int axis = 0; axis < AXES; axis++) {
        for (int atom = 0; atom < ATOMS; atom++) {
            const double velocity = molecule->derivative[1][axis][atom] / box->time_step;
            sum += 0.5 * molecule_mass(atom) * velocity * velocity;
        }
    }
    return sum;
}
