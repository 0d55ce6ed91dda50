/* The scene of raytrace: nested spheres over a floor, lamps and a camera.
 *
 * A sphere carries nine of a third of its size, six around its equator and three above, and each of those carries nine
 * again. Four levels of that are 1 + 9 + 81 + 729 + 6,561 spheres, with the floor 7,382 primitives: as many as the scene
 * "balls4" has that the papers name, which comes from the same idea.
 *
 * Source: E. Haines, "A proposal for standard graphics environments", IEEE Computer Graphics and Applications 7(11), 1987.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RAYTRACE_SCENE_H
#define RAYTRACE_SCENE_H

#include "vector.h"

enum { LAMPS = 3, SCENE_LEVELS_LARGEST = 6 };

enum primitive_kind {
    SPHERE,
    FLOOR /* a horizontal square */
};

struct surface {
    struct vector colour;
    double diffuse;
    double shining;
    double mirror; /* share of the light that is reflected */
};

struct primitive {
    enum primitive_kind kind;
    struct vector center;
    double radius; /* half of the side for the floor */
    struct surface surface;
};

struct ray {
    struct vector origin;
    struct vector direction; /* of length 1 */
};

struct camera {
    struct vector eye;
    struct vector forward;
    struct vector right;
    struct vector up; /* right and up have the length of half the picture at distance 1 */
};

struct scene {
    struct primitive *primitives;
    int count;
    struct vector lamps[LAMPS];
    double lamp_strength;
    struct vector background;
    struct vector smallest; /* corners of the box around all primitives */
    struct vector largest;
    struct camera camera;
};

/* Allocates and makes the scene of so many levels. */
void scene_create(struct scene *scene, int levels);
void scene_free(struct scene *scene);

/* The distance along the ray to the primitive, at least SCENE_NEAREST; infinity if the ray misses it. */
#define SCENE_NEAREST 1e-7
double primitive_distance(const struct primitive *primitive, const struct ray *ray);

/* The direction that the surface faces at a point of it. */
struct vector primitive_normal(const struct primitive *primitive, struct vector point);

/* Whether the primitive reaches into the box. May say yes for one that just misses it, never no for one that reaches it. */
int primitive_reaches(const struct primitive *primitive, struct vector smallest, struct vector largest);

#endif
