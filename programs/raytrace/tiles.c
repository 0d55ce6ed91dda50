/* The queues of tiles.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tiles.h"

#include <string.h>

#include "grid.h"
#include "team.h"

/* Threads across the picture: the largest divisor up to the root, so that blocks are nearly square. */
static int threads_across(int threads) {
    int across = 1;
    for (int divisor = 1; divisor * divisor <= threads; divisor++) {
        across = threads % divisor == 0 ? divisor : across;
    }
    return across;
}

void tiles_create(struct tiles *tiles, int along, int threads) {
    const int across = threads_across(threads), down = threads / across;
    *tiles = (struct tiles){.threads = threads, .along = along};
    tiles->numbers = GRID_ALLOCATE(int, along * along, "tiles");
    tiles->queue_block = GRID_ALLOCATE(struct tile_queue, threads + 1, "queues of tiles");
    tiles->queues = grid_align_to_line(tiles->queue_block);
    memset(tiles->queues, 0, (size_t)threads * sizeof *tiles->queues);
    int *next = tiles->numbers;
    for (int id = 0; id < threads; id++) {
        struct tile_queue *queue = &tiles->queues[id];
        queue->tiles = next;
        for (int row = team_share_begin(along, down, id / across); row < team_share_end(along, down, id / across); row++) {
            const int end = team_share_end(along, across, id % across);
            for (int column = team_share_begin(along, across, id % across); column < end; column++) {
                *next++ = row * along + column;
            }
        }
        queue->end = (int)(next - queue->tiles);
    }
}

void tiles_free(struct tiles *tiles) {
    free(tiles->numbers);
    free(tiles->queue_block);
}

int tiles_take(struct tiles *tiles, int id, long *steals) {
    for (int distance = 0; distance < tiles->threads; distance++) {
        struct tile_queue *queue = &tiles->queues[(id + distance) % tiles->threads];
        spin_lock_acquire(&queue->lock);
        const int tile = queue->next < queue->end ? queue->tiles[queue->next++] : -1;
        spin_lock_release(&queue->lock);
        if (tile >= 0) {
            *steals += distance > 0;
            return tile;
        }
    }
    return -1;
}
