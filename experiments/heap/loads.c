/*
 * loads KIND THREADS ROUNDS: four ways in which programs use malloc, each checking the bytes that it gets back.
 *
 *   single     one thread allocates, grows and frees blocks of 8 to 1,024 bytes, now and then up to 64 KiB, in random order
 *   many       the same in THREADS threads at once, each with blocks of its own
 *   queue      THREADS / 2 producers allocate what as many consumers free (at least one of each)
 *   larson     a server: THREADS threads replace random blocks of a table that they pass on to a successor when they end
 *
 * Sizes and order come from a fixed generator, so two runs ask for the same. Prints the number of blocks and the most memory that the
 * process had, in KiB. The mixes follow the descriptions of mimalloc-bench's alloc-test, xmalloc and larson; no code is taken from it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, BATCH = 256, GENERATIONS = 20, QUEUE = 64 };

struct block {
    unsigned char *start;
    size_t bytes;
};

struct work {
    pthread_t thread;
    uint64_t seed;
    long rounds;
    long blocks;
    struct block *table;
    struct pipe *pipe;
    int generation;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "loads: %s\n", what);
    exit(1);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static size_t some_size(uint64_t *seed)
{
    uint64_t random = next_random(seed);
    size_t bytes = 8 + (size_t)(random >> 20 & 127) * (size_t)(1 + (random >> 30 & 7));
    return random % 200 == 0 ? bytes * 64 : bytes;
}

/* The first and last byte of a block tell whose it is. */
static void fill(struct block *block, size_t bytes)
{
    block->start = malloc(bytes);
    if (block->start == NULL)
        fail("no memory");
    block->bytes = bytes;
    block->start[0] = block->start[bytes - 1] = (unsigned char)bytes;
}

static void empty(struct block *block)
{
    if (block->start == NULL)
        return;
    if (block->start[0] != (unsigned char)block->bytes || block->start[block->bytes - 1] != (unsigned char)block->bytes)
        fail("a block has changed");
    free(block->start);
    block->start = NULL;
}

static void grow(struct block *block, size_t bytes)
{
    unsigned char first = block->start[0];
    block->start = realloc(block->start, bytes);
    if (block->start == NULL || block->start[0] != first)
        fail("realloc lost a byte");
    block->bytes = bytes;
    block->start[0] = block->start[bytes - 1] = (unsigned char)bytes;
}

static void *churn(void *argument)
{
    struct work *work = argument;
    struct block *table = work->table;
    for (long round = 0; round < work->rounds; round++) {
        struct block *block = &table[next_random(&work->seed) % SLOTS];
        if (block->start != NULL && round % 16 == 0) {
            grow(block, block->bytes + 1 + block->bytes / 2);
        } else {
            empty(block);
            fill(block, some_size(&work->seed));
            work->blocks++;
        }
    }
    return NULL;
}

static void empty_table(struct block *table)
{
    for (int slot = 0; slot < SLOTS; slot++)
        empty(&table[slot]);
    free(table);
}

static struct block *new_table(void)
{
    struct block *table = calloc(SLOTS, sizeof *table);
    if (table == NULL)
        fail("no memory");
    return table;
}

/* Batches of blocks on their way from one producer to one consumer. */
struct pipe {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct block *batches[QUEUE];
    int first, count, is_done;
};

static void *produce(void *argument)
{
    struct work *work = argument;
    struct pipe *pipe = work->pipe;
    for (long round = 0; round < work->rounds; round += BATCH) {
        struct block *batch = malloc(BATCH * sizeof *batch);
        if (batch == NULL)
            fail("no memory");
        for (int at = 0; at < BATCH; at++)
            fill(&batch[at], some_size(&work->seed));
        work->blocks += BATCH;
        pthread_mutex_lock(&pipe->lock);
        while (pipe->count == QUEUE)
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        pipe->batches[(pipe->first + pipe->count++) % QUEUE] = batch;
        pthread_cond_broadcast(&pipe->changed);
        pthread_mutex_unlock(&pipe->lock);
    }
    pthread_mutex_lock(&pipe->lock);
    pipe->is_done = 1;
    pthread_cond_broadcast(&pipe->changed);
    pthread_mutex_unlock(&pipe->lock);
    return NULL;
}

