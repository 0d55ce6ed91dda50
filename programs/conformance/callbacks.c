/* Library functions that call back into the program: qsort, bsearch, tsearch, from several threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <search.h>

#include "check.h"

enum { THREADS = 4, ITEMS = 3000 };

static _Thread_local long comparisons;

static int compare(const void *first, const void *second) {
    comparisons++;
    const int a = *(const int *)first, b = *(const int *)second;
    return (a > b) - (a < b);
}

static void *sort(void *argument) {
    const unsigned id = *(unsigned *)argument;
    int *items = malloc(ITEMS * sizeof *items);
    void *root = NULL;
    CHECK(items != NULL);
    for (unsigned item = 0; item < ITEMS; item++) {
        items[item] = (int)((item * 7919u + id * 31u) % 100003u);
    }
    for (int item = 0; item < 100; item++) {
        CHECK(tsearch(&items[item], &root, compare) != NULL);
    }
    for (int item = 0; item < 100; item++) {
        CHECK(tdelete(&items[item], &root, compare) != NULL);
    }
    qsort(items, ITEMS, sizeof *items, compare);
    for (int item = 1; item < ITEMS; item++) {
        CHECK(items[item - 1] <= items[item]);
    }
    const int wanted = items[ITEMS / 3];
    const int *found = bsearch(&wanted, items, ITEMS, sizeof *items, compare);
    CHECK(found != NULL && *found == wanted);
    CHECK(comparisons > ITEMS);
    free(items);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned ids[THREADS];
    for (unsigned id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, sort, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    puts("ok");
    return 0;
}
