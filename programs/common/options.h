/* Command-line options of the workload programs, described by a table.
 *
 * One table per program feeds the parser and the help text. Short and long forms: `-n 514`, `-n514`, `--size 514`,
 * `--size=514`; `-h` and `--help` are always there. Words that are not options are refused.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef PROGRAMS_OPTIONS_H
#define PROGRAMS_OPTIONS_H

#include <stddef.h>

enum option_kind {
    OPTION_COUNT, /* a long within [smallest, largest] */
    OPTION_REAL,  /* a double within [smallest, largest] */
    OPTION_FLAG   /* an int, set to 1; takes no value */
};

/* One option. `target` points to a long, a double or an int, as `kind` says, and holds the default before the parse. */
struct option_entry {
    char letter;      /* 0 where there is only a long name */
    const char *name; /* without the dashes */
    enum option_kind kind;
    void *target;
    double smallest;
    double largest;
    const char *help;
};

/* The whole command line of one program. */
struct option_table {
    const char *program;
    const char *summary; /* one line: what the program computes */
    const struct option_entry *entries;
    size_t entry_count;
};

/* Stores the values given in argv. Help goes to stdout and ends the process with 0; anything wrong goes to stderr
 * and ends it with 2. */
void options_parse(const struct option_table *table, int argc, char **argv);

/* Refuses a value that the table's bounds could not: prints "PROGRAM: TEXT" and ends the process with 2. */
_Noreturn void options_refuse(const char *program, const char *format, ...);

#endif
