/* The counters of the machine that a program runs on, if it has any to read: see crates/runtime/src/counters.rs, which
 * provides the function in runs by `olifant run`. Elsewhere its address is NULL.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_COUNTERS_H
#define PROGRAMS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum { COUNTERS = 10 };

/* Writes the first `count` counters, sums over the machine up to now; returns how many there are. */
int olifant_read_counters(uint64_t *values, size_t count);
#pragma weak olifant_read_counters

#endif
