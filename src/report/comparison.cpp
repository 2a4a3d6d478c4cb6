#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace stallscope {
namespace {

// A finding's price counts as changed from here on: less is the noise of a median.
constexpr double kChangedGain = 0.25;

std::vector<RunSteps> steps_of(std::span<const RunMeasures> runs) {
  std::vector<RunSteps> steps;
  for (const RunMeasures& run : runs) steps.push_back({run.label, run.steps});
  return steps;
}

std::optional<std::array<double, kStepClasses>> mean_classes(std::span<const RunMeasures> runs) {
  std::array<double, kStepClasses> mean{};
  size_t count = 0;
  for (const RunMeasures& run : runs) {
    if (!run.breakdown) continue;
    ++count;
    for (size_t i = 0; i < kStepClasses; ++i) mean[i] += static_cast<double>(run.breakdown->ns[i]);
  }
  if (count == 0) return std::nullopt;
  for (double& value : mean) value /= static_cast<double>(count);
  return mean;
}

using KernelKey = std::pair<std::string, std::string>;

std::map<KernelKey, KernelMeasure> mean_kernels(std::span<const RunMeasures> runs) {
  std::map<KernelKey, KernelMeasure> kernels;
  const double share = runs.empty() ? 0 : 1 / static_cast<double>(runs.size());
  for (const RunMeasures& run : runs) {
    for (const KernelMeasure& kernel : run.kernels) {
      KernelMeasure& sum = kernels[{kernel.name, kernel.op}];
      sum.name = kernel.name;
      sum.op = kernel.op;
      sum.ns_per_step += kernel.ns_per_step * share;
      sum.calls_per_step += kernel.calls_per_step * share;
    }
  }
  return kernels;
}

// "void at::native::reduce_kernel<512, 1>(...)" -> "at::native::reduce_kernel": compilers and
// library versions change what stands in the brackets.
std::string base_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  return std::string(name.substr(0, name.find_first_of("<(")));
}

KernelChange pair_of(const KernelMeasure* before, const KernelMeasure* after) {
  const KernelMeasure& any = after != nullptr ? *after : *before;
  KernelChange change;
  change.name = any.name;
  change.op = any.op;
  if (before != nullptr) change.before_ns = before->ns_per_step;
  if (before != nullptr) change.before_calls = before->calls_per_step;
  if (after != nullptr) change.after_ns = after->ns_per_step;
  if (after != nullptr) change.after_calls = after->calls_per_step;
  return change;
}

std::vector<KernelChange> compare_kernels(std::span<const RunMeasures> before,
                                          std::span<const RunMeasures> after) {
  const auto from = mean_kernels(before), to = mean_kernels(after);
  std::vector<KernelChange> changes;
  std::map<std::string, std::vector<const KernelMeasure*>> unmatched;  // by base name
  for (const auto& [key, kernel] : from) {
    const auto other = to.find(key);
    if (other != to.end()) {
      changes.push_back(pair_of(&kernel, &other->second));
    } else {
      unmatched[base_name(kernel.name)].push_back(&kernel);
    }
  }
  const auto by_time = [](const KernelMeasure* a, const KernelMeasure* b) {
    return a->ns_per_step > b->ns_per_step;
  };
  for (auto& [name, kernels] : unmatched) std::ranges::stable_sort(kernels, by_time);
  std::vector<const KernelMeasure*> fresh;
  for (const auto& [key, kernel] : to)
    if (!from.contains(key)) fresh.push_back(&kernel);
  std::ranges::stable_sort(fresh, by_time);
  for (const KernelMeasure* kernel : fresh) {
    auto& candidates = unmatched[base_name(kernel->name)];
    const KernelMeasure* other = candidates.empty() ? nullptr : candidates.front();
    if (other != nullptr) candidates.erase(candidates.begin());
    changes.push_back(pair_of(other, kernel));
    changes.back().renamed = other != nullptr;
  }
  for (const auto& [name, kernels] : unmatched)
    for (const KernelMeasure* kernel : kernels) changes.push_back(pair_of(kernel, nullptr));
  std::ranges::stable_sort(changes, std::greater{}, [](const KernelChange& change) {
    return std::fabs(change.change_ns());
  });
  if (changes.size() > kMaxKernelChanges) changes.resize(kMaxKernelChanges);
  return changes;
}

struct SeenFinding {
  FindingMeasure finding;
  size_t runs = 0;
  double gain = 0;
  size_t priced = 0;
};

