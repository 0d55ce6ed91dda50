/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A trace's source: a hash table with chains of allocated entries, filled and looked up in a pseudo-random order; about
 * 3 MB, reached through pointers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 15, ENTRIES = 60000, LOOKUPS = 60000 };

struct entry {
    struct entry *next;
    uint64_t key;
    uint64_t count;
};

static struct entry *bucket[BUCKETS];

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static struct entry **find(uint64_t key) {
    struct entry **place = &bucket[(key * 0x9e3779b97f4a7c15u) >> 49];
    while (*place && (*place)->key != key)
        place = &(*place)->next;
    return place;
}

int main(void) {
    uint64_t state = 1, found = 0;
    for (int k = 0; k < ENTRIES; k++) {
        uint64_t key = next_random(&state) % ENTRIES;
        struct entry **place = find(key);
        if (!*place) {
            *place = calloc(1, sizeof **place);
            if (!*place)
                return 1;
            (*place)->key = key;
        }
        (*place)->count++;
    }
    for (int k = 0; k < LOOKUPS; k++) {
        struct entry *entry = *find(next_random(&state) % ENTRIES);
        if (entry)
            found += entry->count;
    }
    printf("%llu\n", (unsigned long long)found);
    return 0;
}
