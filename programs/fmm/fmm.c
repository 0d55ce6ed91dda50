/* fmm: a plane of particles under gravity, by the adaptive fast multipole method.
 *
 * Each time-step: the extent of all particles; one tree, built by all threads together (quadtree.h); zones of equal cost,
 * by the work that each particle caused last time; lists and expansions of the own boxes upward, the exchange between
 * boxes that are apart and particles that are near, expansions downward (passes.h); the particles of the own leaves
 * move. Between phases lie barriers; within a phase, a box waits for its parent or children where other threads own them.
 *
 * Who allocates what: the main thread everything: particles, the pools of boxes, the lists of zones; it writes the
 * particles first. Each thread writes its own part of the pools and its own list first.
 *
 * Timed: all time-steps. Not timed: making the particles, the proofs.
 *
 * Proofs in each run: as many particles are in the zones as there are; the fields of some particles equal the sum over
 * all others, within the precision asked for; the attractions add up to nothing, within the same.
 *
 * Sources: see expansion.h and quadtree.h; S. C. Woo et al., "The SPLASH-2 programs", ISCA 1995 (two Plummer clusters,
 * precision 1e-6, time-step 0.025, leaves of 40 particles).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <math.h>
#include <stdio.h>

#include "grid.h"
#include "options.h"
#include "passes.h"
#include "team.h"

enum { SAMPLES = 32 };

/* Where one thread's particles are, on a line of its own. */
struct extent {
    alignas(SPIN_LINE_BYTES) struct plane smallest;
    struct plane largest;
};

struct run {
    struct particle *particles;
    long count;
    struct quadtree tree;
    int terms;
    double time_step;
    long steps;
    int threads;
    struct box **zones; /* room for all boxes twice, for each thread */
    struct extent *extents;
    struct spin_barrier barrier;
    struct spin_reduction reduction;
    double started_s, finished_s;
    double particles_missing;
    double field_error;
    double balance_error;
    double checksum;
};

/* One thread's view. */
struct worker {
    struct run *run;
    int id;
    struct passes passes;
    struct spin_local local;
};

static long all_boxes(const struct run *run) {
    return run->threads * run->tree.boxes_each;
}

static double sum_of_all(struct worker *worker, double value) {
    return spin_reduce_sum(&worker->run->reduction, &worker->run->barrier, &worker->local, value);
}

/* A visit to one of the thread's particles. */
typedef void particle_visitor(struct worker *worker, struct particle *particle, void *argument);

/* Before the first tree a thread has a run of the array, later those in its leaves. */
static void visit_particles(struct worker *worker, particle_visitor *visitor, void *argument) {
    struct run *run = worker->run;
    if (worker->passes.step == 0) {
        const int end = team_share_end((int)run->count, run->threads, worker->id);
        for (int number = team_share_begin((int)run->count, run->threads, worker->id); number < end; number++) {
            visitor(worker, &run->particles[number], argument);
        }
        return;
    }
    for (long number = 0; number < worker->passes.count; number++) {
        const struct box *box = worker->passes.boxes[number];
        for (int place = 0; place < box->particle_count; place++) {
            visitor(worker, box->particles[place], argument);
        }
    }
}

static void widen_extent(struct worker *worker, struct particle *particle, void *argument) {
    struct extent *extent = argument;
    (void)worker;
    extent->smallest.re = fmin(extent->smallest.re, particle->position.re);
    extent->smallest.im = fmin(extent->smallest.im, particle->position.im);
    extent->largest.re = fmax(extent->largest.re, particle->position.re);
    extent->largest.im = fmax(extent->largest.im, particle->position.im);
}

/* A thread's particles stand in boxes of the tree before, which the new tree will write over: they are listed first. */
static void list_particle(struct worker *worker, struct particle *particle, void *argument) {
    struct particle ***next = argument;
    (void)worker;
    *(*next)++ = particle;
}

/* One thread: an empty tree around everybody's particles. */
static void start_tree(struct run *run) {
    const double far = INFINITY;
    struct extent all = {.smallest = {far, far}, .largest = {-far, -far}};
    for (int id = 0; id < run->threads; id++) {
        const struct extent *extent = &run->extents[id];
        all.smallest.re = fmin(all.smallest.re, extent->smallest.re);
        all.smallest.im = fmin(all.smallest.im, extent->smallest.im);
        all.largest.re = fmax(all.largest.re, extent->largest.re);
        all.largest.im = fmax(all.largest.im, extent->largest.im);
    }
    const struct plane center = {0.5 * (all.smallest.re + all.largest.re), 0.5 * (all.smallest.im + all.largest.im)};
    const double half_side = 0.5 * fmax(all.largest.re - all.smallest.re, all.largest.im - all.smallest.im);
    /* A little more, so that no particle lies on the border. */
    quadtree_start(&run->tree, center, 1.00001 * half_side);
}

