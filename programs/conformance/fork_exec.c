/* Child processes: fork, exec, wait; system, popen; a child that changes its copy of memory; _exit.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int value = 1;

int main(void) {
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);

    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        value = 2;
        _exit(value == 2 ? 5 : 6);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(value == 1);

    CHECK(system("exit 3") != -1);
    FILE *stream = popen("echo from a child", "r");
    char line[64];
    CHECK(stream != NULL);
    CHECK(fgets(line, sizeof line, stream) != NULL);
    CHECK(strcmp(line, "from a child\n") == 0);
    CHECK(pclose(stream) == 0);
    puts("ok");
    return 0;
}
