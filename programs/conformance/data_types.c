/* Accesses of every size and kind: 1 to 16 bytes, unaligned, across lines and pages, bit-fields, structures, complex numbers.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <complex.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

struct __attribute__((packed)) packed {
    uint8_t byte;
    uint64_t word;
    uint16_t half;
    double real;
};

struct bits {
    unsigned low : 3;
    unsigned middle : 11;
    signed high : 18;
};

struct large {
    int values[300];
    struct packed inner;
};

static struct large copy_of(const struct large *original) {
    return *original;
}

int main(void) {
    static unsigned char area[3 * 4096];
    struct packed *packed;
    for (size_t offset = 4096 - 24; offset < 4096 + 24; offset++) {
        packed = (struct packed *)(area + offset);
        packed->byte = (uint8_t)offset;
        packed->word = 0x0123456789abcdefu + offset;
        packed->half = 0x4567;
        packed->real = 0.5 * (double)offset;
        packed->word ^= 1;
        packed->half++;
        CHECK(packed->byte == (uint8_t)offset);
        CHECK(packed->word == ((0x0123456789abcdefu + offset) ^ 1));
        CHECK(packed->half == 0x4568);
        CHECK(packed->real == 0.5 * (double)offset);
    }
    struct bits bits = {5, 1000, -70000};
    bits.low += 2;
    bits.middle ^= 1;
    bits.high *= -1;
    CHECK(bits.low == 7 && bits.middle == 1001 && bits.high == 70000);

    static struct large original;
    for (int index = 0; index < 300; index++) {
        original.values[index] = index * index;
    }
    original.inner.real = 2.5;
    const struct large copy = copy_of(&original);
    CHECK(memcmp(&copy, &original, sizeof copy) == 0);

    static long double extended[4];
    static double complex numbers[4];
    for (int index = 0; index < 4; index++) {
        extended[index] = 1.0L / (index + 1);
        numbers[index] = cexp(I * index);
    }
    CHECK(extended[2] * 3.0L == 1.0L);
    CHECK(cabs(numbers[3]) > 0.999999 && cabs(numbers[3]) < 1.000001);
    __extension__ typedef unsigned __int128 wide;
    static wide product[2];
    product[0] = (wide)UINT64_MAX * UINT64_MAX;
    product[1] = product[0] >> 64;
    CHECK((uint64_t)product[1] == UINT64_MAX - 1);
    puts("ok");
    return 0;
}
