// Gate: what becomes of the assertions in the `check:` part of stallscope.yml.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/comparison.h"
#include "report/run_measures.h"
#include "rule/config.h"

namespace stallscope {

/// True when nothing is asserted.
bool asserts_nothing(const CheckSettings& settings);

/// One assertion and what was found.
struct GateResult {
  std::string assertion;  ///< "step-time", "budget host-sync", "finding item-in-step", ...
  bool passed = true;
  bool undecided = false;  ///< the data cannot tell: neither passed nor failed
  std::string expected, found;
  std::vector<std::string> evidence;  ///< values and places
  std::string next;                   ///< what to run next
};

/// Checks the runs (repeats of one program). `baseline` may be empty when
/// nothing is asserted against one.
std::vector<GateResult> check_gate(const CheckSettings& settings, std::span<const RunMeasures> runs,
                                   std::span<const RunMeasures> baseline);

/// The baseline file of these runs, and back.
std::string write_baseline(std::span<const RunMeasures> runs);
Result<std::vector<RunMeasures>> read_baseline(std::string_view json, const std::string& file);

}  // namespace stallscope
