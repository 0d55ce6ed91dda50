/* Building and summing the tree of octree.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "octree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

void octree_create(struct octree *tree, long bodies, int threads, int leaf_capacity) {
    *tree = (struct octree){.threads = threads, .leaf_capacity = leaf_capacity};
    /* A tree of bodies in general position needs a third of this; a thread with more than its share, some more. */
    tree->cells_each = bodies / threads + 512;
    tree->leaves_each = 2 * bodies / threads + 1024;
    tree->blocks[0] = GRID_ALLOCATE(struct cell, threads * tree->cells_each, "cells");
    tree->blocks[1] = GRID_ALLOCATE(struct leaf, threads * tree->leaves_each, "leaves");
    tree->blocks[2] = GRID_ALLOCATE(struct pool, threads + 1, "pools");
    tree->blocks[3] = GRID_ALLOCATE(struct spin_lock, OCTREE_LOCKS + 1, "locks of cells");
    tree->pools = grid_align_to_line(tree->blocks[2]);
    tree->locks = grid_align_to_line(tree->blocks[3]);
    memset(tree->locks, 0, OCTREE_LOCKS * sizeof *tree->locks);
    for (int id = 0; id < threads; id++) {
        tree->pools[id] = (struct pool){
            .cells = (struct cell *)tree->blocks[0] + id * tree->cells_each,
            .leaves = (struct leaf *)tree->blocks[1] + id * tree->leaves_each,
        };
    }
}

void octree_free(struct octree *tree) {
    for (int block = 0; block < 4; block++) {
        free(tree->blocks[block]);
    }
}

static _Noreturn void end_process(const char *what) {
    fprintf(stderr, "barnes: %s\n", what);
    exit(2);
}

static struct cell *new_cell(struct octree *tree, int id, int level) {
    struct pool *pool = &tree->pools[id];
    if (pool->cells_used == tree->cells_each) {
        end_process("a thread has used up its cells; take fewer threads or larger leaves");
    }
    struct cell *cell = &pool->cells[pool->cells_used++];
    memset(cell->children, 0, sizeof cell->children);
    atomic_init(&cell->node.finished, 0);
    cell->node.is_leaf = 0;
    cell->node.level = level;
    cell->lock = (unsigned)((unsigned long)id * 127 + (unsigned long)pool->cells_used) % OCTREE_LOCKS;
    return cell;
}

static struct leaf *new_leaf(struct octree *tree, int id, int level) {
    struct pool *pool = &tree->pools[id];
    if (pool->leaves_used == tree->leaves_each) {
        end_process("a thread has used up its leaves; take fewer threads or larger leaves");
    }
    struct leaf *leaf = &pool->leaves[pool->leaves_used++];
    atomic_init(&leaf->node.finished, 0);
    leaf->node.is_leaf = 1;
    leaf->node.level = level;
    leaf->count = 0;
    return leaf;
}

void octree_start(struct octree *tree, const double center[AXES], double half_side) {
    for (int id = 0; id < tree->threads; id++) {
        tree->pools[id].cells_used = tree->pools[id].leaves_used = 0;
    }
    memcpy(tree->center, center, sizeof tree->center);
    tree->half_side = half_side;
    tree->root = new_cell(tree, 0, 0);
}

static int octant_of(const double position[AXES], const double center[AXES]) {
    return (position[0] >= center[0]) | (position[1] >= center[1]) << 1 | (position[2] >= center[2]) << 2;
}

/* Pointers to children are read by others while they are set: the builtins of gcc and clang make that one access each,
 * and leave the type plain for the many reads after the tree is built. */
static struct node *read_child(struct node *const *slot) {
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}
static void set_child(struct node **slot, struct node *child) {
    __atomic_store_n(slot, child, __ATOMIC_RELEASE);
}

