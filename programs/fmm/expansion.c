/* The translations of expansion.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "expansion.h"

static double binomials[2 * TERMS_LARGEST][2 * TERMS_LARGEST];

void expansion_prepare(void) {
    for (int n = 0; n < 2 * TERMS_LARGEST; n++) {
        binomials[n][0] = binomials[n][n] = 1.0;
        for (int k = 1; k < n; k++) {
            binomials[n][k] = binomials[n - 1][k - 1] + binomials[n - 1][k];
        }
    }
}

static struct plane minus(struct plane a, struct plane b) {
    return (struct plane){a.re - b.re, a.im - b.im};
}
static struct plane times(struct plane a, struct plane b) {
    return (struct plane){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static struct plane scaled(double factor, struct plane a) {
    return (struct plane){factor * a.re, factor * a.im};
}
static struct plane inverse(struct plane a) {
    const double squared = a.re * a.re + a.im * a.im;
    return (struct plane){a.re / squared, -a.im / squared};
}
static void add(struct plane *sum, struct plane a) {
    sum->re += a.re;
    sum->im += a.im;
}

void expansion_from_particle(struct plane *multipole, int terms, struct plane center, const struct particle *particle) {
    const struct plane offset = minus(particle->position, center);
    struct plane power = {-particle->mass, 0.0};
    multipole[0].re += particle->mass;
    for (int k = 1; k < terms; k++) {
        power = times(power, offset);
        add(&multipole[k], scaled(1.0 / k, power));
    }
}

void expansion_shift_multipole(struct plane *parent, struct plane parent_center, const struct plane *child,
                               struct plane child_center, int terms) {
    const struct plane offset = minus(child_center, parent_center);
    struct plane powers[TERMS_LARGEST];
    powers[0] = (struct plane){1.0, 0.0};
    for (int k = 1; k < terms; k++) {
        powers[k] = times(powers[k - 1], offset);
    }
    add(&parent[0], child[0]);
    for (int l = 1; l < terms; l++) {
        struct plane sum = scaled(-1.0 / l, times(child[0], powers[l]));
        for (int k = 1; k <= l; k++) {
            add(&sum, scaled(binomials[l - 1][k - 1], times(child[k], powers[l - k])));
        }
        add(&parent[l], sum);
    }
}

void expansion_to_local(struct plane *local, struct plane local_center, const struct plane *multipole,
                        struct plane multipole_center, int terms) {
    const struct plane near = inverse(minus(multipole_center, local_center));
    struct plane powers[TERMS_LARGEST], turned[TERMS_LARGEST];
    powers[0] = (struct plane){1.0, 0.0};
    for (int k = 1; k < terms; k++) {
        powers[k] = times(powers[k - 1], near);
        turned[k] = scaled(k % 2 == 0 ? 1.0 : -1.0, times(multipole[k], powers[k]));
    }
    for (int l = 1; l < terms; l++) {
        struct plane sum = scaled(-1.0 / l, multipole[0]);
        for (int k = 1; k < terms; k++) {
            const double binomial = binomials[l + k - 1][k - 1];
            sum.re += binomial * turned[k].re;
            sum.im += binomial * turned[k].im;
        }
        add(&local[l], times(sum, powers[l]));
    }
}

void expansion_local_from_particle(struct plane *local, int terms, struct plane center,
                                   const struct particle *particle) {
    const struct plane near = inverse(minus(particle->position, center));
    struct plane power = {-particle->mass, 0.0};
    for (int l = 1; l < terms; l++) {
        power = times(power, near);
        add(&local[l], scaled(1.0 / l, power));
    }
}

void expansion_shift_local(struct plane *child, struct plane child_center, const struct plane *parent,
                           struct plane parent_center, int terms) {
    const struct plane offset = minus(child_center, parent_center);
    struct plane powers[TERMS_LARGEST];
    powers[0] = (struct plane){1.0, 0.0};
    for (int k = 1; k < terms; k++) {
        powers[k] = times(powers[k - 1], offset);
    }
    for (int l = 1; l < terms; l++) {
        for (int k = l; k < terms; k++) {
            add(&child[l], scaled(binomials[k][l], times(parent[k], powers[k - l])));
        }
    }
}

struct plane expansion_multipole_field(const struct plane *multipole, int terms, struct plane center,
                                       struct plane position) {
    const struct plane near = inverse(minus(position, center));
    struct plane sum = {0.0, 0.0};
    /* Horner's rule from the last term: a0 / w - a1 / w^2 - 2 a2 / w^3 ... */
    for (int k = terms - 1; k >= 1; k--) {
        sum = times(sum, near);
        add(&sum, scaled(-k, multipole[k]));
    }
    sum = times(sum, near);
    add(&sum, multipole[0]);
    return times(sum, near);
}

struct plane expansion_local_field(const struct plane *local, int terms, struct plane center, struct plane position) {
    const struct plane offset = minus(position, center);
    struct plane sum = {0.0, 0.0};
    for (int l = terms - 1; l >= 1; l--) {
        sum = times(sum, offset);
        add(&sum, scaled(l, local[l]));
    }
    return sum;
}
