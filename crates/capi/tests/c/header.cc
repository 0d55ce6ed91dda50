// The header as C++17.
//
// SPDX-License-Identifier: MIT OR Apache-2.0
#include "rset.h"

int main() {
    rset_t *set = nullptr;
    if (rset_parse("all", &set) != 0 || rset_cpu_count(set) < 1) {
        return 1;
    }
    rset_free(set);
    return 0;
}
