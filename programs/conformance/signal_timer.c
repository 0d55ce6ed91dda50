/* alarm and setitimer: a signal that ends a busy loop, a repeated one, one that ends a pause, remaining time.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

static volatile sig_atomic_t ticks;

static void tick(int number) {
    (void)number;
    ticks++;
}

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);

    struct itimerval timer = {{0, 2000}, {0, 2000}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    volatile unsigned long work = 0;
    while (ticks < 3) {
        work++;
    }
    CHECK(work > 0);
    memset(&timer, 0, sizeof timer);
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);

    int before = ticks;
    timer.it_value.tv_usec = 5000;
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
    CHECK(pause() == -1);
    CHECK(ticks == before + 1);

    CHECK(alarm(100) == 0);
    CHECK(alarm(0) > 0);
    puts("ok");
    return 0;
}
