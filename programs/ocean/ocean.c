/* ocean: eddy and boundary currents of an ocean basin, with contiguously partitioned arrays.
 *
 * The model stands in basin.h, its time-step in step.c, the elliptic solver in multigrid.h, the cutting of arrays among
 * threads in field.h, the proofs in verify.h. The number of threads is a power of two, as in the program whose
 * description this follows.
 *
 * Who touches what first: the main thread allocates every array, and writes the tables of pointers, wind and
 * Coriolis parameter. Each thread then writes its own patches of all arrays and of the solver's hierarchy.
 *
 * Timed: the response to the walls and all time-steps. Not timed: first writes, the solver's trial, the proofs.
 *
 * Sources: see basin.h. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "basin.h"
#include "options.h"
#include "step.h"
#include "team.h"
#include "verify.h"

enum { TRIAL_POINTS = 64 };

struct run {
    struct basin basin;
    struct multigrid trial;
    double trial_error;
    double shear_integral_at_start;
    double started_s;
    double finished_s;
    struct verify_sums result;
};

static void simulate(int id, void *shared) {
    struct run *run = shared;
    struct basin *basin = &run->basin;
    struct worker worker = {.basin = basin, .seat = seat_of(&basin->cut, id)};
    const double trial_error = verify_solver_trial(&worker, &run->trial);

    basin_initialise(&worker);
    const double shear_integral =
        basin_integral(&worker, &basin->psi[UPPER]) - basin_integral(&worker, &basin->psi[LOWER]);
    if (id == 0) {
        run->trial_error = trial_error;
        run->shear_integral_at_start = shear_integral;
        run->started_s = team_part_begins();
    }
    step_prepare(&worker);
    for (int step = 0; step < basin->steps; step++) {
        step_advance(&worker, step == 0);
    }
    if (id == 0) {
        run->finished_s = team_part_ends();
    }
    const struct verify_sums result = verify_measure(&worker);
    if (id == 0) {
        run->result = result;
    }
}

static int is_power_of_two(long number) {
    return number > 0 && (number & (number - 1)) == 0;
}

int main(int argc, char **argv) {
    long threads = 1, size = 514, steps = 8;
    double tolerance = 1e-7, width_km = 4000.0, time_step_s = 28800.0;
    int is_w_cycle = 0;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads, a power of two"},
        {'n', "size", OPTION_COUNT, &size, 18, 32770, "points per side with the walls, a power of two plus 2"},
        {'s', "steps", OPTION_COUNT, &steps, 1, 1e6, "time-steps"},
        {'e', "tolerance", OPTION_REAL, &tolerance, 1e-12, 0.1, "residual at which the elliptic solver stops"},
        {'w', "width", OPTION_REAL, &width_km, 100.0, 10000.0, "width of the basin in kilometres"},
        {'t', "time-step", OPTION_REAL, &time_step_s, 60.0, 86400.0, "seconds per time-step"},
        {'W', "w-cycle", OPTION_FLAG, &is_w_cycle, 0, 0, "visit coarser grids twice per cycle"},
    };
    const struct option_table table = {"ocean", "eddy and boundary currents of an ocean basin", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    if (!is_power_of_two(threads)) {
        options_refuse("ocean", "%ld threads: the grid is halved among threads, so take a power of two", threads);
    }
    if (!is_power_of_two(size - 2)) {
        options_refuse("ocean", "size %ld: take a power of two plus 2, as 258, 514 or 1026", size);
    }
    const struct cut cut = cut_for((int)threads);
    const int fewest = multigrid_fewest_points(&cut);
    if (size - 2 < fewest) {
        options_refuse("ocean", "size %ld is too small for %ld threads; take %d or more", size, threads, fewest + 2);
    }

    static struct run run;
    const int trial_points = fewest > TRIAL_POINTS ? fewest : TRIAL_POINTS;
    basin_create(&run.basin, (int)threads, (int)size - 2, (int)steps, width_km * 1e3, time_step_s, tolerance);
    multigrid_create(&run.trial, &cut, trial_points, 1.0 / (trial_points + 1), tolerance);
    run.trial.barrier = &run.basin.barrier;
    run.trial.reduction = &run.basin.reduction;
    run.basin.solver.visits = run.trial.visits = is_w_cycle ? 2 : 1;

    team_run((int)threads, simulate, &run);

    const struct verify_sums *result = &run.result;
    printf("ocean: %ld x %ld grid, %ld time-steps, %ld threads, %ld solver cycles\n", size, size, steps, threads,
           run.basin.solver_cycles);
    /* Only the order of the global sums depends on the number of threads (and, above 64, the coarsest grid). */
    team_report(run.finished_s - run.started_s, result->checksum, 1e-10);
    int wrong = 0;
    /* The inverse of the trial's operator enlarges a relative residual by at most ((3^2 + 2^2) pi^2 + 30) / (2 pi^2 + 30). */
    wrong += team_verify("solver-trial", run.trial_error, 4.0 * tolerance);
    /* Rounding in sums of 4 q, divided by a right-hand side that is smaller by spacing^2, comes on top. */
    wrong += team_verify("residual", result->residual, 1.1 * tolerance + 1e-9);
    wrong += team_verify("volume", fabs(result->shear_integral - run.shear_integral_at_start) / result->shear_size, 1e-11);
    wrong += team_verify("energy-upper", result->energy_change[UPPER], 1e-9);
    wrong += team_verify("energy-lower", result->energy_change[LOWER], 1e-9);
    basin_free(&run.basin);
    multigrid_free(&run.trial);
    return wrong ? 1 : 0;
}
