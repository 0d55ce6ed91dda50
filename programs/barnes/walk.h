/* The uses of the finished tree of barnes: the force on a body, and each thread's zone of bodies.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BARNES_WALK_H
#define BARNES_WALK_H

#include "octree.h"

struct walk_rule {
    double opening;           /* theta: a node is taken as one if its side is below theta times its distance */
    double softening_squared; /* added to each squared distance */
};

/* Sets acceleration, potential and cost of a body. */
void walk_force(const struct octree *tree, const struct walk_rule *rule, const struct bodies *bodies, long number);

/* Adds what one body adds to another's acceleration; nothing for itself. */
void walk_direct(const struct walk_rule *rule, const struct bodies *bodies, long number, long other,
                 double acceleration[AXES]);

/* Cuts the tree into zones of equal cost from first to last leaf; writes the numbers of the bodies in zone `id` and returns
 * how many there are. */
long walk_zone(const struct octree *tree, const struct bodies *bodies, int id, int *numbers);

#endif
