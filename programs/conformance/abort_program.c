/* Ends by abort. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "check.h"

int main(void) {
    puts("before");
    fflush(stdout);
    abort();
}
