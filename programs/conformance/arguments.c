/* What a program is started with: its arguments as the list gives them, its environment, its standard input.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
    CHECK(argc == 4);
    CHECK(strcmp(argv[1], "one") == 0);
    CHECK(strcmp(argv[2], "--two=2") == 0);
    CHECK(strcmp(argv[3], "-3") == 0);
    CHECK(argv[4] == NULL);
    CHECK(strcmp(strrchr(argv[0], '/') == NULL ? argv[0] : strrchr(argv[0], '/') + 1, "arguments") == 0);
    CHECK(strcmp(program_invocation_short_name, "arguments") == 0);
    const char *variable = getenv("CONFORMANCE_VARIABLE");
    CHECK(variable != NULL && strcmp(variable, "a b") == 0);
    CHECK(setenv("CONFORMANCE_OWN", "new", 1) == 0);
    CHECK(strcmp(getenv("CONFORMANCE_OWN"), "new") == 0);
    CHECK(unsetenv("CONFORMANCE_OWN") == 0);
    CHECK(getenv("CONFORMANCE_OWN") == NULL);
    CHECK(environ != NULL && environ[0] != NULL);
    char directory[4096];
    CHECK(getcwd(directory, sizeof directory) != NULL);
    puts("ok");
    return 0;
}
