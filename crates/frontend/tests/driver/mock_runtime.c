/* A runtime small enough to read: one simulated cpu with a direct count of everything, an L1 of 128 sets and 4 ways of
 * 32 bytes, least recently used out. It clobbers what C may clobber, so that hooks which forget to save a register are found
 * out. At exit it prints what it counted if MOCK_REPORT is set.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ (UINT64_C(1) << 32)
#define WRITE (UINT64_C(1) << 48)
enum { SETS = 128, LINE = 32, QUANTUM = 100 };
enum { STAMP, ACCESSES, LIMIT, SET_MASK, DEFAULT_INSTRUCTIONS };

const uint32_t __olifant_runtime_version = 1;
static uint32_t block[1 + SETS][16] __attribute__((aligned(64)));
static uint32_t *const header = block[0];
static uint64_t instructions, reads, writes;
static uint32_t last_stamp;

static void look(void)
{
    instructions += header[STAMP] - last_stamp;
    last_stamp = header[STAMP];
    reads += header[ACCESSES] & 0xffff;
    writes += header[ACCESSES] >> 16;
    header[ACCESSES] = 0;
    header[LIMIT] = header[STAMP] + QUANTUM;
}

static void clobber(void)
{
    __asm__ volatile("pxor %%xmm0,%%xmm0\n pxor %%xmm1,%%xmm1\n pxor %%xmm7,%%xmm7\n pxor %%xmm8,%%xmm8\n"
                     "pxor %%xmm15,%%xmm15\n movq $-1,%%rax\n movq %%rax,%%rcx\n movq %%rax,%%rdx\n"
                     "movq %%rax,%%rsi\n movq %%rax,%%rdi\n movq %%rax,%%r8\n movq %%rax,%%r9\n"
                     "movq %%rax,%%r10\n movq %%rax,%%r11\n"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm7", "xmm8",
                       "xmm15", "cc");
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroall" : : : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                                          "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

void __olifant_yield(void)
{
    look();
    clobber();
}

void __olifant_miss(const void *address, uint64_t immediate)
{
    uint32_t *set = block[1 + ((uintptr_t)address / LINE) % SETS];
    uint32_t tag = (uint32_t)((uintptr_t)address >> 10);
    uint64_t counters;
    memcpy(&counters, header, 8);
    counters += immediate;
    memcpy(header, &counters, 8);
    int way = -1, oldest = 0;
    for (int other = 0; other < 4; other++) {
        if (set[other] == tag)
            way = other;
        if (set[8 + other] < set[8 + oldest])
            oldest = other;
    }
    if (way < 0) {
        way = oldest;
        set[way] = tag;
        set[4 + way] = 0;
    }
    if (immediate >= WRITE)
        set[4 + way] = tag;
    set[8 + way] = header[STAMP];
    if (header[STAMP] >= header[LIMIT])
        look();
    clobber();
}

void __olifant_miss_at(const void *address, uint64_t immediate, const void *frame)
{
    (void)frame;
    __olifant_miss(address, immediate);
}

void __olifant_range(const void *address, uint64_t bytes, uint64_t immediate)
{
    uintptr_t line = (uintptr_t)address & ~(uintptr_t)(LINE - 1);
    for (; line < (uintptr_t)address + bytes; line += LINE) {
        __olifant_miss((const void *)line, immediate);
        immediate = immediate >> 32 << 32;
    }
}

void *__olifant_memcpy(void *to, const void *from, size_t bytes)
{
    __olifant_range(from, bytes, READ + 1);
    __olifant_range(to, bytes, WRITE + 1);
    return memcpy(to, from, bytes);
}

void *__olifant_memmove(void *to, const void *from, size_t bytes)
{
    __olifant_range(from, bytes, READ + 1);
    __olifant_range(to, bytes, WRITE + 1);
    return memmove(to, from, bytes);
}

void *__olifant_memset(void *to, int value, size_t bytes)
{
    __olifant_range(to, bytes, WRITE + 1);
    return memset(to, value, bytes);
}

int __olifant_memcmp(const void *a, const void *b, size_t bytes)
{
    __olifant_range(a, bytes, READ + 1);
    __olifant_range(b, bytes, READ + 1);
    return memcmp(a, b, bytes);
}

#define FETCH(bits, type, operation)                                                                 \
    type __tsan_atomic##bits##_fetch_##operation(volatile type *place, type value, int order)        \
    {                                                                                                \
        (void)order;                                                                                 \
        __olifant_miss((void *)place, WRITE + 1);                                                    \
        return __atomic_fetch_##operation(place, value, 5);                                          \
    }
#define ATOMICS(bits, type)                                                                          \
    type __tsan_atomic##bits##_load(const volatile type *place, int order)                           \
    {                                                                                                \
        (void)order;                                                                                 \
        __olifant_miss((void *)place, READ + 1);                                                     \
        return __atomic_load_n(place, 5);                                                            \
    }                                                                                                \
    void __tsan_atomic##bits##_store(volatile type *place, type value, int order)                    \
    {                                                                                                \
        (void)order;                                                                                 \
        __olifant_miss((void *)place, WRITE + 1);                                                    \
        __atomic_store_n(place, value, 5);                                                           \
    }                                                                                                \
    type __tsan_atomic##bits##_exchange(volatile type *place, type value, int order)                 \
    {                                                                                                \
        (void)order;                                                                                 \
        __olifant_miss((void *)place, WRITE + 1);                                                    \
        return __atomic_exchange_n(place, value, 5);                                                 \
    }                                                                                                \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *place, type expected, type value, \
                                                    int order, int failure)                          \
    {                                                                                                \
        (void)order, (void)failure;                                                                  \
        __olifant_miss((void *)place, WRITE + 1);                                                    \
        __atomic_compare_exchange_n(place, &expected, value, 0, 5, 5);                               \
        return expected;                                                                             \
    }                                                                                                \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *place, type *expected,          \
                                                      type value, int order, int failure)            \
    {                                                                                                \
        (void)order, (void)failure;                                                                  \
        __olifant_miss((void *)place, WRITE + 1);                                                    \
        return __atomic_compare_exchange_n(place, expected, value, 0, 5, 5);                         \
    }                                                                                                \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *place, type *expected,            \
                                                    type value, int order, int failure)              \
    {                                                                                                \
        return __tsan_atomic##bits##_compare_exchange_strong(place, expected, value, order, failure); \
    }                                                                                                \
    FETCH(bits, type, add)                                                                           \
    FETCH(bits, type, sub)                                                                           \
    FETCH(bits, type, and)                                                                           \
    FETCH(bits, type, or)                                                                            \
    FETCH(bits, type, xor)                                                                           \
    FETCH(bits, type, nand)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

static void finish(void)
{
    look();
    if (getenv("MOCK_REPORT"))
        fprintf(stderr, "mock instructions=%lu reads=%lu writes=%lu\n", instructions, reads, writes);
}

static void start(void)
{
    header[LIMIT] = QUANTUM;
    header[SET_MASK] = (SETS - 1) * LINE;
    header[DEFAULT_INSTRUCTIONS] = 3;
    syscall(SYS_arch_prctl, ARCH_SET_GS, block);
    atexit(finish);
}
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = start;
