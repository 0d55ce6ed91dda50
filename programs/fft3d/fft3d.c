/* fft3d: a diffusion equation on a periodic box, solved by three-dimensional Fourier transforms.
 *
 * The field is transformed once; each iteration multiplies the spectrum by one step's decay, transforms it back and adds
 * up 1,024 points of the result. The arrays and phases stand in cube.h, the transform of a pencil in transform.h.
 *
 * Timed: the forward transform and all iterations. Not timed: the main thread's first writes, the proofs.
 *
 * Proofs in each run: the sum of squares is kept by the forward and by the last inverse transform (Parseval); two
 * frequencies of the one and two points of the other equal sums by the definition, over all points.
 *
 * Sources: D. Bailey et al., "The NAS parallel benchmarks", Int. J. Supercomputer Applications 5, 1991 (the 3-D FFT PDE
 * kernel); B. Brock et al., "Windows NT in a ccNUMA System", USENIX Windows NT Symposium 1999 (64 x 128 x 64,
 * 20 iterations); the same machine with 128 x 128 x 128: B. Brock et al., IBM J. Res. Dev. 45(2), 2001, section 6.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "cube.h"
#include "options.h"
#include "team.h"

enum { SAMPLES = 2, CHECKSUM_POINTS = 1024 };

struct run {
    struct cube cube;
    int iterations;
    double started_s;
    double finished_s;
    double checksum_re, checksum_im;
    double forward_energy_error, inverse_energy_error;
    double forward_sample_error, inverse_sample_error; /* relative to the root of the sum of squares */
};

/* The element (x, y, z) of each order of memory. */
static size_t place_zyx(const struct cube *cube, int x, int y, int z) {
    return ((size_t)z * (size_t)cube->n2 + (size_t)y) * (size_t)cube->n1 + (size_t)x;
}
static size_t place_yxz(const struct cube *cube, int x, int y, int z) {
    return ((size_t)y * (size_t)cube->n1 + (size_t)x) * (size_t)cube->n3 + (size_t)z;
}
static size_t place_zxy(const struct cube *cube, int x, int y, int z) {
    return ((size_t)z * (size_t)cube->n1 + (size_t)x) * (size_t)cube->n2 + (size_t)y;
}

/* Two arbitrary indices, within any size. */
static void sample_index(const struct cube *cube, int sample, int index[3]) {
    index[0] = sample == 0 ? 1 : cube->n1 - 1;
    index[1] = sample == 0 ? 3 % cube->n2 : cube->n2 / 2;
    index[2] = sample == 0 ? 2 % cube->n3 : 5 % cube->n3;
}

