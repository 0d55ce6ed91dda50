/* Memory on the stack: alloca, variable-length arrays, large frames, addresses handed to other threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

static long sum_array(size_t count) {
    long values[count];
    long sum = 0;
    for (size_t index = 0; index < count; index++) {
        values[index] = (long)index;
    }
    for (size_t index = 0; index < count; index++) {
        sum += values[index];
    }
    return sum;
}

static long sum_matrix(size_t rows, size_t columns, double matrix[rows][columns]) {
    double sum = 0.0;
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            sum += matrix[row][column];
        }
    }
    return (long)sum;
}

static void *fill_foreign(void *argument) {
    memset(argument, 'f', 4000);
    return NULL;
}

static void *use_stack(void *unused) {
    char *text = alloca(4000);
    CHECK((uintptr_t)text % 16 == 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fill_foreign, text) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(text[0] == 'f' && text[3999] == 'f');
    for (size_t count = 1; count < 20000; count *= 3) {
        CHECK(sum_array(count) == (long)(count * (count - 1) / 2));
    }
    double matrix[30][40];
    for (int row = 0; row < 30; row++) {
        for (int column = 0; column < 40; column++) {
            matrix[row][column] = row;
        }
    }
    CHECK(sum_matrix(30, 40, matrix) == 29 * 30 / 2 * 40);
    return unused;
}

int main(void) {
    pthread_t thread;
    use_stack(NULL);
    CHECK(pthread_create(&thread, NULL, use_stack, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
    return 0;
}
