// ranks[] and trust{} of report.json.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/build.h"
#include "report/json_parts.h"
#include "rule/rank_findings.h"

namespace stallscope {
namespace {

std::string_view name_of(RankView view) {
  return view == RankView::device ? "device" : "host";
}

Json name_of(StepSource source) {
  switch (source) {
    case StepSource::none:
      return {};
    case StepSource::given_range:
      return "given-range";
    case StepSource::named_range:
      return "named-range";
    case StepSource::launch_period:
      return "launch-period";
  }
  return {};
}

Json gpu_json(const RankSummary& rank) {
  if (rank.view == RankView::host) return {};
  return {{"windowNs", rank.gpu.window},
          {"busyNs", rank.gpu.busy},
          {"computeNs", rank.gpu.compute},
          {"communicationNs", rank.gpu.communication},
          {"exposedCommunicationNs", rank.gpu.exposed_communication},
          {"copyNs", rank.gpu.copy},
          {"kernels", rank.gpu.kernels},
          {"collectiveKernels", rank.gpu.collective_kernels}};
}

Json waits_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const WaitShare& wait : rank.waits) {
    Json& item = out.emplace_back(Json{{"cause", wait.cause},
                                       {"subject", text_or_null(wait.subject)},
                                       {"operator", text_or_null(wait.op)}});
    add_line(item, wait.place);
    item["durationNs"] = wait.per_step;
  }
  return out;
}

Json phases_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const PhaseShare& phase : rank.phases)
    out.push_back({{"name", text_or_null(phase.name)},
                   {"perStep", phase.name.empty() ? Json() : Json(phase.per_step)},
                   {"durationNs", phase.host},
                   {"fraction", phase.fraction},
                   {"deviceNs", rank.view == RankView::host ? Json() : Json(phase.device)}});
  return out;
}

Json queue_json(const RankSummary& rank) {
  if (rank.queue.depth.empty()) return {};
  Json depth = Json::array();  // finer than a hundredth is noise
  for (const double mean : rank.queue.depth) depth.push_back(std::round(mean * 100) / 100);
  return {{"startNs", rank.queue.start},
          {"bucketNs", rank.queue.bucket},
          {"mean", rank.queue.mean},
          {"maximum", rank.queue.maximum},
          {"depth", depth}};
}

Json startup_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const StartupPhase& phase : rank.startup)
    out.push_back({{"phase", phase.name}, {"durationNs", phase.duration}});
  return out;
}

Json slow_steps_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const SlowStep& slow : rank.slow_steps) {
    Json difference = Json::array();
    for (size_t i = 0; i < kStepClasses; ++i)
      if (slow.difference.ns[i] != 0)
        difference.push_back({{"class", to_string(static_cast<StepClass>(i))},
                              {"differenceNs", slow.difference.ns[i]}});
    out.push_back({{"step", slow.step},
                   {"durationNs", slow.duration},
                   {"difference", difference},
                   {"likelyCause", text_or_null(slow.likely_cause)}});
  }
  return out;
}

Json unknown_below_zero(double value) {
  return value < 0 ? Json() : Json(value);
}

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json step_counts_json(const StepCounts& counts) {
  return {{"first", counts.first},
          {"last", counts.last},
          {"warmUp", counts.warm_up},
          {"launchedBeforeCapture", counts.launched_before_capture},
          {"captureHole", counts.hole},
          {"noDeviceWork", counts.no_work},
          {"overlapping", counts.overlapping}};
}

}  // namespace

