/* Memory and string functions on small, large, unaligned and overlapping areas, with sizes the compiler cannot know.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <string.h>

#include "check.h"

enum { LARGE = 5 << 20 };

static volatile size_t offset = 3; /* hides sizes and alignment from the compiler */

int main(void) {
    char *first = malloc(LARGE + 64), *second = malloc(LARGE + 64);
    CHECK(first != NULL && second != NULL);
    for (size_t index = 0; index < LARGE; index++) {
        first[index] = (char)(index * 31 % 127 + 1);
    }
    const size_t sizes[] = {0, 1, 7, 8, 15, 16, 31, 33, 63, 64, 65, 127, 1000, 4095, 4097, 70000, LARGE - 64};
    for (size_t number = 0; number < sizeof sizes / sizeof sizes[0]; number++) {
        const size_t size = sizes[number];
        memset(second, 0, LARGE);
        CHECK(memcpy(second + offset, first + 2 * offset, size) == second + offset);
        CHECK(memcmp(second + offset, first + 2 * offset, size) == 0);
        CHECK(second[offset - 1] == 0 && second[offset + size] == 0);
        CHECK(memset(second + offset, 'q', size) == second + offset);
        CHECK(size == 0 || (second[offset] == 'q' && second[offset + size - 1] == 'q'));
        CHECK(second[offset + size] == 0);
    }
    memcpy(second, first, LARGE);
    memmove(second + offset, second, LARGE - 64);
    CHECK(memcmp(second + offset, first, LARGE - 64) == 0);
    memcpy(second, first, LARGE);
    memmove(second, second + offset, LARGE - 64);
    CHECK(memcmp(second, first + offset, LARGE - 64) == 0);

    first[LARGE - 1] = '\0';
    CHECK(strlen(first) == LARGE - 1);
    CHECK(strcpy(second, first) == second);
    CHECK(strcmp(first, second) == 0);
    second[LARGE - 2] = '\0';
    CHECK(strcmp(first, second) > 0);
    CHECK(strncmp(first, second, LARGE - 2) == 0);
    first[100] = '\0';
    CHECK(strncpy(second, first, 200) == second);
    CHECK(second[150] == '\0');
    CHECK(strlen(strcat(second, "tail")) == 104);
    CHECK(strstr(second, "tail") == second + 100);
    CHECK(strchr(second, 't') != NULL);
    CHECK(memchr(second, '\0', 200) == second + 104);
    CHECK(stpcpy(second, "abc") == second + 3);
    CHECK(mempcpy(second, "xyz", 3) == second + 3);
    char *copy = strdup("duplicate");
    CHECK(copy != NULL && strcmp(copy, "duplicate") == 0);
    char *position = NULL;
    CHECK(strcmp(strtok_r(memcpy(second, "a,b", 4), ",", &position), "a") == 0);
    CHECK(strcmp(strtok_r(NULL, ",", &position), "b") == 0);
    const char *volatile text = "long enough"; /* hides the length: the cut is wanted */
    CHECK(snprintf(second, 8, "%d-%s", 12, text) == 14);
    CHECK(strcmp(second, "12-long") == 0);
    free(copy);
    free(first);
    free(second);
    puts("ok");
    return 0;
}
