/* barnes: a galaxy of bodies under gravity, by the method of Barnes and Hut.
 *
 * Each time-step: the extent of all bodies; one tree, built by all threads together (octree.h); zones of equal cost, by
 * the interactions that each body had last time; the forces on the bodies of the own zone (walk.h); the leap-frog step.
 * Between phases lie barriers. --regrouped takes the layout of body.h that the 2001 paper calls "extra".
 *
 * Who allocates what: the main thread everything: bodies, pools of cells and leaves, lists of zones; it writes the bodies
 * first. Each thread writes its own parts of the pools and its own list first.
 *
 * Timed: all time-steps. Not timed: making the bodies, the proofs.
 *
 * Proofs in each run: the tree holds all of the mass, in as many bodies as there are; the forces of some bodies are near
 * the sum over all other bodies; the energy is kept.
 *
 * Sources: see octree.h and body.h; S. C. Woo et al., "The SPLASH-2 programs", ISCA 1995 (theta 1.0, softening 0.05,
 * time-step 0.025, leaves of ten bodies).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "grid.h"
#include "options.h"
#include "team.h"
#include "walk.h"

enum { SAMPLES = 32, REGION_DOUBLES = SPIN_LINE_BYTES / sizeof(double) };

/* Where one thread's bodies are, on lines of its own. */
struct extent {
    double smallest[AXES];
    double largest[AXES];
    double padding[REGION_DOUBLES - 2 * AXES];
};

struct run {
    struct bodies bodies;
    struct octree tree;
    struct walk_rule rule;
    double time_step;
    long steps;
    int threads;
    int *zones; /* `bodies` numbers for each thread */
    struct extent *extents;
    struct spin_barrier barrier;
    struct spin_reduction reduction;
    double started_s, finished_s;
    double energy_at_start, energy_at_end;
    double mass_error;
    double bodies_missing;
    struct spin_lock direct_lock;
    double direct[SAMPLES][AXES]; /* accelerations by the sum over all bodies */
    double force_error; /* root of the mean square, relative to that of the forces */
    double interactions;
    double checksum;
};

/* One thread's view. */
struct worker {
    struct run *run;
    int id;
    int *zone;
    long zone_count;
    struct spin_local local;
};

static long sample_number(const struct run *run, int sample) {
    return run->bodies.count * sample / SAMPLES;
}

static double sum_of_all(struct worker *worker, double value) {
    return spin_reduce_sum(&worker->run->reduction, &worker->run->barrier, &worker->local, value);
}

static void measure_extent(const struct worker *worker) {
    struct extent *extent = &worker->run->extents[worker->id];
    for (int axis = 0; axis < AXES; axis++) {
        extent->smallest[axis] = INFINITY;
        extent->largest[axis] = -INFINITY;
    }
    for (long place = 0; place < worker->zone_count; place++) {
        const double *position = body_seen(&worker->run->bodies, worker->zone[place])->position;
        for (int axis = 0; axis < AXES; axis++) {
            extent->smallest[axis] = fmin(extent->smallest[axis], position[axis]);
            extent->largest[axis] = fmax(extent->largest[axis], position[axis]);
        }
    }
}

/* One thread: an empty tree around everybody's bodies. */
static void start_tree(struct run *run) {
    double center[AXES], half_side = 0.0;
    for (int axis = 0; axis < AXES; axis++) {
        double smallest = INFINITY, largest = -INFINITY;
        for (int id = 0; id < run->threads; id++) {
            smallest = fmin(smallest, run->extents[id].smallest[axis]);
            largest = fmax(largest, run->extents[id].largest[axis]);
        }
        center[axis] = 0.5 * (smallest + largest);
        half_side = fmax(half_side, 0.5 * (largest - smallest));
    }
    /* A little more, so that no body lies on the border. */
    octree_start(&run->tree, center, 1.00001 * half_side);
}

static void build_tree(struct worker *worker, int step) {
    struct run *run = worker->run;
    measure_extent(worker);
    spin_barrier_wait(&run->barrier, &worker->local);
    if (worker->id == 0) {
        start_tree(run);
    }
    spin_barrier_wait(&run->barrier, &worker->local);
    for (long place = 0; place < worker->zone_count; place++) {
        octree_insert(&run->tree, worker->id, body_seen(&run->bodies, worker->zone[place]));
    }
    spin_barrier_wait(&run->barrier, &worker->local);
    octree_sum(&run->tree, worker->id, &run->bodies, step + 1);
    spin_barrier_wait(&run->barrier, &worker->local);
}

