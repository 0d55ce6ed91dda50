/* Making the scene of scene.h, and the geometry of its primitives. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "scene.h"

#include "grid.h"

enum { CHILDREN = 9, AROUND = 6 };

static const double FLOOR_HALF_SIDE = 12.0;
static const double FIRST_RADIUS = 0.5;
/* Added around primitives where cells are filled: covers the rounding of walks through the cells. */
static const double SLACK = 1e-9;

static const struct surface BALL = {{1.0, 0.9, 0.7}, 0.5, 0.5, 0.5};
static const struct surface GROUND = {{1.0, 0.75, 0.33}, 0.8, 0.0, 0.0};

/* Spheres of one branch, written from *next on. `outward` points away from the parent. */
static void add_spheres(struct primitive **next, struct vector center, double radius, struct vector outward, int levels) {
    *(*next)++ = (struct primitive){.kind = SPHERE, .center = center, .radius = radius, .surface = BALL};
    if (levels == 0) {
        return;
    }
    const struct vector least = fabs(outward.x) < 0.6 ? (struct vector){1.0, 0.0, 0.0} : (struct vector){0.0, 1.0, 0.0};
    const struct vector side = vector_unit(vector_cross(outward, least)), front = vector_cross(outward, side);
    const double pi = acos(-1.0);
    for (int child = 0; child < CHILDREN; child++) {
        const int is_around = child < AROUND;
        const double height = is_around ? 0.0 : pi / 3.0;
        const double turn = is_around ? child * pi / 3.0 : (child - AROUND) * 2.0 * pi / 3.0 + pi / 6.0;
        const struct vector direction =
            vector_plus(vector_scaled(sin(height), outward),
                        vector_plus(vector_scaled(cos(height) * cos(turn), side),
                                    vector_scaled(cos(height) * sin(turn), front)));
        const double child_radius = radius / 3.0;
        add_spheres(next, vector_plus(center, vector_scaled(radius + child_radius, direction)), child_radius, direction,
                    levels - 1);
    }
}

static struct vector smaller(struct vector a, struct vector b) {
    return (struct vector){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}
static struct vector larger(struct vector a, struct vector b) {
    return (struct vector){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}

static struct vector half_box(const struct primitive *primitive) {
    return (struct vector){primitive->radius, primitive->radius, primitive->kind == FLOOR ? 0.0 : primitive->radius};
}

static void measure_box(struct scene *scene) {
    scene->smallest = (struct vector){INFINITY, INFINITY, INFINITY};
    scene->largest = vector_scaled(-1.0, scene->smallest);
    for (int number = 0; number < scene->count; number++) {
        const struct primitive *primitive = &scene->primitives[number];
        const struct vector half = half_box(primitive);
        scene->smallest = smaller(scene->smallest, vector_minus(primitive->center, half));
        scene->largest = larger(scene->largest, vector_plus(primitive->center, half));
    }
    const struct vector slack = {SLACK, SLACK, SLACK};
    scene->smallest = vector_minus(scene->smallest, slack);
    scene->largest = vector_plus(scene->largest, slack);
}

void scene_create(struct scene *scene, int levels) {
    const struct vector up = {0.0, 0.0, 1.0};
    const double picture = tan(acos(-1.0) / 8.0); /* an angle of 45 degrees from edge to edge */
    *scene = (struct scene){.lamps = {{4.0, 3.0, 2.0}, {1.0, -4.0, 4.0}, {-3.0, 1.0, 5.0}},
                            .lamp_strength = 1.0 / sqrt(3.0),
                            .background = {0.08, 0.36, 0.75}};
    int spheres = 1;
    for (int level = 0, of_level = 1; level < levels; level++) {
        of_level *= CHILDREN;
        spheres += of_level;
    }
    scene->count = spheres + 1;
    scene->primitives = GRID_ALLOCATE(struct primitive, scene->count, "primitives");
    struct primitive *next = scene->primitives;
    *next++ = (struct primitive){
        .kind = FLOOR, .center = {0.0, 0.0, -FIRST_RADIUS}, .radius = FLOOR_HALF_SIDE, .surface = GROUND};
    add_spheres(&next, (struct vector){0.0, 0.0, 0.0}, FIRST_RADIUS, up, levels);
    measure_box(scene);
    scene->camera.eye = (struct vector){2.1, 1.3, 1.7};
    scene->camera.forward = vector_unit(vector_scaled(-1.0, scene->camera.eye));
    scene->camera.right = vector_scaled(picture, vector_unit(vector_cross(scene->camera.forward, up)));
    scene->camera.up = vector_cross(scene->camera.right, scene->camera.forward);
}

void scene_free(struct scene *scene) {
    free(scene->primitives);
}

double primitive_distance(const struct primitive *primitive, const struct ray *ray) {
    const struct vector offset = vector_minus(primitive->center, ray->origin);
    if (primitive->kind == FLOOR) {
        const double distance = offset.z / ray->direction.z;
        const double x = distance * ray->direction.x - offset.x, y = distance * ray->direction.y - offset.y;
        const int is_hit = distance >= SCENE_NEAREST && fabs(x) <= primitive->radius && fabs(y) <= primitive->radius;
        return is_hit ? distance : INFINITY;
    }
    const double middle = vector_dot(offset, ray->direction);
    const double inside = middle * middle - vector_dot(offset, offset) + primitive->radius * primitive->radius;
    if (inside < 0.0) {
        return INFINITY;
    }
    const double half = sqrt(inside);
    const double distance = middle - half >= SCENE_NEAREST ? middle - half : middle + half;
    return distance >= SCENE_NEAREST ? distance : INFINITY;
}

struct vector primitive_normal(const struct primitive *primitive, struct vector point) {
    if (primitive->kind == FLOOR) {
        return (struct vector){0.0, 0.0, 1.0};
    }
    return vector_unit(vector_minus(point, primitive->center));
}

int primitive_reaches(const struct primitive *primitive, struct vector smallest, struct vector largest) {
    const struct vector nearest = larger(smallest, smaller(primitive->center, largest));
    const struct vector away = vector_minus(nearest, primitive->center);
    if (primitive->kind == FLOOR) {
        return fabs(away.z) <= SLACK && fabs(away.x) <= primitive->radius + SLACK &&
               fabs(away.y) <= primitive->radius + SLACK;
    }
    return vector_dot(away, away) <= (primitive->radius + SLACK) * (primitive->radius + SLACK);
}
