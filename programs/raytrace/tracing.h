/* The light that a ray brings: lamps in sight, and what mirrors show.
 *
 * A search answers what a ray meets; with no grid to walk it tries every primitive, which is how pictures are proven.
 *
 * Source: T. Whitted, "An improved illumination model for shaded display", Comm. ACM 23(6), 1980.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RAYTRACE_TRACING_H
#define RAYTRACE_TRACING_H

#include "cells.h"

/* Red, green, blue. */
typedef unsigned char pixel[3];

struct picture {
    int side;    /* in pixels */
    int samples; /* per pixel, along each axis */
    int mirrors; /* at most so many reflections one after the other */
    pixel *pixels; /* row by row from the top */
};

/* The colour of a pixel, each component from 0 to 255. A search without cells tries everything. */
void tracing_pixel(struct search *search, const struct picture *picture, int column, int row, pixel colour);

/* For the ray through the middle of a pixel: how far from the surface, as a share of its size, the point lies that the ray is
 * said to meet; 0 if it meets nothing. */
double tracing_surface_error(struct search *search, const struct picture *picture, int column, int row);

#endif
