/* Building and walking the grid of cells.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cells.h"

#include <string.h>

#include "grid.h"

/* The cells along one axis that a primitive may reach: `first` to `last`, a little more than it does. */
struct span {
    int first;
    int last;
};

static struct span span_of(double center, double radius, double smallest, double size, int side) {
    const double slack = 1e-6;
    const int first = (int)floor((center - radius - smallest) / size - slack);
    const int last = (int)floor((center + radius - smallest) / size + slack);
    return (struct span){first < 0 ? 0 : first, last >= side ? side - 1 : last};
}

/* Adds up, per cell, how many of the candidates reach into it; with `members`, writes them there too, from begins[cell] on. */
static void sort_into_cells(const struct scene *scene, const struct cells *cells, const int *candidates,
                            int candidate_count, int *counts, const int *begins, int *members) {
    const int side = cells->side;
    for (int candidate = 0; candidate < candidate_count; candidate++) {
        const struct primitive *primitive = &scene->primitives[candidates[candidate]];
        const struct vector center = primitive->center, low = cells->smallest, size = cells->size;
        const struct span x = span_of(center.x, primitive->radius, low.x, size.x, side);
        const struct span y = span_of(center.y, primitive->radius, low.y, size.y, side);
        const struct span z = span_of(center.z, primitive->radius, low.z, size.z, side);
        for (int k = z.first; k <= z.last; k++) {
            for (int j = y.first; j <= y.last; j++) {
                for (int i = x.first; i <= x.last; i++) {
                    const struct vector index = {i, j, k}, corner = vector_plus(low, vector_times(index, size));
                    const int cell = (k * side + j) * side + i;
                    if (primitive_reaches(primitive, corner, vector_plus(corner, size))) {
                        if (members != NULL) {
                            members[begins[cell] + counts[cell]] = candidates[candidate];
                        }
                        counts[cell]++;
                    }
                }
            }
        }
    }
}

static struct cells *cut(const struct scene *scene, const struct cells_rule *rule, int level, struct vector smallest,
                         struct vector size, const int *candidates, int candidate_count) {
    const int side = rule->side, cell_count = side * side * side;
    struct cells *cells = GRID_ALLOCATE(struct cells, 1, "grid");
    *cells = (struct cells){.smallest = smallest, .size = size, .side = side};
    cells->cells = GRID_ALLOCATE(struct cell, cell_count, "cells");
    int *counts = GRID_ALLOCATE(int, 2 * cell_count + 1, "numbers of primitives"), *begins = counts + cell_count;
    memset(counts, 0, (size_t)cell_count * sizeof *counts);
    sort_into_cells(scene, cells, candidates, candidate_count, counts, NULL, NULL);
    begins[0] = 0;
    for (int cell = 0; cell < cell_count; cell++) {
        begins[cell + 1] = begins[cell] + counts[cell];
        counts[cell] = 0;
    }
    int *members = GRID_ALLOCATE(int, begins[cell_count] + 1, "primitives of all cells");
    sort_into_cells(scene, cells, candidates, candidate_count, counts, begins, members);
    for (int place = 0; place < cell_count; place++) {
        const struct vector index = {place % side, place / side % side, place / (side * side)};
        const int *inside = members + begins[place];
        struct cell *cell = &cells->cells[place];
        *cell = (struct cell){.count = counts[place]};
        if (cell->count > rule->crowded && level < rule->levels) {
            cell->finer = cut(scene, rule, level + 1, vector_plus(smallest, vector_times(index, size)),
                              vector_scaled(1.0 / side, size), inside, cell->count);
        } else if (cell->count > 0) {
            cell->primitives = GRID_ALLOCATE(int, cell->count, "list of a cell");
            memcpy(cell->primitives, inside, (size_t)cell->count * sizeof *inside);
        }
    }
    free(members);
    free(counts);
    return cells;
}

struct cells *cells_create(const struct scene *scene, const struct cells_rule *rule) {
    int *all = GRID_ALLOCATE(int, scene->count, "primitives of the scene");
    for (int number = 0; number < scene->count; number++) {
        all[number] = number;
    }
    const struct vector whole = vector_minus(scene->largest, scene->smallest);
    struct cells *cells =
        cut(scene, rule, 1, scene->smallest, vector_scaled(1.0 / rule->side, whole), all, scene->count);
    free(all);
    return cells;
}

