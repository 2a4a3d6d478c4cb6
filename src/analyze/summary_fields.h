// The members of a RankSummary, each named once, for writing and for reading.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyze/summary.h"

namespace stallscope {

using Json = nlohmann::json;

/// Highest value of each enumeration, so that a damaged file gives no impossible one.
constexpr int limit_of(StepClass) {
  return static_cast<int>(StepClass::other);
}
constexpr int limit_of(StepUse) {
  return static_cast<int>(StepUse::overlapping);
}
constexpr int limit_of(StepSource) {
  return static_cast<int>(StepSource::launch_period);
}
constexpr int limit_of(RankView) {
  return static_cast<int>(RankView::host);
}

template <typename Visitor>
void describe(Visitor& visit, ClassTimes& it) {
  visit("ns", it.ns);
}
template <typename Visitor>
void describe(Visitor& visit, Step& it) {
  visit("index", it.index);
  visit("hostStart", it.host_start);
  visit("hostEnd", it.host_end);
  visit("windowStart", it.window_start);
  visit("windowEnd", it.window_end);
  visit("classes", it.classes);
  visit("use", it.use);
  visit("peakMemory", it.peak_memory);
}
template <typename Visitor>
void describe(Visitor& visit, Place& it) {
  visit("file", it.file);
  visit("line", it.line);
  visit("column", it.column);
  visit("function", it.function);
  visit("language", it.language);
}
template <typename Visitor>
void describe(Visitor& visit, Slice& it) {
  visit("start", it.start);
  visit("duration", it.duration);
  visit("track", it.track);
  visit("name", it.name);
  visit("kind", it.kind);
  visit("highlighted", it.highlighted);
}
template <typename Visitor>
void describe(Visitor& visit, Timeline& it) {
  visit("tracks", it.tracks);
  visit("slices", it.slices);
  visit("classes", it.classes);
  visit("duration", it.duration);
  visit("step", it.step);
  visit("rank", it.rank);
  visit("origin", it.origin);
}
template <typename Visitor>
void describe(Visitor& visit, Distribution& it) {
  visit("median", it.median);
  visit("maximum", it.maximum);
  visit("total", it.total);
  visit("stepsAffected", it.steps_affected);
  visit("steps", it.steps);
}
template <typename Visitor>
void describe(Visitor& visit, Observation& it) {
  visit("kind", it.kind);
  visit("place", it.place);
  visit("stack", it.stack);
  visit("rank", it.rank);
  visit("pid", it.pid);
  visit("device", it.device);
  visit("subject", it.subject);
  visit("cause", it.cause);
  visit("count", it.count);
  visit("blockedNs", it.blocked_ns);
  visit("idleNs", it.idle_ns);
  visit("numbers", it.numbers);
  visit("texts", it.texts);
  visit("exemplars", it.exemplars);
  visit("oneTimeNs", it.one_time_ns);
}
template <typename Visitor>
void describe(Visitor& visit, StartupPhase& it) {
  visit("name", it.name);
  visit("duration", it.duration);
}
template <typename Visitor>
void describe(Visitor& visit, GpuTotals& it) {
  visit("window", it.window);
  visit("busy", it.busy);
  visit("compute", it.compute);
  visit("communication", it.communication);
  visit("exposedCommunication", it.exposed_communication);
  visit("copy", it.copy);
  visit("kernels", it.kernels);
  visit("collectiveKernels", it.collective_kernels);
}
template <typename Visitor>
void describe(Visitor& visit, CollectiveKey& it) {
  visit("group", it.group);
  visit("sequence", it.sequence);
}
template <typename Visitor>
void describe(Visitor& visit, CollectiveShare& it) {
  visit("shortest", it.shortest);
  visit("shortestRank", it.shortest_rank);
  visit("total", it.total);
  visit("ranks", it.ranks);
  visit("step", it.step);
  visit("name", it.name);
  visit("end", it.end);
}
template <typename Visitor>
void describe(Visitor& visit, KernelShare& it) {
  visit("op", it.op);
  visit("place", it.place);
  visit("count", it.count);
  visit("total", it.total);
}
template <typename Visitor>
void describe(Visitor& visit, WaitShare& it) {
  visit("cause", it.cause);
  visit("subject", it.subject);
  visit("op", it.op);
  visit("place", it.place);
  visit("perStep", it.per_step);
}
template <typename Visitor>
void describe(Visitor& visit, PhaseShare& it) {
  visit("name", it.name);
  visit("perStep", it.per_step);
  visit("host", it.host);
  visit("fraction", it.fraction);
  visit("device", it.device);
}
template <typename Visitor>
void describe(Visitor& visit, QueueDepth& it) {
  visit("start", it.start);
  visit("bucket", it.bucket);
  visit("depth", it.depth);
  visit("mean", it.mean);
  visit("maximum", it.maximum);
}
template <typename Visitor>
void describe(Visitor& visit, SlowStep& it) {
  visit("step", it.step);
  visit("duration", it.duration);
  visit("difference", it.difference);
  visit("likelyCause", it.likely_cause);
}
template <typename Visitor>
void describe(Visitor& visit, KernelRow& it) {
  visit("name", it.name);
  visit("op", it.op);
  visit("place", it.place);
  visit("count", it.count);
  visit("total", it.total);
  visit("median", it.median);
}
template <typename Visitor>
void describe(Visitor& visit, CaptureHole& it) {
  visit("start", it.start);
  visit("duration", it.duration);
  visit("reason", it.reason);
}
template <typename Visitor>
void describe(Visitor& visit, TraceHealth& it) {
  visit("events", it.events);
  visit("bytesOnDisk", it.bytes_on_disk);
  visit("lostRecords", it.lost_records);
  visit("discardedOldest", it.discarded_oldest);
  visit("deviceVisible", it.device_visible);
  visit("cutShort", it.cut_short);
  visit("repairs", it.repairs);
  visit("holes", it.holes);
  visit("warnings", it.warnings);
  visit("clockSource", it.clock_source);
  visit("stacksNameFunctions", it.stacks_name_functions);
  visit("clockResidualNs", it.clock_residual_ns);
  visit("recorderOwnNs", it.recorder_own_ns);
}
template <typename Visitor>
void describe(Visitor& visit, RankSummary& it) {
  visit("rank", it.rank);
  visit("pid", it.pid);
  visit("device", it.device);
  visit("worldSize", it.world_size);
  visit("host", it.host);
  visit("view", it.view);
  visit("stepSource", it.step_source);
  visit("stepMarker", it.step_marker);
  visit("steps", it.steps);
  visit("medianBreakdown", it.median_breakdown);
  visit("meanBreakdown", it.mean_breakdown);
  visit("stepMedian", it.step_median);
  visit("stepLow", it.step_low);
  visit("stepHigh", it.step_high);
  visit("gpu", it.gpu);
  visit("startup", it.startup);
  visit("observations", it.observations);
  visit("slowSteps", it.slow_steps);
  visit("kernels", it.kernels);
  visit("kernelsByOperator", it.kernels_by_op);
  visit("kernelsByLine", it.kernels_by_line);
  visit("waits", it.waits);
  visit("phases", it.phases);
  visit("queue", it.queue);
  visit("representative", it.representative);
  visit("collectives", it.collectives);
  visit("clockOffset", it.clock_offset);
  visit("peakMemory", it.peak_memory);
  visit("replayError", it.replay_error);
  visit("abstentions", it.abstentions);
  visit("health", it.health);
  visit("environment", it.environment);
}

/// What `describe` is defined for.
struct AnyVisitor {
  template <typename T>
  void operator()(const char*, T&) {}
};
template <typename T>
concept Described = requires(AnyVisitor& visitor, T& value) { describe(visitor, value); };

template <typename T>
inline constexpr bool IsArray = false;
template <typename T, size_t N>
inline constexpr bool IsArray<std::array<T, N>> = true;
template <typename T>
inline constexpr bool IsMap = false;
template <typename K, typename V>
inline constexpr bool IsMap<std::map<K, V>> = true;
template <typename T>
inline constexpr bool IsList = IsArray<T> || IsMap<T>;
template <typename T>
inline constexpr bool IsList<std::vector<T>> = true;
template <typename T>
inline constexpr bool IsPair = false;
template <typename A, typename B>
inline constexpr bool IsPair<std::pair<A, B>> = true;

}  // namespace stallscope
