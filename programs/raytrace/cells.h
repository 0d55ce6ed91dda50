/* A hierarchical uniform grid over the scene: boxes cut into equal cells, and crowded cells into cells again.
 *
 * A ray walks from cell to cell and tests the primitives listed there; the nearest one found ends the walk as soon as it
 * lies within the cell. A primitive in several cells is tested once per ray: each thread keeps, per primitive, the
 * number of the last ray that tried it.
 *
 * The main thread builds the grid, one allocation per cut box and per list; after that nobody writes it.
 *
 * Sources: J. Amanatides, A. Woo, "A fast voxel traversal algorithm for ray tracing", Eurographics 1987; J. P. Singh,
 * A. Gupta, M. Levoy, "Parallel visualization algorithms: performance and architectural implications", IEEE Computer
 * 27(7), 1994.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RAYTRACE_CELLS_H
#define RAYTRACE_CELLS_H

#include "scene.h"

struct cells;

/* One place of the grid: nothing, a list of primitives, or a finer grid. */
struct cell {
    struct cells *finer;
    int *primitives;
    int count;
};

struct cells {
    struct vector smallest;
    struct vector size; /* of one cell */
    int side;           /* cells along each axis */
    struct cell *cells;
};

struct cells_rule {
    int side;
    int crowded; /* a cell with more primitives than this is cut again */
    int levels;  /* at most so many grids within each other */
};

/* What a search looks for, what it has found, and what it has tried. One per thread. */
struct search {
    const struct scene *scene;
    const struct cells *cells;
    unsigned *last_ray; /* per primitive */
    unsigned rays;
    double distance; /* of the nearest primitive found */
    int found;       /* its number, -1 if none */
};

struct cells *cells_create(const struct scene *scene, const struct cells_rule *rule);
void cells_free(struct cells *cells);

/* The nearest primitive along the ray. */
void search_nearest(struct search *search, const struct ray *ray);

/* Whether anything lies along the ray before that distance. */
int search_any(struct search *search, const struct ray *ray, double distance);

#endif