Json rank_json(const RankSummary& rank) {
  const StepCounts counts = count_steps(rank);
  Json step_time;
  if (rank.step_median > 0)
    step_time = {{"median", rank.step_median},
                 {"low", rank.step_low},
                 {"high", rank.step_high},
                 {"mean", mean_step(rank)}};
  return {{"rank", rank.rank < 0 ? Json() : Json(rank.rank)},
          {"pid", rank.pid},
          {"device", rank.device < 0 ? Json() : Json(rank.device)},
          {"host", text_or_null(rank.host)},
          {"worldSize", rank.world_size <= 0 ? Json() : Json(rank.world_size)},
          {"view", name_of(rank.view)},
          {"stepSource", name_of(rank.step_source)},
          {"stepMarker", text_or_null(rank.step_marker)},
          {"stepTimeNs", step_time},
          {"stepsUsed", counts.used},
          {"stepsDiscarded", counts.discarded()},
          {"discarded", step_counts_json(counts)},
          {"breakdown", breakdown_json(rank.mean_breakdown)},
          {"gpu", gpu_json(rank)},
          {"waits", waits_json(rank)},
          {"phases", phases_json(rank)},
          {"queueDepth", queue_json(rank)},
          {"clockOffsetNs", rank.clock_offset},
          {"peakMemoryBytes", unknown_if_zero(rank.peak_memory)},
          {"startup", startup_json(rank)},
          {"slowSteps", slow_steps_json(rank)},
          {"abstentions", rank.abstentions}};
}

Json trust_json(const Report& report) {
  uint64_t events = 0, bytes = 0, lost = 0, oldest = 0;
  bool cut_short = false;
  double residual = -1;
  std::vector<std::string> clocks;
  Json repairs = Json::object(), holes = Json::array();
  std::map<std::string, uint64_t> mended;
  // Ranks of one process carry the same health: count each process once.
  std::map<std::pair<std::string, int64_t>, bool> counted;
  for (const RankSummary& rank : report.summary.ranks) {
    if (!counted.try_emplace({rank.host, rank.pid}, true).second) continue;
    const TraceHealth& health = rank.health;
    events += health.events;
    bytes += health.bytes_on_disk;
    lost += health.lost_records;
    oldest += health.discarded_oldest;
    cut_short = cut_short || health.cut_short;
    residual = std::max(residual, health.clock_residual_ns);
    if (!health.clock_source.empty() &&
        std::ranges::find(clocks, health.clock_source) == clocks.end())
      clocks.push_back(health.clock_source);
    for (const auto& [what, times] : health.repairs) mended[what] += times;
    for (const CaptureHole& hole : health.holes)
      holes.push_back({{"rank", rank.rank < 0 ? Json() : Json(rank.rank)},
                       {"pid", rank.pid},
                       {"startNs", hole.start},
                       {"durationNs", hole.duration},
                       {"reason", hole.reason}});
  }
  for (const auto& [what, times] : mended) repairs[what] = times;
  const RankSummary* slowest = slowest_rank(report.summary);
  const ClockAlignment& aligned = report.summary.clocks;
  Json alignment;
  if (aligned.residual >= 0)
    alignment = {{"ranks", aligned.ranks},
                 {"collectives", aligned.collectives},
                 {"residualNs", aligned.residual}};
  const OverheadInfo& overhead = report.overhead;
  Json paired;
  if (overhead.paired_difference)
    paired = {{"difference", *overhead.paired_difference},
              {"low", optional_number(overhead.paired_low)},
              {"high", optional_number(overhead.paired_high)}};
  return {{"verdict", report.step_time ? "given" : "abstained"},
          {"abstentions", abstentions(report.summary)},
          {"stepsUsed", report.steps_used},
          {"stepsDiscarded", report.steps_discarded},
          {"discarded", slowest ? step_counts_json(count_steps(*slowest)) : Json()},
          {"recorderOwnFraction", optional_number(overhead.own_fraction)},
          {"measuredOverhead", paired},
          {"events", unknown_if_zero(events)},
          {"bytesOnDisk", unknown_if_zero(bytes)},
          {"lostRecords", lost},
          {"discardedOldest", oldest},
          {"cutShort", cut_short},
          {"clockSources", clocks},
          {"clockResidualNs", unknown_below_zero(residual)},
          {"clockAlignment", alignment},
          {"replayError", optional_number(report.replay_error)},
          {"repairs", repairs},
          {"holes", holes}};
}

}  // namespace stallscope