/* A cell in place of a full leaf; the leaf serves on for one of its octants. */
static struct cell *split(struct octree *tree, int id, struct leaf *full, const double center[AXES]) {
    struct cell *cell = new_cell(tree, id, full->node.level);
    const int count = full->count;
    full->count = 0;
    full->node.level++;
    for (int body = 0; body < count; body++) {
        struct body_seen *moved = full->bodies[body];
        struct node **slot = &cell->children[octant_of(moved->position, center)];
        if (*slot == NULL) {
            *slot = body == 0 ? &full->node : &new_leaf(tree, id, full->node.level)->node;
        }
        struct leaf *leaf = (struct leaf *)(void *)*slot;
        leaf->bodies[leaf->count++] = moved;
    }
    return cell;
}

void octree_insert(struct octree *tree, int id, struct body_seen *body) {
    double center[AXES] = {tree->center[0], tree->center[1], tree->center[2]}, half = tree->half_side;
    struct cell *cell = tree->root;
    for (;;) {
        const int octant = octant_of(body->position, center);
        struct node **slot = &cell->children[octant];
        struct node *child = read_child(slot);
        if (child == NULL || child->is_leaf) {
            struct spin_lock *lock = &tree->locks[cell->lock];
            spin_lock_acquire(lock);
            child = *slot;
            struct leaf *leaf = (struct leaf *)(void *)child;
            if (child == NULL) {
                leaf = new_leaf(tree, id, cell->node.level + 1);
            } else if (child->is_leaf && leaf->count == tree->leaf_capacity) {
                double child_center[AXES];
                if (child->level == OCTREE_DEEPEST) {
                    end_process("several bodies are in one place");
                }
                for (int axis = 0; axis < AXES; axis++) {
                    child_center[axis] = center[axis] + (octant >> axis & 1 ? 0.5 : -0.5) * half;
                }
                child = &split(tree, id, leaf, child_center)->node;
                set_child(slot, child);
            }
            if (child == NULL || child->is_leaf) {
                leaf->bodies[leaf->count++] = body;
                set_child(slot, &leaf->node);
                spin_lock_release(lock);
                return;
            }
            spin_lock_release(lock);
        }
        half *= 0.5;
        for (int axis = 0; axis < AXES; axis++) {
            center[axis] += octant >> axis & 1 ? half : -half;
        }
        cell = (struct cell *)(void *)child;
    }
}

static void finish(struct node *node, const double moment[AXES], int step) {
    for (int axis = 0; axis < AXES; axis++) {
        node->position[axis] = moment[axis] / node->mass;
    }
    atomic_store_explicit(&node->finished, step, memory_order_release);
}

void octree_sum(struct octree *tree, int id, const struct bodies *bodies, int step) {
    const struct pool *pool = &tree->pools[id];
    for (long number = 0; number < pool->leaves_used; number++) {
        struct leaf *leaf = &pool->leaves[number];
        double moment[AXES] = {0.0};
        leaf->node.mass = 0.0;
        leaf->node.cost = 0;
        for (int place = 0; place < leaf->count; place++) {
            const struct body_seen *body = leaf->bodies[place];
            leaf->node.mass += body->mass;
            leaf->node.cost += body_own(bodies, body_number(bodies, body))->cost;
            for (int axis = 0; axis < AXES; axis++) {
                moment[axis] += body->mass * body->position[axis];
            }
        }
        finish(&leaf->node, moment, step);
    }
    for (long number = pool->cells_used - 1; number >= 0; number--) {
        struct cell *cell = &pool->cells[number];
        double moment[AXES] = {0.0};
        cell->node.mass = 0.0;
        cell->node.cost = 0;
        for (int octant = 0; octant < OCTANTS; octant++) {
            const struct node *child = cell->children[octant];
            if (child == NULL) {
                continue;
            }
            spin_wait_for(&child->finished, step);
            cell->node.mass += child->mass;
            cell->node.cost += child->cost;
            for (int axis = 0; axis < AXES; axis++) {
                moment[axis] += child->mass * child->position[axis];
            }
        }
        finish(&cell->node, moment, step);
    }
}
