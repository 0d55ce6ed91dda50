/* raytrace: a picture of nested mirroring spheres by ray tracing.
 *
 * The scene stands in scene.h, the hierarchical grid that finds what a ray meets in cells.h, the light in tracing.h, the
 * sharing of the work in tiles.h. While the picture is made, scene and grid are only read; threads meet at the queues of
 * tiles and at the border pixels of tiles.
 *
 * Who allocates what: the main thread scene, grid, queues and picture; it writes the first three. Each thread writes its
 * pixels, and allocates and writes its own list of tried primitives.
 *
 * Timed: tracing. Not timed: making scene and grid, the proofs.
 *
 * Proofs in each run: pixels all over the picture, traced again without the grid, are the same; what
 * their rays meet lies on a surface; every tile was traced once.
 * The checksum adds up all bytes of the picture; no number of threads may change it.
 *
 * Sources: see the headers. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "grid.h"
#include "options.h"
#include "team.h"
#include "tiles.h"
#include "tracing.h"

enum { SAMPLES = 32 };

struct run {
    struct scene scene;
    struct cells *cells;
    struct picture picture;
    struct tiles tiles;
    int tile_side;
    int threads;
    struct spin_barrier barrier;
    struct spin_reduction reduction;
    double started_s, finished_s;
    double tiles_traced;
    double tiles_stolen;
    double pixels_wrong;
    double surface_error;
};

static void trace_tile(const struct run *run, struct search *search, int tile) {
    const int side = run->picture.side;
    const int first_row = tile / run->tiles.along * run->tile_side;
    const int first_column = tile % run->tiles.along * run->tile_side;
    for (int row = first_row; row < first_row + run->tile_side && row < side; row++) {
        for (int column = first_column; column < first_column + run->tile_side && column < side; column++) {
            tracing_pixel(search, &run->picture, column, row, run->picture.pixels[row * side + column]);
        }
    }
}

/* How many of this thread's sample pixels are not what a search without the grid finds, and how far beside a surface it
 * finds one at most. */
static long wrong_samples(const struct run *run, int id, double *surface_error) {
    struct search search = {.scene = &run->scene};
    long wrong = 0;
    for (int sample = id; sample < SAMPLES; sample += run->threads) {
        /* Steps by the golden section spread evenly over the pixels, whatever their number. */
        const double place = sample * 0.6180339887498949 + 0.5 / SAMPLES, share = place - floor(place);
        const int row = (int)((sample + 0.5) / SAMPLES * run->picture.side);
        const int column = (int)(share * run->picture.side);
        pixel colour;
        tracing_pixel(&search, &run->picture, column, row, colour);
        *surface_error = fmax(*surface_error, tracing_surface_error(&search, &run->picture, column, row));
        wrong += memcmp(colour, run->picture.pixels[row * run->picture.side + column], sizeof(pixel)) != 0;
    }
    return wrong;
}

static void render(int id, void *shared) {
    struct run *run = shared;
    struct spin_local local = {0};
    struct search search = {.scene = &run->scene, .cells = run->cells};
    search.last_ray = GRID_ALLOCATE(unsigned, run->scene.count, "tried primitives");
    memset(search.last_ray, 0, (size_t)run->scene.count * sizeof *search.last_ray);
    spin_barrier_wait(&run->barrier, &local);
    if (id == 0) {
        run->started_s = team_part_begins();
    }
    long traced = 0, steals = 0;
    for (int tile = tiles_take(&run->tiles, id, &steals); tile >= 0; tile = tiles_take(&run->tiles, id, &steals)) {
        trace_tile(run, &search, tile);
        traced++;
    }
    spin_barrier_wait(&run->barrier, &local);
    if (id == 0) {
        run->finished_s = team_part_ends();
    }
    const double all_traced = spin_reduce_sum(&run->reduction, &run->barrier, &local, (double)traced);
    const double all_steals = spin_reduce_sum(&run->reduction, &run->barrier, &local, (double)steals);
    double surface_error = 0.0;
    const long own_wrong = wrong_samples(run, id, &surface_error);
    const double wrong = spin_reduce_sum(&run->reduction, &run->barrier, &local, (double)own_wrong);
    surface_error = spin_reduce_max(&run->reduction, &run->barrier, &local, surface_error);
    if (id == 0) {
        run->tiles_traced = all_traced;
        run->tiles_stolen = all_steals;
        run->pixels_wrong = wrong;
        run->surface_error = surface_error;
    }
    free(search.last_ray);
}

