/* How a run of ocean proves its own result.
 *
 * - Before: the solver meets a small problem whose discrete solution is known, a product of sines.
 * - After: the residual of the last elliptic equation, computed anew by code that shares nothing with the solver.
 * - After: the volume of the layers: the integral of psi1 - psi3 is what it was at the start.
 * - After: the last Jacobians neither made nor lost kinetic energy: the sum of (psi - wall value) J(vorticity, psi) is zero.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OCEAN_VERIFY_H
#define OCEAN_VERIFY_H

#include "basin.h"

/* Solves the known problem on `trial`, made by multigrid_create with spacing 1 / (points + 1) and the basin's barrier.
 * Returns the largest error, relative to the solution. All threads call it. */
double verify_solver_trial(struct worker *worker, struct multigrid *trial);

struct verify_sums {
    double residual;        /* of the last equation, relative to its largest right-hand side */
    double shear_integral;  /* of psi1 - psi3 */
    double shear_size;      /* of |psi1 - psi3| */
    double energy_change[LAYERS]; /* by advection, relative to the sum of its parts' sizes */
    double checksum;        /* sum of |psi1| + |psi3| and the sums over time */
};

/* Measures the basin after the last step. All threads call it and get the same. */
struct verify_sums verify_measure(struct worker *worker);

#endif
