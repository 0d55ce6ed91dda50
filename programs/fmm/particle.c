/* Drawing the particles of particle.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "particle.h"

#include <math.h>

#include "random.h"

/* What a particle is taken to cost before anything is measured. */
static const long FIRST_COST = 400;
static const double CLUSTER_DISTANCE = 4.0;
/* The share of a cluster's mass, from its centre, that is drawn from: up to three times its scale. */
static const double ENCLOSED = 0.9;

void particles_start(struct particle *particles, long count, enum particle_start start, uint64_t seed) {
    const double pi = acos(-1.0);
    for (long number = 0; number < count; number++) {
        struct particle *particle = &particles[number];
        const double share = ENCLOSED * random_unit(&seed), angle = 2.0 * pi * random_unit(&seed);
        /* The mass of a plane Plummer cluster within r is r^2 / (1 + r^2); a circular orbit has its root as speed. */
        const double radius = sqrt(share / (1.0 - share));
        const double speed = 0.5 * sqrt(share) * random_unit(&seed), course = 2.0 * pi * random_unit(&seed);
        *particle = (struct particle){.mass = 1.0 / (double)count, .cost = FIRST_COST};
        particle->velocity = (struct plane){speed * cos(course), speed * sin(course)};
        particle->position = (struct plane){radius * cos(angle), radius * sin(angle)};
        if (start == PARTICLES_UNIFORM) {
            particle->position = (struct plane){2.0 * random_unit(&seed) - 1.0, 2.0 * random_unit(&seed) - 1.0};
        } else if (start == PARTICLES_TWO_CLUSTERS) {
            particle->position.re += (number % 2 == 0 ? 0.5 : -0.5) * CLUSTER_DISTANCE;
        }
    }
}
