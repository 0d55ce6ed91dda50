/* Memory and start of the bodies behind body.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "random.h"

/* The owner's part takes whole lines of 32 bytes in the regrouped layout. */
enum { SMALLEST_LINE_BYTES = 32 };

static size_t whole_lines(size_t bytes) {
    return (bytes + SMALLEST_LINE_BYTES - 1) / SMALLEST_LINE_BYTES * SMALLEST_LINE_BYTES;
}

static void allocate(struct bodies *bodies, int is_regrouped) {
    const size_t count = (size_t)bodies->count;
    if (is_regrouped) {
        bodies->seen_step = whole_lines(sizeof(struct body_seen));
        bodies->own_step = whole_lines(sizeof(struct body_own));
        bodies->blocks[0] = GRID_ALLOCATE(char, count * bodies->seen_step + GRID_LINE_BYTES, "bodies, what all read");
        bodies->blocks[1] = GRID_ALLOCATE(char, count * bodies->own_step + GRID_LINE_BYTES, "bodies, what owners use");
        bodies->seen = grid_align_to_line(bodies->blocks[0]);
        bodies->own = grid_align_to_line(bodies->blocks[1]);
    } else {
        struct body *records = GRID_ALLOCATE(struct body, count, "bodies");
        memset(records, 0, count * sizeof *records);
        bodies->blocks[0] = records;
        bodies->seen_step = bodies->own_step = sizeof *records;
        bodies->seen = (char *)records + offsetof(struct body, seen);
        bodies->own = (char *)records + offsetof(struct body, own);
    }
}

/* A vector of the given length in any direction. */
static void any_direction(double length, uint64_t *random, double vector[AXES]) {
    double squared;
    do {
        squared = 0.0;
        for (int axis = 0; axis < AXES; axis++) {
            vector[axis] = 2.0 * random_unit(random) - 1.0;
            squared += vector[axis] * vector[axis];
        }
    } while (squared > 1.0 || squared == 0.0);
    for (int axis = 0; axis < AXES; axis++) {
        vector[axis] *= length / sqrt(squared);
    }
}

void bodies_create(struct bodies *bodies, long count, int is_regrouped, uint64_t seed) {
    const double pi = acos(-1.0), length_unit = 3.0 * pi / 16.0, speed_unit = sqrt(1.0 / length_unit);
    const double enclosed = 0.999; /* the share of the mass, from the centre, that is drawn from */
    double mean_position[AXES] = {0.0}, mean_velocity[AXES] = {0.0};
    *bodies = (struct bodies){.count = count};
    allocate(bodies, is_regrouped);
    for (long number = 0; number < count; number++) {
        struct body_seen *seen = body_seen(bodies, number);
        struct body_own *own = body_own(bodies, number);
        const double share = enclosed * (1.0 - random_unit(&seed));
        const double radius = 1.0 / sqrt(pow(share, -2.0 / 3.0) - 1.0);
        double speed, height;
        do {
            speed = random_unit(&seed);
            height = 0.1 * random_unit(&seed);
        } while (height > speed * speed * pow(1.0 - speed * speed, 3.5));
        *own = (struct body_own){.cost = 1};
        seen->mass = 1.0 / (double)count;
        any_direction(length_unit * radius, &seed, seen->position);
        any_direction(speed_unit * sqrt(2.0) * speed / pow(1.0 + radius * radius, 0.25), &seed, own->velocity);
        for (int axis = 0; axis < AXES; axis++) {
            mean_position[axis] += seen->position[axis] / (double)count;
            mean_velocity[axis] += own->velocity[axis] / (double)count;
        }
    }
    for (long number = 0; number < count; number++) {
        for (int axis = 0; axis < AXES; axis++) {
            body_seen(bodies, number)->position[axis] -= mean_position[axis];
            body_own(bodies, number)->velocity[axis] -= mean_velocity[axis];
        }
    }
}

void bodies_free(struct bodies *bodies) {
    free(bodies->blocks[0]);
    free(bodies->blocks[1]);
}
