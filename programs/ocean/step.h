/* The phases of a time-step, and the solution for the walls that precedes them. Called by all threads at once.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OCEAN_STEP_H
#define OCEAN_STEP_H

#include "basin.h"

/* Solves for the response to a wall value of 1 (psib) and integrates it. */
void step_prepare(struct worker *worker);

/* Advances psi by one time-step: the first by Euler's rule, the others by leapfrog. */
void step_advance(struct worker *worker, int is_first);

#endif
