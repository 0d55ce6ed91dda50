/* Building, summing, cutting and listing the tree of quadtree.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "quadtree.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

void quadtree_create(struct quadtree *tree, long particles, int threads, int leaf_capacity) {
    *tree = (struct quadtree){.threads = threads, .leaf_capacity = leaf_capacity};
    /* Leaves are a third full on average, and a divided box has up to four children; the rest is for uneven shares. */
    tree->boxes_each = 8 * particles / ((long)leaf_capacity * threads) + 512;
    tree->blocks[0] = GRID_ALLOCATE(struct box, threads * tree->boxes_each, "boxes");
    tree->blocks[1] = GRID_ALLOCATE(struct quadtree_pool, threads + 1, "pools");
    tree->blocks[2] = GRID_ALLOCATE(struct spin_lock, QUADTREE_LOCKS + 1, "locks of boxes");
    tree->pools = grid_align_to_line(tree->blocks[1]);
    tree->locks = grid_align_to_line(tree->blocks[2]);
    memset(tree->locks, 0, QUADTREE_LOCKS * sizeof *tree->locks);
    for (int id = 0; id < threads; id++) {
        tree->pools[id] = (struct quadtree_pool){.boxes = (struct box *)tree->blocks[0] + id * tree->boxes_each};
    }
}

void quadtree_free(struct quadtree *tree) {
    for (int block = 0; block < 3; block++) {
        free(tree->blocks[block]);
    }
}

static _Noreturn void end_process(const char *what) {
    fprintf(stderr, "fmm: %s\n", what);
    exit(2);
}

static struct box *new_box(struct quadtree *tree, int id, struct box *parent, struct plane center, double half_side) {
    struct quadtree_pool *pool = &tree->pools[id];
    if (pool->used == tree->boxes_each) {
        end_process("a thread has used up its boxes; take fewer threads or larger leaves");
    }
    struct box *box = &pool->boxes[pool->used++];
    box->center = center;
    box->half_side = half_side;
    box->parent = parent;
    box->level = parent == NULL ? 0 : parent->level + 1;
    box->is_leaf = 1;
    box->particle_count = 0;
    box->lock = (unsigned)((unsigned long)id * 127 + (unsigned long)pool->used) % QUADTREE_LOCKS;
    memset(box->children, 0, sizeof box->children);
    atomic_init(&box->progress.summed, 0);
    atomic_init(&box->progress.listed, 0);
    atomic_init(&box->progress.expanded, 0);
    atomic_init(&box->progress.lowered, 0);
    return box;
}

void quadtree_start(struct quadtree *tree, struct plane center, double half_side) {
    for (int id = 0; id < tree->threads; id++) {
        tree->pools[id].used = 0;
    }
    tree->root = new_box(tree, 0, NULL, center, half_side);
}

static int quadrant_of(const struct box *box, const struct particle *particle) {
    return (particle->position.re >= box->center.re) | (particle->position.im >= box->center.im) << 1;
}

/* Read by others while they are set: the builtins of gcc and clang make that one access each, and leave the types plain
 * for the many reads after the tree is built. */
static int is_divided(const struct box *box) {
    return !__atomic_load_n(&box->is_leaf, __ATOMIC_ACQUIRE);
}
static struct box *read_child(struct box *const *slot) {
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

/* Under the box's lock: a new leaf with one particle. */
static void add_child(struct quadtree *tree, int id, struct box *box, int quadrant, struct particle *particle) {
    const double half = 0.5 * box->half_side;
    const struct plane center = {box->center.re + (quadrant & 1 ? half : -half),
                                 box->center.im + (quadrant & 2 ? half : -half)};
    struct box *child = new_box(tree, id, box, center, half);
    child->particles[child->particle_count++] = particle;
    __atomic_store_n(&box->children[quadrant], child, __ATOMIC_RELEASE);
}

/* Under the box's lock: its particles go to new children, which nobody else can see before it counts as divided. */
static void divide(struct quadtree *tree, int id, struct box *box) {
    if (box->level == QUADTREE_DEEPEST) {
        end_process("several particles are in one place");
    }
    for (int place = 0; place < box->particle_count; place++) {
        struct particle *particle = box->particles[place];
        const int quadrant = quadrant_of(box, particle);
        struct box *child = box->children[quadrant];
        if (child == NULL) {
            add_child(tree, id, box, quadrant, particle);
        } else {
            child->particles[child->particle_count++] = particle;
        }
    }
    box->particle_count = 0;
    __atomic_store_n(&box->is_leaf, 0, __ATOMIC_RELEASE);
}

void quadtree_insert(struct quadtree *tree, int id, struct particle *particle) {
    struct box *box = tree->root;
    for (;;) {
        const int quadrant = quadrant_of(box, particle);
        struct box *child = is_divided(box) ? read_child(&box->children[quadrant]) : NULL;
        if (child == NULL) {
            struct spin_lock *lock = &tree->locks[box->lock];
            int is_done = 1;
            spin_lock_acquire(lock);
            if (!box->is_leaf && box->children[quadrant] == NULL) {
                add_child(tree, id, box, quadrant, particle);
            } else if (box->is_leaf && box->particle_count < tree->leaf_capacity) {
                box->particles[box->particle_count++] = particle;
            } else {
                if (box->is_leaf) {
                    divide(tree, id, box);
                }
                is_done = 0;
            }
            spin_lock_release(lock);
            if (is_done) {
                return;
            }
        } else {
            box = child;
        }
    }
}

void quadtree_sum(struct quadtree *tree, int id, int step, long inner_cost) {
    const struct quadtree_pool *pool = &tree->pools[id];
    /* Children are younger than parents, whoever made them: nobody waits in a circle. */
    for (long number = pool->used - 1; number >= 0; number--) {
        struct box *box = &pool->boxes[number];
        box->own_cost = box->is_leaf ? 0 : inner_cost;
        for (int place = 0; place < box->particle_count; place++) {
            box->own_cost += box->particles[place]->cost;
        }
        box->cost = box->own_cost;
        for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
            const struct box *child = box->children[quadrant];
            if (child != NULL) {
                spin_wait_for(&child->progress.summed, step);
                box->cost += child->cost;
            }
        }
        atomic_store_explicit(&box->progress.summed, step, memory_order_release);
    }
}

