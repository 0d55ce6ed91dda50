/* Threads, clock and report behind team.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "team.h"

#include "counters.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct member {
    int id;
    team_function *function;
    void *shared;
    pthread_t thread;
};

static void *member_main(void *argument) {
    const struct member *member = argument;
    member->function(member->id, member->shared);
    return NULL;
}

void team_run(int threads, team_function *function, void *shared) {
    struct member *members = malloc((size_t)threads * sizeof *members);
    if (members == NULL) {
        fprintf(stderr, "team of %d threads: no memory\n", threads);
        exit(2);
    }
    for (int id = 0; id < threads; id++) {
        members[id] = (struct member){.id = id, .function = function, .shared = shared};
    }
    for (int id = 1; id < threads; id++) {
        int error = pthread_create(&members[id].thread, NULL, member_main, &members[id]);
        if (error != 0) {
            fprintf(stderr, "thread %d of %d: %s; try fewer threads\n", id, threads, strerror(error));
            exit(2);
        }
    }
    function(0, shared);
    for (int id = 1; id < threads; id++) {
        pthread_join(members[id].thread, NULL);
    }
    free(members);
}

int team_share_begin(int items, int threads, int id) {
    return (int)((long)items * id / threads);
}

int team_share_end(int items, int threads, int id) {
    return team_share_begin(items, threads, id + 1);
}

/* In the order in which the function gives them. */
static const char *const counter_names[COUNTERS] = {
    "accesses",        "l1_misses",        "l2_misses",     "upgrades",  "write_backs", "remote_transactions",
    "request_packets", "response_packets", "network_bytes", "tlb_misses"};

/* Of the parts that have ended, and when the open one began. */
static uint64_t counted[COUNTERS], counted_at_begin[COUNTERS];

double team_clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double team_part_begins(void) {
    if (olifant_read_counters != NULL) {
        olifant_read_counters(counted_at_begin, COUNTERS);
    }
    return team_clock_s();
}

double team_part_ends(void) {
    uint64_t counters[COUNTERS] = {0};
    if (olifant_read_counters != NULL) {
        olifant_read_counters(counters, COUNTERS);
    }
    for (int counter = 0; counter < COUNTERS; counter++) {
        counted[counter] += counters[counter] - counted_at_begin[counter];
    }
    return team_clock_s();
}

void team_report(double seconds, double checksum, double tolerance) {
    printf("time: %.6f s\n", seconds);
    printf("checksum: %.15e (relative tolerance %.0e)\n", checksum, tolerance);
    for (int counter = 0; olifant_read_counters != NULL && counter < COUNTERS; counter++) {
        printf("counted: %s %llu\n", counter_names[counter],
               (unsigned long long)counted[counter]);
    }
}

int team_verify(const char *name, double value, double limit) {
    int is_right = value <= limit;
    printf("verify: %s %s %.3g (limit %.3g)\n", is_right ? "ok" : "wrong", name, value, limit);
    return is_right ? 0 : 1;
}
