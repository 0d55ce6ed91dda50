/* matmult: C = A * B of square matrices of doubles, by the definition.
 *
 * Each thread computes a band of rows of C. The inner loop walks a column of B: with the default size two consecutive
 * elements are more than 8 KB apart, so every one lies in another page, and all of B passes through the caches for each
 * row that is not computed soon after its neighbour. Every thread reads all of B; no home suits it. With --replicate each
 * node reads its own copy, which the resource-set library makes.
 *
 * Rows are a little longer than they need to be, as rows that are allocated one by one are: with rows of exactly 8 KB the lines of
 * a column would share so few sets of a cache that none survives until the next column, and one thread would take twice
 * the published time for its misses alone.
 *
 * Memory: A, B and C are one block each, allocated and written (C with zeros) by the main thread.
 *
 * The result is checked by Freivalds' test: with a random vector r of +1 and -1, C r must equal A (B r) to rounding.
 * A wrong element escapes with probability one half per vector; eight vectors are tried.
 *
 * Sources: B. Brock et al., "Windows NT in a ccNUMA System", USENIX Windows NT Symposium 1999, sections 5 and 5.3;
 * R. Freivalds, "Probabilistic machines can use less running time", IFIP 1977.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "options.h"
#include "random.h"
#include "rset.h"
#include "spin.h"
#include "team.h"

/* Absent outside a run that provides the library: then its address is NULL. */
#pragma weak rset_replicate

enum { FREIVALDS_VECTORS = 8, SPARE_COLUMNS = 4 };

struct multiplication {
    int size;
    size_t pitch; /* elements from one row to the next */
    int threads;
    int is_replicated;
    double *a;
    double *b;
    double *c;
    double started_s;
    double finished_s;
    struct spin_barrier barrier;
};

static const double *multiplier_near_me(const struct multiplication *work) {
    const void *copy = NULL;
    if (!work->is_replicated) {
        return work->b;
    }
    int status = rset_replicate(work->b, (size_t)work->size * work->pitch * sizeof(double), &copy);
    if (status != 0) {
        fprintf(stderr, "matmult: replicate the multiplier: %s\n", strerror(-status));
        exit(2);
    }
    return copy;
}

static void multiply_band(int id, void *shared) {
    struct multiplication *work = shared;
    struct spin_local local = {0};
    const int size = work->size;
    const size_t pitch = work->pitch;
    const int end = team_share_end(size, work->threads, id);

    spin_barrier_wait(&work->barrier, &local);
    if (id == 0) {
        work->started_s = team_part_begins();
    }
    const double *b = multiplier_near_me(work);
    for (int row = team_share_begin(size, work->threads, id); row < end; row++) {
        const double *a_row = work->a + (size_t)row * pitch;
        for (int column = 0; column < size; column++) {
            double sum = 0.0;
            for (int k = 0; k < size; k++) {
                sum += a_row[k] * b[(size_t)k * pitch + (size_t)column];
            }
            work->c[(size_t)row * pitch + (size_t)column] = sum;
        }
    }
    spin_barrier_wait(&work->barrier, &local);
    if (id == 0) {
        work->finished_s = team_part_ends();
    }
}

static void fill(double *matrix, size_t elements, uint64_t *state) {
    for (size_t index = 0; index < elements; index++) {
        matrix[index] = (random_bits(state) >> 1) / 1073741824.0 - 1.0;
    }
}

static void matrix_times_vector(const struct multiplication *work, const double *matrix, const double *vector,
                                double *product) {
    const int size = work->size;
    for (int row = 0; row < size; row++) {
        double sum = 0.0;
        for (int column = 0; column < size; column++) {
            sum += matrix[(size_t)row * work->pitch + (size_t)column] * vector[column];
        }
        product[row] = sum;
    }
}

/* The largest |C r - A (B r)| over some random r, relative to the size of the products. */
static double freivalds_error(const struct multiplication *work, uint64_t *state) {
    const int size = work->size;
    double *vectors = GRID_ALLOCATE(double, 4 * (size_t)size, "test vectors");
    double *r = vectors, *b_r = vectors + size, *a_b_r = vectors + 2 * size, *c_r = vectors + 3 * size;
    double largest = 0.0;
    for (int trial = 0; trial < FREIVALDS_VECTORS; trial++) {
        for (int row = 0; row < size; row++) {
            r[row] = (random_bits(state) & 2) != 0 ? 1.0 : -1.0;
        }
        matrix_times_vector(work, work->b, r, b_r);
        matrix_times_vector(work, work->a, b_r, a_b_r);
        matrix_times_vector(work, work->c, r, c_r);
        for (int row = 0; row < size; row++) {
            double error = fabs(c_r[row] - a_b_r[row]) / size;
            largest = error > largest || isnan(error) ? error : largest;
        }
    }
    free(vectors);
    return largest;
}

int main(int argc, char **argv) {
    long threads = 1;
    long size = 1024;
    int is_replicated = 0;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'n', "size", OPTION_COUNT, &size, 1, 30000, "rows and columns of each matrix"},
        {'r', "replicate", OPTION_FLAG, &is_replicated, 0, 0, "give each node its own copy of the multiplier"},
    };
    const struct option_table table = {"matmult", "product of two square matrices of doubles", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    if (is_replicated && rset_replicate == NULL) {
        options_refuse("matmult", "--replicate needs the resource-set library, which this run does not provide; "
                                  "build with 'olifant cc' and start it with 'olifant run'");
    }

    struct multiplication work = {.size = (int)size, .threads = (int)threads, .is_replicated = is_replicated};
    work.pitch = (size_t)size + SPARE_COLUMNS;
    const size_t elements = (size_t)size * work.pitch;
    work.a = GRID_ALLOCATE(double, elements, "matrix A");
    work.b = GRID_ALLOCATE(double, elements, "matrix B");
    work.c = GRID_ALLOCATE(double, elements, "matrix C");
    uint64_t random_state = 1;
    fill(work.a, elements, &random_state);
    fill(work.b, elements, &random_state);
    memset(work.c, 0, elements * sizeof(double));
    spin_barrier_start(&work.barrier, work.threads);

    team_run(work.threads, multiply_band, &work);

    double checksum = 0.0;
    for (size_t index = 0; index < elements; index++) {
        checksum += fabs(work.c[index]);
    }
    printf("matmult: %ld x %ld doubles, %ld threads%s\n", size, size, threads,
           is_replicated ? ", multiplier replicated" : "");
    team_report(work.finished_s - work.started_s, checksum, 0.0);
    int wrong = team_verify("freivalds", freivalds_error(&work, &random_state), 1e-12);
    free(work.a);
    free(work.b);
    free(work.c);
    return wrong ? 1 : 0;
}
