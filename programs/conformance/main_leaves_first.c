/* main ends by pthread_exit while another thread goes on; that thread's end is the program's, with code 0.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static pthread_t main_thread;

static void *outlive_main(void *unused) {
    CHECK(pthread_join(main_thread, NULL) == 0);
    usleep(5000);
    puts("ok");
    return unused;
}

int main(void) {
    pthread_t thread;
    main_thread = pthread_self();
    CHECK(pthread_create(&thread, NULL, outlive_main, NULL) == 0);
    pthread_exit(NULL);
}
