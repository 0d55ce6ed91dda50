/*
 * areas COMMAND: memory of every kind that a plan can place, touched, and then a shell command that looks at this process.
 *
 * Prints the name and address of each area first; the command finds the process's number in $PLACED. The test finds the
 * lines of the calls by the words behind `site:`.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 64 * PAGE, SMALL = 2 * PAGE };

static char empty_data[LARGE] __attribute__((aligned(PAGE)));
static char initial_data[LARGE] __attribute__((aligned(PAGE))) = {1};

static void show(const char *name, void *memory, size_t bytes)
{
    if (memory == NULL || memory == MAP_FAILED) {
        perror(name);
        exit(1);
    }
    memset(memory, 7, bytes);
    printf("%s %p\n", name, memory);
}

static __attribute__((noinline)) void *allocate(size_t bytes)
{
    char *memory = malloc(bytes); /* site: wrapper */
    if (memory != NULL)
        memory[0] = 1;
    return memory;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) {
        fprintf(stderr, "usage: areas COMMAND\n");
        return 2;
    }
    show("empty_data", empty_data, LARGE);
    show("initial_data", initial_data, LARGE);

    char *first = NULL;
    for (int turn = 0; turn < 2; turn++) {
        char *memory = allocate(LARGE); /* site: pair */
        show(turn == 0 ? "first" : "second", memory, LARGE);
        first = turn == 0 ? memory : first;
    }
    char *blocks = calloc(64, PAGE); /* site: blocks */
    for (int at = 0; at < LARGE; at++)
        if (blocks == NULL || blocks[at] != 0)
            return 1;
    show("blocks", blocks, LARGE);
    for (int turn = 0; turn < 8; turn++)
        show("small", malloc(SMALL), SMALL); /* site: small */
    void *aligned = NULL;
    if (posix_memalign(&aligned, 1 << 20, LARGE) != 0 || (uintptr_t)aligned % (1 << 20) != 0) /* site: aligned */
        return 1;
    show("aligned", aligned, LARGE);
    void *mapping = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* site: mapping */
    show("mapping", mapping, LARGE);
    if (malloc_usable_size(first) < LARGE)
        return 1;
    char *grown = realloc(aligned, 2 * LARGE); /* site: grown */
    if (grown == NULL || grown[LARGE - 1] != 7)
        return 1;
    show("grown", grown, 2 * LARGE);
    fflush(stdout);
    char number[32];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    setenv("PLACED", number, 1);
    int status = system(arguments[1]);
    free(first);
    munmap(mapping, LARGE);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