/* The energy now: velocities stand half a step before, so half of this step's push is added. */
static double own_energy(const struct worker *worker, double push) {
    const struct bodies *bodies = &worker->run->bodies;
    double energy = 0.0;
    for (long place = 0; place < worker->zone_count; place++) {
        const struct body_seen *seen = body_seen(bodies, worker->zone[place]);
        const struct body_own *own = body_own(bodies, worker->zone[place]);
        double speed_squared = 0.0;
        for (int axis = 0; axis < AXES; axis++) {
            const double velocity = own->velocity[axis] + push * own->acceleration[axis];
            speed_squared += velocity * velocity;
        }
        energy += 0.5 * seen->mass * (speed_squared + own->potential);
    }
    return energy;
}

static void move(const struct worker *worker, double push, double time_step) {
    const struct bodies *bodies = &worker->run->bodies;
    for (long place = 0; place < worker->zone_count; place++) {
        struct body_seen *seen = body_seen(bodies, worker->zone[place]);
        struct body_own *own = body_own(bodies, worker->zone[place]);
        for (int axis = 0; axis < AXES; axis++) {
            own->velocity[axis] += push * own->acceleration[axis];
            seen->position[axis] += time_step * own->velocity[axis];
        }
    }
}

/* The sum over all bodies for each sample, by parts: each thread adds those of its own zone, which are in its caches. */
static void add_direct_sums(struct worker *worker) {
    struct run *run = worker->run;
    double own[SAMPLES][AXES] = {{0.0}};
    for (long place = 0; place < worker->zone_count; place++) {
        for (int sample = 0; sample < SAMPLES; sample++) {
            walk_direct(&run->rule, &run->bodies, sample_number(run, sample), worker->zone[place], own[sample]);
        }
    }
    spin_lock_acquire(&run->direct_lock);
    for (int sample = 0; sample < SAMPLES; sample++) {
        for (int axis = 0; axis < AXES; axis++) {
            run->direct[sample][axis] += own[sample][axis];
        }
    }
    spin_lock_release(&run->direct_lock);
    spin_barrier_wait(&run->barrier, &worker->local);
}

static double force_error(const struct run *run) {
    double difference = 0.0, size = 0.0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        const double *found = body_own(&run->bodies, sample_number(run, sample))->acceleration;
        for (int axis = 0; axis < AXES; axis++) {
            difference += pow(found[axis] - run->direct[sample][axis], 2);
            size += pow(run->direct[sample][axis], 2);
        }
    }
    return sqrt(difference / size);
}

/* All threads, while positions and forces belong together. */
static void prove(struct worker *worker) {
    struct run *run = worker->run;
    double interactions = 0.0, potential = 0.0;
    add_direct_sums(worker);
    for (long place = 0; place < worker->zone_count; place++) {
        interactions += (double)body_own(&run->bodies, worker->zone[place])->cost;
        potential += fabs(body_own(&run->bodies, worker->zone[place])->potential);
    }
    interactions = sum_of_all(worker, interactions);
    potential = sum_of_all(worker, potential);
    const double bodies = sum_of_all(worker, (double)worker->zone_count);
    if (worker->id == 0) {
        run->force_error = force_error(run);
        run->interactions = interactions / (double)run->bodies.count;
        run->bodies_missing = fabs(bodies - (double)run->bodies.count);
        run->mass_error = fabs(run->tree.root->node.mass - 1.0);
        run->checksum = potential;
    }
    /* Everybody waits until the samples have been looked at: then they move. */
    spin_barrier_wait(&run->barrier, &worker->local);
}

