/* The check behind grid.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "grid.h"

#include <stdint.h>
#include <stdio.h>

void *grid_require(void *memory, size_t bytes, const char *what) {
    if (memory == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes; try a smaller size\n", what, bytes);
        exit(2);
    }
    return memory;
}

void *grid_align_to_line(void *memory) {
    const uintptr_t past_line = (uintptr_t)memory % GRID_LINE_BYTES;
    return past_line == 0 ? memory : (char *)memory + (GRID_LINE_BYTES - past_line);
}
