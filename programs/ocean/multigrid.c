/* The multigrid solver of multigrid.h. Every function here is called by all threads at once, on their own patches.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "multigrid.h"

#include <math.h>
#include <string.h>

#include "grid.h"

enum {
    COARSEST_POINTS = 8,
    COARSEST_SWEEPS = 8,
    SWEEPS_BEFORE = 1, /* relaxations of a level before and after its coarser grid is visited */
    SWEEPS_AFTER = 1,
    LARGEST_CYCLES = 40
};

enum colour { RED = 0, BLACK = 1 };

/* What the functions of one solve share. */
struct solve {
    struct multigrid *grid;
    const struct seat *seat;
    struct spin_local *local;
    double lambda_squared;
};

static int coarsest_points(const struct cut *cut) {
    int points = COARSEST_POINTS;
    while (points < cut->down || points < cut->across) {
        points *= 2;
    }
    return points;
}

int multigrid_fewest_points(const struct cut *cut) {
    return 2 * coarsest_points(cut);
}

void multigrid_create(struct multigrid *grid, const struct cut *cut, int points, double spacing, double tolerance) {
    *grid = (struct multigrid){.cut = *cut, .visits = 1, .tolerance = tolerance};
    const int coarsest = coarsest_points(cut);
    size_t thread_size = 0;
    for (int level_points = points; level_points >= coarsest; level_points /= 2) {
        struct multigrid_level *level = &grid->levels[grid->level_count];
        const double width = (double)(points / level_points); /* in fine spacings */
        level->shape = shape_for(cut, level_points);
        level->spacing_squared = width * width * spacing * spacing;
        level->mirror = (width - 1.0) / (width + 1.0);
        level->q = GRID_ALLOCATE(double *, cut->threads, "pointers to levels");
        level->rhs = GRID_ALLOCATE(double *, cut->threads, "pointers to levels");
        thread_size += level->shape.patch_size;
        grid->level_count++;
    }
    grid->q_block = GRID_ALLOCATE(double, (size_t)cut->threads * thread_size, "multigrid solution");
    grid->rhs_block = GRID_ALLOCATE(double, (size_t)cut->threads * thread_size, "multigrid right-hand side");
    size_t offset = 0;
    for (int id = 0; id < cut->threads; id++) {
        for (int index = 0; index < grid->level_count; index++) {
            struct multigrid_level *level = &grid->levels[index];
            level->q[id] = grid->q_block + offset;
            level->rhs[id] = grid->rhs_block + offset;
            offset += level->shape.patch_size;
        }
    }
}

void multigrid_free(struct multigrid *grid) {
    for (int index = 0; index < grid->level_count; index++) {
        free(grid->levels[index].q);
        free(grid->levels[index].rhs);
    }
    free(grid->q_block);
    free(grid->rhs_block);
}

void multigrid_clear(struct multigrid *grid, const struct seat *seat) {
    for (int index = 0; index < grid->level_count; index++) {
        const struct multigrid_level *level = &grid->levels[index];
        memset(level->q[seat->id], 0, level->shape.patch_size * sizeof(double));
        memset(level->rhs[seat->id], 0, level->shape.patch_size * sizeof(double));
    }
}

/* Refreshes the frame of q: from neighbours, and by mirroring where the basin's wall is (corners too). */
static void refresh_frame(const struct solve *solve, const struct multigrid_level *level, enum frame_part part) {
    const struct shape *shape = &level->shape;
    const int stride = shape->stride;
    const double factor = -level->mirror;
    double *q = level->q[solve->seat->id];
    field_fetch_frame(shape, solve->seat, level->q, part);
    if (factor == 0.0) {
        return;
    }
    if (solve->seat->neighbours[0][1] < 0) {
        for (int column = 0; column <= shape->columns + 1; column++) {
            q[column] = factor * q[stride + column];
        }
    }
    if (solve->seat->neighbours[2][1] < 0) {
        double *last = q + (ptrdiff_t)shape->rows * stride;
        for (int column = 0; column <= shape->columns + 1; column++) {
            last[stride + column] = factor * last[column];
        }
    }
    if (solve->seat->neighbours[1][0] < 0) {
        for (int row = 0; row <= shape->rows + 1; row++) {
            q[(ptrdiff_t)row * stride] = factor * q[(ptrdiff_t)row * stride + 1];
        }
    }
    if (solve->seat->neighbours[1][2] < 0) {
        for (int row = 0; row <= shape->rows + 1; row++) {
            double *last = q + (ptrdiff_t)row * stride + shape->columns;
            last[1] = factor * last[0];
        }
    }
}

