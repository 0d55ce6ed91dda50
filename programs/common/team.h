/* A team of threads that run one function, and the lines that every program prints about its run.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_TEAM_H
#define PROGRAMS_TEAM_H

enum { TEAM_LARGEST = 1024 };

/* What thread `id` (from 0) of the team does. */
typedef void team_function(int id, void *shared);

/* Creates `threads` - 1 threads; the calling thread is number 0 and works too. Returns when all have finished.
 * A thread that cannot be made: a message and exit code 2. */
void team_run(int threads, team_function *function, void *shared);

/* The first and one past the last of `items` that belong to thread `id`: parts differ by at most one item. */
int team_share_begin(int items, int threads, int id);
int team_share_end(int items, int threads, int id);

/* Seconds of the monotonic clock, from an arbitrary start. */
double team_clock_s(void);

/* Mark, by one thread, where a timed part begins and where it ends; return the clock. What the machine counts in between is
 * added up over all parts. */
double team_part_begins(void);
double team_part_ends(void);

/* Prints "time" and "checksum", and as "counted: NAME NUMBER" what the machine counted in the timed parts, if it
 * counts; the tolerance says how far, relatively, another number of threads may move it. */
void team_report(double seconds, double checksum, double tolerance);

/* Prints "verify: ok NAME VALUE (limit LIMIT)", or "wrong" where the value is above the limit or no number at all.
 * Returns 1 if it is wrong, else 0, to be added up into the exit code. */
int team_verify(const char *name, double value, double limit);

#endif
