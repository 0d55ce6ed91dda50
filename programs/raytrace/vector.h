/* Vectors of space, by value. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef RAYTRACE_VECTOR_H
#define RAYTRACE_VECTOR_H

#include <math.h>

struct vector {
    double x;
    double y;
    double z;
};

static inline struct vector vector_plus(struct vector a, struct vector b) {
    return (struct vector){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline struct vector vector_minus(struct vector a, struct vector b) {
    return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline struct vector vector_scaled(double factor, struct vector a) {
    return (struct vector){factor * a.x, factor * a.y, factor * a.z};
}
/* Component by component, as colours are. */
static inline struct vector vector_times(struct vector a, struct vector b) {
    return (struct vector){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline double vector_dot(struct vector a, struct vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline struct vector vector_cross(struct vector a, struct vector b) {
    return (struct vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline struct vector vector_unit(struct vector a) {
    return vector_scaled(1.0 / sqrt(vector_dot(a, a)), a);
}

#endif
