/* The passes of passes.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "passes.h"

#include <string.h>

/* Costs in interactions of two particles, by counting operations: one takes about eight, a term of a translation four. */
static long translation_cost(int terms) {
    return (long)terms * terms / 2;
}

long passes_inner_cost(int terms) {
    return APART_LARGEST * translation_cost(terms);
}

void passes_upward(const struct passes *passes) {
    for (long number = passes->count - 1; number >= 0; number--) {
        struct box *box = passes->boxes[number];
        memset(box->multipole, 0, (size_t)passes->terms * sizeof *box->multipole);
        for (int place = 0; place < box->particle_count; place++) {
            expansion_from_particle(box->multipole, passes->terms, box->center, box->particles[place]);
        }
        for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
            const struct box *child = box->children[quadrant];
            if (child != NULL) {
                spin_wait_for(&child->progress.expanded, passes->step);
                expansion_shift_multipole(box->multipole, box->center, child->multipole, child->center, passes->terms);
            }
        }
        atomic_store_explicit(&box->progress.expanded, passes->step, memory_order_release);
    }
}

/* The field of all particles in a leaf, itself left out. Returns the number of interactions. */
static long add_leaf(struct particle *particle, const struct box *leaf) {
    for (int place = 0; place < leaf->particle_count; place++) {
        if (leaf->particles[place] != particle) {
            particle_add_field(&particle->field, particle->position, leaf->particles[place]);
        }
    }
    return leaf->particle_count;
}

/* The field of a box of the leaf's size or smaller, on the leaf's particles. Returns the cost. */
static long add_below(const struct box *leaf, const struct box *box, int terms) {
    long cost = 0;
    if (!quadtree_touch(leaf, box)) {
        for (int place = 0; place < leaf->particle_count; place++) {
            struct particle *particle = leaf->particles[place];
            const struct plane field =
                expansion_multipole_field(box->multipole, terms, box->center, particle->position);
            particle->field.re += field.re;
            particle->field.im += field.im;
        }
        return (long)leaf->particle_count * terms;
    }
    if (box->is_leaf) {
        for (int place = 0; place < leaf->particle_count; place++) {
            cost += add_leaf(leaf->particles[place], box);
        }
        return cost;
    }
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
        if (box->children[quadrant] != NULL) {
            cost += add_below(leaf, box->children[quadrant], terms);
        }
    }
    return cost;
}

/* Everything near a leaf. Returns the cost. */
static long add_near(const struct box *leaf, int terms) {
    long cost = 0;
    for (int place = 0; place < leaf->particle_count; place++) {
        struct particle *particle = leaf->particles[place];
        particle->field = (struct plane){0.0, 0.0};
        cost += add_leaf(particle, leaf);
        for (int coarse = 0; coarse < leaf->coarse_count; coarse++) {
            cost += add_leaf(particle, leaf->coarse[coarse]);
        }
    }
    for (int colleague = 0; colleague < leaf->colleague_count; colleague++) {
        cost += add_below(leaf, leaf->colleagues[colleague], terms);
    }
    return cost;
}

void passes_across(const struct passes *passes) {
    const int terms = passes->terms;
    for (long number = 0; number < passes->count; number++) {
        struct box *box = passes->boxes[number];
        long cost = box->apart_count * translation_cost(terms);
        memset(box->local, 0, (size_t)terms * sizeof *box->local);
        for (int apart = 0; apart < box->apart_count; apart++) {
            const struct box *other = box->apart[apart];
            expansion_to_local(box->local, box->center, other->multipole, other->center, terms);
        }
        for (int coarse = 0; coarse < box->coarse_apart_count; coarse++) {
            const struct box *leaf = box->coarse_apart[coarse];
            cost += (long)leaf->particle_count * terms;
            for (int place = 0; place < leaf->particle_count; place++) {
                expansion_local_from_particle(box->local, terms, box->center, leaf->particles[place]);
            }
        }
        if (box->is_leaf) {
            cost += add_near(box, terms);
            for (int place = 0; place < box->particle_count; place++) {
                box->particles[place]->cost = cost / box->particle_count + 1;
            }
        }
    }
}

void passes_downward(const struct passes *passes) {
    for (long number = 0; number < passes->count; number++) {
        struct box *box = passes->boxes[number];
        const struct box *parent = box->parent;
        if (parent != NULL) {
            spin_wait_for(&parent->progress.lowered, passes->step);
            expansion_shift_local(box->local, box->center, parent->local, parent->center, passes->terms);
        }
        atomic_store_explicit(&box->progress.lowered, passes->step, memory_order_release);
        for (int place = 0; place < box->particle_count; place++) {
            struct particle *particle = box->particles[place];
            const struct plane field =
                expansion_local_field(box->local, passes->terms, box->center, particle->position);
            particle->field.re += field.re;
            particle->field.im += field.im;
        }
    }
}
