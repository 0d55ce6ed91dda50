/*
 * placed BYTES COMMAND: maps so many bytes, touches every page, and runs a shell command that looks at this process.
 *
 * Prints the address of the mapping first. The command finds the process's number in $PLACED. The mapping stands between
 * two pages without access, so that the kernel joins it to no other, and is made of base pages, so that the policy decides
 * page by page.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argument_count, char **arguments)
{
    if (argument_count != 3) {
        fprintf(stderr, "usage: placed BYTES COMMAND\n");
        return 2;
    }
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = strtoul(arguments[1], NULL, 10);
    char *guard = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    char *memory = guard + page;
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0 || madvise(memory, bytes, MADV_NOHUGEPAGE) != 0) {
        perror("mprotect");
        return 1;
    }
    for (size_t at = 0; at < bytes; at += page)
        memory[at] = 1;
    char number[32];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    setenv("PLACED", number, 1);
    printf("%p\n", (void *)memory);
    fflush(stdout);
    int status = system(arguments[2]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
