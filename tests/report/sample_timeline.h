// One training step of a made-up rank, as a timeline.
#pragma once

#include "analyze/summary.h"

namespace stallscope::sample {

/// Forward, backward, all-reduces on a second stream, a read of the loss that
/// drains the queue, optimizer. The same on every call for the same rank.
Timeline training_step(int32_t rank);
/// A short piece of a step around one blocking call on the host.
Timeline sync_exemplar(int32_t rank, Ns blocked, Ns idle, const std::string& call);
/// A burst of small collectives.
Timeline burst_exemplar(int32_t rank);

}  // namespace stallscope::sample
