/* One area of each kind that a plan can name, each written and read by every thread, so that all its pages are seen.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PAGES = 8, WORDS = PAGES * 512, CELLS = 4000, CELL_WORDS = 12 };

double table[WORDS] __attribute__((aligned(4096)));
double *grid, *field, *other;
double *cells[THREADS][CELLS];
double sums[THREADS];

double *make_grid(void)
{
    return aligned_alloc(4096, WORDS * sizeof(double));
}

double *make_cell(void)
{
    return malloc(CELL_WORDS * sizeof(double));
}

static void use(volatile double *words, int count)
{
    for (int i = 0; i < count; i++)
        words[i] += i;
}

static void *work(void *argument)
{
    long me = (long)argument;
    double local[4 * 512];
    for (int i = 0; i < CELLS; i++)
        cells[me][i] = make_cell();
    for (int turn = 0; turn < 4; turn++) {
        use(grid, WORDS);
        use(field, WORDS);
        use(other, WORDS);
        use(table, WORDS);
        use(local, 4 * 512);
        for (int i = 0; i < CELLS; i++)
            use(cells[me][i], CELL_WORDS);
    }
    sums[me] = local[7];
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    grid = make_grid();
    field = aligned_alloc(4096, WORDS * sizeof(double));
    other = aligned_alloc(4096, WORDS * sizeof(double));
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    work(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%g\n", grid[9] + field[9] + other[9] + table[9]);
    return 0;
}
