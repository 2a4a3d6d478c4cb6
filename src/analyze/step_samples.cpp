#include "analyze/step_samples.h"

#include "analyze/sample_weights.h"
#include "trace/sample_state.h"

namespace stallscope {
namespace {

// Fewer are chance.
constexpr uint64_t kLeastSamples = 3;

bool lacks_cpu(SampleState state) {
  return state == SampleState::delayed || state == SampleState::python_delayed;
}

std::string function_and_line(const Place& place) {
  const std::string line = line_text(place);
  return place.function.empty() ? line : place.function + " (" + line + ")";
}

}  // namespace

StepSamples::StepSamples(const RankContext& context, SiteTable& sites)
    : sites_(sites), lines_(context.used.size()), no_cpu_(context.used.size()) {
  const Trace& trace = context.trace;
  for (uint32_t t = 0; t < context.index.threads.size(); ++t) {
    if (context.marks.thread != kNoIndex && t != context.marks.thread) continue;
    for_each_sample(trace, context.index.threads[t], [&](EventId id, double weight) {
      const uint32_t used = context.used_at(trace.starts()[id]);
      if (used == kNoIndex) return;
      const bool ready = lacks_cpu(static_cast<SampleState>(trace.details()[id]));
      const SiteId site = ready ? 0 : sites_.of_stack(trace.stacks()[id]);
      Share& share = ready ? no_cpu_[used] : lines_[used][site];
      share.ns += weight;
      ++share.samples;
      (ready ? no_cpu_sum_ : sum_[site]) += weight;
    });
  }
}

std::string StepSamples::beyond_usual(uint32_t used, double least) const {
  const double steps = static_cast<double>(lines_.size());
  std::string best;
  const auto consider = [&](const Share& share, double sum, const auto& text) {
    // The other steps' mean is what is usual.
    const double usual = steps > 1 ? (sum - share.ns) / (steps - 1) : 0;
    if (share.samples < kLeastSamples || share.ns - usual < least) return;
    least = share.ns - usual;
    best = text();
  };
  consider(no_cpu_[used], no_cpu_sum_, [] { return std::string("waiting for a CPU"); });
  for (const auto& [site, share] : lines_[used]) {
    const Place& place = sites_.site(site).place;
    if (place.known() && place.line > 0)
      consider(share, sum_.at(site), [&] { return function_and_line(place); });
  }
  return best;
}

}  // namespace stallscope
