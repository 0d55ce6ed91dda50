/* Returns 7 from main; buffered output must still appear. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "check.h"

int main(void) {
    puts("ok");
    return 7;
}
