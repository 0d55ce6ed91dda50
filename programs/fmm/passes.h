/* The work on one zone of the tree in a step of fmm: upward, across, downward.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FMM_PASSES_H
#define FMM_PASSES_H

#include "quadtree.h"

/* A thread's boxes, level by level from the root down. */
struct passes {
    struct box **boxes;
    long count;
    int terms;
    int step; /* from 1 */
};

/* Multipole expansions of all boxes, children first; waits for children in other zones. */
void passes_upward(const struct passes *passes);

/* After a barrier: local expansions from boxes and leaves that are apart, and for the particles in leaves the field of what
 * is near. Writes the particles' costs. */
void passes_across(const struct passes *passes);

/* Adds the parents' local expansions, and all of it to the fields of the particles; waits for parents in other zones. */
void passes_downward(const struct passes *passes);

/* What a divided box costs, in interactions of two particles. */
long passes_inner_cost(int terms);

#endif
