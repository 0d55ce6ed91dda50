/*
 * team THREADS [NAME]: makes threads one after the other and prints, for each in order, the cpus that it may run on; the first
 * thread is number 0. With a name, thread i calls itself NAME-i first. Then a child by fork, one by posix_spawn, one by
 * system and one by vfork and exec tell theirs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *name;

static void show(const char *what)
{
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("%s", what);
    int gap = ' ';
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus)) {
            printf("%c%d", gap, cpu);
            gap = ',';
        }
    printf("\n");
    fflush(stdout);
}

static void *member(void *argument)
{
    char text[32];
    if (name != NULL) {
        snprintf(text, sizeof text, "%s-%d", name, *(int *)argument);
        pthread_setname_np(pthread_self(), text);
    }
    snprintf(text, sizeof text, "thread %d", *(int *)argument);
    show(text);
    return NULL;
}

int main(int argument_count, char **arguments)
{
    if (argument_count < 2) {
        fprintf(stderr, "usage: team THREADS [NAME]\n");
        return 2;
    }
    if (strcmp(arguments[1], "show") == 0) {
        show(arguments[2]);
        return 0;
    }
    int threads = atoi(arguments[1]);
    name = arguments[2];
    show("thread 0");
    for (int number = 1; number < threads; number++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, member, &number) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        show("fork");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    char *const spawned[] = {arguments[0], "show", "spawn", NULL};
    extern char **environ;
    if (posix_spawn(&child, arguments[0], NULL, NULL, spawned, environ) == 0)
        waitpid(child, NULL, 0);
    char command[256];
    snprintf(command, sizeof command, "exec %s show system", arguments[0]);
    if (system(command) != 0)
        return 1;
    child = vfork();
    if (child == 0) {
        execl(arguments[0], arguments[0], "show", "exec", (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    return 0;
}
