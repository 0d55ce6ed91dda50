/* The particles of fmm, points with mass in a plane, and how they are drawn at the start.
 *
 * The attraction of two dimensions falls with the distance, not its square; written with complex numbers it is an analytic
 * function: a mass m at w makes the field m / (z - w), and the acceleration is minus its conjugate.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FMM_PARTICLE_H
#define FMM_PARTICLE_H

#include <stdint.h>

/* Not C's complex type: its product must handle infinities, which costs a call. */
struct plane {
    double re;
    double im;
};

/* What neighbours read (position and mass) stands among what only the owner uses, as in the published program. */
struct particle {
    struct plane position;
    double mass;
    struct plane field;
    struct plane velocity;
    long cost; /* of its share of the last step's work, in interactions of two particles */
};

enum particle_start {
    PARTICLES_TWO_CLUSTERS, /* two Plummer clusters, side by side */
    PARTICLES_ONE_CLUSTER,
    PARTICLES_UNIFORM /* evenly spread over a square */
};

/* Fills `particles` with masses that add up to 1. */
void particles_start(struct particle *particles, long count, enum particle_start start, uint64_t seed);

#endif
