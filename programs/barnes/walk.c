/* Walks over the tree behind walk.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "walk.h"

#include <math.h>

/* A body on its way through the tree, and what it has gathered. */
struct traveller {
    double position[AXES];
    double acceleration[AXES];
    double potential;
    double softening_squared;
    double opening_squared;
    long interactions;
    const struct body_seen *self;
};

static void attract(struct traveller *traveller, double mass, const double offset[AXES], double distance_squared) {
    const double softened = distance_squared + traveller->softening_squared;
    const double potential = mass / sqrt(softened), pull = potential / softened;
    traveller->potential -= potential;
    for (int axis = 0; axis < AXES; axis++) {
        traveller->acceleration[axis] += pull * offset[axis];
    }
    traveller->interactions++;
}

static double offset_to(const struct traveller *traveller, const double position[AXES], double offset[AXES]) {
    double squared = 0.0;
    for (int axis = 0; axis < AXES; axis++) {
        offset[axis] = position[axis] - traveller->position[axis];
        squared += offset[axis] * offset[axis];
    }
    return squared;
}

static void visit(struct traveller *traveller, const struct node *node, double side_squared) {
    double offset[AXES];
    const double distance_squared = offset_to(traveller, node->position, offset);
    if (side_squared < traveller->opening_squared * distance_squared) {
        attract(traveller, node->mass, offset, distance_squared);
    } else if (!node->is_leaf) {
        const struct cell *cell = (const struct cell *)(const void *)node;
        for (int octant = 0; octant < OCTANTS; octant++) {
            if (cell->children[octant] != NULL) {
                visit(traveller, cell->children[octant], 0.25 * side_squared);
            }
        }
    } else {
        const struct leaf *leaf = (const struct leaf *)(const void *)node;
        for (int place = 0; place < leaf->count; place++) {
            const struct body_seen *body = leaf->bodies[place];
            if (body != traveller->self) {
                const double squared = offset_to(traveller, body->position, offset);
                attract(traveller, body->mass, offset, squared);
            }
        }
    }
}

static struct traveller traveller_for(const struct walk_rule *rule, const struct body_seen *self) {
    return (struct traveller){
        .position = {self->position[0], self->position[1], self->position[2]},
        .softening_squared = rule->softening_squared,
        .opening_squared = rule->opening * rule->opening,
        .self = self,
    };
}

void walk_force(const struct octree *tree, const struct walk_rule *rule, const struct bodies *bodies, long number) {
    struct traveller traveller = traveller_for(rule, body_seen(bodies, number));
    struct body_own *own = body_own(bodies, number);
    visit(&traveller, &tree->root->node, 4.0 * tree->half_side * tree->half_side);
    for (int axis = 0; axis < AXES; axis++) {
        own->acceleration[axis] = traveller.acceleration[axis];
    }
    own->potential = traveller.potential;
    own->cost = traveller.interactions;
}

void walk_direct(const struct walk_rule *rule, const struct bodies *bodies, long number, long other,
                 double acceleration[AXES]) {
    const struct body_seen *seen = body_seen(bodies, other);
    struct traveller traveller = traveller_for(rule, body_seen(bodies, number));
    if (seen != traveller.self) {
        double offset[AXES];
        const double squared = offset_to(&traveller, seen->position, offset);
        attract(&traveller, seen->mass, offset, squared);
    }
    for (int axis = 0; axis < AXES; axis++) {
        acceleration[axis] += traveller.acceleration[axis];
    }
}

/* The zone: bodies before which a cost from `begin` to `end` - 1 has been passed. */
struct zone {
    const struct bodies *bodies;
    long begin;
    long end;
    long passed;
    long count;
    int *numbers;
};

static void find_zone(struct zone *zone, const struct node *node) {
    if (zone->passed >= zone->end) {
        return;
    }
    if (zone->passed + node->cost <= zone->begin) {
        zone->passed += node->cost;
    } else if (!node->is_leaf) {
        const struct cell *cell = (const struct cell *)(const void *)node;
        for (int octant = 0; octant < OCTANTS; octant++) {
            if (cell->children[octant] != NULL) {
                find_zone(zone, cell->children[octant]);
            }
        }
    } else {
        const struct leaf *leaf = (const struct leaf *)(const void *)node;
        for (int place = 0; place < leaf->count; place++) {
            const long number = body_number(zone->bodies, leaf->bodies[place]);
            if (zone->passed >= zone->begin && zone->passed < zone->end) {
                zone->numbers[zone->count++] = (int)number;
            }
            zone->passed += body_own(zone->bodies, number)->cost;
        }
    }
}

long walk_zone(const struct octree *tree, const struct bodies *bodies, int id, int *numbers) {
    const long cost = tree->root->node.cost;
    struct zone zone = {.bodies = bodies, .numbers = numbers};
    zone.begin = (long)((double)cost * id / tree->threads);
    zone.end = (long)((double)cost * (id + 1) / tree->threads);
    find_zone(&zone, &tree->root->node);
    return zone.count;
}
