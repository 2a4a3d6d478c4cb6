// What a finding would save: a price per observation, summed over a finding.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rule/rule.h"
#include "rule/seen.h"

namespace stallscope {

/// Which part of the step a saving comes out of: no part can give more than it has.
enum class Budget : uint8_t {
  idle,
  communication,
  copy,
  compute,
  lateness,  ///< other ranks' waiting for this one, which its own step does not show
  batched    ///< calls that become one, with the copies and kernels between them
};

/// A saving per step, in nanoseconds, and where it comes from.
struct Price {
  Gain::Range range;
  Budget budget = Budget::idle;
  std::optional<double> replay_error = {};  ///< of the unchanged step; set when replayed
  bool at_most = false;    ///< how much of it can be had is not known from the trace
  Ns together = 0;         ///< saved once the function's other waits are gone; 0 = it has none
  bool host_view = false;  ///< of a process without device work
};

/// The price of one observation under the rule's model; nullopt when the model
/// is `none` or the observation says nothing about time.
std::optional<Price> price_of(const Rule& rule, const Seen& seen);

/// Sum of prices of one rank's blocks, each budget capped by that rank's step.
Price add_prices(std::span<const Price> prices, const RankSummary& rank);

/// Nanoseconds of the rank's mean step that a budget holds.
Ns budget_of(const RankSummary& rank, Budget budget);

/// How the price was found, for the report: "replay: remove-sync" or
/// "device idle time charged to it".
std::string gain_method(GainModel model, const Price& price);

/// The severity that a measured gain deserves, never above the rule's.
Severity measured_severity(Severity worst, std::optional<double> fraction,
                           std::optional<Ns> one_time_ns);

}  // namespace stallscope
