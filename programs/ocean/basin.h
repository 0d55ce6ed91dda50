/* The ocean basin: its state, and the memory of it.
 *
 * The model. A square basin with two layers of water of different density on a beta plane, driven by a double-gyre wind,
 * quasi-geostrophic. The stream functions psi of the upper layer (1) and the lower one (3) obey
 *
 *   d/dt Laplacian(psi1) = J(f + Laplacian(psi1), psi1) - f0/H1 w - A4 del^6 psi1 + curl(wind)
 *   d/dt Laplacian(psi3) = J(f + Laplacian(psi3), psi3) + f0/H3 w - A4 del^6 psi3 - eps Laplacian(psi3)
 *   d/dt (psi1 - psi3)   = J(psi1 - psi3, psi2) - g'/f0 w          psi2 = (H3 psi1 + H1 psi3) / H
 *
 * (w: vertical velocity at the interface; A4: lateral friction; eps: bottom friction). Without w two elliptic
 * equations are left, one for  ga = d/dt (psi1 - psi3)  with lambda^2 = f0^2 H / (g' H1 H3), one for
 * gb = d/dt (H1 psi1 + H3 psi3) / H  with lambda = 0. On the walls gb is 0, and ga is a constant that keeps the
 * volume of each layer: psib, the solution with 1 on the walls, is scaled and added to it.
 *
 * Every array of the model is a field (see field.h) of one block of malloc, allocated by the main thread. The main thread
 * writes only the one-dimensional tables of Coriolis parameter and wind, and the pointers; each thread writes its own
 * patches first.
 *
 * Sources: W. Holland, "The role of mesoscale eddies in the general circulation of the ocean", J. Phys. Oceanogr. 8,
 * 1978; J. P. Singh, J. Hennessy, "Finding and exploiting parallelism in an ocean simulation program", JPDC 15, 1992;
 * Woo et al., ISCA 1995.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OCEAN_BASIN_H
#define OCEAN_BASIN_H

#include "field.h"
#include "multigrid.h"
#include "spin.h"

enum { UPPER = 0, LOWER = 1, LAYERS = 2 };

/* The physical constants, in SI units. */
struct water {
    double spacing; /* metres between grid points */
    double time_step;
    double depth[LAYERS];
    double total_depth;
    double lambda_squared;
    double lateral_friction; /* A4 */
    double bottom_friction;
};

struct basin {
    struct cut cut;
    struct shape shape;
    struct water water;
    int steps;

    struct field psi[LAYERS];            /* stream functions at this time */
    struct field psi_before[LAYERS];     /* and one time-step ago */
    struct field psi_sum[LAYERS];        /* sums over the time-steps, for means */
    struct field vorticity[LAYERS];      /* f + Laplacian(psi) */
    struct field advection[LAYERS];      /* J(vorticity, psi) */
    struct field laplacian[LAYERS];      /* of psi_before */
    struct field laplacian_twice[LAYERS];
    struct field friction[LAYERS];       /* the Laplacian of laplacian_twice */
    struct field shear;                  /* psi1 - psi3 */
    struct field interface;              /* psi2 */
    struct field interface_advection;    /* J(shear, interface) */
    struct field ga, gb;                 /* right-hand sides, then solutions, of the two equations */
    struct field ga_before, gb_before;   /* the last solutions: where the next solver starts */
    struct field wall_response;          /* psib */

    double *coriolis; /* f at each row of the whole grid, frame included */
    double *wind;     /* the wind's curl at each row */

    struct multigrid solver;
    struct spin_barrier barrier;
    struct spin_reduction reduction;

    double wall_response_integral; /* over the basin, in grid cells; written by thread 0 */
    long solver_cycles;            /* of all solutions; written by thread 0 */
};

/* One thread's view. */
struct worker {
    struct basin *basin;
    struct seat seat;
    struct spin_local local;
};

/* points: inner points per side; width_m: of the basin. */
void basin_create(struct basin *basin, int threads, int points, int steps, double width_m, double time_step_s,
                  double tolerance);
void basin_free(struct basin *basin);

/* First and last index of the rows (columns) that a thread writes when walls count as its own. */
struct extent {
    int first_row, last_row, first_column, last_column;
};
struct extent extent_with_walls(const struct basin *basin, const struct seat *seat);

/* Writes the thread's patches for the first time: zeros, boundary values, and psi of an eddying start. */
void basin_initialise(struct worker *worker);

/* The integral of a field over the basin by the trapezoid rule, in grid cells. Ends with a barrier. */
double basin_integral(struct worker *worker, const struct field *field);

#endif