static void print_picture(const struct picture *picture) {
    printf("P6\n%d %d\n255\n", picture->side, picture->side);
    fwrite(picture->pixels, 3, (size_t)picture->side * (size_t)picture->side, stdout);
}

int main(int argc, char **argv) {
    static struct run run;
    long threads = 1, side = 256, levels = 4, samples = 1, mirrors = 6, tile_side = 8;
    long grid_side = 5, crowded = 8, grid_levels = 5;
    int is_printed = 0;
    const struct option_entry entries[] = {
        {'p', "threads", OPTION_COUNT, &threads, 1, TEAM_LARGEST, "threads"},
        {'n', "size", OPTION_COUNT, &side, 8, 16384, "pixels along each side of the picture"},
        {'l', "levels", OPTION_COUNT, &levels, 0, SCENE_LEVELS_LARGEST, "levels of spheres on spheres"},
        {'a', "samples", OPTION_COUNT, &samples, 1, 16, "rays per pixel along each side"},
        {'m', "mirrors", OPTION_COUNT, &mirrors, 0, 50, "reflections one after the other, at most"},
        {'t', "tile", OPTION_COUNT, &tile_side, 1, 1024, "pixels along each side of a tile"},
        {'g', "grid", OPTION_COUNT, &grid_side, 1, 100, "cells along each side of a grid"},
        {'c', "crowded", OPTION_COUNT, &crowded, 1, 1e6, "primitives in a cell that is not cut again"},
        {'d', "grid-levels", OPTION_COUNT, &grid_levels, 1, 10, "grids within each other, at most"},
        {0, "ppm", OPTION_FLAG, &is_printed, 0, 0, "print the picture as a PPM file, nothing else"},
    };
    const struct option_table table = {"raytrace", "a picture of nested mirroring spheres", entries,
                                       sizeof entries / sizeof entries[0]};
    options_parse(&table, argc, argv);

    const struct cells_rule rule = {.side = (int)grid_side, .crowded = (int)crowded, .levels = (int)grid_levels};
    run.threads = (int)threads;
    run.tile_side = (int)tile_side;
    run.picture = (struct picture){.side = (int)side, .samples = (int)samples, .mirrors = (int)mirrors};
    run.picture.pixels = GRID_ALLOCATE(pixel, side * side, "picture");
    scene_create(&run.scene, (int)levels);
    run.cells = cells_create(&run.scene, &rule);
    const int along = (int)((side + tile_side - 1) / tile_side);
    tiles_create(&run.tiles, along, run.threads);
    spin_barrier_start(&run.barrier, run.threads);

    team_run(run.threads, render, &run);

    if (is_printed) {
        print_picture(&run.picture);
        return run.pixels_wrong == 0.0 ? 0 : 1;
    }
    double checksum = 0.0;
    for (size_t pixel = 0; pixel < (size_t)side * (size_t)side; pixel++) {
        checksum += run.picture.pixels[pixel][0] + run.picture.pixels[pixel][1] + run.picture.pixels[pixel][2];
    }
    printf("raytrace: %ld x %ld pixels, %d primitives, %ld threads, %.0f of %d tiles stolen\n", side, side,
           run.scene.count, threads, run.tiles_stolen, along * along);
    team_report(run.finished_s - run.started_s, checksum, 0.0);
    int wrong = 0;
    wrong += team_verify("tiles-missing", fabs(run.tiles_traced - along * along), 0.0);
    wrong += team_verify("pixels-against-plain-search", run.pixels_wrong, 0.0);
    wrong += team_verify("points-beside-surfaces", run.surface_error, 1e-9);
    cells_free(run.cells);
    scene_free(&run.scene);
    tiles_free(&run.tiles);
    free(run.picture.pixels);
    return wrong ? 1 : 0;
}