static struct complex_number product(struct complex_number a, struct complex_number b) {
    return (struct complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* The sum over points [begin, end) of the slowest index of value * exp(-+ 2 pi i (..)), by the definition; and of squares.
 * `slow` is z for the field (order z y x), y for the spectrum (order y x z); sign is 1 forward, -1 inverse. */
struct part {
    struct complex_number samples[SAMPLES];
    double energy;
};
static struct part sum_by_definition(const struct cube *cube, const struct complex_number *values, int is_forward,
                                     int begin, int end) {
    struct part part = {0};
    int index[SAMPLES][3];
    for (int sample = 0; sample < SAMPLES; sample++) {
        sample_index(cube, sample, index[sample]);
    }
    for (int slow = begin; slow < end; slow++) {
        for (int middle = 0; middle < (is_forward ? cube->n2 : cube->n1); middle++) {
            for (int fast = 0; fast < (is_forward ? cube->n1 : cube->n3); fast++) {
                const int x = is_forward ? fast : middle;
                const int y = is_forward ? middle : slow;
                const int z = is_forward ? slow : fast;
                const struct complex_number value =
                    values[is_forward ? place_zyx(cube, x, y, z) : place_yxz(cube, x, y, z)];
                part.energy += value.re * value.re + value.im * value.im;
                for (int sample = 0; sample < SAMPLES; sample++) {
                    const struct complex_number root = product(
                        product(cube->roots1[(long)x * index[sample][0] % cube->n1],
                                cube->roots2[(long)y * index[sample][1] % cube->n2]),
                        cube->roots3[(long)z * index[sample][2] % cube->n3]);
                    const struct complex_number turned = {root.re, is_forward ? root.im : -root.im};
                    const struct complex_number term = product(value, turned);
                    part.samples[sample].re += term.re;
                    part.samples[sample].im += term.im;
                }
            }
        }
    }
    return part;
}

static struct part sum_of_all(struct cube *cube, struct spin_local *local, struct part own) {
    for (int sample = 0; sample < SAMPLES; sample++) {
        own.samples[sample].re = spin_reduce_sum(&cube->reduction, &cube->barrier, local, own.samples[sample].re);
        own.samples[sample].im = spin_reduce_sum(&cube->reduction, &cube->barrier, local, own.samples[sample].im);
    }
    own.energy = spin_reduce_sum(&cube->reduction, &cube->barrier, local, own.energy);
    return own;
}

static double own_energy(const struct complex_number *values, size_t begin, size_t end) {
    double energy = 0.0;
    for (size_t point = begin; point < end; point++) {
        energy += values[point].re * values[point].re + values[point].im * values[point].im;
    }
    return energy;
}

/* How far the samples of the computed transform are from the sums by definition, relative to the root of its energy. */
static double sample_error(const struct cube *cube, const struct part *wanted, int is_forward, double energy) {
    double largest = 0.0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        int index[3];
        sample_index(cube, sample, index);
        const struct complex_number value =
            is_forward ? cube->u0[place_yxz(cube, index[0], index[1], index[2])]
                       : cube->u2[place_zxy(cube, index[0], index[1], index[2])];
        const double error =
            hypot(value.re - wanted->samples[sample].re, value.im - wanted->samples[sample].im) / sqrt(energy);
        largest = error > largest || isnan(error) ? error : largest;
    }
    return largest;
}

/* Adds up the own part of the 1,024 points, all scaled by the number of points. */
static struct complex_number own_checksum(const struct cube *cube, int first_z, int end_z) {
    struct complex_number sum = {0.0, 0.0};
    for (int j = 1; j <= CHECKSUM_POINTS; j++) {
        const int x = j % cube->n1, y = 3 * j % cube->n2, z = 5 * j % cube->n3;
        if (z >= first_z && z < end_z) {
            const struct complex_number *value = &cube->u2[place_zxy(cube, x, y, z)];
            sum.re += value->re;
            sum.im += value->im;
        }
    }
    sum.re /= (double)cube_points(cube);
    sum.im /= (double)cube_points(cube);
    return sum;
}

static void solve(int id, void *shared) {
    struct run *run = shared;
    struct cube *cube = &run->cube;
    struct spin_local local = {0};
    const int first_y = team_share_begin(cube->n2, cube->threads, id), end_y = team_share_end(cube->n2, cube->threads, id);
    const int first_z = team_share_begin(cube->n3, cube->threads, id), end_z = team_share_end(cube->n3, cube->threads, id);
    const size_t y_plane = (size_t)cube->n1 * (size_t)cube->n3, z_plane = (size_t)cube->n1 * (size_t)cube->n2;
    const double points = (double)cube_points(cube);
    const struct part field =
        sum_of_all(cube, &local, sum_by_definition(cube, cube->u2, 1, first_z, end_z));
    if (id == 0) {
        run->started_s = team_part_begins();
    }

    cube_transform_forward(cube, id, &local);

    /* A sum over one array, and a barrier: little beside the transform, so the clock runs on. */
    const double forward_energy = spin_reduce_sum(
        &cube->reduction, &cube->barrier, &local, own_energy(cube->u0, (size_t)first_y * y_plane, (size_t)end_y * y_plane));
    if (id == 0) {
        run->forward_energy_error = fabs(forward_energy / (points * field.energy) - 1.0);
        run->forward_sample_error = sample_error(cube, &field, 1, forward_energy);
    }
    spin_barrier_wait(&cube->barrier, &local);
    struct complex_number checksum = {0.0, 0.0};
    for (int iteration = 0; iteration < run->iterations; iteration++) {
        cube_iterate(cube, id, &local);
        checksum = own_checksum(cube, first_z, end_z);
        checksum.re = spin_reduce_sum(&cube->reduction, &cube->barrier, &local, checksum.re);
        checksum.im = spin_reduce_sum(&cube->reduction, &cube->barrier, &local, checksum.im);
    }
    if (id == 0) {
        run->finished_s = team_part_ends();
        run->checksum_re = checksum.re;
        run->checksum_im = checksum.im;
    }

    const struct part spectrum =
        sum_of_all(cube, &local, sum_by_definition(cube, cube->u0, 0, first_y, end_y));
    const double inverse_energy = spin_reduce_sum(
        &cube->reduction, &cube->barrier, &local, own_energy(cube->u2, (size_t)first_z * z_plane, (size_t)end_z * z_plane));
    if (id == 0) {
        run->inverse_energy_error = fabs(inverse_energy / (points * spectrum.energy) - 1.0);
        run->inverse_sample_error = sample_error(cube, &spectrum, 0, inverse_energy);
    }
}

static void refuse_unless_power_of_two(const char *name, long length) {
    if ((length & (length - 1)) != 0) {
        options_refuse("fft3d", "--%s %ld: only powers of two are transformed", name, length);
    }
}

int main(int argc, char **argv) {
    long threads = 1, n1 = 64, n2 = 128, n3 = 64, iterations = 20;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'x', "x", OPTION_COUNT, &n1, 2, 4096, "points along the first index, a power of two"},
        {'y', "y", OPTION_COUNT, &n2, 2, 4096, "points along the second index, a power of two"},
        {'z', "z", OPTION_COUNT, &n3, 2, 4096, "points along the third index, a power of two"},
        {'i', "iterations", OPTION_COUNT, &iterations, 1, 1e6, "iterations"},
    };
    const struct option_table table = {"fft3d", "diffusion in a periodic box by three-dimensional Fourier transforms",
                                       entries, sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    refuse_unless_power_of_two("x", n1);
    refuse_unless_power_of_two("y", n2);
    refuse_unless_power_of_two("z", n3);

    static struct run run;
    run.iterations = (int)iterations;
    cube_create(&run.cube, (int)n1, (int)n2, (int)n3, (int)threads);
    team_run((int)threads, solve, &run);

    printf("fft3d: %ld x %ld x %ld complex doubles, %ld iterations, %ld threads\n", n1, n2, n3, iterations, threads);
    team_report(run.finished_s - run.started_s, hypot(run.checksum_re, run.checksum_im), 1e-12);
    int wrong = 0;
    wrong += team_verify("forward-parseval", run.forward_energy_error, 1e-10);
    wrong += team_verify("inverse-parseval", run.inverse_energy_error, 1e-10);
    wrong += team_verify("forward-direct-sum", run.forward_sample_error, 1e-12);
    wrong += team_verify("inverse-direct-sum", run.inverse_sample_error, 1e-12);
    cube_free(&run.cube);
    return wrong ? 1 : 0;
}
