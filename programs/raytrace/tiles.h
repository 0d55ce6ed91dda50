/* The tiles of the picture as work to share: each thread starts with a block of them, and who has none left takes from others.
 *
 * Synchronisation: a queue is taken from under its lock, by its owner and by thieves alike. Nothing is ever added, so a
 * thread that finds all queues empty is done.
 *
 * Source: see cells.h (Singh, Gupta, Levoy).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RAYTRACE_TILES_H
#define RAYTRACE_TILES_H

#include "spin.h"

/* Tiles of one thread that are still to be done, `next` to `end` - 1. */
struct tile_queue {
    struct spin_lock lock;
    int *tiles;
    int next;
    int end;
};

struct tiles {
    int threads;
    int along; /* tiles along each side of the picture */
    struct tile_queue *queues;
    int *numbers;
    void *queue_block;
};

void tiles_create(struct tiles *tiles, int along, int threads);
void tiles_free(struct tiles *tiles);

/* The number of a tile for this thread, row by row from the top left, or -1 if none is left. Counts steals. */
int tiles_take(struct tiles *tiles, int id, long *steals);

#endif
