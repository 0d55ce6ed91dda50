/*
 * stress SECONDS LIBRARY: threads that allocate, free each other's blocks, fork and load LIBRARY, all at once; every block
 * and every child is checked. Prints what was done.
 *
 * Children of fork allocate and make a thread themselves, which a child could not with a lock of the allocator left closed.
 * A thread's destructors allocate and free when its storage is already being taken down.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, SHARED = 512, LIFE = 20000, CHILD_LIMIT_S = 60 };

static _Atomic(unsigned char *) shared[SHARED];
static atomic_long blocks, children, threads, loads;
static atomic_int is_over;
static pthread_key_t key;
static const char *library;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "stress: %s\n", what);
    _exit(1);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A block begins with its size and is filled with a byte of it. */
static unsigned char *make(uint64_t *seed)
{
    uint64_t random = next_random(seed);
    size_t bytes = 16 + (random >> 8) % (random % 100 == 0 ? 300000 : 2000);
    size_t alignment = (size_t)16 << (random >> 40) % 9;
    unsigned char *block = NULL;
    switch (random >> 50 & 3) {
    case 0:
        block = malloc(bytes);
        break;
    case 1:
        block = calloc(1, bytes);
        for (size_t at = 0; block != NULL && at < bytes; at++)
            if (block[at] != 0)
                fail("calloc gave a byte that is not zero");
        break;
    case 2:
        block = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        if ((uintptr_t)block % alignment != 0)
            fail("a block is not aligned");
        break;
    default:
        block = realloc(malloc(bytes / 2), bytes);
    }
    if (block == NULL || malloc_usable_size(block) < bytes)
        fail("no block, or one that is too small");
    memset(block, (unsigned char)bytes, bytes);
    memcpy(block, &bytes, sizeof bytes);
    atomic_fetch_add(&blocks, 1);
    return block;
}

static void drop(unsigned char *block)
{
    if (block == NULL)
        return;
    size_t bytes;
    memcpy(&bytes, block, sizeof bytes);
    if (block[bytes - 1] != (unsigned char)bytes && bytes > sizeof bytes)
        fail("a block has changed");
    free(block);
}

static void at_thread_end(void *value)
{
    free(value);
    free(calloc(3, 77));
}

static void *brief(void *argument)
{
    uint64_t seed = (uintptr_t)argument * 2 + 1;
    pthread_setspecific(key, malloc(100));
    for (int turn = 0; turn < 50; turn++)
        drop(make(&seed));
    atomic_fetch_add(&threads, 1);
    return NULL;
}

static void run_thread(uint64_t seed)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, brief, (void *)(uintptr_t)seed) != 0 || pthread_join(thread, NULL) != 0)
        fail("no thread");
}

static void run_child(uint64_t *seed)
{
    pid_t child = fork();
    if (child < 0 && errno == EAGAIN)
        return;
    if (child < 0)
        fail("no child");
    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        for (int turn = 0; turn < 50; turn++)
            drop(make(seed));
        run_thread(next_random(seed));
        free(strdup("a child"));
        _exit(7);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        fail(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "a child hangs" : "a child failed");
    atomic_fetch_add(&children, 1);
}

static void load(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    if (handle == NULL)
        fail(dlerror());
    atomic_fetch_add(&loads, 1);
    dlclose(handle);
}

static void map(void)
{
    size_t bytes = 1 << 18;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("no mapping");
    memory[0] = memory[bytes - 1] = 1;
    munmap(memory, bytes);
}

static void *worker(void *argument)
{
    uint64_t seed = 88172645463325252U + (uintptr_t)argument;
    for (long turn = 1; !atomic_load(&is_over); turn++) {
        drop(atomic_exchange(&shared[next_random(&seed) % SHARED], make(&seed)));
        if (turn % LIFE == 0) {
            run_child(&seed);
            run_thread(next_random(&seed));
            load();
            map();
        }
    }
    return NULL;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3) {
        fprintf(stderr, "usage: stress SECONDS LIBRARY\n");
        return 2;
    }
    library = arguments[2];
    pthread_key_create(&key, at_thread_end);
    pthread_t workers[WORKERS];
    for (uintptr_t number = 0; number < WORKERS; number++)
        if (pthread_create(&workers[number], NULL, worker, (void *)number) != 0)
            fail("no thread");
    struct timespec rest = {.tv_sec = atol(arguments[1])};
    while (nanosleep(&rest, &rest) != 0)
        ;
    atomic_store(&is_over, 1);
    for (int number = 0; number < WORKERS; number++)
        pthread_join(workers[number], NULL);
    for (int slot = 0; slot < SHARED; slot++)
        drop(shared[slot]);
    printf("%ld blocks, %ld children, %ld threads, %ld loads\n", blocks, children, threads, loads);
    return blocks > 0 && children > 0 && threads > 0 && loads > 0 ? 0 : 1;
}