static void build_tree(struct worker *worker, struct particle **own) {
    struct run *run = worker->run;
    struct extent *extent = &run->extents[worker->id];
    struct particle **end = own;
    *extent = (struct extent){.smallest = {INFINITY, INFINITY}, .largest = {-INFINITY, -INFINITY}};
    visit_particles(worker, widen_extent, extent);
    visit_particles(worker, list_particle, &end);
    spin_barrier_wait(&run->barrier, &worker->local);
    if (worker->id == 0) {
        start_tree(run);
    }
    spin_barrier_wait(&run->barrier, &worker->local);
    for (struct particle **particle = own; particle < end; particle++) {
        quadtree_insert(&run->tree, worker->id, *particle);
    }
    worker->passes.step++;
    spin_barrier_wait(&run->barrier, &worker->local);
    quadtree_sum(&run->tree, worker->id, worker->passes.step, passes_inner_cost(run->terms));
    spin_barrier_wait(&run->barrier, &worker->local);
    worker->passes.count =
        quadtree_zone(&run->tree, worker->id, worker->passes.boxes, worker->passes.boxes + all_boxes(run));
}

static void compute_fields(struct worker *worker) {
    struct run *run = worker->run;
    for (long number = 0; number < worker->passes.count; number++) {
        quadtree_list(worker->passes.boxes[number], worker->passes.step);
    }
    passes_upward(&worker->passes);
    spin_barrier_wait(&run->barrier, &worker->local);
    passes_across(&worker->passes);
    passes_downward(&worker->passes);
    spin_barrier_wait(&run->barrier, &worker->local);
}

static void move(struct worker *worker, struct particle *particle, void *argument) {
    const double time_step = worker->run->time_step;
    (void)argument;
    particle->velocity.re -= time_step * particle->field.re;
    particle->velocity.im += time_step * particle->field.im;
    particle->position.re += time_step * particle->velocity.re;
    particle->position.im += time_step * particle->velocity.im;
}

/* What the proofs add up over the particles: the sums over all particles for each sample, by parts, each thread with its
 * own particles, which are in its caches. */
struct totals {
    double count;
    double size;
    struct plane balance;
    struct plane direct[SAMPLES];
};

static const struct particle *sample_of(const struct run *run, int sample) {
    return &run->particles[run->count * sample / SAMPLES];
}

static void add_to_totals(struct worker *worker, struct particle *particle, void *argument) {
    struct totals *totals = argument;
    totals->count += 1.0;
    totals->size += particle->mass * hypot(particle->field.re, particle->field.im);
    totals->balance.re += particle->mass * particle->field.re;
    totals->balance.im += particle->mass * particle->field.im;
    for (int sample = 0; sample < SAMPLES; sample++) {
        if (sample_of(worker->run, sample) != particle) {
            particle_add_field(&totals->direct[sample], sample_of(worker->run, sample)->position, particle);
        }
    }
}

/* The root of the mean square of the samples' relative errors. */
static double field_error(const struct run *run, const struct totals *totals) {
    double squares = 0.0;
    for (int sample = 0; sample < SAMPLES; sample++) {
        const struct plane found = sample_of(run, sample)->field, direct = totals->direct[sample];
        squares += pow(hypot(found.re - direct.re, found.im - direct.im) / hypot(direct.re, direct.im), 2);
    }
    return sqrt(squares / SAMPLES);
}

/* All threads, while positions and fields belong together. */
static void prove(struct worker *worker) {
    struct run *run = worker->run;
    struct totals own = {0}, all;
    visit_particles(worker, add_to_totals, &own);
    all.count = sum_of_all(worker, own.count);
    all.size = sum_of_all(worker, own.size);
    all.balance.re = sum_of_all(worker, own.balance.re);
    all.balance.im = sum_of_all(worker, own.balance.im);
    for (int sample = 0; sample < SAMPLES; sample++) {
        all.direct[sample].re = sum_of_all(worker, own.direct[sample].re);
        all.direct[sample].im = sum_of_all(worker, own.direct[sample].im);
    }
    if (worker->id == 0) {
        run->field_error = field_error(run, &all);
        run->particles_missing = fabs(all.count - (double)run->count);
        run->balance_error = hypot(all.balance.re, all.balance.im) / all.size;
        run->checksum = all.size;
    }
    /* Everybody waits until the samples have been looked at: then they move. */
    spin_barrier_wait(&run->barrier, &worker->local);
}

