/* The one assertion of the C tests: prints what failed with the library's text, and ends the program.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef CHECK_H
#define CHECK_H

#include "rset.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                    \
    do {                                                                                                    \
        if (!(condition)) {                                                                                 \
            fprintf(stderr, "%s:%d: %s\nlast text: %s\n", __FILE__, __LINE__, #condition, rset_error_text()); \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

#endif
