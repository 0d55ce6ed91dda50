/* Memory, replicas, teams and heaps through the C interface.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "check.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 32 };

static rset_t *allowed;
static size_t page;

static void allocation(void) {
    static const char *const policies[] = {"any", "first-touch", "local", "striped", "striped:4"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        void *memory = NULL;
        struct rset_report report;
        CHECK(rset_allocate(allowed, policies[i], PAGES * page, RSET_POPULATE, &memory, &report) == 0);
        CHECK(report.pages == PAGES && report.at_home == PAGES && report.cause == RSET_CAUSE_NONE);
        memset(memory, 1, PAGES * page);
        int nodes[PAGES];
        CHECK(rset_query(0, memory, PAGES * page, nodes, PAGES) == PAGES);
        for (int k = 0; k < PAGES; k++) {
            CHECK(rset_has_node(allowed, (unsigned)nodes[k]) == 1);
        }
        CHECK(rset_place(memory, PAGES * page, allowed, "any", 0, &report) == 0 && report.elsewhere == 0);
        CHECK(rset_move(0, memory, PAGES * page, allowed, "any", 8, 0, NULL) == 0);
        CHECK(rset_release(memory, PAGES * page) == 0);
    }
    void *memory = NULL;
    CHECK(rset_allocate(allowed, "stripd", page, 0, &memory, NULL) == -EINVAL);
    CHECK(strstr(rset_error_text(), "did you mean \"striped\"?") != NULL);
    CHECK(rset_allocate(allowed, "node:999", page, 0, &memory, NULL) == -EINVAL);
    CHECK(rset_allocate(allowed, "any", 0, 0, &memory, NULL) == -EINVAL && memory == NULL);
    rset_t *far = NULL;
    CHECK(rset_parse("-m 999", &far) == 0);
    CHECK(rset_allocate(far, "any", page, 0, &memory, NULL) == -ENODEV);
    rset_free(far);
}

static void file_memory(void) {
    FILE *file = tmpfile();
    CHECK(file != NULL && ftruncate(fileno(file), (off_t)(4 * page)) == 0);
    void *memory = NULL;
    CHECK(rset_map_file(fileno(file), 0, 4 * page, allowed, "any", 0, &memory, NULL) == 0);
    memset(memory, 9, 4 * page);
    char byte = 0;
    CHECK(pread(fileno(file), &byte, 1, (off_t)(3 * page)) == 1 && byte == 9);
    CHECK(rset_release(memory, 4 * page) == 0);
    CHECK(rset_map_file(-1, 0, page, allowed, "any", 0, &memory, NULL) == -EBADF);
    fclose(file);
}

static void replicas(void) {
    static const char first[] = "first", second[] = "second";
    const void *copy = NULL, *again = NULL;
    CHECK(rset_replicate(first, sizeof first, &copy) == 0 && memcmp(copy, first, sizeof first) == 0);
    CHECK(rset_replicate(first, sizeof first, &again) == 0 && again == copy);
    CHECK(rset_replicate(NULL, 1, &copy) == -EINVAL && rset_replicate(first, 0, &copy) == -EINVAL);
    rset_replica_t *replica = NULL;
    rset_reading_t *old = NULL, *new = NULL;
    const void *data = NULL;
    size_t bytes = 0;
    uint64_t version = 0;
    CHECK(rset_replica_new(allowed, first, sizeof first, &replica) == 0);
    CHECK(rset_replica_read(replica, &old, &data, &bytes, &version) == 0 && version == 1);
    CHECK(rset_replica_publish(replica, second, sizeof second) == 0);
    CHECK(bytes == sizeof first && memcmp(data, first, bytes) == 0);
    CHECK(rset_replica_read(replica, &new, &data, &bytes, &version) == 0 && version == 2);
    rset_reading_end(old);
    rset_replica_free(replica);
    CHECK(bytes == sizeof second && memcmp(data, second, bytes) == 0);
    rset_reading_end(new);
}

/* The host's own hardware has no monitor, and says so. */
static void monitor(void) {
    uint64_t count = 7;
    CHECK(rset_monitor_init() == -EOPNOTSUPP);
    CHECK(strstr(rset_error_text(), "no monitor") != NULL);
    CHECK(rset_monitor_region("all", NULL, 1, 4096, 0) == -EOPNOTSUPP);
    CHECK(rset_monitor_read(0, NULL, -1, &count) == -EOPNOTSUPP && count == 7);
    CHECK(rset_monitor_threshold(0, 1, NULL, NULL) == -EOPNOTSUPP);
}

static atomic_size_t sum;
static atomic_uint runs;

static void add(size_t begin, size_t end, unsigned number, void *argument) {
    (void)number;
    CHECK(argument == &sum);
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&sum, i);
    }
}

static void run(unsigned number, unsigned count, void *argument) {
    CHECK(number < count && count == 5 && argument == NULL);
    atomic_fetch_add(&runs, 1U << number);
}

static void threads(void) {
    CHECK(rset_team_run(allowed, "round-robin", 5, run, NULL) == 0 && runs == 31);
    CHECK(rset_parallel_for(allowed, "fill", 3, 10, 1010, add, &sum) == 0);
    CHECK(sum == (10U + 1009U) * 1000U / 2U);
    CHECK(rset_team_run(allowed, "60000", 1, run, NULL) == -EINVAL && runs == 31);
    CHECK(rset_team_run(allowed, "fil", 1, run, NULL) == -EINVAL);
    CHECK(rset_team_run(allowed, "fill", 1, NULL, NULL) == -EINVAL);
}

static rset_heap_t *heap;
static void *handed_over[100];

static void *producer(void *argument) {
    for (size_t i = 0; i < 100; i++) {
        handed_over[i] = rset_heap_malloc(heap, 1 + i * 50);
        CHECK(handed_over[i] != NULL);
        memset(handed_over[i], 3, 1 + i * 50);
    }
    return argument;
}

static void heaps(void) {
    CHECK(rset_heap_new(allowed, "any", &heap) == 0);
    pthread_t thread;
    CHECK(rset_thread_create(&thread, allowed, producer, NULL) == 0 && pthread_join(thread, NULL) == 0);
    for (size_t i = 0; i < 100; i++) {
        CHECK(rset_block_size(handed_over[i]) >= 1 + i * 50);
        rset_block_free(handed_over[i]);
    }
    unsigned char *block = rset_heap_calloc(heap, 10, 100);
    CHECK(block != NULL && block[999] == 0);
    block[999] = 5;
    block = rset_heap_realloc(heap, block, 100000);
    CHECK(block != NULL && block[999] == 5);
    rset_block_free(block);
    for (size_t alignment = 1; alignment <= 65536; alignment *= 2) {
        void *aligned = rset_heap_aligned_alloc(heap, alignment, 10);
        CHECK(aligned != NULL && (uintptr_t)aligned % alignment == 0);
        rset_block_free(aligned);
    }
    errno = 0;
    CHECK(rset_heap_aligned_alloc(heap, 3, 10) == NULL && errno == EINVAL);
    errno = 0;
    CHECK(rset_heap_calloc(heap, SIZE_MAX, 2) == NULL && errno == ENOMEM);
    rset_block_free(NULL);
    rset_heap_free(heap);
}

int main(void) {
    page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(rset_allowed(&allowed) == 0);
    allocation();
    file_memory();
    replicas();
    monitor();
    threads();
    heaps();
    rset_free(allowed);
    printf("librset %s: memory, replicas, threads, heaps\n", rset_version());
    return 0;
}