// Findings that most runs of a side show; one that comes and goes says nothing of the change.
std::map<std::string, SeenFinding> usual_findings(std::span<const RunMeasures> runs) {
  std::map<std::string, SeenFinding> seen;
  for (const RunMeasures& run : runs) {
    std::set<std::string> counted;
    for (const FindingMeasure& finding : run.findings) {
      if (!counted.insert(finding.fingerprint).second) continue;
      SeenFinding& entry = seen[finding.fingerprint];
      entry.finding = finding;
      ++entry.runs;
      if (finding.gain_ns) entry.gain += *finding.gain_ns;
      entry.priced += finding.gain_ns ? 1 : 0;
    }
  }
  std::erase_if(seen, [&](const auto& entry) { return entry.second.runs * 2 < runs.size(); });
  return seen;
}

std::optional<double> gain_of(const SeenFinding& seen) {
  if (seen.priced == 0) return std::nullopt;
  return seen.gain / static_cast<double>(seen.priced);
}

/// Whether findings of the runs were held against a step time.
bool carries_verdict(std::span<const RunMeasures> runs) {
  return std::ranges::none_of(runs, [](const RunMeasures& run) { return run.steps.empty(); });
}

std::vector<ComparedFinding> compare_findings(std::span<const RunMeasures> before,
                                              std::span<const RunMeasures> after, double step_ns) {
  const auto from = usual_findings(before), to = usual_findings(after);
  std::vector<ComparedFinding> changes;
  for (const auto& [fingerprint, seen] : to) {
    const auto other = from.find(fingerprint);
    ComparedFinding compared{FindingChange::fresh, seen.finding, {}, gain_of(seen)};
    if (other != from.end()) {
      compared.change = FindingChange::changed;
      compared.before_gain_ns = gain_of(other->second);
      const double old_gain = compared.before_gain_ns.value_or(0);
      const double moved = std::fabs(compared.after_gain_ns.value_or(0) - old_gain);
      if (moved <= kChangedGain * old_gain || moved < 0.01 * step_ns) continue;
    }
    changes.push_back(compared);
  }
  for (const auto& [fingerprint, seen] : from)
    if (!to.contains(fingerprint))
      changes.push_back({FindingChange::gone, seen.finding, gain_of(seen), {}});
  std::ranges::stable_sort(changes, [](const ComparedFinding& a, const ComparedFinding& b) {
    const auto weight = [](const ComparedFinding& c) {
      return std::max(c.before_gain_ns.value_or(0), c.after_gain_ns.value_or(0));
    };
    return std::pair(a.change, -weight(a)) < std::pair(b.change, -weight(b));
  });
  return changes;
}

}  // namespace

std::string_view to_string(FindingChange change) {
  switch (change) {
    case FindingChange::fresh:
      return "new";
    case FindingChange::gone:
      return "gone";
    default:
      return "changed";
  }
}

RunComparison compare_runs(std::span<const RunMeasures> before, std::span<const RunMeasures> after,
                           double known_spread) {
  RunComparison result;
  for (const auto& [runs, labels] :
       {std::pair(before, &result.before), std::pair(after, &result.after)}) {
    for (const RunMeasures& run : runs) {
      labels->push_back(run.label);
      if (run.steps.empty())
        for (const std::string& why : run.abstentions)
          result.abstentions.push_back(run.label + ": " + why);
    }
  }
  const std::vector<RunSteps> from = steps_of(before), to = steps_of(after);
  // A run that cannot carry a verdict must not be left out quietly: its side would look better.
  if (result.abstentions.empty()) result.step_time = compare_step_times(from, to, known_spread);
  const auto old_classes = mean_classes(before), new_classes = mean_classes(after);
  if (old_classes && new_classes)
    for (size_t i = 0; i < kStepClasses; ++i)
      result.classes.push_back({static_cast<StepClass>(i), (*old_classes)[i], (*new_classes)[i]});
  result.kernels = compare_kernels(before, after);
  // What a run without a verdict does not show may be there all the same.
  if (carries_verdict(before) == carries_verdict(after))
    result.findings = compare_findings(before, after, static_cast<double>(result.step_time.before));
  return result;
}

std::string verdict_sentence(const RunComparison& comparison) {
  const StepTimeChange& step = comparison.step_time;
  if (step.verdict == Verdict::abstain)
    return "No verdict: the data of at least one run cannot carry one.";
  const std::string interval = fmt::format("{:+.1f} % (95 % interval {:+.1f} % to {:+.1f} %)",
                                           step.change * 100, step.low * 100, step.high * 100);
  const std::string times = format_duration(static_cast<double>(step.before)) + " -> " +
                            format_duration(static_cast<double>(step.after)) + " per step";
  switch (step.verdict) {
    case Verdict::slower:
      return "Slower: " + times + ", " + interval + ".";
    case Verdict::faster:
      return "Faster: " + times + ", " + interval + ".";
    default:
      return "No evidence of a change: " + times + ", " + interval + ".";
  }
}

}  // namespace stallscope
