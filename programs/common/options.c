/* The option parser behind options.h. SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void options_refuse(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\ntry '%s --help'\n", program);
    va_end(arguments);
    exit(2);
}

static void print_help(const struct option_table *table) {
    printf("%s: %s\n\nusage: %s [options]\n\n", table->program, table->summary, table->program);
    for (size_t index = 0; index < table->entry_count; index++) {
        const struct option_entry *entry = &table->entries[index];
        char names[64];
        const char *value = entry->kind == OPTION_FLAG ? "" : entry->kind == OPTION_COUNT ? " N" : " X";
        if (entry->letter != 0) {
            snprintf(names, sizeof names, "-%c, --%s%s", entry->letter, entry->name, value);
        } else {
            snprintf(names, sizeof names, "    --%s%s", entry->name, value);
        }
        printf("  %-24s %s", names, entry->help);
        if (entry->kind == OPTION_COUNT) {
            printf(" [%ld]", *(long *)entry->target);
        } else if (entry->kind == OPTION_REAL) {
            printf(" [%g]", *(double *)entry->target);
        }
        printf("\n");
    }
    printf("  %-24s %s\n\n", "-h, --help", "print this text");
    printf("exit codes: 0 the result is verified, 1 it is wrong, 2 wrong usage or no memory\n");
}

static void store_value(const struct option_table *table, const struct option_entry *entry, const char *text) {
    char *end = NULL;
    double value;
    errno = 0;
    if (entry->kind == OPTION_COUNT) {
        long count = strtol(text, &end, 10);
        value = (double)count;
        if (end != text && *end == '\0' && errno == 0 && value >= entry->smallest && value <= entry->largest) {
            *(long *)entry->target = count;
            return;
        }
    } else {
        value = strtod(text, &end);
        if (end != text && *end == '\0' && errno == 0 && value >= entry->smallest && value <= entry->largest) {
            *(double *)entry->target = value;
            return;
        }
    }
    options_refuse(table->program, "--%s: '%s' is not a number from %.10g to %.10g", entry->name, text,
                   entry->smallest, entry->largest);
}

static const struct option_entry *find_letter(const struct option_table *table, char letter) {
    for (size_t index = 0; index < table->entry_count; index++) {
        if (letter != 0 && table->entries[index].letter == letter) {
            return &table->entries[index];
        }
    }
    return NULL;
}

static const struct option_entry *find_name(const struct option_table *table, const char *name, size_t length) {
    for (size_t index = 0; index < table->entry_count; index++) {
        const char *candidate = table->entries[index].name;
        if (strlen(candidate) == length && strncmp(candidate, name, length) == 0) {
            return &table->entries[index];
        }
    }
    return NULL;
}

void options_parse(const struct option_table *table, int argc, char **argv) {
    for (int position = 1; position < argc; position++) {
        const char *word = argv[position];
        const struct option_entry *entry;
        const char *value = NULL;
        if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            print_help(table);
            exit(0);
        }
        if (word[0] != '-' || word[1] == '\0') {
            options_refuse(table->program, "'%s' is not an option, and there are no other arguments", word);
        }
        if (word[1] == '-') {
            size_t length = strcspn(word + 2, "=");
            entry = find_name(table, word + 2, length);
            value = word[2 + length] == '=' ? word + 2 + length + 1 : NULL;
        } else {
            entry = find_letter(table, word[1]);
            value = word[2] != '\0' ? word + 2 : NULL;
        }
        if (entry == NULL) {
            options_refuse(table->program, "'%s' is not an option of this program", word);
        }
        if (entry->kind == OPTION_FLAG) {
            if (value != NULL) {
                options_refuse(table->program, "--%s takes no value (got '%s')", entry->name, value);
            }
            *(int *)entry->target = 1;
            continue;
        }
        if (value == NULL) {
            if (position + 1 == argc) {
                options_refuse(table->program, "--%s needs a value", entry->name);
            }
            value = argv[++position];
        }
        store_value(table, entry, value);
    }
}
