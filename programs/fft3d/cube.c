/* Arrays and phases behind cube.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cube.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "grid.h"
#include "random.h"
#include "team.h"

static const double DIFFUSION = 1e-6;

size_t cube_points(const struct cube *cube) {
    return (size_t)cube->n1 * (size_t)cube->n2 * (size_t)cube->n3;
}

static struct complex_number *roots_of(int length) {
    struct complex_number *roots = GRID_ALLOCATE(struct complex_number, length, "roots of unity");
    transform_fill_roots(roots, length);
    return roots;
}

/* In [-1, 1). */
static double next_random(uint64_t *state) {
    return random_bits(state) / 2147483648.0 - 1.0;
}

/* The wave number of index k, from -length/2 to length/2 - 1. */
static double wave_number(int k, int length) {
    return k >= length / 2 ? k - length : k;
}

static void fill_decay(const struct cube *cube) {
    const double rate = 4.0 * DIFFUSION * acos(-1.0) * acos(-1.0);
    double *decay = cube->decay;
    for (int y = 0; y < cube->n2; y++) {
        for (int x = 0; x < cube->n1; x++) {
            for (int z = 0; z < cube->n3; z++) {
                const double square = pow(wave_number(x, cube->n1), 2) + pow(wave_number(y, cube->n2), 2) +
                                      pow(wave_number(z, cube->n3), 2);
                *decay++ = exp(-rate * square);
            }
        }
    }
}

void cube_create(struct cube *cube, int n1, int n2, int n3, int threads) {
    *cube = (struct cube){.n1 = n1, .n2 = n2, .n3 = n3, .threads = threads};
    const size_t points = cube_points(cube);
    const size_t spare = GRID_LINE_BYTES / sizeof(double);
    int longest = n1 > n2 ? n1 : n2;
    longest = n3 > longest ? n3 : longest;
    /* The pencils and one to transform them with; whole lines, so that threads share none. */
    cube->scratch_size = (size_t)(CUBE_PENCILS + 1) * (size_t)longest + GRID_LINE_BYTES / sizeof(struct complex_number);
    cube->scratch_size -= cube->scratch_size % (GRID_LINE_BYTES / sizeof(struct complex_number));

    cube->blocks[0] = GRID_ALLOCATE(struct complex_number, points + spare, "u0");
    cube->blocks[1] = GRID_ALLOCATE(struct complex_number, points + spare, "u1");
    cube->blocks[2] = GRID_ALLOCATE(struct complex_number, points + spare, "u2");
    cube->blocks[3] = GRID_ALLOCATE(double, points + spare, "decay");
    cube->blocks[4] =
        GRID_ALLOCATE(struct complex_number, (size_t)threads * cube->scratch_size + spare, "scratch");
    cube->u0 = grid_align_to_line(cube->blocks[0]);
    cube->u1 = grid_align_to_line(cube->blocks[1]);
    cube->u2 = grid_align_to_line(cube->blocks[2]);
    cube->decay = grid_align_to_line(cube->blocks[3]);
    cube->scratch = grid_align_to_line(cube->blocks[4]);
    cube->roots1 = roots_of(n1);
    cube->roots2 = roots_of(n2);
    cube->roots3 = roots_of(n3);

    memset(cube->u0, 0, points * sizeof *cube->u0);
    memset(cube->u1, 0, points * sizeof *cube->u1);
    uint64_t state = 314159265;
    for (size_t point = 0; point < points; point++) {
        cube->u2[point].re = next_random(&state);
        cube->u2[point].im = next_random(&state);
    }
    fill_decay(cube);
    memset(cube->scratch, 0, (size_t)threads * cube->scratch_size * sizeof *cube->scratch);
    spin_barrier_start(&cube->barrier, threads);
}

void cube_free(struct cube *cube) {
    for (int block = 0; block < CUBE_BLOCKS; block++) {
        free(cube->blocks[block]);
    }
    free(cube->roots1);
    free(cube->roots2);
    free(cube->roots3);
}

/* Where the pencils of one transform lie: pencil p's element k at base[p * pencil_step + k * element_step]. */
struct pencils {
    struct complex_number *base;
    int count;
    int length;
    ptrdiff_t pencil_step;
    ptrdiff_t element_step;
};

