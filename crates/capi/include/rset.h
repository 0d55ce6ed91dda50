/* Resource sets: put threads and memory where they belong, and prove it.
 *
 * The concept. On a machine whose memory is not all equally near, a program is fast when its threads run beside the
 * data that they use. A resource set (rset) says where: cpus to run on, and nodes to have memory from. Sets are made
 * from texts, from the machine's levels, or from each other; threads and processes are bound to them; memory is
 * allocated or placed under them by a policy. What a call reports was read back from the kernel.
 *
 * Every call states its errors. Calls return 0 (or a count) if all was done and a negative errno value otherwise, and
 * then rset_error_text() says what, why, and what to try. What cannot be done as a whole is not done, with one
 * exception: pages that stay elsewhere are counted in the report, since moving most of them is worth having.
 *
 * Common errors, not repeated below:
 *   -EINVAL  a null pointer where one is needed, or a text that cannot be read
 *   -EACCES  a cpuset does not allow the cpus or nodes
 *   -ENODEV  the machine does not have the cpus or nodes, or they are offline
 *   -ENOMEM  no free pages, a node without memory, or a limit (ulimit, vm.max_map_count)
 *   -EPERM   a seccomp filter (containers), or a process of another user
 *   -ESRCH   no such process or thread
 *
 * Threads. Any call may be made from any thread; a set that one thread changes must not be used by another meanwhile.
 *
 * Policies are texts: "any", "first-touch", "local", "remote", "striped", "striped:PAGES", "node:N",
 * "weighted:NODE=WEIGHT,NODE=WEIGHT". Thread policies are "fill", "round-robin", "float", or a list "0,4,8-11".
 * The texts of sets are listed in rset(3): "0-3", "-c 0-3 -m 0", "nodes=!0", "package:0.core:1", "S0:0-3", a name, ...
 *
 * On a simulated machine (a program built with `olifant cc`) the simulator has calls of its own: rset_replicate(), the monitor,
 * and rset_move() without a set (NULL), with the policies "local" and "node:N". The others are librset's, on the host.
 *
 * C11; usable as C++17. Symbol versions: all of this header is RSET_1.0.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RSET_H
#define RSET_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* The text of the calling thread's last failed call, or of its last report with pages elsewhere; never NULL, good
 * until the thread's next call of this library. */
const char *rset_error_text(void);

/* The version of the library, "1.0.0". */
const char *rset_version(void);

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* Cpus and nodes. Sets are made by calls that have an `rset_t **` and freed by rset_free(). */
typedef struct rset rset_t;

/* The levels of a machine. */
enum rset_level {
    RSET_LEVEL_SYSTEM = 0,
    RSET_LEVEL_NODE = 1,
    RSET_LEVEL_PACKAGE = 2,
    RSET_LEVEL_CACHE = 3, /* the cpus that share a last-level cache */
    RSET_LEVEL_CORE = 4,
    RSET_LEVEL_CPU = 5
};

/* An empty set; a copy; the end of a set (NULL is allowed). */
int rset_new(rset_t **set);
int rset_copy(const rset_t *from, rset_t **set);
void rset_free(rset_t *set);

/* The set that a text of any form means. -EINVAL: the error text has a caret below the character.
 * A name without a set is -EINVAL too; see rset_lookup(). */
int rset_parse(const char *text, rset_t **set);

/* Writes the exact text, "-c 0-3 -m 0", which reads back to the same set; cut to `size` bytes with the final 0, as
 * snprintf does. `text` may be NULL if `size` is 0. Returns the length without the final 0. */
int rset_print(const rset_t *set, char *text, size_t size);

/* All of the machine; and what this process may use of it now. */
int rset_system(rset_t **set);
int rset_allowed(rset_t **set);

/* How many sets a level has; and one of them, counted from 0. -ENODEV: the machine does not tell the level, or there
 * is no such set. */
int rset_level_count(int level);
int rset_level(int level, unsigned index, rset_t **set);

/* A new set of two. */
int rset_union(const rset_t *a, const rset_t *b, rset_t **result);
int rset_intersection(const rset_t *a, const rset_t *b, rset_t **result);
int rset_difference(const rset_t *a, const rset_t *b, rset_t **result);

