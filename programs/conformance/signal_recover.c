/* A program that catches its own SIGSEGV and SIGFPE and goes on by siglongjmp, in main and in a thread; alternate stack.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

static _Thread_local sigjmp_buf recovery;
static void *volatile fault_address;

static void recover(int number, siginfo_t *information, void *context) {
    (void)context;
    fault_address = information->si_addr;
    siglongjmp(recovery, number);
}

/* The page can be read but not written: the fault hits a mapped address. */
static void *fault_and_recover(void *page) {
    static volatile long recovered;
    for (volatile int round = 0; round < 10; round++) {
        int number = sigsetjmp(recovery, 1);
        if (number == 0) {
            *(volatile int *)page = 1;
            CHECK(!"reached after a write to a read-only page");
        }
        CHECK(number == SIGSEGV);
        CHECK(fault_address == page);
        recovered++;
    }
    CHECK(recovered >= 10);
    return NULL;
}

int main(void) {
    struct sigaction action;
    stack_t stack = {.ss_size = 1 << 16, .ss_sp = malloc(1 << 16)};
    CHECK(stack.ss_sp != NULL);
    CHECK(sigaltstack(&stack, NULL) == 0);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = recover;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(sigaction(SIGFPE, &action, NULL) == 0);

    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    fault_and_recover(page);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, fault_and_recover, page) == 0);
    CHECK(pthread_join(thread, NULL) == 0);

    volatile int zero = 0, number = sigsetjmp(recovery, 1);
    if (number == 0) {
        zero = 100 / zero;
        CHECK(!"reached after a division by zero");
    }
    CHECK(number == SIGFPE);
    puts("ok");
    return 0;
}
