/* The tree of barnes: space halved along each axis again and again, down to leaves of a few bodies.
 *
 * The concept. All threads put their bodies into one tree at the same time. Inner nodes (cells) and leaves come from
 * pools, one part of each per thread; the main thread allocates all parts as one block. A tree lives for one time-step.
 *
 * Synchronisation. A cell's children, and the leaves among them, are changed under the cell's lock, one of 2,048 that
 * cells share. A pointer to a child is read without it: it goes from nothing to a leaf to a cell, never back, and
 * a leaf's content is read only under the lock. Sums over a subtree flow upward: the thread that made a node computes
 * them, last made first, and waits for children that other threads made. Nobody waits in a circle: a child cell is
 * always younger than its parent.
 *
 * Sources: J. Barnes, P. Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986; J. P. Singh et
 * al., "Load balancing and data locality in adaptive hierarchical N-body methods", JPDC 27(2), 1995 (building, costzones).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef BARNES_OCTREE_H
#define BARNES_OCTREE_H

#include "body.h"
#include "spin.h"

enum { OCTANTS = 8, LEAF_LARGEST = 16, OCTREE_LOCKS = 2048, OCTREE_DEEPEST = 60 };

/* What cells and leaves have in common, first in both. */
struct node {
    double mass;
    double position[AXES]; /* centre of mass */
    long cost;             /* of all bodies below */
    int is_leaf;
    int level; /* 0 is the root */
    atomic_int finished; /* the step (from 1) for which mass, position and cost are known */
};

struct cell {
    struct node node;
    unsigned lock; /* which of the tree's */
    struct node *children[OCTANTS];
};

struct leaf {
    struct node node;
    int count;
    struct body_seen *bodies[LEAF_LARGEST];
};

/* A thread's part of the pools, on a line of its own. */
struct pool {
    alignas(SPIN_LINE_BYTES) struct cell *cells;
    struct leaf *leaves;
    long cells_used;
    long leaves_used;
};

struct octree {
    int threads;
    int leaf_capacity;
    long cells_each; /* capacity of a thread's part */
    long leaves_each;
    struct pool *pools;
    struct spin_lock *locks;
    struct cell *root;
    double center[AXES];
    double half_side;
    void *blocks[4];
};

void octree_create(struct octree *tree, long bodies, int threads, int leaf_capacity);
void octree_free(struct octree *tree);

/* One thread: an empty tree of that extent. */
void octree_start(struct octree *tree, const double center[AXES], double half_side);

/* Any thread, with its own id. Ends the process with code 2 where bodies coincide or the thread's pool is used up. */
void octree_insert(struct octree *tree, int id, struct body_seen *body);

/* All threads, after a barrier: the sums of the nodes that this thread made. */
void octree_sum(struct octree *tree, int id, const struct bodies *bodies, int step);

#endif
