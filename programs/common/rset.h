/* Resource sets, as far as the workload programs use them: one read-only copy of a data set per node.
 *
 * The concept. On a machine whose memory is not all equally near, data that every thread reads all the time has no
 * good home: wherever it lies, it is remote for most. If nobody writes it any more, each node can have its own copy.
 *
 * C11; usable as C++17. Every call returns 0 if it is done and a negative errno value otherwise.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef RSET_H
#define RSET_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the calling thread the address of its own node's copy of the `bytes` bytes at `source`.
 *
 * Each thread that wants to read the data calls it with the same source and size, after the last write to the source.
 * The first call of a node makes its copy; later calls of that node's threads get the same address. The copy must
 * not be written. A write to the source after the first call does not reach the copies. On a machine of one node the
 * address may be the source itself.
 *
 *   source                  the data to replicate, not NULL
 *   bytes                   its size, above 0
 *   copy_of_calling_node    out: where this thread shall read; unchanged on failure
 *
 * Returns 0, -EINVAL (NULL or no bytes), or -ENOMEM (the node has no memory for a copy). */
int rset_replicate(const void *source, size_t bytes, const void **copy_of_calling_node);

#ifdef __cplusplus
}
#endif

#endif
