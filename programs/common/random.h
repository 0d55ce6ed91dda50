/* Random numbers that are the same on every machine: D. Knuth's MMIX linear congruential generator.
 *
 * Its low bits are poor, so users take the upper half. One state per thread or per purpose; a state is its seed.
 *
 * Source: D. Knuth, "The Art of Computer Programming", volume 2, 3rd edition, section 3.3.4.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_RANDOM_H
#define PROGRAMS_RANDOM_H

#include <stdint.h>

/* The next 32 bits. */
static inline uint32_t random_bits(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* Evenly spread over [0, 1). */
static inline double random_unit(uint64_t *state) {
    return random_bits(state) / 4294967296.0;
}

#endif
