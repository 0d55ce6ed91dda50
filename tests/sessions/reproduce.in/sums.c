/* Adds up numbers; prints as the programs of the suite do. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1;
    long *numbers = calloc((size_t)count, sizeof *numbers);
    long sum = 0;
    for (int index = 0; index < count; index++) {
        numbers[index] = index;
    }
    for (int index = 0; index < count; index++) {
        sum += numbers[index];
    }
    printf("time: %.6f s\n", 1e-6 * (double)count);
    free(numbers);
    return sum == (long)count * (count - 1) / 2 ? 0 : 1;
}
