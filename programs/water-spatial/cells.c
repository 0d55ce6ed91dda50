/* The grid of cells behind cells.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cells.h"

#include <stddef.h>
#include <string.h>

#include "grid.h"
#include "team.h"

/* Splits the threads into a box of threads as near to a cube as their factors allow: each prime factor, the largest
 * first, goes to the axis that has fewest so far. */
static void split_threads(int threads, int along[AXES]) {
    int factors[32], count = 0;
    for (int factor = 2; threads > 1; factor++) {
        for (; threads % factor == 0; threads /= factor) {
            factors[count++] = factor;
        }
    }
    along[0] = along[1] = along[2] = 1;
    while (count > 0) {
        int fewest = 0;
        for (int axis = 1; axis < AXES; axis++) {
            fewest = along[axis] < along[fewest] ? axis : fewest;
        }
        along[fewest] *= factors[--count];
    }
}

void cells_create(struct cells *cells, int side, double box_side, int threads) {
    const size_t count = (size_t)side * (size_t)side * (size_t)side;
    *cells = (struct cells){.side = side, .width = box_side / side};
    split_threads(threads, cells->threads_along);
    cells->cells = GRID_ALLOCATE(struct cell, count, "cells");
    cells->lock_block = GRID_ALLOCATE(struct spin_lock, count + 1, "locks of cells");
    struct spin_lock *locks = grid_align_to_line(cells->lock_block);
    memset(locks, 0, count * sizeof *locks);
    for (size_t index = 0; index < count; index++) {
        cells->cells[index] = (struct cell){.lock = &locks[index]};
    }
    for (int id = 0; id < threads; id++) {
        const struct block block = cells_block(cells, id);
        for (int z = block.begin[2]; z < block.end[2]; z++) {
            for (int y = block.begin[1]; y < block.end[1]; y++) {
                for (int x = block.begin[0]; x < block.end[0]; x++) {
                    cells_at(cells, x, y, z)->owner = id;
                }
            }
        }
    }
}

void cells_free(struct cells *cells) {
    free(cells->cells);
    free(cells->lock_block);
}

struct block cells_block(const struct cells *cells, int id) {
    const int *along = cells->threads_along;
    const int seat[AXES] = {id % along[0], id / along[0] % along[1], id / (along[0] * along[1])};
    struct block block;
    for (int axis = 0; axis < AXES; axis++) {
        block.begin[axis] = team_share_begin(cells->side, along[axis], seat[axis]);
        block.end[axis] = team_share_end(cells->side, along[axis], seat[axis]);
    }
    return block;
}

struct cell *cells_at(const struct cells *cells, int x, int y, int z) {
    const int side = cells->side;
    x = x < 0 ? x + side : x >= side ? x - side : x;
    y = y < 0 ? y + side : y >= side ? y - side : y;
    z = z < 0 ? z + side : z >= side ? z - side : z;
    return &cells->cells[((size_t)z * (size_t)side + (size_t)y) * (size_t)side + (size_t)x];
}

/* Where along an axis; inside the grid whatever the position, so that a simulation that flies apart (too long a time-step)
 * ends with wrong energies and not with a crash. */
static int place_for(const struct cells *cells, double position) {
    const double place = position / cells->width;
    return place >= cells->side ? cells->side - 1 : place > 0.0 ? (int)place : 0;
}

struct cell *cells_for(const struct cells *cells, const double position[AXES]) {
    return cells_at(cells, place_for(cells, position[0]), place_for(cells, position[1]),
                    place_for(cells, position[2]));
}

struct cell *cells_of(const struct cells *cells, const struct molecule *molecule) {
    const double position[AXES] = {molecule->derivative[0][0][OXYGEN], molecule->derivative[0][1][OXYGEN],
                                   molecule->derivative[0][2][OXYGEN]};
    return cells_for(cells, position);
}

void cell_push(struct cell *cell, struct molecule *molecule) {
    spin_lock_acquire(cell->lock);
    molecule->next = cell->first;
    cell->first = molecule;
    spin_lock_release(cell->lock);
}

/* Never two locks at once, so nobody can wait in a circle. What others push meanwhile belongs here and stays. */
void cells_move_leavers(const struct cells *cells, struct cell *cell) {
    struct molecule *leavers = NULL;
    spin_lock_acquire(cell->lock);
    for (struct molecule **link = &cell->first; *link != NULL;) {
        struct molecule *molecule = *link;
        if (cells_of(cells, molecule) == cell) {
            link = &molecule->next;
        } else {
            *link = molecule->next;
            molecule->next = leavers;
            leavers = molecule;
        }
    }
    spin_lock_release(cell->lock);
    while (leavers != NULL) {
        struct molecule *molecule = leavers;
        leavers = molecule->next;
        cell_push(cells_of(cells, molecule), molecule);
    }
}
