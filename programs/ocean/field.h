/* How a square grid is cut among the threads, and the cut arrays themselves.
 *
 * The concept. The threads form a rectangle as square as a power of two allows, and each owns a patch of the grid.
 * An array is "contiguously partitioned": a thread's patch is one run of addresses, patch after patch in thread order,
 * all in one block of memory; reached through one pointer per thread. Around each patch lies a frame one point wide. On
 * an edge between two threads the frame is the owner's copy of the neighbour's nearest points, refreshed by
 * field_fetch_frame(); on the wall of the basin it holds the boundary values of the array.
 *
 * Synchronisation: a thread writes only its own patch and frame, and reads of others only the points next to its
 * edges. Between a write and such a read lies a barrier.
 *
 * Source: S. C. Woo et al., "The SPLASH-2 programs: characterization and methodological considerations", ISCA 1995
 * (Ocean, contiguous partitions).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef OCEAN_FIELD_H
#define OCEAN_FIELD_H

#include <stddef.h>

/* The rectangle of threads. */
struct cut {
    int threads; /* = down * across, a power of two */
    int down;
    int across;
};

/* The shape that all patches of one grid share. Indices 0 and rows + 1 (columns + 1) are the frame. */
struct shape {
    int points; /* inner points along each side of the whole grid */
    int rows;
    int columns;
    int stride;        /* distance of two rows in elements: columns + 2 */
    size_t patch_size; /* elements of a patch with its frame */
};

/* Where one thread sits: neighbours[1 + dy][1 + dx] is the thread next to it, -1 where the wall is. */
struct seat {
    int id;
    int row; /* in the rectangle of threads */
    int column;
    int neighbours[3][3];
};

/* A cut array: patches[id] is the upper left corner of the frame of thread id's patch. */
struct field {
    double *block;
    double **patches;
};

enum frame_part {
    FRAME_SIDES,       /* for five-point stencils */
    FRAME_AND_CORNERS, /* for nine-point stencils; not the corners that lie on a wall */
    FRAME_AND_WALLS,   /* those too: neighbours must not be writing their walls meanwhile */
    FRAME_RED,         /* sides, only points whose row + column in the whole grid is even */
    FRAME_BLACK        /* sides, only odd */
};

/* threads must be a power of two. */
struct cut cut_for(int threads);
/* points must be a multiple of cut->down and cut->across. */
struct shape shape_for(const struct cut *cut, int points);
struct seat seat_of(const struct cut *cut, int id);

/* Elements that the block of a field needs. */
size_t field_size(const struct cut *cut, const struct shape *shape);

/* Cuts `block`, of field_size() elements, into patches. The field owns the block from here on. */
struct field field_over(const struct cut *cut, const struct shape *shape, double *block);
void field_free(struct field *field);

/* Copies the neighbours' nearest points into the thread's own frame; walls are left alone. */
void field_fetch_frame(const struct shape *shape, const struct seat *seat, double *const *patches,
                       enum frame_part part);

/* Parity (row + column) % 2, in the whole grid, of the point at [0][0] of a patch. */
int patch_parity(const struct shape *shape, const struct seat *seat);

#endif
