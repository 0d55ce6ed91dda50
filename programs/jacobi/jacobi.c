/* jacobi: steady temperature of a plate by repeated averaging over neighbours (Laplace's equation, Dirichlet borders).
 *
 * Each thread owns a band of rows; a barrier ends each sweep. Two forms:
 *
 *   default      Jacobi: a sweep reads one array and writes the other, then they change roles. 2 x 9.6 MB at the
 *                default size; 24 bytes of memory traffic per update (read, fill for the write, write back).
 *   --in-place   red-black successive over-relaxation in one array of 9.6 MB, with a barrier after each colour;
 *                32 bytes of traffic per update (each colour reads and writes back every line).
 *
 * Why two arrays by default. The published program is named both ways, and its times tell them apart: from 8 to 12
 * processors it gains nothing (16.6 and 16.2 s), and 12 processors on three nodes move just as much per node and second
 * (21.5 s) as 4 on one (73.4 s) if nothing stays in the caches. One array of 9.6 MB would have fitted the 12 MB of
 * cache of 12 processors. With two, 12 processors hold 1.6 MB of data each in 1 MB and miss all the time, and 16
 * hold 1.2 MB each and begin to hit: the drop to 9.9 s.
 *
 * Memory: one block per array, allocated and written whole by the main thread, as programs for machines with equally
 * near memory do.
 *
 * Checks in each run: a small plate computed by the team equals (to rounding: a compiler may fuse a product and a sum) the
 * same plate computed by a sequential loop that shares no code with it; the plate obeys the maximum principle (all
 * temperatures within those of the border, for averaging without over-relaxation); the residual has not grown.
 *
 * Sources: B. Brock et al., "Windows NT in a ccNUMA System", USENIX Windows NT Symposium 1999, section 5 and tables;
 * D. Young, "Iterative Solution of Large Linear Systems", 1971.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "grid.h"
#include "options.h"
#include "spin.h"
#include "team.h"

enum { SMALL_ROWS = 65, SMALL_COLUMNS = 41, SMALL_SWEEPS = 30 };

static const double HOT = 1.0;

struct plate {
    int rows; /* with the borders */
    int columns;
    int sweeps;
    int threads;
    int is_in_place;
    double omega;       /* over-relaxation, in place only */
    double *current;    /* the newest temperatures when a run is over */
    double *other;      /* NULL in place */
    double started_s;
    double finished_s;
    struct spin_barrier barrier;
};

static void average_rows(const struct plate *plate, const double *from, double *to, int begin, int end) {
    const int columns = plate->columns;
    for (int row = begin; row < end; row++) {
        const double *here = from + (size_t)row * (size_t)columns;
        double *out = to + (size_t)row * (size_t)columns;
        for (int column = 1; column < columns - 1; column++) {
            out[column] = 0.25 * (here[column - columns] + here[column + columns] + here[column - 1] +
                                  here[column + 1]);
        }
    }
}

static void relax_rows(const struct plate *plate, double *grid, int colour, int begin, int end) {
    const int columns = plate->columns;
    for (int row = begin; row < end; row++) {
        double *here = grid + (size_t)row * (size_t)columns;
        for (int column = 1 + (row + 1 + colour) % 2; column < columns - 1; column += 2) {
            double average = 0.25 * (here[column - columns] + here[column + columns] + here[column - 1] +
                                     here[column + 1]);
            here[column] += plate->omega * (average - here[column]);
        }
    }
}

/* The part of thread `id` in all sweeps over a plate. */
static void sweep_band(int id, struct plate *plate) {
    struct spin_local local = {0};
    const int begin = 1 + team_share_begin(plate->rows - 2, plate->threads, id);
    const int end = 1 + team_share_end(plate->rows - 2, plate->threads, id);
    double *from = plate->current;
    double *to = plate->other;

    spin_barrier_wait(&plate->barrier, &local);
    if (id == 0) {
        plate->started_s = team_part_begins();
    }
    for (int sweep = 0; sweep < plate->sweeps; sweep++) {
        if (plate->is_in_place) {
            relax_rows(plate, from, 0, begin, end);
            spin_barrier_wait(&plate->barrier, &local);
            relax_rows(plate, from, 1, begin, end);
        } else {
            average_rows(plate, from, to, begin, end);
            double *swap = from;
            from = to;
            to = swap;
        }
        spin_barrier_wait(&plate->barrier, &local);
    }
    if (id == 0) {
        plate->finished_s = team_part_ends();
        plate->current = from;
        plate->other = to;
    }
}

/* Zero everywhere but for the first row, which is hot. */
static void heat_border(const struct plate *plate, double *grid) {
    for (int row = 0; row < plate->rows; row++) {
        for (int column = 0; column < plate->columns; column++) {
            grid[(size_t)row * (size_t)plate->columns + (size_t)column] = row == 0 ? HOT : 0.0;
        }
    }
}

static void create(struct plate *plate) {
    const size_t points = (size_t)plate->rows * (size_t)plate->columns;
    plate->current = GRID_ALLOCATE(double, points, "plate");
    plate->other = plate->is_in_place ? NULL : GRID_ALLOCATE(double, points, "second plate");
    heat_border(plate, plate->current);
    if (plate->other != NULL) {
        heat_border(plate, plate->other);
    }
    spin_barrier_start(&plate->barrier, plate->threads);
}

/* Both plates are one team's work: a run has as many threads as it was asked for. */
struct both {
    struct plate small;
    struct plate plate;
};

