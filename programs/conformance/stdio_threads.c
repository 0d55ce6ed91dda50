/* Several threads print to one stream at once: lines stay whole; a temporary file is written and read back.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { THREADS = 6, LINES = 200 };

static FILE *file;

static void *print_lines(void *argument) {
    const int id = *(int *)argument;
    for (int line = 0; line < LINES; line++) {
        CHECK(fprintf(file, "thread %d line %d of %d %s\n", id, line, LINES, "with some more words") > 0);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS], next[THREADS] = {0};
    file = tmpfile();
    CHECK(file != NULL);
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, print_lines, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }
    rewind(file);
    char text[128];
    int count = 0;
    while (fgets(text, sizeof text, file) != NULL) {
        int id, line, total, end = 0;
        CHECK(sscanf(text, "thread %d line %d of %d with some more words%n", &id, &line, &total, &end) == 3);
        CHECK(text[end] == '\n');
        CHECK(id >= 0 && id < THREADS);
        CHECK(line == next[id]++);
        count++;
    }
    CHECK(count == THREADS * LINES);
    CHECK(fclose(file) == 0);
    puts("ok");
    return 0;
}
