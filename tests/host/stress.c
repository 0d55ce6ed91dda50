/* A program that does to its memory what programs do, all at once and without end, and checks that nothing is lost: threads that
 * come and go, fork, exec, mappings that come and go (with huge pages where the kernel has some), and system calls that read and
 * write the memory that is watched.
 *
 * usage: stress SECONDS
 *
 * Exit code 0 if every check held; else 1, and the check is named.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAIL(what) (fprintf(stderr, "stress: %s\n", what), _exit(1))

enum { HUGE = 2 << 20, BLOCK = 256 << 10 };

static double end;
static long rounds[5];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fill(uint64_t *words, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        words[i] = seed * 0x9e3779b97f4a7c15u + i;
}

static int is_filled(const uint64_t *words, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != seed * 0x9e3779b97f4a7c15u + i)
            return 0;
    return 1;
}

/* Mappings, small and huge, that come, grow, shrink and go. */
static void *churn_mappings(void *unused)
{
    for (uint64_t seed = 1; now() < end; seed++, rounds[0]++) {
        size_t bytes = seed % 8 ? BLOCK : 4 * HUGE;
        char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED)
            FAIL("mmap");
        if (seed % 8 == 0)
            madvise(start, bytes, MADV_HUGEPAGE);
        fill((uint64_t *)start, bytes / 8, seed);
        start = mremap(start, bytes, 2 * bytes, MREMAP_MAYMOVE);
        if (start == MAP_FAILED || !is_filled((uint64_t *)start, bytes / 8, seed))
            FAIL("a mapping changed when it grew");
        mprotect(start, bytes / 2, PROT_READ);
        if (!is_filled((uint64_t *)start, bytes / 8, seed) || start[2 * bytes - 1] != 0)
            FAIL("a mapping changed");
        munmap(start + bytes, bytes);
        munmap(start, bytes);
    }
    return unused;
}

/* Allocations of many sizes that live for a while. */
static void *churn_heap(void *unused)
{
    enum { LIVE = 64 };
    uint64_t *blocks[LIVE] = {0};
    size_t words[LIVE] = {0};
    for (uint64_t seed = 1; now() < end; seed++, rounds[1]++) {
        size_t at = seed * 7 % LIVE;
        if (blocks[at] && !is_filled(blocks[at], words[at], at))
            FAIL("an allocation changed");
        words[at] = (seed * 2654435761u) % 40000 + 1;
        blocks[at] = realloc(blocks[at], words[at] * 8);
        if (!blocks[at])
            FAIL("realloc");
        fill(blocks[at], words[at], at);
    }
    for (int i = 0; i < LIVE; i++)
        free(blocks[i]);
    return unused;
}

/* System calls that write and read memory: a pipe from one block to another. */
static void *churn_calls(void *unused)
{
    uint64_t *from = malloc(BLOCK), *into = malloc(BLOCK);
    int ends[2];
    if (!from || !into || pipe(ends))
        FAIL("pipe");
    for (uint64_t seed = 1; now() < end; seed++, rounds[2]++) {
        fill(from, BLOCK / 8, seed);
        for (size_t done = 0; done < BLOCK;) {
            ssize_t out = write(ends[1], (char *)from + done, 4096);
            if (out <= 0)
                FAIL("write(2)");
            for (ssize_t in = 0; in < out;) {
                ssize_t got = read(ends[0], (char *)into + done + in, (size_t)(out - in));
                if (got <= 0)
                    FAIL("read(2)");
                in += got;
            }
            done += (size_t)out;
        }
        if (!is_filled(into, BLOCK / 8, seed))
            FAIL("what went through a pipe changed");
    }
    close(ends[0]);
    close(ends[1]);
    free(from);
    free(into);
    return unused;
}

/* Children that see the parent's memory as it was and change their own; every fourth becomes another program. */
static void churn_children(void)
{
    uint64_t *block = malloc(BLOCK);
    for (uint64_t seed = 1; now() < end; seed++, rounds[3]++) {
        fill(block, BLOCK / 8, seed);
        pid_t child = fork();
        if (child < 0)
            FAIL("fork");
        if (child == 0) {
            if (!is_filled(block, BLOCK / 8, seed))
                _exit(2);
            fill(block, BLOCK / 8, ~seed);
            if (seed % 4 == 0)
                execlp("true", "true", (char *)NULL);
            _exit(is_filled(block, BLOCK / 8, ~seed) ? 0 : 3);
        }
        int status;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
            FAIL("a child found its memory changed");
        if (!is_filled(block, BLOCK / 8, seed))
            FAIL("a child changed its parent's memory");
    }
    free(block);
}

static void *touch(void *seed)
{
    uint64_t own[512];
    fill(own, 512, (uint64_t)(uintptr_t)seed);
    if (!is_filled(own, 512, (uint64_t)(uintptr_t)seed))
        FAIL("a stack changed");
    return NULL;
}

/* Threads that live for a moment. */
static void *churn_threads(void *unused)
{
    for (uintptr_t seed = 1; now() < end; seed++, rounds[4]++) {
        pthread_t threads[8];
        for (int i = 0; i < 8; i++)
            if (pthread_create(&threads[i], NULL, touch, (void *)(seed * 8 + (uintptr_t)i)))
                FAIL("pthread_create");
        for (int i = 0; i < 8; i++)
            pthread_join(threads[i], NULL);
    }
    return unused;
}

int main(int argc, char **argv)
{
    void *(*work[])(void *) = {churn_mappings, churn_heap, churn_calls, churn_threads};
    pthread_t threads[4];
    end = now() + (argc > 1 ? atof(argv[1]) : 1);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, work[i], NULL))
            FAIL("pthread_create");
    churn_children();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 5; i++)
        if (rounds[i] == 0)
            FAIL("a part did nothing");
    printf("mappings %ld heap %ld calls %ld children %ld threads %ld\n", rounds[0], rounds[1], rounds[2], rounds[3], rounds[4]);
    return 0;
}