/* 1 for yes, 0 for no. */
int rset_is_empty(const rset_t *set);
int rset_is_equal(const rset_t *a, const rset_t *b);
int rset_is_subset(const rset_t *part, const rset_t *whole);
int rset_is_disjoint(const rset_t *a, const rset_t *b);

/* Members. Adding and removing return 1 if the set changed and 0 if not. next: the lowest member above `after` (-1 to
 * start), or -ENOENT. Numbers are the operating system's, below 65,536. */
int rset_cpu_count(const rset_t *set);
int rset_has_cpu(const rset_t *set, unsigned cpu);
int rset_add_cpu(rset_t *set, unsigned cpu);
int rset_remove_cpu(rset_t *set, unsigned cpu);
int rset_next_cpu(const rset_t *set, int after);
int rset_node_count(const rset_t *set);
int rset_has_node(const rset_t *set, unsigned node);
int rset_add_node(rset_t *set, unsigned node);
int rset_remove_node(rset_t *set, unsigned node);
int rset_next_node(const rset_t *set, int after);

/* The set in `parts` parts of equal size (they differ by one core at most), neighbours together; `results` has room for
 * so many, each to be freed. -EINVAL: fewer cpus than parts. */
int rset_split(const rset_t *set, unsigned parts, rset_t **results);

/* The set with one cpu of each core. */
int rset_one_cpu_per_core(const rset_t *set, rset_t **result);

/* A node and its nearest neighbours, `count` nodes in all. -ENODEV: there is no such node. */
int rset_near(unsigned node, unsigned count, rset_t **result);

/* The node of a cpu; and the distance between nodes as the firmware tells it, 10 within a node. -ENODEV: no such cpu or
 * node. */
int rset_node_of_cpu(unsigned cpu);
int rset_distance(unsigned from, unsigned to);

/* ---- Named sets -------------------------------------------------------------------------------------------------- */

enum rset_scope { RSET_SCOPE_USER = 0, RSET_SCOPE_SYSTEM = 1 };

/* The set of a name, "name" or "namespace/name": the user's, else the system's. -ENOENT: there is none. */
int rset_lookup(const char *name, rset_t **set);

/* Keeps a set under a name, for others as `mode` says (0644); whole or not at all. -EEXIST unless `replaces` is not 0;
 * -EACCES, -EROFS, ... of the directory. */
int rset_register(const char *name, const rset_t *set, int scope, mode_t mode, int replaces);

/* Forgets a name. -ENOENT: there is none. */
int rset_unregister(const char *name, int scope);

/* ---- Binding ----------------------------------------------------------------------------------------------------- */

/* Binds the calling thread: it runs on the set's cpus only, and its new memory comes from the set's nodes only. A set
 * without nodes leaves memory as it is, one without cpus leaves cpus; an empty one is -EINVAL. */
int rset_bind_here(const rset_t *set);

/* Binds a running thread, or all threads of a running process, to the set's cpus. */
int rset_bind_thread(pid_t thread, const rset_t *set);
int rset_bind_process(pid_t process, const rset_t *set);

/* The cpus that a thread is bound to (0: the calling one, whose bound nodes are told too). */
int rset_binding(pid_t thread, rset_t **set);

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Why pages are not where they belong. */
enum rset_cause {
    RSET_CAUSE_NONE = 0,
    RSET_CAUSE_CPUSET = 1,
    RSET_CAUSE_OFFLINE = 2,
    RSET_CAUSE_MEMORYLESS = 3,
    RSET_CAUSE_SECCOMP = 4,
    RSET_CAUSE_NO_FREE_PAGES = 5,
    RSET_CAUSE_HUGE_PAGES = 6,
    RSET_CAUSE_LIMIT = 7,
    RSET_CAUSE_BUSY = 8,
    RSET_CAUSE_SHARED = 9,
    RSET_CAUSE_OTHER = 10
};

/* Where pages are, as read back. Counts of base pages (a huge page counts as the base pages that it is). */
struct rset_report {
    uint64_t pages;     /* of the range */
    uint64_t at_home;   /* in memory, where they belong */
    uint64_t elsewhere; /* in memory, and not where they belong */
    uint64_t absent;    /* not there yet, or swapped out */
    uint64_t moved;     /* by this call */
    int32_t cause;      /* enum rset_cause: why most of `elsewhere` are; rset_error_text() has all */
    int32_t reserved[7];
};