/* The first column of `row` that has the colour. */
static int first_column(int corner_parity, int row, enum colour colour) {
    return (corner_parity + row + 1) % 2 == (int)colour ? 1 : 2;
}

/* Relaxes the points of one colour; `weight` above 1 over-relaxes. Ends with a barrier. */
static void relax(const struct solve *solve, const struct multigrid_level *level, enum colour colour, double weight) {
    const struct shape *shape = &level->shape;
    const int stride = shape->stride;
    const int corner = patch_parity(shape, solve->seat);
    const double scale = weight / (4.0 + solve->lambda_squared * level->spacing_squared);
    const double keep = 1.0 - weight;
    double *q = level->q[solve->seat->id];
    const double *rhs = level->rhs[solve->seat->id];
    refresh_frame(solve, level, colour == RED ? FRAME_BLACK : FRAME_RED);
    for (int row = 1; row <= shape->rows; row++) {
        double *here = q + (ptrdiff_t)row * stride;
        const double *above = here - stride;
        const double *below = here + stride;
        const double *wanted = rhs + (ptrdiff_t)row * stride;
        if (weight == 1.0) {
            for (int column = first_column(corner, row, colour); column <= shape->columns; column += 2) {
                here[column] = scale * (above[column] + below[column] + here[column - 1] + here[column + 1] -
                                        wanted[column]);
            }
        } else {
            for (int column = first_column(corner, row, colour); column <= shape->columns; column += 2) {
                here[column] = keep * here[column] + scale * (above[column] + below[column] + here[column - 1] +
                                                              here[column + 1] - wanted[column]);
            }
        }
    }
    spin_barrier_wait(solve->grid->barrier, solve->local);
}

static void sweep(const struct solve *solve, const struct multigrid_level *level, double weight) {
    relax(solve, level, RED, weight);
    relax(solve, level, BLACK, weight);
}

/* Stores the residual, summed over the four points of each coarse point, as the right-hand side of the coarser grid,
 * and zeros the coarser q. Called after a sweep: black points have just been solved, so only red ones count. (Next to a
 * wall of a coarse level black points keep a little, as the frame lags one half sweep; it is left to the next cycle.)
 * Returns the largest residual of the own patch. */
static double restrict_residual(const struct solve *solve, const struct multigrid_level *fine,
                                const struct multigrid_level *coarse) {
    const struct shape *shape = &fine->shape;
    const int stride = shape->stride;
    const int corner = patch_parity(shape, solve->seat);
    const double diagonal = 4.0 + solve->lambda_squared * fine->spacing_squared;
    const double *q = fine->q[solve->seat->id];
    const double *rhs = fine->rhs[solve->seat->id];
    double *coarse_q = coarse->q[solve->seat->id];
    double *coarse_rhs = coarse->rhs[solve->seat->id];
    double largest = 0.0;
    refresh_frame(solve, fine, FRAME_BLACK);
    memset(coarse_q, 0, coarse->shape.patch_size * sizeof(double));
    for (int row = 1; row <= shape->rows; row++) {
        const double *here = q + (ptrdiff_t)row * stride;
        const double *wanted = rhs + (ptrdiff_t)row * stride;
        double *sums = coarse_rhs + (ptrdiff_t)((row + 1) / 2) * coarse->shape.stride;
        const int first = first_column(corner, row, RED);
        for (int column = first; column <= shape->columns; column += 2) {
            double residual = wanted[column] - (here[column - stride] + here[column + stride] + here[column - 1] +
                                                here[column + 1] - diagonal * here[column]);
            double size = fabs(residual);
            largest = size > largest || isnan(size) ? size : largest;
            if (row % 2 == 1) {
                sums[(column + 1) / 2] = residual;
            } else {
                sums[(column + 1) / 2] += residual;
            }
        }
    }
    return largest;
}

