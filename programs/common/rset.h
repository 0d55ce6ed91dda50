/* Resource sets, for the workload programs: the one header, as it is installed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../../crates/capi/include/rset.h"
