#include "analyze/abstain.h"

#include <fmt/format.h>

#include <algorithm>

namespace stallscope {
namespace {

/// Device work without its launch beyond this share means that calls were not recorded.
constexpr double kMostUnlaunched = 0.5;
/// Overhead beyond this share of the steps means that the profiler made what it saw.
constexpr double kMostOverhead = 0.2;
/// Idle time before work that had long been issued, beyond this share of the steps, means that what
/// it waited for was not recorded.
constexpr double kMostUnexplained = 0.4;
/// Of as many, two remain without the first and the last.
constexpr size_t kEnoughSteps = 4;
/// Lost records beyond this share of all.
constexpr double kMostLost = 0.01;

size_t count_use(const RankContext& context, StepUse use) {
  return static_cast<size_t>(std::ranges::count(context.steps, use, &Step::use));
}

void without_device_work(const RankContext& context, std::vector<std::string>& reasons) {
  if (!context.trace.health.device_visible && context.trace.health.cut_short)
    reasons.push_back(
        "The trace's file is cut, and what there is of it holds no GPU events: where the step time "
        "goes cannot be told. Copy or record it again. Host times hold.");
  else if (context.index.has_device_calls)
    reasons.push_back(
        "The process called the GPU runtime but the trace holds no GPU activity: the recording "
        "is incomplete, so idle time cannot be told from missing events. Host times hold.");
  else if (!context.trace.health.device_visible)
    reasons.push_back(
        "The trace holds no GPU events, because its profiler recorded the host only: where the "
        "step time goes cannot be told. Record again with GPU activities on. Host times hold.");
}

}  // namespace

std::vector<std::string> abstentions(const RankContext& context) {
  std::vector<std::string> reasons;
  const TraceHealth& health = context.trace.health;
  if (context.work == nullptr) without_device_work(context, reasons);
  if (context.steps.empty()) {
    reasons.push_back("No steps were found: " + context.marks.failure +
                      ". Totals over the whole trace hold.");
    return reasons;
  }
  if (context.marks.overlapping || context.step_work.overlapping) {
    if (context.used.size() < 2 || context.marks.overlapping)
      reasons.push_back(
          "Steps overlap each other, so an instant has no single step: name a range that does not "
          "overlap with --step-range. Totals over the whole trace hold.");
  }
  const bool unlaunched =
      context.work != nullptr && !context.work->activities.empty() &&
      static_cast<double>(context.step_work.unlaunched) >
          kMostUnlaunched * static_cast<double>(context.work->activities.size());
  // Work that nothing is known to have launched belongs to no step: that says nothing of the steps.
  const auto without_work =
      static_cast<size_t>(std::ranges::count(context.step_work.work_count, 0U));
  if (context.work != nullptr && !unlaunched && without_work * 2 > context.steps.size())
    reasons.push_back(
        fmt::format("{} of {} steps ran nothing on the device: the marked range is "
                    "not the training step, or device events are missing. Totals "
                    "over the whole trace hold.",
                    without_work, context.steps.size()));
  if (context.used.size() < 2 && !(unlaunched && context.steps.size() >= kEnoughSteps))
    reasons.push_back(fmt::format(
        "{} of {} steps can be used (the first and last never are): record at least four. Classes "
        "and places of the steps seen hold; how typical they are is unknown.",
        context.used.empty() ? "None" : "One", context.steps.size()));
  if (unlaunched)
    reasons.push_back(
        "Most device work has no launching call in the trace: record the runtime calls too, or "
        "idle time cannot be attributed. Totals over the whole trace hold.");
  if (const size_t holed = count_use(context, StepUse::hole); holed * 2 > context.steps.size())
    reasons.push_back(fmt::format("{} of {} steps lie in holes of the capture ({}).", holed,
                                  context.steps.size(), health.holes.front().reason));
  if (static_cast<double>(health.lost_records) > kMostLost * static_cast<double>(health.events))
    reasons.push_back(
        fmt::format("{} records were lost beside {} recorded: gaps may be missing "
                    "events. Findings with a place hold, their amounts do not.",
                    health.lost_records, health.events));
  Ns overhead = 0, unexplained = 0, total = 0;
  for (uint32_t i : context.used) {
    overhead += context.steps[i].classes[StepClass::profiler_overhead];
    unexplained += context.steps[i].classes[StepClass::other];
    total += context.steps[i].classes.total();
  }
  if (static_cast<double>(overhead) > kMostOverhead * static_cast<double>(total))
    reasons.push_back(
        fmt::format("The profiler itself fills {:.0f} % of the step: record with "
                    "fewer activities. Collectives and kernel times hold.",
                    100.0 * static_cast<double>(overhead) / static_cast<double>(total)));
  if (context.work != nullptr &&
      static_cast<double>(unexplained) > kMostUnexplained * static_cast<double>(total))
    reasons.push_back(fmt::format(
        "In {:.0f} % of the step the device idles though its next work had been issued, and "
        "nothing "
        "in the trace says what it waited for: work that was not recorded, or a profiler that "
        "slows "
        "CUDA graphs down. Record without graph nodes. Kernel and collective times hold.",
        100.0 * static_cast<double>(unexplained) / static_cast<double>(total)));
  return reasons;
}

}  // namespace stallscope
