/* The tree of fmm: squares halved along both axes down to leaves of at most 40 particles, and the lists of an adaptive
 * fast multipole method.
 *
 * For a box B with parent A the lists hold
 *     colleagues   boxes of B's size that touch it
 *     apart        boxes of B's size that do not, though their parents touch A         (V: multipole to local)
 *     coarse       larger leaves that touch B                                          (U: particle to particle)
 *     coarse_apart larger leaves that touch A but not B                                (X: particle to local)
 * What a leaf exchanges with smaller boxes (the rest of U, and W: multipole to particle) is found below its colleagues.
 * A larger leaf covers at least one of the eight places around A, so the last two lists hold at most eight each.
 *
 * All threads put their particles into one tree at the same time; boxes come from pools, one part per thread, in one
 * block that the main thread allocates. A box changes under its lock, one of 2,048 that boxes share; it starts as a leaf
 * and is divided once. Whether it is divided, and its children, are read without the lock.
 *
 * Sources: J. Carrier, L. Greengard, V. Rokhlin, "A fast adaptive multipole algorithm for particle simulations", SIAM J.
 * Sci. Stat. Comput. 9(4), 1988; J. P. Singh et al., "Load balancing and data locality in adaptive hierarchical N-body
 * methods", JPDC 27(2), 1995.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef FMM_QUADTREE_H
#define FMM_QUADTREE_H

#include "expansion.h"
#include "spin.h"

enum {
    QUADRANTS = 4,
    BOX_PARTICLES_LARGEST = 40,
    COLLEAGUES_LARGEST = 8,
    APART_LARGEST = 27,
    COARSE_LARGEST = 8,
    QUADTREE_LOCKS = 2048,
    QUADTREE_DEEPEST = 60
};

/* Steps (from 1) for which a part of the work on a box is done; the threads that need it wait for that. */
struct box_progress {
    atomic_int summed;
    atomic_int listed;
    atomic_int expanded;
    atomic_int lowered;
};

struct box {
    struct plane center;
    double half_side;
    int level;
    int is_leaf;
    unsigned lock;
    int particle_count;
    struct particle *particles[BOX_PARTICLES_LARGEST];
    struct box *parent;
    struct box *children[QUADRANTS];
    long cost; /* of the box and everything below it */
    long own_cost;
    struct box_progress progress;
    int colleague_count, apart_count, coarse_count, coarse_apart_count;
    struct box *colleagues[COLLEAGUES_LARGEST];
    struct box *apart[APART_LARGEST];
    struct box *coarse[COARSE_LARGEST];
    struct box *coarse_apart[COARSE_LARGEST];
    struct plane multipole[TERMS_LARGEST];
    struct plane local[TERMS_LARGEST];
};

struct quadtree_pool {
    alignas(SPIN_LINE_BYTES) struct box *boxes;
    long used;
};

struct quadtree {
    int threads;
    int leaf_capacity;
    long boxes_each; /* capacity of a thread's part */
    struct quadtree_pool *pools;
    struct spin_lock *locks;
    struct box *root;
    void *blocks[3];
};

void quadtree_create(struct quadtree *tree, long particles, int threads, int leaf_capacity);
void quadtree_free(struct quadtree *tree);

/* One thread: an empty tree of that extent. */
void quadtree_start(struct quadtree *tree, struct plane center, double half_side);

/* Any thread, with its own id. Ends the process with code 2 where particles coincide or the thread's pool is used up. */
void quadtree_insert(struct quadtree *tree, int id, struct particle *particle);

/* All threads, after a barrier: costs of the boxes that this thread made. `inner_cost` is that of a divided box. */
void quadtree_sum(struct quadtree *tree, int id, int step, long inner_cost);

/* Cuts the tree into zones of equal cost; writes the boxes in zone `id`, level by level from the root down, and returns how
 * many there are. Level by level, because then a box rarely waits for its parent or children in another zone; in the order
 * of the walk each zone would wait for the end of the one before. `scratch` has room for as many as `boxes`. */
long quadtree_zone(const struct quadtree *tree, int id, struct box **boxes, struct box **scratch);

/* Fills the lists of one box; waits until its parent's are there. */
void quadtree_list(struct box *box, int step);

int quadtree_touch(const struct box *a, const struct box *b);

#endif
