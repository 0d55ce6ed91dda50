/* One time-step, phase by phase; between two phases stands a barrier.
 *
 *   1  vorticity, Laplacian of the last psi, shear, interface       from psi
 *   2  the three Jacobians, the second Laplacian                    from phase 1
 *   3  the third Laplacian; right-hand sides ga and gb              from phase 2
 *   4  the elliptic equation of ga;  5  that of gb                  multigrid
 *   6  the volume of the layers: a global sum, the constant for the walls
 *   7  psi one step on; sums for means
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "step.h"

static double *own(const struct worker *worker, const struct field *field) {
    return field->patches[worker->seat.id];
}

static void fetch(const struct worker *worker, const struct field *field, enum frame_part part) {
    field_fetch_frame(&worker->basin->shape, &worker->seat, field->patches, part);
}

static void meet(struct worker *worker) {
    spin_barrier_wait(&worker->basin->barrier, &worker->local);
}

/* out = Laplacian(in) at inner points; fetches in's frame. */
static void laplacian(struct worker *worker, const struct field *in, const struct field *out, enum frame_part part) {
    const struct shape *shape = &worker->basin->shape;
    const int stride = shape->stride;
    const double scale = 1.0 / (worker->basin->water.spacing * worker->basin->water.spacing);
    fetch(worker, in, part);
    for (int row = 1; row <= shape->rows; row++) {
        const double *here = own(worker, in) + (ptrdiff_t)row * stride;
        double *result = own(worker, out) + (ptrdiff_t)row * stride;
        for (int column = 1; column <= shape->columns; column++) {
            result[column] = scale * (here[column - stride] + here[column + stride] + here[column - 1] +
                                      here[column + 1] - 4.0 * here[column]);
        }
    }
}

/* out = J(a, b) = a_x b_y - a_y b_x at inner points, in the form that conserves energy and the square of vorticity:
 * the mean of three difference forms, on nine points (A. Arakawa, J. Comput. Phys. 1, 1966). Frames must be current. */
static void jacobian(struct worker *worker, const struct field *a_field, const struct field *b_field,
                     const struct field *out) {
    const struct shape *shape = &worker->basin->shape;
    const int n = shape->stride; /* from a point to its northern neighbour */
    const double scale = 1.0 / (12.0 * worker->basin->water.spacing * worker->basin->water.spacing);
    for (int row = 1; row <= shape->rows; row++) {
        const double *a = own(worker, a_field) + (ptrdiff_t)row * n;
        const double *b = own(worker, b_field) + (ptrdiff_t)row * n;
        double *result = own(worker, out) + (ptrdiff_t)row * n;
        for (int column = 1; column <= shape->columns; column++, a++, b++) {
            const double centred = (a[2] - a[0]) * (b[1 + n] - b[1 - n]) - (a[1 + n] - a[1 - n]) * (b[2] - b[0]);
            const double sides = a[2] * (b[2 + n] - b[2 - n]) - a[0] * (b[n] - b[-n]) -
                                 a[1 + n] * (b[2 + n] - b[n]) + a[1 - n] * (b[2 - n] - b[-n]);
            const double diagonals = a[2 + n] * (b[1 + n] - b[2]) - a[-n] * (b[0] - b[1 - n]) -
                                     a[n] * (b[1 + n] - b[0]) + a[2 - n] * (b[2] - b[1 - n]);
            result[column] = scale * (centred + sides + diagonals);
        }
    }
}