/* Flags of the calls below. */
enum rset_flags {
    RSET_POPULATE = 1,   /* allocate every page now */
    RSET_LOCK = 2,       /* and keep it in memory (ulimit -l) */
    RSET_HUGE_PAGES = 4, /* transparent huge pages are welcome */
    RSET_BASE_PAGES = 8, /* base pages only */
    RSET_STAY = 16,      /* leave pages that are there where they are */
    RSET_SHARED = 32     /* move pages that other processes map too (needs CAP_SYS_NICE) */
};

/* Maps `bytes` bytes of zeros under a set; free them with rset_release(). `report` may be NULL. */
int rset_allocate(const rset_t *set, const char *policy, size_t bytes, unsigned flags, void **address,
                  struct rset_report *report);

/* Maps part of a file, shared, readable and writable, and places its pages; `offset` is a multiple of the page size.
 * Where the kernel keeps the pages of a file already, they move only with RSET_SHARED. */
int rset_map_file(int file, off_t offset, size_t bytes, const rset_t *set, const char *policy, unsigned flags,
                  void **address, struct rset_report *report);

/* Unmaps what the two calls above mapped. */
int rset_release(void *address, size_t bytes);

/* Places a range of this process, pages to come and pages that are there. `report` may be NULL. */
int rset_place(void *address, size_t bytes, const rset_t *set, const char *policy, unsigned flags,
               struct rset_report *report);

/* Moves pages of a process (0: this one) that are there, at most `batch` at a time (0: 1,024); "local" is where the
 * calling thread runs. */
int rset_move(pid_t process, const void *address, size_t bytes, const rset_t *set, const char *policy, size_t batch,
              unsigned flags, struct rset_report *report);

/* Writes the node of each page of a range of a process (0: this one), -1 for pages that are not there. Returns how many
 * pages the range has, of which the first `count` are written. */
ssize_t rset_query(pid_t process, const void *address, size_t bytes, int *nodes, size_t count);

/* ---- Replicated data --------------------------------------------------------------------------------------------- */

/* Gives the calling thread the address of its own node's copy of the `bytes` bytes at `source`.
 *
 * Each thread that wants to read the data calls it with the same source and size, after the last write to the source.
 * The first call of a node makes its copy; later calls of that node's threads get the same address. The copy must
 * not be written. A write to the source after the first call does not reach the copies. On a machine of one node the
 * address may be the source itself. Copies live as long as the process.
 *
 *   source                  the data to replicate, not NULL
 *   bytes                   its size, above 0
 *   copy_of_calling_node    out: where this thread shall read; unchanged on failure
 *
 * Returns 0, -EINVAL (NULL or no bytes), or -ENOMEM (the node has no memory for a copy). */
int rset_replicate(const void *source, size_t bytes, const void **copy_of_calling_node);

/* Data with a copy on each node of a set, and new versions. A reader holds a reading: the version that its node had,
 * which stays whole and as it is until the reading ends, whatever is published meanwhile. */
typedef struct rset_replica rset_replica_t;
typedef struct rset_reading rset_reading_t;

int rset_replica_new(const rset_t *set, const void *source, size_t bytes, rset_replica_t **replica);
/* `data`, `bytes` and `version` (from 1) may be NULL. */
int rset_replica_read(const rset_replica_t *replica, rset_reading_t **reading, const void **data, size_t *bytes,
                      uint64_t *version);
void rset_reading_end(rset_reading_t *reading);
/* On failure all readers go on with the version before. */
int rset_replica_publish(const rset_replica_t *replica, const void *source, size_t bytes);
/* Readings that have not ended stay good. */
void rset_replica_free(rset_replica_t *replica);

/* ---- The monitor ------------------------------------------------------------------------------------------------- */

/* The monitor card of a simulated machine, to be programmed by the program that it watches: regions with a counter for each
 * granule and node, and a callback when a counter reaches a threshold. A run-time system can so find its hot pages while it
 * runs, and move them. Counting takes no time; calls do.
 *
 * Every call is -EOPNOTSUPP where there is no monitor: in a program on the host's own hardware. */

