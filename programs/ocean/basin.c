/* Memory and start of the basin of basin.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "basin.h"

#include <math.h>
#include <string.h>

#include "grid.h"

static const double PI = 3.14159265358979323846;

static struct water water_for(double spacing, double time_step) {
    const double coriolis = 8.3e-5, reduced_gravity = 0.02;
    struct water water = {.spacing = spacing, .time_step = time_step, .depth = {1000.0, 4000.0}};
    water.total_depth = water.depth[UPPER] + water.depth[LOWER];
    water.lambda_squared =
        coriolis * coriolis * water.total_depth / (reduced_gravity * water.depth[UPPER] * water.depth[LOWER]);
    /* Chosen by the grid: the shortest wave, whose Laplacian is -8 / spacing^2, loses a fifth in two time-steps. */
    water.lateral_friction = 0.2 * pow(spacing, 4) / (64.0 * 2.0 * time_step);
    water.bottom_friction = 1e-7;
    return water;
}

static void fill_tables(struct basin *basin, double width) {
    const double beta = 2e-11, middle_coriolis = 8.3e-5;
    const double stress = 1e-4; /* wind stress over density, m^2/s^2 */
    basin->coriolis = GRID_ALLOCATE(double, basin->shape.points + 2, "Coriolis parameter");
    basin->wind = GRID_ALLOCATE(double, basin->shape.points + 2, "wind");
    for (int row = 0; row < basin->shape.points + 2; row++) {
        double y = row * basin->water.spacing;
        basin->coriolis[row] = middle_coriolis + beta * (y - 0.5 * width);
        basin->wind[row] = -stress * 2.0 * PI / (width * basin->water.depth[UPPER]) * sin(2.0 * PI * y / width);
    }
}

void basin_create(struct basin *basin, int threads, int points, int steps, double width_m, double time_step_s,
                  double tolerance) {
    memset(basin, 0, sizeof *basin);
    basin->cut = cut_for(threads);
    basin->shape = shape_for(&basin->cut, points);
    basin->water = water_for(width_m / (points + 1), time_step_s);
    basin->steps = steps;

    const struct cut *cut = &basin->cut;
    const struct shape *shape = &basin->shape;
    const size_t size = field_size(cut, shape);
    basin->psi[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "psi1"));
    basin->psi[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "psi3"));
    basin->psi_before[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "psi1 before"));
    basin->psi_before[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "psi3 before"));
    basin->psi_sum[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "sum of psi1"));
    basin->psi_sum[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "sum of psi3"));
    basin->vorticity[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "vorticity 1"));
    basin->vorticity[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "vorticity 3"));
    basin->advection[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "advection 1"));
    basin->advection[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "advection 3"));
    basin->laplacian[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "Laplacian 1"));
    basin->laplacian[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "Laplacian 3"));
    basin->laplacian_twice[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "double Laplacian 1"));
    basin->laplacian_twice[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "double Laplacian 3"));
    basin->friction[UPPER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "friction 1"));
    basin->friction[LOWER] = field_over(cut, shape, GRID_ALLOCATE(double, size, "friction 3"));
    basin->shear = field_over(cut, shape, GRID_ALLOCATE(double, size, "shear"));
    basin->interface = field_over(cut, shape, GRID_ALLOCATE(double, size, "interface"));
    basin->interface_advection = field_over(cut, shape, GRID_ALLOCATE(double, size, "interface advection"));
    basin->ga = field_over(cut, shape, GRID_ALLOCATE(double, size, "ga"));
    basin->gb = field_over(cut, shape, GRID_ALLOCATE(double, size, "gb"));
    basin->ga_before = field_over(cut, shape, GRID_ALLOCATE(double, size, "ga before"));
    basin->gb_before = field_over(cut, shape, GRID_ALLOCATE(double, size, "gb before"));
    basin->wall_response = field_over(cut, shape, GRID_ALLOCATE(double, size, "response to the walls"));
    fill_tables(basin, width_m);

    spin_barrier_start(&basin->barrier, threads);
    multigrid_create(&basin->solver, cut, points, basin->water.spacing, tolerance);
    basin->solver.barrier = &basin->barrier;
    basin->solver.reduction = &basin->reduction;
}

void basin_free(struct basin *basin) {
    for (int layer = 0; layer < LAYERS; layer++) {
        field_free(&basin->psi[layer]);
        field_free(&basin->psi_before[layer]);
        field_free(&basin->psi_sum[layer]);
        field_free(&basin->vorticity[layer]);
        field_free(&basin->advection[layer]);
        field_free(&basin->laplacian[layer]);
        field_free(&basin->laplacian_twice[layer]);
        field_free(&basin->friction[layer]);
    }
    field_free(&basin->shear);
    field_free(&basin->interface);
    field_free(&basin->interface_advection);
    field_free(&basin->ga);
    field_free(&basin->gb);
    field_free(&basin->ga_before);
    field_free(&basin->gb_before);
    field_free(&basin->wall_response);
    free(basin->coriolis);
    free(basin->wind);
    multigrid_free(&basin->solver);
}

