/* Functions of the C library that read and write memory: the real thing, and its accesses counted. memcpy, memmove, memset
 * and memcmp are the runtime's. Instructions: one a byte for searches and comparisons of strings would overstate what
 * vector code does; one for every eight bytes is counted.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "block.h"

void *__olifant_memcpy(void *to, const void *from, size_t bytes);
void *__olifant_memmove(void *to, const void *from, size_t bytes);
void *__olifant_memset(void *to, int value, size_t bytes);

#define WEAK __attribute__((weak))

static void count(const void *address, size_t bytes, uint64_t kind)
{
    if (bytes > 0)
        __olifant_range(address, bytes, kind + 1 + bytes / 8);
}

/* How far a comparison of two buffers looks: to the first difference, that byte included. */
static size_t compared(const unsigned char *a, const unsigned char *b, size_t limit, int stops_at_end)
{
    size_t at = 0;
    while (at < limit && a[at] == b[at] && !(stops_at_end && a[at] == 0))
        at++;
    return at < limit ? at + 1 : limit;
}

static void count_compared(const void *a, const void *b, size_t limit, int stops_at_end)
{
    size_t bytes = compared(a, b, limit, stops_at_end);
    count(a, bytes, OLIFANT_READ);
    count(b, bytes, OLIFANT_READ);
}

WEAK int __olifant_bcmp(const void *a, const void *b, size_t bytes)
{
    count_compared(a, b, bytes, 0);
    return memcmp(a, b, bytes);
}

WEAK void *__olifant_mempcpy(void *to, const void *from, size_t bytes)
{
    return (char *)__olifant_memcpy(to, from, bytes) + bytes;
}

WEAK void __olifant_bcopy(const void *from, void *to, size_t bytes) { __olifant_memmove(to, from, bytes); }
WEAK void __olifant_bzero(void *to, size_t bytes) { __olifant_memset(to, 0, bytes); }

/* The checked forms: the compiler's promise of the target's size is kept by the C library's own message. */
void __chk_fail(void) __attribute__((noreturn));

WEAK void *__olifant___memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    return __olifant_memcpy(to, from, bytes);
}

WEAK void *__olifant___memmove_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    return __olifant_memmove(to, from, bytes);
}

WEAK void *__olifant___memset_chk(void *to, int value, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    return __olifant_memset(to, value, bytes);
}

WEAK void *__olifant_memchr(const void *from, int value, size_t bytes)
{
    void *found = memchr(from, value, bytes);
    count(from, found ? (size_t)((char *)found - (const char *)from) + 1 : bytes, OLIFANT_READ);
    return found;
}

WEAK void *__olifant_memrchr(const void *from, int value, size_t bytes)
{
    void *found = memrchr(from, value, bytes);
    const char *start = found ? found : from;
    count(start, (size_t)((const char *)from + bytes - start), OLIFANT_READ);
    return found;
}

WEAK size_t __olifant_strlen(const char *text)
{
    size_t length = strlen(text);
    count(text, length + 1, OLIFANT_READ);
    return length;
}

WEAK size_t __olifant_strnlen(const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    count(text, length < limit ? length + 1 : limit, OLIFANT_READ);
    return length;
}

WEAK char *__olifant_strcpy(char *to, const char *from)
{
    return __olifant_memcpy(to, from, strlen(from) + 1);
}

WEAK char *__olifant_stpcpy(char *to, const char *from)
{
    size_t length = strlen(from);
    __olifant_memcpy(to, from, length + 1);
    return to + length;
}

WEAK char *__olifant_strncpy(char *to, const char *from, size_t limit)
{
    size_t length = strnlen(from, limit);
    count(from, length < limit ? length + 1 : limit, OLIFANT_READ);
    count(to, limit, OLIFANT_WRITE);
    return strncpy(to, from, limit);
}

WEAK char *__olifant_strcat(char *to, const char *from)
{
    size_t length = __olifant_strlen(to);
    __olifant_strcpy(to + length, from);
    return to;
}

WEAK char *__olifant_strncat(char *to, const char *from, size_t limit)
{
    size_t at = __olifant_strlen(to);
    size_t length = strnlen(from, limit);
    __olifant_memcpy(to + at, from, length);
    count(to + at + length, 1, OLIFANT_WRITE);
    to[at + length] = 0;
    return to;
}

WEAK int __olifant_strcmp(const char *a, const char *b)
{
    count_compared(a, b, SIZE_MAX, 1);
    return strcmp(a, b);
}

WEAK int __olifant_strncmp(const char *a, const char *b, size_t limit)
{
    count_compared(a, b, limit, 1);
    return strncmp(a, b, limit);
}

WEAK char *__olifant_strchr(const char *text, int value)
{
    char *found = strchr(text, value);
    count(text, found ? (size_t)(found - text) + 1 : strlen(text) + 1, OLIFANT_READ);
    return found;
}

WEAK char *__olifant_strrchr(const char *text, int value)
{
    count(text, strlen(text) + 1, OLIFANT_READ);
    return strrchr(text, value);
}

WEAK char *__olifant_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? __olifant_memcpy(copy, text, bytes) : NULL;
}
