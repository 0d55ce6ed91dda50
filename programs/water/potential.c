/* The potentials of potential.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "potential.h"

#include <math.h>

/* The fourteen separations of a pair, in this order. */
enum {
    SITE_SITE = 0,
    SITE_HYDROGEN = 1, /* four of them */
    HYDROGEN_HYDROGEN = 5, /* four */
    OXYGEN_OXYGEN = 9,
    OXYGEN_HYDROGEN = 10, /* four */
    SEPARATIONS = 14
};

/* Hartree and bohr. */
static const double CHARGE_SQUARED = 0.514783;
static const double A1 = 1734.1960, B1 = 2.726696;
static const double A2 = 1.061887, B2 = 1.460975;
static const double A3 = 2.319395, B3 = 1.567367;
static const double A4 = 0.436006, B4 = 1.181792;
/* The site is 0.505783 bohr from the oxygen, on the bisector; the middle of the hydrogens at rest is 1.10735. */
static const double SITE_SHARE = 0.505783 / 1.10735;

static const double F_RR = 0.512596, F_RR_CROSS = -0.005823, F_AA = 0.048098, F_RA = 0.016452;
static const double F_RRR = -0.57191, F_AAA = -0.007636;
static const double F_RRRR = 0.8431, F_AAAA = -0.00193;

struct separations {
    double by_axis[AXES][SEPARATIONS];
    double squared[SEPARATIONS];
};

/* Returns how many separations are within the cutoff. */
static int form_separations(const struct molecule *a, const struct molecule *b, const struct periodic_box *box,
                            struct separations *out) {
    for (int axis = 0; axis < AXES; axis++) {
        const double *at_a = a->derivative[0][axis], *at_b = b->derivative[0][axis];
        const double oxygens = at_a[OXYGEN] - at_b[OXYGEN];
        const double shift = oxygens > 0.5 * box->side ? -box->side : oxygens < -0.5 * box->side ? box->side : 0.0;
        const double site_a = a->site[axis] + shift, oxygen_a = at_a[OXYGEN] + shift;
        const double first_a = at_a[HYDROGEN_1] + shift, second_a = at_a[HYDROGEN_2] + shift;
        double *here = out->by_axis[axis];
        here[SITE_SITE] = site_a - b->site[axis];
        here[SITE_HYDROGEN] = site_a - at_b[HYDROGEN_1];
        here[SITE_HYDROGEN + 1] = site_a - at_b[HYDROGEN_2];
        here[SITE_HYDROGEN + 2] = first_a - b->site[axis];
        here[SITE_HYDROGEN + 3] = second_a - b->site[axis];
        here[HYDROGEN_HYDROGEN] = first_a - at_b[HYDROGEN_1];
        here[HYDROGEN_HYDROGEN + 1] = first_a - at_b[HYDROGEN_2];
        here[HYDROGEN_HYDROGEN + 2] = second_a - at_b[HYDROGEN_1];
        here[HYDROGEN_HYDROGEN + 3] = second_a - at_b[HYDROGEN_2];
        here[OXYGEN_OXYGEN] = oxygen_a - at_b[OXYGEN];
        here[OXYGEN_HYDROGEN] = oxygen_a - at_b[HYDROGEN_1];
        here[OXYGEN_HYDROGEN + 1] = oxygen_a - at_b[HYDROGEN_2];
        here[OXYGEN_HYDROGEN + 2] = first_a - at_b[OXYGEN];
        here[OXYGEN_HYDROGEN + 3] = second_a - at_b[OXYGEN];
    }
    int within = 0;
    for (int pair = 0; pair < SEPARATIONS; pair++) {
        out->squared[pair] = out->by_axis[0][pair] * out->by_axis[0][pair] +
                             out->by_axis[1][pair] * out->by_axis[1][pair] +
                             out->by_axis[2][pair] * out->by_axis[2][pair];
        within += out->squared[pair] < box->cutoff_squared;
    }
    return within;
}

