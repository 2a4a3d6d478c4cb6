// JAX arrays keep the value that they were read to: a second read of one costs nothing.
#pragma once

#include "source/match/matcher.h"

namespace stallscope {

/// float(loss), and then f"{loss}" in the same pass: whether what `read` reads to the host was read
/// before, on each way there, and is the same array. For files of Python that use JAX; a read is
/// float(x), x.item(), np.asarray(x), jax.device_get(x) or a value that is put into a text.
bool was_read_before(const FileView& file, NodeId read);

}  // namespace stallscope