static void transform_pencils(const struct cube *cube, int id, const struct pencils *pencils,
                              const struct complex_number *roots, int is_forward) {
    struct complex_number *gathered = cube->scratch + (size_t)id * cube->scratch_size;
    struct complex_number *spare = gathered + (ptrdiff_t)CUBE_PENCILS * pencils->length;
    const int length = pencils->length;
    for (int first = 0; first < pencils->count; first += CUBE_PENCILS) {
        const int count = pencils->count - first < CUBE_PENCILS ? pencils->count - first : CUBE_PENCILS;
        struct complex_number *base = pencils->base + first * pencils->pencil_step;
        for (int k = 0; k < length; k++) {
            for (int pencil = 0; pencil < count; pencil++) {
                gathered[pencil * length + k] = base[pencil * pencils->pencil_step + k * pencils->element_step];
            }
        }
        for (int pencil = 0; pencil < count; pencil++) {
            struct complex_number *start = gathered + (ptrdiff_t)pencil * length;
            const struct complex_number *done = transform_pencil(start, spare, roots, length, is_forward);
            if (done != start) {
                memcpy(start, done, (size_t)length * sizeof *start);
            }
        }
        for (int k = 0; k < length; k++) {
            for (int pencil = 0; pencil < count; pencil++) {
                base[pencil * pencils->pencil_step + k * pencils->element_step] = gathered[pencil * length + k];
            }
        }
    }
}

/* to[column * to_step + row] = from[row * from_step + column]. Two rows at a time: with lines of two elements, each line
 * of either array is touched in one go, whatever powers of two the steps are. `rows` is even. */
static void transpose(const struct complex_number *from, ptrdiff_t from_step, struct complex_number *to,
                      ptrdiff_t to_step, int rows, int columns) {
    for (int row = 0; row < rows; row += 2) {
        const struct complex_number *upper = from + row * from_step;
        const struct complex_number *lower = upper + from_step;
        for (int column = 0; column < columns; column++) {
            struct complex_number *target = to + column * to_step + row;
            target[0] = upper[column];
            target[1] = lower[column];
        }
    }
}

void cube_transform_forward(struct cube *cube, int id, struct spin_local *local) {
    const int n1 = cube->n1, n2 = cube->n2, n3 = cube->n3;
    for (int z = team_share_begin(n3, cube->threads, id); z < team_share_end(n3, cube->threads, id); z++) {
        struct complex_number *plane = cube->u2 + (ptrdiff_t)z * n2 * n1;
        const struct pencils along_x = {plane, n2, n1, n1, 1};
        const struct pencils along_y = {plane, n1, n2, 1, n1};
        transform_pencils(cube, id, &along_x, cube->roots1, 1);
        transform_pencils(cube, id, &along_y, cube->roots2, 1);
    }
    spin_barrier_wait(&cube->barrier, local);
    for (int y = team_share_begin(n2, cube->threads, id); y < team_share_end(n2, cube->threads, id); y++) {
        struct complex_number *plane = cube->u0 + (ptrdiff_t)y * n1 * n3;
        transpose(cube->u2 + (ptrdiff_t)y * n1, (ptrdiff_t)n2 * n1, plane, n3, n3, n1);
        const struct pencils along_z = {plane, n1, n3, n3, 1};
        transform_pencils(cube, id, &along_z, cube->roots3, 1);
    }
    spin_barrier_wait(&cube->barrier, local);
}

/* The phases run over the whole slab one after the other, each a loop nest of its own, as separate subroutines did. */
void cube_iterate(struct cube *cube, int id, struct spin_local *local) {
    const int n1 = cube->n1, n2 = cube->n2, n3 = cube->n3;
    const int first_y = team_share_begin(n2, cube->threads, id), end_y = team_share_end(n2, cube->threads, id);
    const int first_z = team_share_begin(n3, cube->threads, id), end_z = team_share_end(n3, cube->threads, id);
    const ptrdiff_t y_plane = (ptrdiff_t)n1 * n3, z_plane = (ptrdiff_t)n1 * n2;

    for (ptrdiff_t point = first_y * y_plane; point < end_y * y_plane; point++) {
        const double factor = cube->decay[point];
        struct complex_number *spectrum = &cube->u0[point];
        spectrum->re *= factor;
        spectrum->im *= factor;
        cube->u1[point] = *spectrum;
    }
    const struct pencils along_z = {cube->u1 + first_y * y_plane, (end_y - first_y) * n1, n3, n3, 1};
    transform_pencils(cube, id, &along_z, cube->roots3, 0);
    for (int y = first_y; y < end_y; y++) {
        const struct pencils along_x = {cube->u1 + y * y_plane, n3, n1, 1, n3};
        transform_pencils(cube, id, &along_x, cube->roots1, 0);
    }
    spin_barrier_wait(&cube->barrier, local);
    for (int x = 0; x < n1; x++) {
        transpose(cube->u1 + (ptrdiff_t)x * n3 + first_z, y_plane, cube->u2 + first_z * z_plane + (ptrdiff_t)x * n2,
                  z_plane, n2, end_z - first_z);
    }
    const struct pencils along_y = {cube->u2 + first_z * z_plane, (end_z - first_z) * n1, n2, n2, 1};
    transform_pencils(cube, id, &along_y, cube->roots2, 0);
}
