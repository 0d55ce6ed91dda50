/* Tracing and shading behind tracing.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tracing.h"

#include <stddef.h>

/* A reflection that adds less than this share of a pixel's light is not followed. */
static const double FAINTEST = 0.01;
static const int SHINE_POWER = 3;

static void find_nearest(struct search *search, const struct ray *ray) {
    if (search->cells != NULL) {
        search_nearest(search, ray);
        return;
    }
    search->distance = INFINITY;
    search->found = -1;
    for (int number = 0; number < search->scene->count; number++) {
        const double distance = primitive_distance(&search->scene->primitives[number], ray);
        if (distance < search->distance) {
            search->distance = distance;
            search->found = number;
        }
    }
}

static int is_blocked(struct search *search, const struct ray *ray, double distance) {
    if (search->cells != NULL) {
        return search_any(search, ray, distance);
    }
    for (int number = 0; number < search->scene->count; number++) {
        if (primitive_distance(&search->scene->primitives[number], ray) < distance) {
            return 1;
        }
    }
    return 0;
}

/* Made one long again: small spheres would magnify what is missing with each reflection. */
static struct vector mirrored(struct vector direction, struct vector normal) {
    return vector_unit(vector_minus(direction, vector_scaled(2.0 * vector_dot(direction, normal), normal)));
}

/* What one lamp adds at a point. */
static struct vector lamp_light(struct search *search, const struct surface *surface, struct vector point,
                                struct vector normal, struct vector view, struct vector lamp) {
    const struct vector dark = {0.0, 0.0, 0.0};
    const struct vector to_lamp = vector_minus(lamp, point);
    const double distance = sqrt(vector_dot(to_lamp, to_lamp));
    const struct ray ray = {point, vector_scaled(1.0 / distance, to_lamp)};
    const double slope = vector_dot(normal, ray.direction);
    if (slope <= 0.0 || is_blocked(search, &ray, distance)) {
        return dark;
    }
    const double along = vector_dot(mirrored(view, normal), ray.direction);
    double shine = along > 0.0 ? surface->shining : 0.0;
    for (int factor = 0; factor < SHINE_POWER; factor++) {
        shine *= along;
    }
    const struct vector white = {shine, shine, shine};
    const struct vector light = vector_plus(vector_scaled(surface->diffuse * slope, surface->colour), white);
    return vector_scaled(search->scene->lamp_strength, light);
}

static struct vector trace(struct search *search, const struct ray *ray, double weight, int mirrors_left) {
    find_nearest(search, ray);
    if (search->found < 0) {
        return search->scene->background;
    }
    const struct primitive *primitive = &search->scene->primitives[search->found];
    const struct surface *surface = &primitive->surface;
    const struct vector surface_point = vector_plus(ray->origin, vector_scaled(search->distance, ray->direction));
    const struct vector normal = primitive_normal(primitive, surface_point);
    /* Rays from here start a little above the surface, so as not to meet it again by rounding. */
    const struct vector point = vector_plus(surface_point, vector_scaled(10.0 * SCENE_NEAREST, normal));
    struct vector light = {0.0, 0.0, 0.0};
    for (int lamp = 0; lamp < LAMPS; lamp++) {
        light = vector_plus(light,
                            lamp_light(search, surface, point, normal, ray->direction, search->scene->lamps[lamp]));
    }
    if (mirrors_left > 0 && weight * surface->mirror > FAINTEST) {
        const struct ray onward = {point, mirrored(ray->direction, normal)};
        const struct vector seen = trace(search, &onward, weight * surface->mirror, mirrors_left - 1);
        light = vector_plus(light, vector_scaled(surface->mirror, seen));
    }
    return light;
}

static unsigned char byte_of(double light) {
    return light >= 1.0 ? 255 : light <= 0.0 ? 0 : (unsigned char)(light * 255.0 + 0.5);
}

/* The ray through a place of the picture, in pixels from the top left. */
static struct ray camera_ray(const struct search *search, const struct picture *picture, double across, double down) {
    const struct camera *camera = &search->scene->camera;
    const struct vector right = vector_scaled(2.0 * across / picture->side - 1.0, camera->right);
    const struct vector up = vector_scaled(1.0 - 2.0 * down / picture->side, camera->up);
    return (struct ray){camera->eye, vector_unit(vector_plus(camera->forward, vector_plus(right, up)))};
}

void tracing_pixel(struct search *search, const struct picture *picture, int column, int row, pixel colour) {
    struct vector sum = {0.0, 0.0, 0.0};
    for (int sample = 0; sample < picture->samples * picture->samples; sample++) {
        const double across = column + (sample % picture->samples + 0.5) / picture->samples;
        const double down = row + (sample / picture->samples + 0.5) / picture->samples;
        const struct ray ray = camera_ray(search, picture, across, down);
        sum = vector_plus(sum, trace(search, &ray, 1.0, picture->mirrors));
    }
    sum = vector_scaled(1.0 / (picture->samples * picture->samples), sum);
    colour[0] = byte_of(sum.x);
    colour[1] = byte_of(sum.y);
    colour[2] = byte_of(sum.z);
}

double tracing_surface_error(struct search *search, const struct picture *picture, int column, int row) {
    const struct ray ray = camera_ray(search, picture, column + 0.5, row + 0.5);
    find_nearest(search, &ray);
    if (search->found < 0) {
        return 0.0;
    }
    const struct primitive *primitive = &search->scene->primitives[search->found];
    const struct vector point = vector_plus(ray.origin, vector_scaled(search->distance, ray.direction));
    const struct vector away = vector_minus(point, primitive->center);
    const double beside = primitive->kind == FLOOR ? away.z : sqrt(vector_dot(away, away)) - primitive->radius;
    return fabs(beside) / primitive->radius;
}