struct zone {
    long begin;
    long end;
    long passed;
    long count;
    struct box **boxes;
};

static void find_zone(struct zone *zone, struct box *box) {
    if (zone->passed >= zone->end) {
        return;
    }
    if (zone->passed + box->cost <= zone->begin) {
        zone->passed += box->cost;
        return;
    }
    if (zone->passed >= zone->begin) {
        zone->boxes[zone->count++] = box;
    }
    zone->passed += box->own_cost;
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
        if (box->children[quadrant] != NULL) {
            find_zone(zone, box->children[quadrant]);
        }
    }
}

long quadtree_zone(const struct quadtree *tree, int id, struct box **boxes, struct box **scratch) {
    long begins[QUADTREE_DEEPEST + 2] = {0};
    struct zone zone = {.boxes = scratch};
    zone.begin = (long)((double)tree->root->cost * id / tree->threads);
    zone.end = (long)((double)tree->root->cost * (id + 1) / tree->threads);
    find_zone(&zone, tree->root);
    for (long number = 0; number < zone.count; number++) {
        begins[scratch[number]->level + 1]++;
    }
    for (int level = 0; level < QUADTREE_DEEPEST; level++) {
        begins[level + 1] += begins[level];
    }
    for (long number = 0; number < zone.count; number++) {
        boxes[begins[scratch[number]->level]++] = scratch[number];
    }
    return zone.count;
}

int quadtree_touch(const struct box *a, const struct box *b) {
    /* Centres are sums of halved sides: exact but for rounding far below the smaller side. */
    const double reach = a->half_side + b->half_side;
    const double slack = 1e-3 * (a->half_side < b->half_side ? a->half_side : b->half_side);
    return fabs(a->center.re - b->center.re) < reach + slack && fabs(a->center.im - b->center.im) < reach + slack;
}

static void list_box_of_same_size(struct box *box, struct box *other) {
    if (other == box) {
        return;
    }
    if (quadtree_touch(box, other)) {
        assert(box->colleague_count < COLLEAGUES_LARGEST);
        box->colleagues[box->colleague_count++] = other;
    } else {
        assert(box->apart_count < APART_LARGEST);
        box->apart[box->apart_count++] = other;
    }
}

static void list_larger_leaf(struct box *box, struct box *leaf) {
    if (quadtree_touch(box, leaf)) {
        assert(box->coarse_count < COARSE_LARGEST);
        box->coarse[box->coarse_count++] = leaf;
    } else {
        assert(box->coarse_apart_count < COARSE_LARGEST);
        box->coarse_apart[box->coarse_apart_count++] = leaf;
    }
}

static void list_children(struct box *box, const struct box *of) {
    for (int quadrant = 0; quadrant < QUADRANTS; quadrant++) {
        if (of->children[quadrant] != NULL) {
            list_box_of_same_size(box, of->children[quadrant]);
        }
    }
}

void quadtree_list(struct box *box, int step) {
    const struct box *parent = box->parent;
    box->colleague_count = box->apart_count = box->coarse_count = box->coarse_apart_count = 0;
    if (parent != NULL) {
        spin_wait_for(&parent->progress.listed, step);
        list_children(box, parent);
        for (int place = 0; place < parent->colleague_count; place++) {
            struct box *near = parent->colleagues[place];
            if (near->is_leaf) {
                list_larger_leaf(box, near);
            } else {
                list_children(box, near);
            }
        }
        for (int place = 0; place < parent->coarse_count; place++) {
            list_larger_leaf(box, parent->coarse[place]);
        }
    }
    atomic_store_explicit(&box->progress.listed, step, memory_order_release);
}