/* Phase 1. The frames of psi get their corners too: the Jacobians of phase 2 use them. */
static void compute_vorticity(struct worker *worker) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const struct extent extent = extent_with_walls(basin, &worker->seat);
    for (int layer = 0; layer < LAYERS; layer++) {
        laplacian(worker, &basin->psi[layer], &basin->vorticity[layer], FRAME_AND_WALLS);
        for (int row = 1; row <= shape->rows; row++) {
            const double coriolis = basin->coriolis[worker->seat.row * shape->rows + row];
            double *vorticity = own(worker, &basin->vorticity[layer]) + (ptrdiff_t)row * shape->stride;
            for (int column = 1; column <= shape->columns; column++) {
                vorticity[column] += coriolis;
            }
        }
        laplacian(worker, &basin->psi_before[layer], &basin->laplacian[layer], FRAME_SIDES);
    }
    const double upper_share = basin->water.depth[LOWER] / basin->water.total_depth;
    const double lower_share = basin->water.depth[UPPER] / basin->water.total_depth;
    for (int row = extent.first_row; row <= extent.last_row; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        const double *upper = own(worker, &basin->psi[UPPER]) + offset;
        const double *lower = own(worker, &basin->psi[LOWER]) + offset;
        double *shear = own(worker, &basin->shear) + offset;
        double *interface = own(worker, &basin->interface) + offset;
        for (int column = extent.first_column; column <= extent.last_column; column++) {
            shear[column] = upper[column] - lower[column];
            interface[column] = upper_share * upper[column] + lower_share * lower[column];
        }
    }
    meet(worker);
}

/* Phase 2. */
static void compute_advection(struct worker *worker) {
    struct basin *basin = worker->basin;
    for (int layer = 0; layer < LAYERS; layer++) {
        fetch(worker, &basin->vorticity[layer], FRAME_AND_WALLS);
        jacobian(worker, &basin->vorticity[layer], &basin->psi[layer], &basin->advection[layer]);
        laplacian(worker, &basin->laplacian[layer], &basin->laplacian_twice[layer], FRAME_SIDES);
    }
    fetch(worker, &basin->shear, FRAME_AND_WALLS);
    fetch(worker, &basin->interface, FRAME_AND_WALLS);
    jacobian(worker, &basin->shear, &basin->interface, &basin->interface_advection);
    meet(worker);
}

/* Phase 3. The solver stands behind its own barrier, and the results are read by their writer only: none here. */
static void compute_right_hand_sides(struct worker *worker) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const struct water *water = &basin->water;
    const double upper_weight = water->depth[UPPER] / water->total_depth;
    const double lower_weight = water->depth[LOWER] / water->total_depth;
    for (int layer = 0; layer < LAYERS; layer++) {
        laplacian(worker, &basin->laplacian_twice[layer], &basin->friction[layer], FRAME_SIDES);
    }
    for (int row = 1; row <= shape->rows; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        const double wind = basin->wind[worker->seat.row * shape->rows + row];
        const double *upper_advection = own(worker, &basin->advection[UPPER]) + offset;
        const double *lower_advection = own(worker, &basin->advection[LOWER]) + offset;
        const double *upper_friction = own(worker, &basin->friction[UPPER]) + offset;
        const double *lower_friction = own(worker, &basin->friction[LOWER]) + offset;
        const double *lower_laplacian = own(worker, &basin->laplacian[LOWER]) + offset;
        const double *interface_advection = own(worker, &basin->interface_advection) + offset;
        double *ga = own(worker, &basin->ga) + offset;
        double *gb = own(worker, &basin->gb) + offset;
        for (int column = 1; column <= shape->columns; column++) {
            const double upper =
                upper_advection[column] - water->lateral_friction * upper_friction[column] + wind;
            const double lower = lower_advection[column] - water->lateral_friction * lower_friction[column] -
                                 water->bottom_friction * lower_laplacian[column];
            ga[column] = upper - lower - water->lambda_squared * interface_advection[column];
            gb[column] = upper_weight * upper + lower_weight * lower;
        }
    }
}

/* Phases 4 and 5: solves for `g` in place, from the last solution on, and keeps the solution for the next time. */
static void solve(struct worker *worker, const struct field *g, const struct field *before, double lambda_squared) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const double scale = basin->water.spacing * basin->water.spacing;
    double *q = basin->solver.levels[0].q[worker->seat.id];
    double *rhs = basin->solver.levels[0].rhs[worker->seat.id];
    for (int row = 1; row <= shape->rows; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        for (int column = 1; column <= shape->columns; column++) {
            q[offset + column] = own(worker, before)[offset + column];
            rhs[offset + column] = scale * own(worker, g)[offset + column];
        }
    }
    const struct multigrid_outcome outcome =
        multigrid_solve(&basin->solver, &worker->seat, &worker->local, lambda_squared);
    for (int row = 1; row <= shape->rows; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        for (int column = 1; column <= shape->columns; column++) {
            own(worker, g)[offset + column] = q[offset + column];
            own(worker, before)[offset + column] = q[offset + column];
        }
    }
    if (worker->seat.id == 0) {
        basin->solver_cycles += outcome.cycles;
    }
}