/* The switching function of the oxygens' squared distance, and minus its derivative. */
static double fade(const struct periodic_box *box, double squared, double *minus_slope) {
    const double span = box->cutoff_squared - box->switch_on_squared, left = box->cutoff_squared - squared;
    *minus_slope = 0.0;
    if (squared <= box->switch_on_squared) {
        return 1.0;
    }
    if (left <= 0.0) {
        return 0.0;
    }
    *minus_slope = 6.0 * left * (squared - box->switch_on_squared) / (span * span * span);
    return left * left * (left + 3.0 * (squared - box->switch_on_squared)) / (span * span * span);
}

/* The energy of each kind of separation; *push is minus its derivative divided by the distance. */
static double coulomb(double charges, double squared, double *push) {
    const double inverse = 1.0 / sqrt(squared);
    *push = charges * inverse * inverse * inverse;
    return charges * inverse;
}
static double exponential(double a, double b, double squared, double *push) {
    const double distance = sqrt(squared), energy = a * exp(-b * distance);
    *push = energy * b / distance;
    return energy;
}

static double site_energy(int pair, double squared, double *push) {
    double energy, more;
    if (pair == SITE_SITE) {
        return coulomb(4.0 * CHARGE_SQUARED, squared, push);
    }
    if (pair < HYDROGEN_HYDROGEN) {
        return coulomb(-2.0 * CHARGE_SQUARED, squared, push);
    }
    if (pair == OXYGEN_OXYGEN) {
        return exponential(A1, B1, squared, push);
    }
    if (pair < OXYGEN_OXYGEN) {
        energy = coulomb(CHARGE_SQUARED, squared, push) + exponential(A2, B2, squared, &more);
    } else {
        energy = exponential(A3, B3, squared, push) + exponential(-A4, B4, squared, &more);
    }
    *push += more;
    return energy;
}

/* Which atoms the ends of a separation are; the charged site is number ATOMS. */
static const int END_A[SEPARATIONS] = {3, 3, 3, 1, 2, 1, 1, 2, 2, 0, 0, 0, 1, 2};
static const int END_B[SEPARATIONS] = {3, 1, 2, 3, 3, 1, 2, 1, 2, 0, 1, 2, 0, 0};

/* A force on the massless site is carried by the atoms that it is derived from. */
static void add_with_site(const double on[ATOMS + 1], double force[ATOMS]) {
    const double hydrogen = 0.5 * SITE_SHARE * on[ATOMS];
    force[OXYGEN] += on[OXYGEN] + (1.0 - SITE_SHARE) * on[ATOMS];
    force[HYDROGEN_1] += on[HYDROGEN_1] + hydrogen;
    force[HYDROGEN_2] += on[HYDROGEN_2] + hydrogen;
}

double potential_pair_forces(const struct molecule *a, const struct molecule *b, const struct periodic_box *box,
                             double force_a[AXES][ATOMS], double force_b[AXES][ATOMS]) {
    struct separations separations;
    double push[SEPARATIONS], minus_slope, energy = 0.0;
    if (form_separations(a, b, box, &separations) == 0) {
        return 0.0;
    }
    const double share = fade(box, separations.squared[OXYGEN_OXYGEN], &minus_slope);
    for (int pair = 0; pair < SEPARATIONS; pair++) {
        energy += site_energy(pair, separations.squared[pair], &push[pair]);
        push[pair] *= share;
    }
    push[OXYGEN_OXYGEN] += 2.0 * minus_slope * energy;
    for (int axis = 0; axis < AXES; axis++) {
        double on_a[ATOMS + 1] = {0.0}, on_b[ATOMS + 1] = {0.0};
        for (int pair = 0; pair < SEPARATIONS; pair++) {
            const double force = push[pair] * separations.by_axis[axis][pair];
            on_a[END_A[pair]] += force;
            on_b[END_B[pair]] -= force;
        }
        add_with_site(on_a, force_a[axis]);
        add_with_site(on_b, force_b[axis]);
    }
    return share * energy;
}

