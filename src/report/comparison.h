// RunComparison: two sides of one or more runs each, and what differs between them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare.h"
#include "report/run_measures.h"

namespace stallscope {

/// Mean time per step of one class on either side.
struct ClassChange {
  StepClass step_class = StepClass::other;
  double before_ns = 0, after_ns = 0;
};

/// One kernel's time per step on either side; 0 calls = not there.
struct KernelChange {
  std::string name, op;
  double before_ns = 0, after_ns = 0, before_calls = 0, after_calls = 0;
  bool renamed = false;  ///< matched by its base name, in order of time
  double change_ns() const { return after_ns - before_ns; }
};

enum class FindingChange : uint8_t { fresh, gone, changed };
/// "new", "gone", "changed".
std::string_view to_string(FindingChange change);

struct ComparedFinding {
  FindingChange change = FindingChange::changed;
  FindingMeasure finding;  ///< of the side that has it; after where both have
  std::optional<double> before_gain_ns, after_gain_ns;
};

struct RunComparison {
  std::vector<std::string> before, after;  ///< labels of the runs
  StepTimeChange step_time;
  std::vector<ClassChange> classes;   ///< empty when a side has no breakdown
  std::vector<KernelChange> kernels;  ///< by the size of the change, at most kMaxKernels
  std::vector<ComparedFinding> findings;
  std::vector<std::string> abstentions;  ///< why the verdict is abstain
};
inline constexpr size_t kMaxKernelChanges = 50;

/// `known_spread`: see compare_step_times.
RunComparison compare_runs(std::span<const RunMeasures> before, std::span<const RunMeasures> after,
                           double known_spread = -1);

/// One sentence: the verdict, its size and its interval.
std::string verdict_sentence(const RunComparison& comparison);

/// The formats of `diff`: "text", "json", "markdown", "html".
std::string render_comparison_text(const RunComparison& comparison);
std::string render_comparison_json(const RunComparison& comparison);
std::string render_comparison_markdown(const RunComparison& comparison);
std::string render_comparison_html(const RunComparison& comparison);

}  // namespace stallscope
