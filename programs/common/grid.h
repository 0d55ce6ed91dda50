/* Memory for the programs' large arrays: malloc, checked.
 *
 * A macro, so that the call of malloc stands in the line of the program that names the array: a profile that resolves
 * allocation sites then shows the array's own line. Nothing here knows about nodes; whoever writes a page first
 * decides where it goes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_GRID_H
#define PROGRAMS_GRID_H

#include <stddef.h>
#include <stdlib.h>

/* `count` objects of `type`, not initialised. No memory: a message that names `what`, exit code 2. */
#define GRID_ALLOCATE(type, count, what) \
    ((type *)grid_require(malloc((size_t)(count) * sizeof(type)), (size_t)(count) * sizeof(type), (what)))

/* The first address at or above `memory` that starts a cache line (128 bytes serve all machines). The block must have
 * GRID_LINE_BYTES to spare, and is freed by its own address. */
enum { GRID_LINE_BYTES = 128 };
void *grid_align_to_line(void *memory);

/* Returns `memory`, or ends the process if it is NULL. */
void *grid_require(void *memory, size_t bytes, const char *what);

#endif