static void simulate(int id, void *shared) {
    struct run *run = shared;
    struct worker worker = {.run = run, .id = id};
    worker.passes.boxes = run->zones + 2 * id * all_boxes(run);
    worker.passes.terms = run->terms;
    struct particle **own = GRID_ALLOCATE(struct particle *, run->count, "list of a thread's particles");
    spin_barrier_wait(&run->barrier, &worker.local);
    if (id == 0) {
        run->started_s = team_part_begins();
    }
    for (long step = 1; step <= run->steps; step++) {
        build_tree(&worker, own);
        compute_fields(&worker);
        if (step == run->steps) {
            if (id == 0) {
                run->finished_s = team_part_ends();
            }
            prove(&worker);
        }
        visit_particles(&worker, move, NULL);
    }
    free(own);
}

/* The error of p terms falls at least as 2^-p where boxes are one box apart. */
static int terms_for(double precision) {
    return (int)ceil(-log2(precision) - 1e-9);
}

int main(int argc, char **argv) {
    static struct run run;
    long threads = 1, leaf_capacity = 40, seed = 1;
    double precision = 1e-6;
    int is_one_cluster = 0, is_uniform = 0;
    run.count = 16384;
    run.steps = 5;
    run.time_step = 0.025;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'n', "particles", OPTION_COUNT, &run.count, 2, 1e8, "particles"},
        {'s', "steps", OPTION_COUNT, &run.steps, 1, 1e6, "time-steps"},
        {'t', "time-step", OPTION_REAL, &run.time_step, 1e-9, 1.0, "length of a time-step"},
        {'e', "precision", OPTION_REAL, &precision, 1e-11, 0.1, "relative error of the fields"},
        {'l', "leaf", OPTION_COUNT, &leaf_capacity, 1, BOX_PARTICLES_LARGEST, "particles in a leaf, at most"},
        {'S', "seed", OPTION_COUNT, &seed, 0, 1e9, "seed of the particles"},
        {'c', "one-cluster", OPTION_FLAG, &is_one_cluster, 0, 0, "one Plummer cluster instead of two"},
        {'u', "uniform", OPTION_FLAG, &is_uniform, 0, 0, "particles evenly over a square"},
    };
    const struct option_table table = {"fmm", "particles in a plane by the adaptive fast multipole method", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);
    if (is_one_cluster && is_uniform) {
        options_refuse("fmm", "--one-cluster and --uniform exclude each other");
    }

    run.threads = (int)threads;
    run.terms = terms_for(precision);
    expansion_prepare();
    run.particles = GRID_ALLOCATE(struct particle, run.count, "particles");
    particles_start(run.particles, run.count,
                    is_uniform       ? PARTICLES_UNIFORM
                    : is_one_cluster ? PARTICLES_ONE_CLUSTER
                                     : PARTICLES_TWO_CLUSTERS,
                    (uint64_t)seed);
    quadtree_create(&run.tree, run.count, run.threads, (int)leaf_capacity);
    run.zones = GRID_ALLOCATE(struct box *, 2 * threads * all_boxes(&run), "zones");
    void *extents = GRID_ALLOCATE(struct extent, threads + 1, "extents");
    run.extents = grid_align_to_line(extents);
    spin_barrier_start(&run.barrier, run.threads);

    team_run(run.threads, simulate, &run);

    printf("fmm: %ld particles, %ld time-steps, %d terms, %ld threads\n", run.count, run.steps, run.terms, threads);
    team_report(run.finished_s - run.started_s, run.checksum, 1e-10);
    int wrong = 0;
    wrong += team_verify("particles-in-zones", run.particles_missing, 0.0);
    wrong += team_verify("field-against-direct-sum", run.field_error, precision);
    wrong += team_verify("attractions-balance", run.balance_error, precision);
    quadtree_free(&run.tree);
    free(run.particles);
    free(run.zones);
    free(extents);
    return wrong ? 1 : 0;
}