struct extent extent_with_walls(const struct basin *basin, const struct seat *seat) {
    struct extent extent = {1, basin->shape.rows, 1, basin->shape.columns};
    extent.first_row -= seat->neighbours[0][1] < 0;
    extent.last_row += seat->neighbours[2][1] < 0;
    extent.first_column -= seat->neighbours[1][0] < 0;
    extent.last_column += seat->neighbours[1][2] < 0;
    return extent;
}

/* A few standing waves, zero on the walls: eddies of some hundred kilometres with about 0.1 m/s. */
static double eddies(double x, double y, int layer) {
    const double upper = sin(3.0 * PI * x) * sin(5.0 * PI * y) + 0.6 * sin(7.0 * PI * x) * sin(4.0 * PI * y) +
                         0.4 * sin(8.0 * PI * x) * sin(9.0 * PI * y);
    const double lower = sin(2.0 * PI * x) * sin(3.0 * PI * y) - 0.5 * sin(6.0 * PI * x) * sin(5.0 * PI * y);
    return layer == UPPER ? 1.2e4 * upper : 3e3 * lower;
}

static void clear(const struct basin *basin, const struct seat *seat, const struct field *field) {
    memset(field->patches[seat->id], 0, basin->shape.patch_size * sizeof(double));
}

static void start_layer(struct worker *worker, int layer) {
    struct basin *basin = worker->basin;
    const struct seat *seat = &worker->seat;
    const struct shape *shape = &basin->shape;
    const struct extent extent = extent_with_walls(basin, seat);
    const double scale = 1.0 / (shape->points + 1);
    clear(basin, seat, &basin->psi[layer]);
    clear(basin, seat, &basin->psi_before[layer]);
    clear(basin, seat, &basin->psi_sum[layer]);
    clear(basin, seat, &basin->vorticity[layer]);
    clear(basin, seat, &basin->advection[layer]);
    clear(basin, seat, &basin->laplacian[layer]);
    clear(basin, seat, &basin->laplacian_twice[layer]);
    clear(basin, seat, &basin->friction[layer]);
    double *psi = basin->psi[layer].patches[seat->id];
    double *psi_before = basin->psi_before[layer].patches[seat->id];
    double *vorticity = basin->vorticity[layer].patches[seat->id];
    for (int row = extent.first_row; row <= extent.last_row; row++) {
        const int global_row = seat->row * shape->rows + row;
        for (int column = extent.first_column; column <= extent.last_column; column++) {
            const int global_column = seat->column * shape->columns + column;
            const size_t index = (size_t)row * (size_t)shape->stride + (size_t)column;
            /* Inner values of the vorticity are overwritten in the first step; the walls slip: f remains. */
            vorticity[index] = basin->coriolis[global_row];
            if (row >= 1 && row <= shape->rows && column >= 1 && column <= shape->columns) {
                psi[index] = eddies(global_column * scale, global_row * scale, layer);
                psi_before[index] = psi[index];
            }
        }
    }
}

void basin_initialise(struct worker *worker) {
    struct basin *basin = worker->basin;
    const struct seat *seat = &worker->seat;
    start_layer(worker, UPPER);
    start_layer(worker, LOWER);
    clear(basin, seat, &basin->shear);
    clear(basin, seat, &basin->interface);
    clear(basin, seat, &basin->interface_advection);
    clear(basin, seat, &basin->ga);
    clear(basin, seat, &basin->gb);
    clear(basin, seat, &basin->ga_before);
    clear(basin, seat, &basin->gb_before);
    clear(basin, seat, &basin->wall_response);
    multigrid_clear(&basin->solver, seat);
}

double basin_integral(struct worker *worker, const struct field *field) {
    struct basin *basin = worker->basin;
    const struct extent extent = extent_with_walls(basin, &worker->seat);
    const double *patch = field->patches[worker->seat.id];
    double sum = 0.0;
    for (int row = extent.first_row; row <= extent.last_row; row++) {
        const double *here = patch + (ptrdiff_t)row * basin->shape.stride;
        double row_sum = 0.0;
        for (int column = 1; column <= basin->shape.columns; column++) {
            row_sum += here[column];
        }
        /* Walls count half: extents reach 0 and rows + 1 (columns + 1) only there. */
        row_sum += extent.first_column == 0 ? 0.5 * here[0] : 0.0;
        row_sum += extent.last_column > basin->shape.columns ? 0.5 * here[extent.last_column] : 0.0;
        sum += row == 0 || row > basin->shape.rows ? 0.5 * row_sum : row_sum;
    }
    return spin_reduce_sum(&basin->reduction, &basin->barrier, &worker->local, sum);
}