void cells_free(struct cells *cells) {
    for (int place = 0; place < cells->side * cells->side * cells->side; place++) {
        free(cells->cells[place].primitives);
        if (cells->cells[place].finer != NULL) {
            cells_free(cells->cells[place].finer);
        }
    }
    free(cells->cells);
    free(cells);
}

/* Along one axis: the cell that the ray is in, and the distances at which it enters the next ones. */
struct axis_walk {
    int index;
    int step;
    double next;
    double between;
};

static struct axis_walk axis_walk(double origin, double direction, double smallest, double size, int side, double entry) {
    int index = (int)floor((origin + entry * direction - smallest) / size);
    index = index < 0 ? 0 : index >= side ? side - 1 : index;
    struct axis_walk walk = {.index = index, .step = direction > 0.0 ? 1 : -1, .next = INFINITY, .between = INFINITY};
    if (direction != 0.0) {
        walk.next = (smallest + (index + (direction > 0.0)) * size - origin) / direction;
        walk.between = size / fabs(direction);
    }
    return walk;
}

static void try_list(struct search *search, const struct ray *ray, const struct cell *cell) {
    for (int place = 0; place < cell->count; place++) {
        const int number = cell->primitives[place];
        if (search->last_ray[number] != search->rays) {
            search->last_ray[number] = search->rays;
            const double distance = primitive_distance(&search->scene->primitives[number], ray);
            if (distance < search->distance) {
                search->distance = distance;
                search->found = number;
            }
        }
    }
}

/* Walks from distance `entry` to `leave`; returns 1 when what was found is the nearest, or near enough. */
static int walk(struct search *search, const struct ray *ray, const struct cells *cells, double entry, double leave,
                double enough) {
    const int side = cells->side;
    struct axis_walk x = axis_walk(ray->origin.x, ray->direction.x, cells->smallest.x, cells->size.x, side, entry);
    struct axis_walk y = axis_walk(ray->origin.y, ray->direction.y, cells->smallest.y, cells->size.y, side, entry);
    struct axis_walk z = axis_walk(ray->origin.z, ray->direction.z, cells->smallest.z, cells->size.z, side, entry);
    for (;;) {
        const struct cell *cell = &cells->cells[(z.index * side + y.index) * side + x.index];
        struct axis_walk *first = x.next < y.next ? &x : &y;
        first = z.next < first->next ? &z : first;
        const double border = fmin(first->next, leave);
        if (cell->finer != NULL) {
            if (walk(search, ray, cell->finer, entry, border, enough)) {
                return 1;
            }
        } else {
            try_list(search, ray, cell);
        }
        if (search->distance <= border || search->distance < enough) {
            return 1;
        }
        entry = border;
        first->index += first->step;
        if (first->next >= leave || first->index < 0 || first->index >= side) {
            return 0;
        }
        first->next += first->between;
    }
}

/* Narrows [entry, leave] to the part of the ray between two planes. */
static void clip(double origin, double direction, double smallest, double largest, double *entry, double *leave) {
    if (direction == 0.0) {
        if (origin < smallest || origin > largest) {
            *leave = -INFINITY;
        }
        return;
    }
    const double a = (smallest - origin) / direction, b = (largest - origin) / direction;
    *entry = fmax(*entry, fmin(a, b));
    *leave = fmin(*leave, fmax(a, b));
}

static void search_from(struct search *search, const struct ray *ray, double limit, double enough) {
    const struct scene *scene = search->scene;
    double entry = 0.0, leave = limit;
    clip(ray->origin.x, ray->direction.x, scene->smallest.x, scene->largest.x, &entry, &leave);
    clip(ray->origin.y, ray->direction.y, scene->smallest.y, scene->largest.y, &entry, &leave);
    clip(ray->origin.z, ray->direction.z, scene->smallest.z, scene->largest.z, &entry, &leave);
    search->rays++;
    search->distance = limit;
    search->found = -1;
    if (entry <= leave) {
        walk(search, ray, search->cells, entry, leave, enough);
    }
}

void search_nearest(struct search *search, const struct ray *ray) {
    search_from(search, ray, INFINITY, 0.0);
}

int search_any(struct search *search, const struct ray *ray, double distance) {
    search_from(search, ray, distance, distance);
    return search->found >= 0;
}
