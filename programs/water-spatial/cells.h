/* The cells of water-spatial: a three-dimensional grid over the box, each cell with a list of its molecules.
 *
 * The concept. A cell is at least as wide as the cutoff, so that a molecule interacts only with those of its own and the 26
 * cells around. Threads own blocks of cells. The list of a cell is linked through the molecules, which are separate
 * allocations; who starts a molecule allocates it, and it stays that record when it drifts into another thread's cell.
 *
 * Synchronisation: a list is changed under the cell's lock. Reading one needs no lock while nobody moves molecules;
 * barriers separate the phases.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef WATER_CELLS_H
#define WATER_CELLS_H

#include "molecule.h"
#include "spin.h"

struct cell {
    struct molecule *first;
    struct spin_lock *lock;
    int owner;
};

struct cells {
    int side; /* cells along each axis, at least 3 */
    double width;
    int threads_along[AXES];
    struct cell *cells;
    void *lock_block;
};

/* A thread's block: cells from begin to end - 1 along each axis. Empty where there are more threads than cells. */
struct block {
    int begin[AXES];
    int end[AXES];
};

/* Ends the process with code 2 if there is no memory. `side` is the number of cells along an axis. */
void cells_create(struct cells *cells, int side, double box_side, int threads);
void cells_free(struct cells *cells);

struct block cells_block(const struct cells *cells, int id);

/* The cell at a place; places one outside are those at the opposite wall. */
struct cell *cells_at(const struct cells *cells, int x, int y, int z);

/* The cell for a position inside the box, and for a molecule whose oxygen is. */
struct cell *cells_for(const struct cells *cells, const double position[AXES]);
struct cell *cells_of(const struct cells *cells, const struct molecule *molecule);

void cell_push(struct cell *cell, struct molecule *molecule);

/* Takes the molecules that do not belong there any more out of the cell, and pushes them where they belong. */
void cells_move_leavers(const struct cells *cells, struct cell *cell);

#endif
