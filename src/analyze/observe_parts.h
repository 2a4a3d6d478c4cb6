// The parts of observe_all, one file each: every function appends the rows of
// the kinds that its file names.
#pragma once

#include "analyze/places.h"
#include "analyze/rank_context.h"
#include "analyze/stream_order.h"
#include "analyze/summary.h"
#include "analyze/wait_table.h"

namespace stallscope {

using Observations = std::vector<Observation>;

// Device view.
void observe_host_sync(const RankContext&, SiteTable&, const StreamOrder&, Observations&);
void observe_copies(const RankContext&, SiteTable&, Observations&);
/// kernel, repeated-kernels, and the kernel table.
void observe_kernels(const RankContext&, SiteTable&, RankSummary&);
/// graph-capture.
void observe_graphs(const RankContext&, SiteTable&, Observations&);
void observe_launch_bound(const RankContext&, SiteTable&, Observations&);
/// host-gap, and the same gaps' part of the wait table.
void observe_host_gaps(const RankContext&, SiteTable&, WaitTable&, Observations&);

// Both views.
/// collective, collective-burst, and the shares for merging.
void observe_collectives(const RankContext&, SiteTable&, RankSummary&);
void observe_input_wait(const RankContext&, SiteTable&, Observations&);
/// allocation and compile.
void observe_calls(const RankContext&, SiteTable&, Observations&);
/// overhead and garbage-collection.
void observe_overhead(const RankContext&, SiteTable&, Observations&);
void observe_node(const RankContext&, SiteTable&, Observations&);
/// In words, what took a good part of `taken_ns` by a node row's numbers; empty when nothing did.
std::string node_causes(const std::map<std::string, double>& numbers, double taken_ns);
/// Host rows below this share of the step, or below this much before the first one, are noise.
inline constexpr double kLeastHostShare = 0.01;
inline constexpr Ns kLeastOneTime = 10'000'000;
void observe_samples(const RankContext&, SiteTable&, Observations&);
/// lock-wait.
void observe_lock_waits(const RankContext&, SiteTable&, Observations&);
/// host-cost, hot-function and hot-line.
void observe_host_costs(const RankContext&, SiteTable&, Observations&);

// Host view.
void observe_host_work(const RankContext&, SiteTable&, Observations&);

std::vector<StartupPhase> startup_phases(const RankContext&);
/// When the imports at the begin of a thread were done, by its samples.
Ns end_of_imports(const Trace& trace, const HostThread& thread);
std::vector<SlowStep> slow_steps(const RankContext&, SiteTable&);
/// Peak of memory in use, per step and in all, where allocations are known.
void fill_memory(const RankContext&, RankSummary&);

/// Device idle of used steps that overlaps a host interval on a thread: what the thread did then
/// kept the device waiting. Pieces must be attributed to that thread.
class ThreadIdle {
 public:
  /// Of every class but `other`, or of one class only.
  explicit ThreadIdle(const RankContext& context, std::optional<StepClass> only = std::nullopt);
  Ns overlap(uint32_t thread, Ns start, Ns end) const;

 private:
  std::vector<Intervals> idle_;  // by thread
};

}  // namespace stallscope
