/* Hooks that are called: gcc's ranges, the hooks of objects that plain `gcc -fsanitize=thread` made (without counts of
 * instructions), and the rest of the thread sanitizer's interface that is not the runtime's.
 * The latter are weak, so that the runtime may define its own.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "block.h"

#define WEAK __attribute__((weak))

/* gcc's range hooks with the numbers of their site, put in by the driver's assembly pass. */
void __olifant_called_range(const void *address, uint64_t bytes, const struct site *site)
{
    struct site sized = *site;
    sized.bytes = bytes;
    __olifant_slow(address, &sized, NULL);
}

/* Without a count: the machine's average stands for it. */
static uint64_t one_read(void) { return OLIFANT_READ + block_default_instructions(); }
static uint64_t one_write(void) { return OLIFANT_WRITE + block_default_instructions(); }

#define ALIGNED(bytes)                                                                       \
    WEAK void __tsan_read##bytes(const void *address) { olifant_access(address, one_read()); } \
    WEAK void __tsan_write##bytes(void *address) { olifant_access(address, one_write()); }     \
    WEAK void __tsan_read_write##bytes(void *address)                                        \
    {                                                                                        \
        olifant_access(address, one_read());                                                 \
        olifant_access(address, OLIFANT_WRITE + 1);                                          \
    }                                                                                        \
    WEAK void __tsan_volatile_write##bytes(void *address) { olifant_access(address, one_write()); }
ALIGNED(1)
ALIGNED(2)
ALIGNED(4)
ALIGNED(8)
ALIGNED(16)

#define UNALIGNED(bytes)                                                      \
    WEAK void __tsan_unaligned_read##bytes(const void *address)               \
    {                                                                         \
        olifant_access_bytes(address, bytes, one_read());                     \
    }                                                                         \
    WEAK void __tsan_unaligned_write##bytes(void *address)                    \
    {                                                                         \
        olifant_access_bytes(address, bytes, one_write());                    \
    }                                                                         \
    WEAK void __tsan_unaligned_read_write##bytes(void *address)               \
    {                                                                         \
        olifant_access_bytes(address, bytes, one_read());                     \
        olifant_access_bytes(address, bytes, OLIFANT_WRITE + 1);              \
    }                                                                         \
    WEAK void __tsan_unaligned_volatile_read##bytes(const void *address)      \
    {                                                                         \
        olifant_access_bytes(address, bytes, one_read());                     \
    }                                                                         \
    WEAK void __tsan_unaligned_volatile_write##bytes(void *address)           \
    {                                                                         \
        olifant_access_bytes(address, bytes, one_write());                    \
    }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

/* A volatile read may be a spin-wait; the runtime's atomic load looks for one. */
uint8_t __tsan_atomic8_load(const volatile uint8_t *address, int order);
uint16_t __tsan_atomic16_load(const volatile uint16_t *address, int order);
uint32_t __tsan_atomic32_load(const volatile uint32_t *address, int order);
uint64_t __tsan_atomic64_load(const volatile uint64_t *address, int order);

WEAK void __tsan_volatile_read1(const void *address) { (void)__tsan_atomic8_load(address, 0); }
WEAK void __tsan_volatile_read2(const void *address) { (void)__tsan_atomic16_load(address, 0); }
WEAK void __tsan_volatile_read4(const void *address) { (void)__tsan_atomic32_load(address, 0); }
WEAK void __tsan_volatile_read8(const void *address) { (void)__tsan_atomic64_load(address, 0); }
WEAK void __tsan_volatile_read16(const void *address) { olifant_access(address, one_read()); }

WEAK void __tsan_read_range(const void *address, uint64_t bytes) { __olifant_range(address, bytes, one_read()); }
WEAK void __tsan_write_range(void *address, uint64_t bytes) { __olifant_range(address, bytes, one_write()); }

/* A constructor or destructor stores the object's table of virtual functions; the store itself has no other hook. */
WEAK void __tsan_vptr_update(void **slot, void *value)
{
    (void)value;
    olifant_access(slot, one_write());
}
WEAK void __tsan_vptr_read(void **slot) { olifant_access(slot, one_read()); }

/* Bookkeeping of the race detector, of no use here. */
WEAK void __tsan_init(void) {}
WEAK void __tsan_func_entry(void *caller) { (void)caller; }
WEAK void __tsan_func_exit(void) {}
WEAK void __tsan_ignore_thread_begin(void) {}
WEAK void __tsan_ignore_thread_end(void) {}
