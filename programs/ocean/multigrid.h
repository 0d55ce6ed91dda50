/* A parallel multigrid solver for  (Laplacian - lambda^2) q = g  on a square with q = 0 on its walls.
 *
 * The concept. Relaxation by red-black Gauss-Seidel sweeps removes the short waves of the error fast and the long ones
 * slowly; long waves are short on a coarser grid. One cycle relaxes, hands the residual to a grid with half as many
 * points each way, solves there by the same means, adds the interpolated correction and relaxes again (a V-cycle; a
 * W-cycle visits each coarser grid twice). Cycles go on until the largest residual is below the tolerance, relative to
 * the largest right-hand side.
 *
 * Both hierarchies (solution and right-hand side) are cut among the threads like any field, and all levels of one
 * thread lie together, finest first.
 *
 * Coarse points lie in the middle of four fine ones, so on level l > 0 the wall lies not on the frame but between it and
 * the outermost points: at (2^l + 1)/2 fine spacings from them and (2^l - 1)/2 from the frame. The frame therefore
 * mirrors the outermost points with the factor -(2^l - 1)/(2^l + 1), which is linear extrapolation through the zero of
 * the wall.
 *
 * Whether to go on is decided on a maximum, which does not depend on the order of threads, and relaxation of one colour
 * reads only the other: results do not depend on the number of threads (up to 64; beyond, the coarsest grid grows).
 *
 * Sources: A. Brandt, "Multi-level adaptive solutions to boundary-value problems", Math. Comp. 31, 1977; U. Trottenberg
 * et al., "Multigrid", 2001, sections 2.7, 2.8.4 and 5.4 (red-black, cell-centred); Woo et al., ISCA 1995.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OCEAN_MULTIGRID_H
#define OCEAN_MULTIGRID_H

#include "field.h"
#include "spin.h"

enum { MULTIGRID_LEVELS = 16 };

struct multigrid_level {
    struct shape shape;
    double spacing_squared;
    double mirror; /* frame = -mirror * outermost points */
    double **q;    /* per thread */
    double **rhs;  /* per thread; holds spacing_squared * g */
};

struct multigrid {
    struct cut cut;
    int level_count; /* level 0 is the finest */
    int visits;      /* of each coarser level in a cycle: 1 is V, 2 is W */
    double tolerance;
    struct multigrid_level levels[MULTIGRID_LEVELS];
    double *q_block;
    double *rhs_block;
    struct spin_barrier *barrier;
    struct spin_reduction *reduction;
};

/* What multigrid_solve did. */
struct multigrid_outcome {
    int cycles;
    double residual; /* largest, relative to the largest right-hand side */
};

/* The smallest grid that this many threads can solve: two levels, with a point for each thread on the coarser. */
int multigrid_fewest_points(const struct cut *cut);

/* Sets the shapes and allocates both hierarchies, untouched; `spacing` is that of the finest grid. points must be a
 * power of two, at least multigrid_fewest_points(). */
void multigrid_create(struct multigrid *grid, const struct cut *cut, int points, double spacing, double tolerance);
void multigrid_free(struct multigrid *grid);

/* Zeros the thread's own part of both hierarchies, frames included. */
void multigrid_clear(struct multigrid *grid, const struct seat *seat);

/* Called by all threads at once. Before: each has stored spacing^2 * g and a guess of q into level 0 of its own part;
 * no barrier is needed in between. After: level 0 holds the solution, frames as the last sweep left them. */
struct multigrid_outcome multigrid_solve(struct multigrid *grid, const struct seat *seat, struct spin_local *local,
                                         double lambda_squared);

#endif
