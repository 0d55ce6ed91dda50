/* Signals: raise, pthread_kill to a chosen thread, sigaction with information, masks, sigsuspend, sigwait.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t raised, with_information;
static pthread_t handled_by;
static volatile sig_atomic_t is_handled;
static sem_t handled;

static void count(int number) {
    (void)number;
    raised++;
}

static void inform(int number, siginfo_t *information, void *context) {
    (void)context;
    with_information = number == SIGUSR2 && information->si_pid == getpid();
}

static void note_thread(int number) {
    (void)number;
    handled_by = pthread_self();
    is_handled = 1;
    sem_post(&handled);
}

static void *wait_for_signal(void *unused) {
    while (!is_handled) {
        usleep(500);
    }
    return unused;
}

static void *wait_in_sigwait(void *set) {
    int number = 0;
    CHECK(sigwait(set, &number) == 0);
    CHECK(number == SIGHUP);
    return NULL;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(raised == 1);

    action.sa_sigaction = inform;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR2) == 0);
    CHECK(with_information);

    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(raised == 1);
    CHECK(sigpending(&set) == 0);
    CHECK(sigismember(&set, SIGUSR1));
    CHECK(sigsuspend(&before) == -1);
    CHECK(raised == 2);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);

    pthread_t thread;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_thread;
    CHECK(sem_init(&handled, 0, 0) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_signal, NULL) == 0);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (sem_wait(&handled) != 0) {
    }
    CHECK(pthread_equal(handled_by, thread));
    CHECK(pthread_join(thread, NULL) == 0);

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, wait_in_sigwait, &set) == 0);
    CHECK(pthread_kill(thread, SIGHUP) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    puts("ok");
    return 0;
}