static void *consume(void *argument)
{
    struct pipe *pipe = argument;
    for (;;) {
        pthread_mutex_lock(&pipe->lock);
        while (pipe->count == 0 && !pipe->is_done)
            pthread_cond_wait(&pipe->changed, &pipe->lock);
        if (pipe->count == 0) {
            pthread_mutex_unlock(&pipe->lock);
            return NULL;
        }
        struct block *batch = pipe->batches[pipe->first];
        pipe->first = (pipe->first + 1) % QUEUE;
        pipe->count--;
        pthread_cond_broadcast(&pipe->changed);
        pthread_mutex_unlock(&pipe->lock);
        for (int at = 0; at < BATCH; at++)
            empty(&batch[at]);
        free(batch);
    }
}

/* A thread of larson's server: its successor is a new thread with the same table. */
static void *serve(void *argument)
{
    struct work *work = argument;
    churn(work);
    if (++work->generation < GENERATIONS) {
        pthread_t successor;
        if (pthread_create(&successor, NULL, serve, work) != 0 || pthread_join(successor, NULL) != 0)
            fail("no thread");
    }
    return NULL;
}

static long run_tables(int threads, long rounds, void *(*body)(void *))
{
    struct work *work = calloc((size_t)threads, sizeof *work);
    if (work == NULL)
        fail("no memory");
    for (int thread = 0; thread < threads; thread++) {
        work[thread].seed = 88172645463325252U + (uint64_t)thread;
        work[thread].rounds = rounds;
        work[thread].table = new_table();
        if (pthread_create(&work[thread].thread, NULL, body, &work[thread]) != 0)
            fail("no thread");
    }
    long blocks = 0;
    for (int thread = 0; thread < threads; thread++) {
        pthread_join(work[thread].thread, NULL);
        blocks += work[thread].blocks;
        empty_table(work[thread].table);
    }
    free(work);
    return blocks;
}

static long run_queue(int pairs, long rounds)
{
    struct work *work = calloc((size_t)pairs, sizeof *work);
    struct pipe *pipes = calloc((size_t)pairs, sizeof *pipes);
    pthread_t *consumers = calloc((size_t)pairs, sizeof *consumers);
    if (work == NULL || pipes == NULL || consumers == NULL)
        fail("no memory");
    for (int pair = 0; pair < pairs; pair++) {
        pthread_mutex_init(&pipes[pair].lock, NULL);
        pthread_cond_init(&pipes[pair].changed, NULL);
        work[pair].seed = 88172645463325252U + (uint64_t)pair;
        work[pair].rounds = rounds;
        work[pair].pipe = &pipes[pair];
        if (pthread_create(&work[pair].thread, NULL, produce, &work[pair]) != 0 ||
            pthread_create(&consumers[pair], NULL, consume, &pipes[pair]) != 0)
            fail("no thread");
    }
    long blocks = 0;
    for (int pair = 0; pair < pairs; pair++) {
        pthread_join(work[pair].thread, NULL);
        pthread_join(consumers[pair], NULL);
        blocks += work[pair].blocks;
    }
    free(work);
    free(pipes);
    free(consumers);
    return blocks;
}

/* What the system counted for this program; getrusage would count the program before exec as well. */
static long peak_kib(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %ld", &kib) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kib;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 4) {
        fprintf(stderr, "usage: loads single|many|queue|larson THREADS ROUNDS\n");
        return 2;
    }
    const char *kind = arguments[1];
    int threads = atoi(arguments[2]);
    long rounds = atol(arguments[3]);
    long blocks;
    if (strcmp(kind, "single") == 0) {
        struct work work = {.seed = 88172645463325252U, .rounds = rounds, .table = new_table()};
        churn(&work);
        empty_table(work.table);
        blocks = work.blocks;
    } else if (strcmp(kind, "many") == 0) {
        blocks = run_tables(threads, rounds, churn);
    } else if (strcmp(kind, "queue") == 0) {
        blocks = run_queue(threads > 1 ? threads / 2 : 1, rounds);
    } else if (strcmp(kind, "larson") == 0) {
        blocks = run_tables(threads, rounds / GENERATIONS, serve);
    } else {
        fail("no such kind");
    }
    printf("%ld %ld\n", blocks, peak_kib());
    return 0;
}