static void simulate(int id, void *shared) {
    struct run *run = shared;
    struct worker worker = {.run = run, .id = id, .zone = run->zones + id * run->bodies.count};
    /* At first everybody has as many, in the order of the array. */
    const int begin = team_share_begin((int)run->bodies.count, run->threads, id);
    const int end = team_share_end((int)run->bodies.count, run->threads, id);
    for (int number = begin; number < end; number++) {
        worker.zone[worker.zone_count++] = number;
    }
    spin_barrier_wait(&run->barrier, &worker.local);
    if (id == 0) {
        run->started_s = team_part_begins();
    }
    for (int step = 0; step < run->steps; step++) {
        build_tree(&worker, step);
        worker.zone_count = walk_zone(&run->tree, &run->bodies, id, worker.zone);
        /* Costs are read by all who look for their zones, and written by the walks. */
        spin_barrier_wait(&run->barrier, &worker.local);
        for (long place = 0; place < worker.zone_count; place++) {
            walk_force(&run->tree, &run->rule, &run->bodies, worker.zone[place]);
        }
        const double half_push = step == 0 ? 0.0 : 0.5 * run->time_step;
        const double energy = sum_of_all(&worker, own_energy(&worker, half_push));
        if (id == 0) {
            *(step == 0 ? &run->energy_at_start : &run->energy_at_end) = energy;
        }
        if (step + 1 == run->steps) {
            if (id == 0) {
                run->finished_s = team_part_ends();
            }
            prove(&worker);
        }
        move(&worker, step == 0 ? 0.5 * run->time_step : run->time_step, run->time_step);
    }
}

int main(int argc, char **argv) {
    static struct run run;
    long threads = 1, count = 16384, leaf_capacity = 10, seed = 123;
    double softening = 0.05;
    int is_regrouped = 0;
    run.steps = 4;
    run.rule.opening = 1.0;
    run.time_step = 0.025;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'n', "bodies", OPTION_COUNT, &count, 2, 1e8, "bodies"},
        {'s', "steps", OPTION_COUNT, &run.steps, 1, 1e6, "time-steps"},
        {'t', "time-step", OPTION_REAL, &run.time_step, 1e-6, 1.0, "length of a time-step"},
        {'o', "opening", OPTION_REAL, &run.rule.opening, 0.05, 2.0, "theta: side over distance that opens a cell"},
        {'e', "softening", OPTION_REAL, &softening, 1e-6, 1.0, "softening length of gravity"},
        {'l', "leaf", OPTION_COUNT, &leaf_capacity, 1, LEAF_LARGEST, "bodies in a leaf, at most"},
        {'S', "seed", OPTION_COUNT, &seed, 0, 1e9, "seed of the bodies"},
        {'r', "regrouped", OPTION_FLAG, &is_regrouped, 0, 0, "keep what all threads read apart from what owners use"},
    };
    const struct option_table table = {"barnes", "bodies under gravity by an oct-tree (Barnes and Hut)", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);

    run.threads = (int)threads;
    run.rule.softening_squared = softening * softening;
    bodies_create(&run.bodies, count, is_regrouped, (uint64_t)seed);
    octree_create(&run.tree, count, run.threads, (int)leaf_capacity);
    run.zones = GRID_ALLOCATE(int, threads * count, "zones");
    void *extents = GRID_ALLOCATE(struct extent, threads + 1, "extents");
    run.extents = grid_align_to_line(extents);
    spin_barrier_start(&run.barrier, run.threads);

    team_run(run.threads, simulate, &run);

    printf("barnes: %ld bodies, %ld time-steps, theta %g, %ld threads, %.1f interactions per body%s\n", count, run.steps,
           run.rule.opening, threads, run.interactions, is_regrouped ? ", regrouped" : "");
    team_report(run.finished_s - run.started_s, run.checksum, 1e-10);
    int wrong = 0;
    wrong += team_verify("bodies-in-zones", run.bodies_missing, 0.0);
    wrong += team_verify("mass-in-tree", run.mass_error, 1e-12 * sqrt((double)count));
    /* The first term left out is the quadrupole, of second order in theta; measured, its factor stays below 0.08. */
    wrong += team_verify("force-against-direct-sum", run.force_error, 0.1 * run.rule.opening * run.rule.opening);
    if (run.steps > 1) {
        wrong += team_verify("energy-drift", fabs(run.energy_at_end / run.energy_at_start - 1.0), 0.01);
    }
    octree_free(&run.tree);
    bodies_free(&run.bodies);
    free(run.zones);
    free(extents);
    return wrong ? 1 : 0;
}