/* Adds the coarse correction to the fine grid by bilinear interpolation. Ends with a barrier. */
static void add_correction(const struct solve *solve, const struct multigrid_level *fine,
                           const struct multigrid_level *coarse) {
    double *q = fine->q[solve->seat->id];
    const double *correction = coarse->q[solve->seat->id];
    const int coarse_stride = coarse->shape.stride;
    refresh_frame(solve, coarse, FRAME_AND_CORNERS);
    for (int row = 1; row <= fine->shape.rows; row++) {
        const double *near = correction + (ptrdiff_t)((row + 1) / 2) * coarse_stride;
        const double *far = row % 2 == 1 ? near - coarse_stride : near + coarse_stride;
        double *here = q + (ptrdiff_t)row * fine->shape.stride;
        double left = 3.0 * near[0] + far[0];
        double middle = 3.0 * near[1] + far[1];
        for (int column = 1; column <= coarse->shape.columns; column++) {
            double right = 3.0 * near[column + 1] + far[column + 1];
            here[2 * column - 1] += (3.0 * middle + left) / 16.0;
            here[2 * column] += (3.0 * middle + right) / 16.0;
            left = middle;
            middle = right;
        }
    }
    spin_barrier_wait(solve->grid->barrier, solve->local);
}

static void visit(const struct solve *solve, int index);

/* Relaxed once or more, level `index` gets its correction from below and is relaxed again. */
static void correct(const struct solve *solve, int index) {
    const struct multigrid_level *level = &solve->grid->levels[index];
    visit(solve, index + 1);
    add_correction(solve, level, level + 1);
    for (int count = 0; count < SWEEPS_AFTER; count++) {
        sweep(solve, level, 1.0);
    }
}

/* One cycle from level `index` > 0 on, whose q is zero at the first visit. */
static void visit(const struct solve *solve, int index) {
    const struct multigrid *grid = solve->grid;
    const struct multigrid_level *level = &grid->levels[index];
    /* Neighbours' q must be zero, or from the last visit, before the first frame is fetched. */
    spin_barrier_wait(grid->barrier, solve->local);
    if (index == grid->level_count - 1) {
        const double best = 2.0 / (1.0 + sin(acos(-1.0) / (level->shape.points + 1)));
        for (int count = 0; count < COARSEST_SWEEPS; count++) {
            sweep(solve, level, best);
        }
        return;
    }
    for (int turn = 0; turn < grid->visits; turn++) {
        for (int count = 0; count < SWEEPS_BEFORE; count++) {
            sweep(solve, level, 1.0);
        }
        restrict_residual(solve, level, level + 1);
        correct(solve, index);
    }
}

static double largest_right_hand_side(const struct solve *solve) {
    const struct multigrid_level *level = &solve->grid->levels[0];
    const double *rhs = level->rhs[solve->seat->id];
    double largest = 0.0;
    for (int row = 1; row <= level->shape.rows; row++) {
        for (int column = 1; column <= level->shape.columns; column++) {
            double size = fabs(rhs[(ptrdiff_t)row * level->shape.stride + column]);
            largest = size > largest ? size : largest;
        }
    }
    return spin_reduce_max(solve->grid->reduction, solve->grid->barrier, solve->local, largest);
}

struct multigrid_outcome multigrid_solve(struct multigrid *grid, const struct seat *seat, struct spin_local *local,
                                         double lambda_squared) {
    const struct solve solve = {grid, seat, local, lambda_squared};
    const struct multigrid_level *finest = &grid->levels[0];
    struct multigrid_outcome outcome = {0, 0.0};
    /* The reduction's barrier also tells that every thread's guess and right-hand side are in place. */
    const double scale = largest_right_hand_side(&solve);
    if (scale == 0.0) {
        memset(finest->q[seat->id], 0, finest->shape.patch_size * sizeof(double));
        spin_barrier_wait(grid->barrier, local);
        return outcome;
    }
    for (;;) {
        for (int count = 0; count < SWEEPS_BEFORE; count++) {
            sweep(&solve, finest, 1.0);
        }
        double residual = restrict_residual(&solve, finest, finest + 1);
        outcome.residual = spin_reduce_max(grid->reduction, grid->barrier, local, residual) / scale;
        if (outcome.residual <= grid->tolerance || outcome.cycles == LARGEST_CYCLES) {
            return outcome;
        }
        correct(&solve, 0);
        outcome.cycles++;
    }
}
