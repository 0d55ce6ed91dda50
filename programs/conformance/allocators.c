/* The malloc family: sizes from 0 to 64 MiB, realloc both ways, calloc's zeros and overflow, alignments, foreign frees.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

enum { THREADS = 4, BLOCKS = 500 };

static char *blocks[THREADS][BLOCKS];
static pthread_barrier_t barrier;

/* Each thread frees what its neighbour allocated. */
static void *allocate_and_free(void *argument) {
    const int id = *(int *)argument;
    for (int block = 0; block < BLOCKS; block++) {
        size_t size = 1 + (size_t)block * 37 % 5000;
        blocks[id][block] = malloc(size);
        CHECK(blocks[id][block] != NULL);
        memset(blocks[id][block], id + 1, size);
    }
    pthread_barrier_wait(&barrier);
    const int neighbour = (id + 1) % THREADS;
    for (int block = 0; block < BLOCKS; block++) {
        CHECK(blocks[neighbour][block][0] == neighbour + 1);
        free(blocks[neighbour][block]);
    }
    return NULL;
}

int main(void) {
    free(NULL);
    free(malloc(0));
    for (size_t size = 1; size <= (size_t)64 << 20; size *= 8) {
        char *memory = malloc(size);
        CHECK(memory != NULL);
        CHECK((uintptr_t)memory % 16 == 0);
        CHECK(malloc_usable_size(memory) >= size);
        memory[0] = 'a';
        memory[size - 1] = 'z';
        memory = realloc(memory, 2 * size);
        CHECK(memory != NULL);
        CHECK(memory[size - 1] == 'z');
        memory = realloc(memory, size / 2 + 1);
        CHECK(memory != NULL);
        CHECK(memory[0] == (size == 1 ? 'z' : 'a'));
        free(memory);
    }
    volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers warn of such sizes, and drop a block that nobody uses */
    void *volatile refused = calloc(huge, 4);
    CHECK(refused == NULL);
    CHECK(errno == ENOMEM);
    unsigned char *zeros = calloc(1000, 1000);
    CHECK(zeros != NULL);
    for (int index = 0; index < 1000000; index++) {
        CHECK(zeros[index] == 0);
    }
    free(zeros);
    CHECK((zeros = reallocarray(NULL, 10, 10)) != NULL);
    free(zeros);
    for (size_t alignment = sizeof(void *); alignment <= 1 << 16; alignment *= 2) {
        void *memory = NULL;
        CHECK(posix_memalign(&memory, alignment, 3 * alignment) == 0);
        CHECK((uintptr_t)memory % alignment == 0);
        memset(memory, 1, 3 * alignment);
        free(memory);
        memory = aligned_alloc(alignment, 2 * alignment);
        CHECK(memory != NULL && (uintptr_t)memory % alignment == 0);
        free(memory);
    }
    void *memory = NULL;
    CHECK(posix_memalign(&memory, 3, 100) == EINVAL);

    pthread_t threads[THREADS];
    int ids[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int id = 0; id < THREADS; id++) {
        ids[id] = id;
        CHECK(pthread_create(&threads[id], NULL, allocate_and_free, &ids[id]) == 0);
    }
    for (int id = 0; id < THREADS; id++) {
        CHECK(pthread_join(threads[id], NULL) == 0);
    }

    char *mapped = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    mapped[12345] = 1;
    mapped = mremap(mapped, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
    CHECK(mapped != MAP_FAILED);
    CHECK(mapped[12345] == 1 && mapped[3 << 20] == 0);
    CHECK(munmap(mapped, 4 << 20) == 0);
    puts("ok");
    return 0;
}