static void sweep_both(int id, void *shared) {
    struct both *both = shared;
    sweep_band(id, &both->small);
    sweep_band(id, &both->plate);
}

/* The largest |average of the neighbours - value| over the inner points. */
static double residual(const struct plate *plate) {
    const int columns = plate->columns;
    double largest = 0.0;
    for (int row = 1; row < plate->rows - 1; row++) {
        for (int column = 1; column < columns - 1; column++) {
            const double *here = plate->current + (size_t)row * (size_t)columns + column;
            double error = fabs(0.25 * (here[-columns] + here[columns] + here[-1] + here[1]) - *here);
            largest = error > largest || isnan(error) ? error : largest;
        }
    }
    return largest;
}

/* How far outside of the border's temperatures any point lies; 0 if none does. */
static double outside_border_range(const struct plate *plate) {
    double farthest = 0.0;
    for (size_t index = 0; index < (size_t)plate->rows * (size_t)plate->columns; index++) {
        double below = -plate->current[index];
        double above = plate->current[index] - HOT;
        double outside = below > above ? below : above;
        farthest = outside > farthest || isnan(outside) ? outside : farthest;
    }
    return farthest;
}

/* The same sweeps over a small plate by a plain loop over points; returns the largest difference to `plate`. */
static double difference_to_sequential(const struct plate *plate) {
    static double values[SMALL_ROWS][SMALL_COLUMNS], before[SMALL_ROWS][SMALL_COLUMNS];
    double largest = 0.0;
    for (int row = 0; row < SMALL_ROWS; row++) {
        for (int column = 0; column < SMALL_COLUMNS; column++) {
            values[row][column] = row == 0 ? HOT : 0.0;
        }
    }
    for (int step = 0; step < SMALL_SWEEPS * (plate->is_in_place ? 2 : 1); step++) {
        for (int point = 0; point < SMALL_ROWS * SMALL_COLUMNS; point++) {
            before[point / SMALL_COLUMNS][point % SMALL_COLUMNS] = values[point / SMALL_COLUMNS][point % SMALL_COLUMNS];
        }
        for (int row = 1; row < SMALL_ROWS - 1; row++) {
            for (int column = 1; column < SMALL_COLUMNS - 1; column++) {
                double average = 0.25 * (before[row - 1][column] + before[row + 1][column] +
                                         before[row][column - 1] + before[row][column + 1]);
                if (!plate->is_in_place) {
                    values[row][column] = average;
                } else if ((row + column) % 2 == step % 2) {
                    values[row][column] += plate->omega * (average - before[row][column]);
                }
            }
        }
    }
    for (int row = 0; row < SMALL_ROWS; row++) {
        for (int column = 0; column < SMALL_COLUMNS; column++) {
            double error = fabs(values[row][column] - plate->current[row * SMALL_COLUMNS + column]);
            largest = error > largest || isnan(error) ? error : largest;
        }
    }
    return largest;
}

int main(int argc, char **argv) {
    long threads = 1, rows = 2000, columns = 600, sweeps = 500;
    int is_in_place = 0;
    double omega = 1.0;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'r', "rows", OPTION_COUNT, &rows, 3, 1e6, "rows, with the two border rows"},
        {'c', "columns", OPTION_COUNT, &columns, 3, 1e6, "columns, with the two border columns"},
        {'i', "iterations", OPTION_COUNT, &sweeps, 1, 1e9, "sweeps"},
        {'s', "in-place", OPTION_FLAG, &is_in_place, 0, 0, "red-black relaxation in one array instead of two"},
        {'w', "omega", OPTION_REAL, &omega, 0.01, 1.99, "relaxation factor, with --in-place"},
    };
    const struct option_table table = {"jacobi", "temperature of a plate by averaging over neighbours", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    if (omega != 1.0 && !is_in_place) {
        options_refuse("jacobi", "--omega needs --in-place: plain averaging diverges when over-relaxed");
    }

    struct plate shared = {.threads = (int)threads, .is_in_place = is_in_place, .omega = omega};
    static struct both both;
    struct plate *small = &both.small, *plate = &both.plate;
    *small = *plate = shared;
    small->rows = SMALL_ROWS;
    small->columns = SMALL_COLUMNS;
    small->sweeps = SMALL_SWEEPS;
    plate->rows = (int)rows;
    plate->columns = (int)columns;
    plate->sweeps = (int)sweeps;
    create(small);
    create(plate);
    team_run((int)threads, sweep_both, &both);

    double checksum = 0.0;
    for (size_t index = 0; index < (size_t)rows * (size_t)columns; index++) {
        checksum += plate->current[index];
    }
    printf("jacobi: %ld x %ld doubles, %ld iterations, %ld threads%s\n", rows, columns, sweeps, threads,
           is_in_place ? ", in place" : "");
    team_report(plate->finished_s - plate->started_s, checksum, 0.0);
    int wrong = team_verify("small-plate-difference", difference_to_sequential(small), 1e-12);
    if (omega <= 1.0) {
        wrong += team_verify("maximum-principle", outside_border_range(plate), 0.0);
    }
    /* At the start the residual is a quarter of the hot border's temperature, next to that border. */
    wrong += team_verify("residual", residual(plate), HOT / 4);
    free(small->current);
    free(small->other);
    free(plate->current);
    free(plate->other);
    return wrong ? 1 : 0;
}
