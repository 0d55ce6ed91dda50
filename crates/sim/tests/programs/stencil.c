/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A trace's source: two sweeps of a five-point stencil between two grids of 1.2 MB each, more than a second-level cache.
 */
#include <stdio.h>

enum { SIDE = 390, SWEEPS = 2 };

static double grid[2][SIDE][SIDE];

int main(void) {
    for (int row = 0; row < SIDE; row++) {
        grid[0][row][0] = row;
        grid[1][row][0] = row;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double (*from)[SIDE] = grid[sweep % 2];
        double (*to)[SIDE] = grid[1 - sweep % 2];
        for (int row = 1; row < SIDE - 1; row++)
            for (int column = 1; column < SIDE - 1; column++)
                to[row][column] = 0.25 * (from[row - 1][column] + from[row + 1][column] +
                                          from[row][column - 1] + from[row][column + 1]);
    }
    printf("%.6f\n", grid[SWEEPS % 2][SIDE / 2][1]);
    return 0;
}
