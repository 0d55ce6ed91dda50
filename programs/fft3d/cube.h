/* The arrays of fft3d, how they are cut among the threads, and the phases that work on them.
 *
 * The concept. Three arrays of n1 x n2 x n3 complex numbers hold the field, the first index (x) running fastest at the
 * start. A transform along an index needs whole pencils of that index in one thread's part. With slabs of z a thread has
 * whole pencils of x and y; with slabs of y it has those of z and x. In between lies a transposition, in which every thread
 * reads a piece of every other thread's slab and writes its own.
 *
 *   array     order in memory (slowest .. fastest)     slabs of     holds
 *   u2        z y x at the start, z x y later          z            the field at the start, then after each iteration
 *   u0        y x z                                    y            the spectrum, evolved in time step by step
 *   u1        y x z                                    y            a copy of it, transformed back along z and x
 *   decay     y x z                                    y            what one iteration multiplies the spectrum by
 *
 * The pencils of a transform are gathered into scratch, transformed there and put back. Scratch is the thread's part of
 * one more array.
 *
 * The main thread allocates all of it and writes all of it first, as the program did that was once one thread's.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FFT3D_CUBE_H
#define FFT3D_CUBE_H

#include <stddef.h>

#include "spin.h"
#include "transform.h"

enum {
    CUBE_PENCILS = 4, /* pencils that are gathered together: neighbours in memory share lines */
    CUBE_BLOCKS = 5
};

struct cube {
    int n1, n2, n3; /* powers of two, at least 2 */
    int threads;
    struct complex_number *u0, *u1, *u2;
    double *decay;
    struct complex_number *scratch;
    size_t scratch_size; /* elements per thread */
    struct complex_number *roots1, *roots2, *roots3;
    void *blocks[CUBE_BLOCKS]; /* what malloc returned for the five large ones */
    struct spin_barrier barrier;
    struct spin_reduction reduction;
};

/* Allocates and writes every array: random numbers in u2, zeros in u0 and u1. Ends the process if there is no memory. */
void cube_create(struct cube *cube, int n1, int n2, int n3, int threads);
void cube_free(struct cube *cube);

size_t cube_points(const struct cube *cube);

/* All threads call these together. Each ends with its own part done and no barrier, but for those that say so. */

/* u2 (z y x) -> u0: the spectrum. Ends with a barrier. */
void cube_transform_forward(struct cube *cube, int id, struct spin_local *local);

/* u0 := u0 * decay, then u0 -> u2 (z x y): the field one step later, times the number of points. */
void cube_iterate(struct cube *cube, int id, struct spin_local *local);

#endif
