/* The proofs of verify.h. Speed does not matter here: points are reached one by one, by their place in the whole grid.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "verify.h"

#include <math.h>

/* The value at a place of the whole grid, taken from its owner's patch; walls from the patch beside them. */
static double value_at(const struct cut *cut, const struct shape *shape, double *const *patches, int row, int column) {
    int seat_row = (row - 1) / shape->rows, seat_column = (column - 1) / shape->columns;
    seat_row = row < 1 ? 0 : seat_row >= cut->down ? cut->down - 1 : seat_row;
    seat_column = column < 1 ? 0 : seat_column >= cut->across ? cut->across - 1 : seat_column;
    return patches[seat_row * cut->across + seat_column]
                  [(ptrdiff_t)(row - seat_row * shape->rows) * shape->stride + column - seat_column * shape->columns];
}

double verify_solver_trial(struct worker *worker, struct multigrid *trial) {
    const double lambda_squared = 30.0;
    const int waves_down = 3, waves_across = 2;
    const struct shape *shape = &trial->levels[0].shape;
    const double angle = acos(-1.0) / (shape->points + 1);
    double *q = trial->levels[0].q[worker->seat.id];
    double *rhs = trial->levels[0].rhs[worker->seat.id];
    /* The discrete Laplacian, times spacing^2, multiplies a product of sines by this factor. */
    const double factor = -4.0 * (pow(sin(0.5 * angle * waves_down), 2) + pow(sin(0.5 * angle * waves_across), 2)) -
                          lambda_squared * trial->levels[0].spacing_squared;
    multigrid_clear(trial, &worker->seat);
    double error = 0.0;
    for (int is_solved = 0; is_solved <= 1; is_solved++) {
        for (int row = 1; row <= shape->rows; row++) {
            for (int column = 1; column <= shape->columns; column++) {
                const double down = sin(angle * waves_down * (worker->seat.row * shape->rows + row));
                const double across = sin(angle * waves_across * (worker->seat.column * shape->columns + column));
                const ptrdiff_t index = (ptrdiff_t)row * shape->stride + column;
                if (is_solved) {
                    const double distance = fabs(q[index] - down * across);
                    error = distance > error || isnan(distance) ? distance : error;
                } else {
                    rhs[index] = factor * down * across;
                }
            }
        }
        if (!is_solved) {
            multigrid_solve(trial, &worker->seat, &worker->local, lambda_squared);
        }
    }
    return spin_reduce_max(&worker->basin->reduction, &worker->basin->barrier, &worker->local, error);
}

/* The largest residual of  Laplacian(gb) = g  over the own points, with g as the solver holds it. */
static double largest_residual(const struct worker *worker, double *largest_rhs) {
    const struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const struct cut *cut = &basin->cut;
    double *const *gb = basin->gb.patches;
    double largest = 0.0;
    for (int own_row = 1; own_row <= shape->rows; own_row++) {
        for (int own_column = 1; own_column <= shape->columns; own_column++) {
            const int row = worker->seat.row * shape->rows + own_row;
            const int column = worker->seat.column * shape->columns + own_column;
            const double rhs =
                basin->solver.levels[0].rhs[worker->seat.id][(ptrdiff_t)own_row * shape->stride + own_column];
            const double laplacian = value_at(cut, shape, gb, row - 1, column) + value_at(cut, shape, gb, row + 1, column) +
                                     value_at(cut, shape, gb, row, column - 1) + value_at(cut, shape, gb, row, column + 1) -
                                     4.0 * value_at(cut, shape, gb, row, column);
            const double residual = fabs(rhs - laplacian);
            largest = residual > largest || isnan(residual) ? residual : largest;
            *largest_rhs = fabs(rhs) > *largest_rhs ? fabs(rhs) : *largest_rhs;
        }
    }
    return largest;
}

struct verify_sums verify_measure(struct worker *worker) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const int id = worker->seat.id;
    struct verify_sums own = {0}, all = {0};
    double largest_rhs = 0.0;
    double energy[LAYERS] = {0}, energy_parts[LAYERS] = {0};
    own.residual = largest_residual(worker, &largest_rhs);
    for (int row = 1; row <= shape->rows; row++) {
        for (int column = 1; column <= shape->columns; column++) {
            const ptrdiff_t index = (ptrdiff_t)row * shape->stride + column;
            const double shear = basin->psi[UPPER].patches[id][index] - basin->psi[LOWER].patches[id][index];
            own.shear_size += fabs(shear);
            for (int layer = 0; layer < LAYERS; layer++) {
                /* The advection is that of the last step, which began with what is now psi_before. */
                const double wall = basin->psi_before[layer].patches[0][0];
                const double change = (basin->psi_before[layer].patches[id][index] - wall) *
                                      basin->advection[layer].patches[id][index];
                energy[layer] += change;
                energy_parts[layer] += fabs(change);
                own.checksum += fabs(basin->psi[layer].patches[id][index]) +
                                fabs(basin->psi_sum[layer].patches[id][index]);
            }
        }
    }
    struct spin_reduction *reduction = &basin->reduction;
    struct spin_barrier *barrier = &basin->barrier;
    all.residual = spin_reduce_max(&basin->reduction, barrier, &worker->local, own.residual) /
                   spin_reduce_max(&basin->reduction, barrier, &worker->local, largest_rhs);
    all.shear_size = spin_reduce_sum(reduction, barrier, &worker->local, own.shear_size);
    all.checksum = spin_reduce_sum(reduction, barrier, &worker->local, own.checksum);
    for (int layer = 0; layer < LAYERS; layer++) {
        all.energy_change[layer] = fabs(spin_reduce_sum(reduction, barrier, &worker->local, energy[layer])) /
                                   spin_reduce_sum(reduction, barrier, &worker->local, energy_parts[layer]);
    }
    all.shear_integral = basin_integral(worker, &basin->psi[UPPER]) - basin_integral(worker, &basin->psi[LOWER]);
    return all;
}
