/* In a container whose filter refuses memory-policy calls, the library says so. The filter is made here.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define REFUSE(call)                                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1),         \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        REFUSE(SYS_mbind),
        REFUSE(SYS_set_mempolicy),
        REFUSE(SYS_get_mempolicy),
        REFUSE(SYS_move_pages),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    rset_t *allowed = NULL;
    CHECK(rset_allowed(&allowed) == 0);
    void *memory = NULL;
    CHECK(rset_allocate(allowed, "any", 4096, 0, &memory, NULL) == -EPERM && memory == NULL);
    CHECK(strstr(rset_error_text(), "a seccomp filter refuses memory-policy calls") != NULL);
    CHECK(rset_bind_here(allowed) == -EPERM);
    CHECK(strstr(rset_error_text(), "seccomp") != NULL);
    rset_free(allowed);
    printf("librset %s: a filter is named\n", rset_version());
    return 0;
}
