/* The bodies of barnes, in two layouts of memory.
 *
 * The concept. Of a body every thread reads the mass and the position, when it computes the forces on its own bodies; the
 * rest only its owner uses. The published program keeps both in one record, side by side with no regard to lines of the
 * cache. The regrouped form, which the machine's monitor suggested to the authors of the 2001 paper ("extra"), puts what
 * all read into one line of its own, so that no line is fetched for data that the reader does not want, and no reader
 * loses a line because the owner wrote something else in it.
 *
 * Both are reached by the same code: two base addresses and two steps.
 *
 * Sources: B. Brock et al., IBM J. Res. Dev. 45(2), 2001, section 6 (Barnes-Hut, "extra"); S. Aarseth, M. Henon,
 * R. Wielen, "A comparison of numerical methods for the study of star cluster dynamics", Astron. Astrophys. 37, 1974
 * (how to draw a Plummer model).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BARNES_BODY_H
#define BARNES_BODY_H

#include <stddef.h>
#include <stdint.h>

enum { AXES = 3 };

/* What every thread reads: 32 bytes. */
struct body_seen {
    double mass;
    double position[AXES];
};

/* What the owner alone uses. */
struct body_own {
    double velocity[AXES];
    double acceleration[AXES];
    double potential;
    long cost; /* interactions of the last step */
};

/* The record of the published layout. */
struct body {
    long level; /* of its leaf in the tree */
    struct body_seen seen;
    struct body_own own;
};

struct bodies {
    long count;
    char *seen;
    size_t seen_step;
    char *own;
    size_t own_step;
    void *blocks[2];
};

/* Allocates the bodies of a Plummer model of total mass 1 and energy -1/4 (before softening), at rest as a whole, and
 * writes them all. No memory: exit code 2. */
void bodies_create(struct bodies *bodies, long count, int is_regrouped, uint64_t seed);
void bodies_free(struct bodies *bodies);

static inline struct body_seen *body_seen(const struct bodies *bodies, long number) {
    return (struct body_seen *)(void *)(bodies->seen + (size_t)number * bodies->seen_step);
}
static inline struct body_own *body_own(const struct bodies *bodies, long number) {
    return (struct body_own *)(void *)(bodies->own + (size_t)number * bodies->own_step);
}
static inline long body_number(const struct bodies *bodies, const struct body_seen *seen) {
    return (long)((size_t)((const char *)seen - bodies->seen) / bodies->seen_step);
}

#endif
