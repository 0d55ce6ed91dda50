/* Expansions of the field of many particles, and how they are moved.
 *
 * A multipole expansion about c holds for places farther from c than the particles:
 *     potential(z) = a[0] log(z - c) + sum over k of a[k] / (z - c)^k
 * a local one for places nearer to c than all particles it is made of:
 *     potential(z) = sum over k of b[k] (z - c)^k
 * The field is the derivative, so b[0] is not kept up. The number of terms is that of the last index plus 1.
 *
 * Source: L. Greengard, V. Rokhlin, "A fast algorithm for particle simulations", J. Comput. Phys. 73, 1987, theorem 2.1
 * and lemmas 2.3 to 2.5.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FMM_EXPANSION_H
#define FMM_EXPANSION_H

#include "particle.h"

enum { TERMS_LARGEST = 40 };

/* Fills the table of binomials. Call it once, before any thread uses the others. */
void expansion_prepare(void);

/* All but the last two add to what is in the target. */
void expansion_from_particle(struct plane *multipole, int terms, struct plane center, const struct particle *particle);
void expansion_shift_multipole(struct plane *parent, struct plane parent_center, const struct plane *child,
                               struct plane child_center, int terms);
void expansion_to_local(struct plane *local, struct plane local_center, const struct plane *multipole,
                        struct plane multipole_center, int terms);
void expansion_local_from_particle(struct plane *local, int terms, struct plane center, const struct particle *particle);
void expansion_shift_local(struct plane *child, struct plane child_center, const struct plane *parent,
                           struct plane parent_center, int terms);

/* The field at a place. */
struct plane expansion_multipole_field(const struct plane *multipole, int terms, struct plane center,
                                       struct plane position);
struct plane expansion_local_field(const struct plane *local, int terms, struct plane center, struct plane position);

/* Adds the field of one particle at the place of another. */
static inline void particle_add_field(struct plane *field, struct plane position, const struct particle *source) {
    const double across = position.re - source->position.re, up = position.im - source->position.im;
    const double strength = source->mass / (across * across + up * up);
    field->re += strength * across;
    field->im -= strength * up;
}

#endif