double potential_pair_energy(const struct molecule *a, const struct molecule *b, const struct periodic_box *box) {
    struct separations separations;
    double unused, energy = 0.0;
    if (form_separations(a, b, box, &separations) == 0) {
        return 0.0;
    }
    for (int pair = 0; pair < SEPARATIONS; pair++) {
        energy += site_energy(pair, separations.squared[pair], &unused);
    }
    return fade(box, separations.squared[OXYGEN_OXYGEN], &unused) * energy;
}

void potential_set_site(struct molecule *molecule) {
    for (int axis = 0; axis < AXES; axis++) {
        const double *at = molecule->derivative[0][axis];
        molecule->site[axis] =
            (1.0 - SITE_SHARE) * at[OXYGEN] + 0.5 * SITE_SHARE * (at[HYDROGEN_1] + at[HYDROGEN_2]);
    }
}

double potential_bonds(const struct molecule *molecule, double force[AXES][ATOMS]) {
    double first[AXES], second[AXES], first_squared = 0.0, second_squared = 0.0, product = 0.0;
    for (int axis = 0; axis < AXES; axis++) {
        const double *at = molecule->derivative[0][axis];
        first[axis] = at[HYDROGEN_1] - at[OXYGEN];
        second[axis] = at[HYDROGEN_2] - at[OXYGEN];
        first_squared += first[axis] * first[axis];
        second_squared += second[axis] * second[axis];
        product += first[axis] * second[axis];
    }
    const double first_length = sqrt(first_squared), second_length = sqrt(second_squared);
    const double cosine = product / (first_length * second_length), sine = sqrt(1.0 - cosine * cosine);
    /* Stretches of the bonds, and the bend as a length: angle times bond at rest. */
    const double d1 = first_length - POTENTIAL_BOND, d2 = second_length - POTENTIAL_BOND;
    const double d3 = POTENTIAL_BOND * (acos(cosine) - POTENTIAL_ANGLE);
    const double rest = 1.0 / POTENTIAL_BOND, rest_squared = rest * rest;

    const double by_d1 = F_RR * d1 + F_RR_CROSS * d2 + F_RA * d3 +
                         3.0 * F_RRR * rest * d1 * d1 + 4.0 * F_RRRR * rest_squared * d1 * d1 * d1;
    const double by_d2 = F_RR * d2 + F_RR_CROSS * d1 + F_RA * d3 +
                         3.0 * F_RRR * rest * d2 * d2 + 4.0 * F_RRRR * rest_squared * d2 * d2 * d2;
    const double by_d3 = F_AA * d3 + F_RA * (d1 + d2) + 3.0 * F_AAA * rest * d3 * d3 +
                         4.0 * F_AAAA * rest_squared * d3 * d3 * d3;
    for (int axis = 0; axis < AXES; axis++) {
        const double along_first = first[axis] / first_length, along_second = second[axis] / second_length;
        const double bend = by_d3 * POTENTIAL_BOND / sine;
        const double on_first = -by_d1 * along_first + bend * (along_second - cosine * along_first) / first_length;
        const double on_second = -by_d2 * along_second + bend * (along_first - cosine * along_second) / second_length;
        force[axis][HYDROGEN_1] = on_first;
        force[axis][HYDROGEN_2] = on_second;
        force[axis][OXYGEN] = -(on_first + on_second);
    }
    return 0.5 * F_RR * (d1 * d1 + d2 * d2) + F_RR_CROSS * d1 * d2 + 0.5 * F_AA * d3 * d3 + F_RA * (d1 + d2) * d3 +
           rest * (F_RRR * (d1 * d1 * d1 + d2 * d2 * d2) + F_AAA * d3 * d3 * d3) +
           rest_squared * (F_RRRR * (d1 * d1 * d1 * d1 + d2 * d2 * d2 * d2) + F_AAAA * d3 * d3 * d3 * d3);
}