/* Phase 7. `wall_value` is what ga has on the walls. */
static void advance_psi(struct worker *worker, double wall_value, double time) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const struct extent extent = extent_with_walls(basin, &worker->seat);
    const double upper_share = basin->water.depth[LOWER] / basin->water.total_depth;
    const double lower_share = basin->water.depth[UPPER] / basin->water.total_depth;
    for (int row = extent.first_row; row <= extent.last_row; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        const double *ga = own(worker, &basin->ga) + offset;
        const double *gb = own(worker, &basin->gb) + offset;
        const double *response = own(worker, &basin->wall_response) + offset;
        double *upper = own(worker, &basin->psi[UPPER]) + offset;
        double *lower = own(worker, &basin->psi[LOWER]) + offset;
        double *upper_before = own(worker, &basin->psi_before[UPPER]) + offset;
        double *lower_before = own(worker, &basin->psi_before[LOWER]) + offset;
        double *upper_sum = own(worker, &basin->psi_sum[UPPER]) + offset;
        double *lower_sum = own(worker, &basin->psi_sum[LOWER]) + offset;
        for (int column = extent.first_column; column <= extent.last_column; column++) {
            const double shear_change = ga[column] + wall_value * response[column];
            const double next_upper = upper_before[column] + time * (gb[column] + upper_share * shear_change);
            const double next_lower = lower_before[column] + time * (gb[column] - lower_share * shear_change);
            upper_before[column] = upper[column];
            lower_before[column] = lower[column];
            upper[column] = next_upper;
            lower[column] = next_lower;
            upper_sum[column] += next_upper;
            lower_sum[column] += next_lower;
        }
    }
    meet(worker);
}

void step_prepare(struct worker *worker) {
    struct basin *basin = worker->basin;
    const struct shape *shape = &basin->shape;
    const struct extent extent = extent_with_walls(basin, &worker->seat);
    const double lambda_squared = basin->water.lambda_squared;
    const double scale = lambda_squared * basin->water.spacing * basin->water.spacing;
    double *q = basin->solver.levels[0].q[worker->seat.id];
    double *rhs = basin->solver.levels[0].rhs[worker->seat.id];
    double *response = own(worker, &basin->wall_response);
    /* With 1 taken off, the response is zero on the walls, and lambda^2 is the right-hand side. */
    for (int row = 1; row <= shape->rows; row++) {
        for (int column = 1; column <= shape->columns; column++) {
            rhs[(ptrdiff_t)row * shape->stride + column] = scale;
        }
    }
    const struct multigrid_outcome outcome =
        multigrid_solve(&basin->solver, &worker->seat, &worker->local, lambda_squared);
    for (int row = extent.first_row; row <= extent.last_row; row++) {
        const ptrdiff_t offset = (ptrdiff_t)row * shape->stride;
        for (int column = extent.first_column; column <= extent.last_column; column++) {
            const int is_inner = row >= 1 && row <= shape->rows && column >= 1 && column <= shape->columns;
            response[offset + column] = is_inner ? 1.0 + q[offset + column] : 1.0;
        }
    }
    const double sum = basin_integral(worker, &basin->wall_response);
    if (worker->seat.id == 0) {
        basin->wall_response_integral = sum;
        basin->solver_cycles += outcome.cycles;
    }
    meet(worker);
}

void step_advance(struct worker *worker, int is_first) {
    struct basin *basin = worker->basin;
    compute_vorticity(worker);
    compute_advection(worker);
    compute_right_hand_sides(worker);
    solve(worker, &basin->ga, &basin->ga_before, basin->water.lambda_squared);
    solve(worker, &basin->gb, &basin->gb_before, 0.0);
    const double wall_value = -basin_integral(worker, &basin->ga) / basin->wall_response_integral;
    advance_psi(worker, wall_value, (is_first ? 1.0 : 2.0) * basin->water.time_step);
}
