// Replays a step graph, as it was or with a stall taken out.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "replay/graph.h"

namespace stallscope {

/// How a what-if changes the program.
enum class ReplayModel : uint8_t {
  none,
  remove_sync,           ///< the calls are gone, and nothing waits for what they waited for
  remove_kernels,        ///< the device work and the calls that launch it are gone
  remove_calls,          ///< the host calls take no time (allocations, module loads)
  shrink_host,           ///< the host's work before the calls shrinks to the usual gap
  overlap_collective,    ///< later work of the stream no longer waits for the collective
  coalesce_collectives,  ///< one collective of the burst remains; the others cost their bytes only
  prefetch_input,        ///< the host's wait before the calls is gone
  batch_calls,           ///< one call a step remains of many, with the work launched for it
};

/// A model's name as rule files write it: "remove-sync" and so on.
std::string_view to_string(ReplayModel model);

/// Mean length of the graph's steps when `model` is applied to `events`.
Ns replay(const StepGraph& graph, ReplayModel model, std::span<const EventId> events);

/// Mean length of the graph's steps when the host does less before some calls:
/// `cuts` holds the calls and the nanoseconds of host work that go.
Ns replay_shortened(const StepGraph& graph, std::span<const std::pair<EventId, Ns>> cuts);

/// Mean length of the graph's steps when no edge takes longer than is usual for
/// its kind: what the graph explains of the measured length.
Ns replay_explained(const StepGraph& graph);

/// Mean length of the graph's steps as measured.
Ns measured(const StepGraph& graph);

}  // namespace stallscope
