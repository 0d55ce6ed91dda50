/* The passes behind transform.h. In a pass over `groups` interleaved transforms, each of `length` points that are still to
 * be done, point k of transform g stands at k * groups + g.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "transform.h"

#include <math.h>

void transform_fill_roots(struct complex_number *roots, int length) {
    const double angle = -2.0 * acos(-1.0) / length;
    for (int k = 0; k < length; k++) {
        roots[k].re = cos(angle * k);
        roots[k].im = sin(angle * k);
    }
}

static struct complex_number times_root(double re, double im, struct complex_number root, double sign) {
    const double root_im = sign * root.im;
    return (struct complex_number){re * root.re - im * root_im, re * root_im + im * root.re};
}

static void pass_of_two(const struct complex_number *from, struct complex_number *to, int groups) {
    for (int group = 0; group < groups; group++) {
        const struct complex_number a = from[group], b = from[group + groups];
        to[group] = (struct complex_number){a.re + b.re, a.im + b.im};
        to[group + groups] = (struct complex_number){a.re - b.re, a.im - b.im};
    }
}

static void pass_of_four(const struct complex_number *from, struct complex_number *to,
                         const struct complex_number *roots, int length, int groups, double sign) {
    const int quarter = length / 4;
    for (int k = 0; k < quarter; k++) {
        const struct complex_number root1 = roots[k * groups];
        const struct complex_number root2 = roots[2 * k * groups];
        const struct complex_number root3 = roots[3 * k * groups];
        const struct complex_number *in = from + k * groups;
        struct complex_number *out = to + 4 * k * groups;
        for (int group = 0; group < groups; group++) {
            const struct complex_number a = in[group], b = in[group + quarter * groups];
            const struct complex_number c = in[group + 2 * quarter * groups], d = in[group + 3 * quarter * groups];
            const double sum_ac_re = a.re + c.re, sum_ac_im = a.im + c.im;
            const double difference_ac_re = a.re - c.re, difference_ac_im = a.im - c.im;
            const double sum_bd_re = b.re + d.re, sum_bd_im = b.im + d.im;
            /* (b - d) times -i forward, +i inverse */
            const double turned_re = sign * (b.im - d.im), turned_im = -sign * (b.re - d.re);
            out[group] = (struct complex_number){sum_ac_re + sum_bd_re, sum_ac_im + sum_bd_im};
            out[group + groups] =
                times_root(difference_ac_re + turned_re, difference_ac_im + turned_im, root1, sign);
            out[group + 2 * groups] = times_root(sum_ac_re - sum_bd_re, sum_ac_im - sum_bd_im, root2, sign);
            out[group + 3 * groups] =
                times_root(difference_ac_re - turned_re, difference_ac_im - turned_im, root3, sign);
        }
    }
}

struct complex_number *transform_pencil(struct complex_number *data, struct complex_number *other,
                                        const struct complex_number *roots, int length, int is_forward) {
    struct complex_number *from = data, *to = other;
    int groups = 1;
    while (length > 1) {
        if (length >= 4) {
            pass_of_four(from, to, roots, length, groups, is_forward ? 1.0 : -1.0);
            length /= 4;
            groups *= 4;
        } else {
            pass_of_two(from, to, groups);
            length = 1;
        }
        struct complex_number *swap = from;
        from = to;
        to = swap;
    }
    return from;
}
