/* Every form of access and control flow that an instrumented C program may have; prints one checksum a form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct packed { char a; int32_t b; double c; } __attribute__((packed));
struct pair { long first, second; double rest[5]; };
union either { uint64_t whole; unsigned char bytes[8]; };

static _Thread_local int counter;
static _Thread_local int table[16];
static double grid[64][64];
static volatile int device;
static _Atomic int shared;
static _Atomic(char *) shared_pointer;

static int sum(int count, ...)
{
    va_list arguments;
    int total = 0;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        total += va_arg(arguments, int);
    va_end(arguments);
    return total;
}

static int choose(int which)
{
    switch (which) {
    case 0: return table[3];
    case 1: return 17 + table[1];
    case 2: return counter;
    case 3: return 4;
    case 4: return table[which];
    case 5: return -1;
    case 7: return (int)grid[1][1];
    default: return 99;
    }
}

/* A little interpreter with computed gotos. */
static long interpret(const unsigned char *code)
{
    static void *const labels[] = { &&stop, &&add, &&twice, &&negate };
    long value = 1;
    goto *labels[*code++];
add:
    value += *code++;
    goto *labels[*code++];
twice:
    value *= 2;
    goto *labels[*code++];
negate:
    value = -value;
    goto *labels[*code++];
stop:
    return value;
}

static long double precise(const long double *values, int count)
{
    long double total = 0, product = 1;
    for (int i = 0; i < count; i++) {
        total += values[i] * values[i];
        product *= 1 + values[i] / 7;
    }
    return total + product;
}

static uint32_t rotate(const uint32_t *from)
{
    uint32_t value = *from;
    __asm__("roll $5, %0" : "+r"(value) : : "cc");
    __asm__ volatile("1: decl %0; jnz 1b" : "+r"(device) : : "cc");
    return value;
}

static double relax(int rounds)
{
    double change = 0;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            grid[i][j] = i * j % 11;
    for (int round = 0; round < rounds; round++)
        for (int i = 1; i < 63; i++)
            for (int j = 1; j < 63; j++) {
                double value = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
                change += value > grid[i][j] ? value - grid[i][j] : grid[i][j] - value;
                grid[i][j] = value;
            }
    return change;
}

static jmp_buf back;
static int leave(int depth)
{
    if (depth == 0)
        longjmp(back, 5);
    table[depth % 16]++;
    return depth > 100 ? depth : leave(depth - 1) + 1;
}

static struct pair twice(struct pair in)
{
    struct pair out = in;
    out.first *= 2;
    out.rest[4] += in.second;
    return out;
}

int main(void)
{
    struct packed packed[3] = { { 1, 2, 3.5 }, { 4, 5, 6.5 }, { 7, 8, 9.5 } };
    for (int i = 0; i < 3; i++) {
        packed[i].b++;
        packed[i].c *= packed[i].a;
    }
    printf("packed %d %g\n", packed[1].b + packed[2].b, packed[0].c + packed[2].c);
    for (int i = 0; i < 100; i++)
        table[i % 16] += i + counter++;
    printf("thread-local %d %d\n", table[5], counter);
    int chosen = 0;
    for (int i = 0; i < 9; i++)
        chosen = chosen * 3 + choose(i);
    printf("switch %d\n", chosen);
    printf("goto %ld\n", interpret((const unsigned char[]) { 1, 20, 2, 3, 1, 2, 2, 0 }));
    long double values[] = { 0.5L, 0.25L, 3.0L, 7.125L };
    printf("long double %.12Lf\n", precise(values, 4));
    device = 5;
    uint32_t bits = 0x12345678;
    bits = rotate(&bits);
    printf("asm %x %d\n", bits, device);
    printf("relax %.9f\n", relax(30));
    printf("variadic %d\n", sum(5, 1, 2, 3, 4, table[2]));
    volatile int arrived = setjmp(back);
    if (!arrived)
        leave(40);
    printf("longjmp %d %d\n", arrived, table[7]);
    for (int i = 0; i < 10; i++)
        atomic_fetch_add(&shared, i);
    int expected = 45;
    int swapped = atomic_compare_exchange_strong(&shared, &expected, 7);
    atomic_store_explicit(&shared_pointer, (char *)"pointer", memory_order_release);
    printf("atomic %d %d %s\n", swapped, atomic_load(&shared), atomic_load(&shared_pointer));
    struct pair pair = twice((struct pair) { 21, 4, { 1, 2, 3, 4, 5 } });
    printf("structure %ld %g\n", pair.first, pair.rest[4]);
    char *text = malloc(300);
    memset(text, 'x', 299);
    text[299] = 0;
    memcpy(text + 10, "hello", 5);
    memmove(text + 3, text + 8, 200);
    strcpy(text + 100, "end");
    printf("strings %zu %.12s %d\n", strlen(text), text, strcmp(text, "xxx"));
    free(text);
    union either either = { .whole = 0x0102030405060708 };
    unsigned hash = 0;
    for (int i = 0; i < 8; i++)
        hash = hash * 31 + either.bytes[i];
    printf("union %u\n", hash);
    return 0;
}
