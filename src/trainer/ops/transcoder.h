// The ops of a cross-layer transcoder: selections, sparse decoding, penalties.
#pragma once

#include <cstddef>

#include "trainer/ops/ops.h"

namespace stallscope::trainer {

/// run_op for the kinds from top_k_statistics on.
template <typename T>
void run_transcoder_op(const Op& op, const Bindings<T>& bindings);

/// Elements of scratch memory that each thread needs for the op; zero for other kinds.
size_t transcoder_scratch(const Op& op);

}  // namespace stallscope::trainer
