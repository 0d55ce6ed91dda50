/* CHECK(claim): ends the program with 1 and names file, line and claim if the claim is false.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(claim)                                                                    \
    do {                                                                                \
        if (!(claim)) {                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);          \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

#endif
