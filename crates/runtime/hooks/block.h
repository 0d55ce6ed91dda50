/* The fast-path block of the simulated cpu whose thread runs, reached through the GS base (see README.md), and the
 * functions of the runtime that the hooks call. Private to this folder.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef OLIFANT_HOOKS_BLOCK_H
#define OLIFANT_HOOKS_BLOCK_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

/* IMM of one access: instructions in bits 0-31, reads from bit 32, writes from bit 48. */
#define OLIFANT_READ (UINT64_C(1) << 32)
#define OLIFANT_WRITE (UINT64_C(1) << 48)

/* No L1 line is shorter: an access inside one such stretch touches one line on every machine. */
#define OLIFANT_SHORTEST_LINE 32u

/* The runtime's side (Rust, crates/runtime). */
void __olifant_miss(const void *address, uint64_t immediate);
/* The same with the program's registers as entries.S saved them, the return address above; or NULL. */
struct frame;
void __olifant_miss_at(const void *address, uint64_t immediate, const struct frame *frame);
void __olifant_yield(void);
void __olifant_range(const void *address, uint64_t bytes, uint64_t immediate);

/* The numbers of one hook, written by the driver (crates/frontend, driver/assembly/expand.rs). */
struct site {
    /* What its segment has counted that is not yet due at this access: this access itself and all after it. */
    uint64_t ahead;
    /* This access: the contract's IMM. */
    uint64_t immediate;
    uint64_t bytes;
    uint64_t operation;
};

/* What a hook does when its fast path does not hold (slow.c). */
void __olifant_slow(const void *address, const struct site *site, const struct frame *frame);

static inline uint32_t block_word(uint64_t offset)
{
    uint32_t word;
    __asm__ volatile("movl %%gs:(%1), %0" : "=r"(word) : "r"(offset));
    return word;
}

static inline void block_set_word(uint64_t offset, uint32_t word)
{
    __asm__ volatile("movl %1, %%gs:(%0)" : : "r"(offset), "r"(word) : "memory");
}

static inline void block_count(uint64_t immediate)
{
    __asm__ volatile("addq %0, %%gs:0" : : "r"(immediate) : "memory", "cc");
}

static inline uint32_t block_stamp(void) { return block_word(0); }
static inline uint32_t block_limit(void) { return block_word(8); }
static inline uint32_t block_set_mask(void) { return block_word(12); }
static inline uint32_t block_default_instructions(void) { return block_word(16); }

/* Offset of the set's record for an address. */
static inline uint64_t block_record(const void *address)
{
    return 64 + (uint64_t)((uint32_t)(uintptr_t)address & block_set_mask()) * 2;
}

/* The ways (bits 0 to 3) of four tags, at an offset from the GS base, that hold the line of `address`. */
static inline uint32_t block_ways(uint64_t tags, const void *address)
{
    __m128i equal = _mm_set1_epi32((int32_t)((uintptr_t)address >> 10));
    __asm__ volatile("pcmpeqd %%gs:(%1), %0" : "+x"(equal) : "r"(tags));
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(equal));
}

/* Stamps the way of a record that holds a line: bit `way` of `ways` and no other is set. */
static inline void block_set_stamp(uint64_t record, uint32_t ways, uint32_t stamp)
{
    block_set_word(record + 32 + (uint64_t)(uint32_t)__builtin_ctz(ways) * 4, stamp);
}

/* The fast path with its own count: counts `immediate` (one read or one write) and touches the line of `address`.
 * `frame` is what an entry saved of the program, or NULL in a hook that the program called. */
static inline void olifant_access_at(const void *address, uint64_t immediate, const struct frame *frame)
{
    uint64_t record = block_record(address);
    uint32_t ways = block_ways(immediate >= OLIFANT_WRITE ? record + 16 : record, address);
    if (ways == 0) {
        if (frame != NULL)
            __olifant_miss_at(address, immediate, frame);
        else
            __olifant_miss(address, immediate);
        return;
    }
    block_count(immediate);
    uint32_t stamp = block_stamp();
    block_set_stamp(record, ways, stamp);
    if (stamp >= block_limit())
        __olifant_yield();
}

static inline void olifant_access(const void *address, uint64_t immediate)
{
    olifant_access_at(address, immediate, NULL);
}

/* The same for an access that may straddle two lines. */
static inline void olifant_access_bytes(const void *address, uint64_t bytes, uint64_t immediate)
{
    if (((uintptr_t)address & (OLIFANT_SHORTEST_LINE - 1)) + bytes <= OLIFANT_SHORTEST_LINE)
        olifant_access(address, immediate);
    else
        __olifant_range(address, bytes, immediate);
}

#endif
