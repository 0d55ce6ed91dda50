/* Sets, levels, names and binding through the C interface.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "check.h"

#include <errno.h>
#include <string.h>

static void algebra(void) {
    rset_t *a = NULL, *b = NULL, *both = NULL, *common = NULL, *rest = NULL, *copy = NULL;
    CHECK(rset_parse("-c 0-3,8 -m 0-1", &a) == 0);
    CHECK(rset_parse("-c 2-5 -m 1", &b) == 0);
    CHECK(rset_union(a, b, &both) == 0);
    CHECK(rset_intersection(a, b, &common) == 0);
    CHECK(rset_difference(a, b, &rest) == 0);
    char text[64];
    CHECK(rset_print(both, text, sizeof text) == 15 && strcmp(text, "-c 0-5,8 -m 0-1") == 0);
    CHECK(rset_print(common, text, sizeof text) == 11 && strcmp(text, "-c 2-3 -m 1") == 0);
    CHECK(rset_print(rest, text, sizeof text) == 13 && strcmp(text, "-c 0-1,8 -m 0") == 0);
    CHECK(rset_print(rest, text, 6) == rset_print(rest, NULL, 0) && strcmp(text, "-c 0-") == 0);
    CHECK(rset_is_subset(common, a) == 1 && rset_is_subset(a, common) == 0);
    CHECK(rset_is_disjoint(rest, b) == 1 && rset_is_disjoint(a, b) == 0);
    CHECK(rset_copy(a, &copy) == 0 && rset_is_equal(a, copy) == 1);
    CHECK(rset_cpu_count(a) == 5 && rset_node_count(a) == 2);
    CHECK(rset_next_cpu(a, -1) == 0 && rset_next_cpu(a, 3) == 8 && rset_next_cpu(a, 8) == -ENOENT);
    CHECK(rset_add_cpu(copy, 100) == 1 && rset_add_cpu(copy, 100) == 0 && rset_has_cpu(copy, 100) == 1);
    CHECK(rset_remove_cpu(copy, 100) == 1 && rset_is_equal(a, copy) == 1);
    CHECK(rset_add_node(copy, 65536) == -EINVAL);
    rset_t *empty = NULL;
    CHECK(rset_new(&empty) == 0 && rset_is_empty(empty) == 1);
    rset_t *sets[] = {a, b, both, common, rest, copy, empty};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        rset_free(sets[i]);
    }
    rset_free(NULL);
}

static void errors(void) {
    rset_t *set = NULL;
    CHECK(rset_parse("nodes=0,x", &set) == -EINVAL && set == NULL);
    CHECK(strstr(rset_error_text(), "nodes=0,x\n        ^\n") == rset_error_text());
    CHECK(rset_parse(NULL, &set) == -EINVAL && strcmp(rset_error_text(), "text is NULL") == 0);
    CHECK(rset_parse("all", NULL) == -EINVAL);
    CHECK(rset_level_count(77) == -EINVAL);
    CHECK(rset_near(60000, 1, &set) == -ENODEV);
    CHECK(rset_is_equal(NULL, NULL) == -EINVAL);
}

static void levels(void) {
    rset_t *system = NULL, *allowed = NULL, *whole = NULL;
    CHECK(rset_system(&system) == 0 && rset_allowed(&allowed) == 0);
    CHECK(rset_is_subset(allowed, system) == 1);
    CHECK(rset_level_count(RSET_LEVEL_SYSTEM) == 1);
    CHECK(rset_level_count(RSET_LEVEL_CPU) == rset_cpu_count(system));
    CHECK(rset_level(RSET_LEVEL_SYSTEM, 0, &whole) == 0 && rset_is_equal(whole, system) == 1);
    rset_free(whole);
    CHECK(rset_level(RSET_LEVEL_NODE, 60000, &whole) == -ENODEV);
    rset_t *parts[2];
    if (rset_cpu_count(system) >= 2) {
        rset_t *united = NULL;
        CHECK(rset_split(system, 2, parts) == 0);
        CHECK(rset_union(parts[0], parts[1], &united) == 0 && rset_is_equal(united, system) == 1);
        rset_free(united);
        rset_free(parts[0]);
        rset_free(parts[1]);
    }
    CHECK(rset_split(system, 65000, parts) == -EINVAL);
    int node = rset_node_of_cpu((unsigned)rset_next_cpu(system, -1));
    CHECK(node >= 0 && rset_distance((unsigned)node, (unsigned)node) == 10);
    rset_t *cores = NULL;
    CHECK(rset_one_cpu_per_core(system, &cores) == 0);
    CHECK(rset_cpu_count(cores) == rset_level_count(RSET_LEVEL_CORE));
    rset_free(cores);
    rset_free(system);
    rset_free(allowed);
}

/* HOME or XDG_CONFIG_HOME is a folder of the test's own. */
static void names(void) {
    rset_t *set = NULL, *found = NULL;
    CHECK(rset_parse("-c 0 -m 0", &set) == 0);
    CHECK(rset_register("tests/one", set, RSET_SCOPE_USER, 0644, 0) == 0);
    CHECK(rset_register("tests/one", set, RSET_SCOPE_USER, 0644, 0) == -EEXIST);
    CHECK(rset_lookup("tests/one", &found) == 0 && rset_is_equal(set, found) == 1);
    rset_free(found);
    CHECK(rset_parse("tests/one", &found) == 0 && rset_is_equal(set, found) == 1);
    rset_free(found);
    CHECK(rset_unregister("tests/one", RSET_SCOPE_USER) == 0);
    CHECK(rset_lookup("tests/one", &found) == -ENOENT);
    CHECK(rset_register("all", set, RSET_SCOPE_USER, 0644, 0) == -EINVAL);
    rset_free(set);
}

static void *bound(void *argument) {
    rset_t *binding = NULL;
    CHECK(rset_binding(0, &binding) == 0 && rset_is_equal(binding, (rset_t *)argument) == 1);
    rset_free(binding);
    return argument;
}

static void binding(void) {
    rset_t *allowed = NULL, *set = NULL;
    CHECK(rset_allowed(&allowed) == 0 && rset_copy(allowed, &set) == 0);
    for (int cpu; (cpu = rset_next_cpu(set, rset_next_cpu(allowed, -1))) >= 0;) {
        CHECK(rset_remove_cpu(set, (unsigned)cpu) == 1);
    }
    pthread_t thread;
    void *result = NULL;
    CHECK(rset_thread_create(&thread, set, bound, set) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == set);
    CHECK(rset_add_cpu(set, 60000) == 1);
    CHECK(rset_thread_create(&thread, set, bound, set) == -ENODEV);
    CHECK(rset_bind_here(set) == -ENODEV && rset_bind_thread(0, set) == -ENODEV);
    CHECK(strstr(rset_error_text(), "-c 60000 is not online") != NULL);
    CHECK(rset_bind_process(0x7fffffff, allowed) == -ESRCH);
    rset_free(set);
    rset_free(allowed);
}

int main(void) {
    algebra();
    errors();
    levels();
    names();
    binding();
    printf("librset %s: sets, levels, names, binding\n", rset_version());
    return 0;
}
