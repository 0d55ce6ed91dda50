/* C11 atomics of 1, 2, 4, 8 bytes and pointers: every operation alone, counters under contention, fences, publication.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 2000 };

#define CHECK_TYPE(type)                                                                    \
    do {                                                                                    \
        _Atomic type object;                                                                \
        type expected;                                                                      \
        atomic_init(&object, (type)5);                                                      \
        CHECK(atomic_load(&object) == (type)5);                                             \
        atomic_store(&object, (type)6);                                                     \
        CHECK(atomic_exchange(&object, (type)7) == (type)6);                                \
        CHECK(atomic_fetch_add(&object, (type)10) == (type)7);                              \
        CHECK(atomic_fetch_sub(&object, (type)18) == (type)17);                             \
        CHECK(atomic_load(&object) == (type)-1);                                            \
        CHECK(atomic_fetch_and(&object, (type)0x3c) == (type)-1);                           \
        CHECK(atomic_fetch_or(&object, (type)0x03) == (type)0x3c);                          \
        CHECK(atomic_fetch_xor(&object, (type)0x0f) == (type)0x3f);                         \
        expected = (type)1;                                                                 \
        CHECK(!atomic_compare_exchange_strong(&object, &expected, (type)2));                \
        CHECK(expected == (type)0x30);                                                      \
        CHECK(atomic_compare_exchange_strong(&object, &expected, (type)2));                 \
        while (!atomic_compare_exchange_weak_explicit(&object, &expected, (type)3,          \
                                                      memory_order_acq_rel, memory_order_relaxed)) { \
        }                                                                                   \
        CHECK(atomic_load_explicit(&object, memory_order_acquire) == (type)3);              \
    } while (0)

static atomic_uchar bytes;
static atomic_ushort shorts;
static atomic_uint words;
static _Atomic uint64_t longs;
static atomic_uint by_exchange;
static int payload;
static atomic_int is_published;

static void *count(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        atomic_fetch_add_explicit(&bytes, 1, memory_order_relaxed);
        atomic_fetch_add(&shorts, 1);
        words++;
        longs += 3;
        unsigned seen = atomic_load(&by_exchange);
        while (!atomic_compare_exchange_weak(&by_exchange, &seen, seen + 1)) {
        }
    }
    return unused;
}

static void *publish(void *unused) {
    payload = 77;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&is_published, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    CHECK_TYPE(int8_t);
    CHECK_TYPE(uint8_t);
    CHECK_TYPE(int16_t);
    CHECK_TYPE(uint16_t);
    CHECK_TYPE(int32_t);
    CHECK_TYPE(uint32_t);
    CHECK_TYPE(int64_t);
    CHECK_TYPE(uint64_t);
    int array[4];
    _Atomic(int *) pointer = array;
    int *expected_pointer = array;
    CHECK(atomic_compare_exchange_strong(&pointer, &expected_pointer, array + 3));
    CHECK(atomic_exchange(&pointer, array + 1) == array + 3);
    CHECK(atomic_load(&pointer) == array + 1);
    _Atomic double real = 1.5;
    double seen_real = atomic_load(&real);
    while (!atomic_compare_exchange_weak(&real, &seen_real, seen_real + 2.0)) {
    }
    CHECK(real == 3.5);
    atomic_flag test = ATOMIC_FLAG_INIT;
    CHECK(!atomic_flag_test_and_set(&test));
    CHECK(atomic_flag_test_and_set(&test));
    atomic_flag_clear(&test);
    CHECK(!atomic_flag_test_and_set(&test));
    atomic_signal_fence(memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    CHECK(atomic_is_lock_free(&longs));

    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_create(&threads[id], NULL, count, NULL) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    CHECK(bytes == (unsigned char)(THREADS * ROUNDS));
    CHECK(shorts == (unsigned short)(THREADS * ROUNDS));
    CHECK(words == THREADS * ROUNDS);
    CHECK(longs == 3ull * THREADS * ROUNDS);
    CHECK(by_exchange == THREADS * ROUNDS);

    CHECK(pthread_create(&threads[0], NULL, publish, NULL) == 0);
    while (atomic_load_explicit(&is_published, memory_order_relaxed) == 0) {
    }
    atomic_thread_fence(memory_order_acquire);
    CHECK(payload == 77);
    CHECK(pthread_join(threads[0], NULL) == 0);
    puts("ok");
    return 0;
}