/* What a region counts; 0 is read, write, upgrade and write-back, local and outbound. */
enum rset_monitor_kinds {
    RSET_MONITOR_READ = 1,
    RSET_MONITOR_WRITE = 2,
    RSET_MONITOR_UPGRADE = 4,
    RSET_MONITOR_WRITE_BACK = 8,
    RSET_MONITOR_INVALIDATION = 16,
    RSET_MONITOR_INTERVENTION = 32,
    RSET_MONITOR_LOCAL = 64,     /* with memory of the accessor's own node */
    RSET_MONITOR_OUTBOUND = 128, /* leaving the accessor's node */
    RSET_MONITOR_INBOUND = 256   /* arriving at the memory's node */
};

/* A counter reached its region's threshold. */
struct rset_monitor_event {
    int region;
    unsigned node;       /* whose counter */
    const void *address; /* first of the granule */
    uint64_t count;
};

/* Whether there is a monitor: 0, or -EOPNOTSUPP. */
int rset_monitor_init(void);

/* A new region, under a name that no other has: `bytes` bytes at `address`, or, if that is NULL, the global variable of the
 * name. `granule` is a power of two, from a cache line to 2 MiB. Returns the region's number. -ENOENT: there is no such global;
 * -EINVAL: granule, kinds or name; -ENOSPC: the card has no filter or counters left (--card opium). */
int rset_monitor_region(const char *name, const void *address, size_t bytes, size_t granule, unsigned kinds);

/* Counts from now on; no longer. */
int rset_monitor_start(void);
int rset_monitor_stop(void);

/* The counter of the granule at `address` (NULL: all of the region) and of a node (-1: all nodes). */
int rset_monitor_read(int region, const void *address, int node, uint64_t *count);

/* Sets a region's counters to 0, so that they can reach the threshold again. */
int rset_monitor_clear(int region);

/* Calls `callback` when a counter of the region reaches `count` (0: no longer), as an interrupt would: on the thread that runs
 * then, soon after. It may use the monitor and rset_move(), and must not wait for a lock that its thread may hold. */
int rset_monitor_threshold(int region, uint64_t count,
                           void (*callback)(const struct rset_monitor_event *event, void *argument), void *argument);

/* From now on the program is in the phase `name`; the profile tells phases apart. */
int rset_monitor_phase(const char *name);

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

/* Makes a thread that is bound to a set before it starts; join it with pthread_join(). If it cannot be bound, there is
 * no thread. -EAGAIN: the system makes no more threads. */
int rset_thread_create(pthread_t *thread, const rset_t *set, void *(*start)(void *), void *argument);

/* Runs `work` once on each of `count` threads (0: one per cpu) that are dealt over a set by a thread policy, and waits
 * for all. No work runs unless every thread could be bound. */
int rset_team_run(const rset_t *set, const char *thread_policy, unsigned count,
                  void (*work)(unsigned number, unsigned count, void *argument), void *argument);

/* Runs `body` for the parts of begin..end, one part a thread, neighbours on neighbouring threads. */
int rset_parallel_for(const rset_t *set, const char *thread_policy, unsigned count, size_t begin, size_t end,
                      void (*body)(size_t begin, size_t end, unsigned number, void *argument), void *argument);

/* ---- Heaps ------------------------------------------------------------------------------------------------------- */

/* malloc and its kin on the nodes of a set. Every call is good from any thread, and a block may be freed by another
 * thread than got it. A failed allocation is NULL with errno ENOMEM, or EINVAL for an impossible alignment. */
typedef struct rset_heap rset_heap_t;

int rset_heap_new(const rset_t *set, const char *policy, rset_heap_t **heap);
/* Blocks in use stay good. */
void rset_heap_free(rset_heap_t *heap);

void *rset_heap_malloc(rset_heap_t *heap, size_t bytes);
void *rset_heap_calloc(rset_heap_t *heap, size_t count, size_t bytes);
/* As realloc(): NULL is an allocation; a failure leaves the block as it was. The block may come from another heap of
 * this library, and is copied into this one if it has to grow. */
void *rset_heap_realloc(rset_heap_t *heap, void *block, size_t bytes);
/* A power of two up to 65,536. */
void *rset_heap_aligned_alloc(rset_heap_t *heap, size_t alignment, size_t bytes);
/* A block of any of these heaps; NULL is allowed. */
void rset_block_free(void *block);
size_t rset_block_size(const void *block);

#ifdef __cplusplus
}
#endif

#endif
