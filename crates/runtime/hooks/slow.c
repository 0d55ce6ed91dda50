/* What an inlined hook does when its fast path does not hold. The entries in entries.S have saved the registers.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "block.h"

enum operation { MISS = 0, UPDATE = 1, READ_RANGE = 2, WRITE_RANGE = 3, UPDATE_RANGE = 4, YIELD = 5 };

/* An update is a read and a write; the write counts one instruction, the read the others. */
static uint64_t read_of(const struct site *site)
{
    return OLIFANT_READ + (uint32_t)site->immediate - 1;
}

void __olifant_slow(const void *address, const struct site *site, const struct frame *frame)
{
    if (site->operation == YIELD) {
        __olifant_yield();
        return;
    }
    /* Take back what lies ahead, so that the access happens at its own instruction, and give it on again afterwards:
     * perhaps to another cpu's block, if the thread moved. */
    block_count(-site->ahead);
    switch (site->operation) {
    case MISS:
        __olifant_miss_at(address, site->immediate, frame);
        break;
    case UPDATE:
        olifant_access_at(address, read_of(site), frame);
        olifant_access_at(address, OLIFANT_WRITE + 1, frame);
        break;
    case READ_RANGE:
    case WRITE_RANGE:
        __olifant_range(address, site->bytes, site->immediate);
        break;
    default:
        __olifant_range(address, site->bytes, read_of(site));
        __olifant_range(address, site->bytes, OLIFANT_WRITE + 1);
        break;
    }
    block_count(site->ahead - site->immediate);
}
