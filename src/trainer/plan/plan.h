// A tensor-parallel plan: which dimension of each parameter is split over the
// ranks, as patterns over parameter paths. Applied to a whole tree in one pass.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stallscope::trainer {

/// Why a parameter is split: columns of a product's outputs, rows of its inputs, entries of the
/// vocabulary, features of a transcoder.
enum class Split : uint8_t { replicated, column, row, vocabulary, feature };
std::string_view to_string(Split split);

/// One line of a plan. In a pattern, `*` stands for any one part of the path and `**` for any
/// number of parts; within a part, `*` and `?` stand for characters.
struct PlanRule {
  std::string pattern;
  Split split = Split::replicated;
  int dimension = -1;  ///< -1 when replicated
};

class Plan {
 public:
  explicit Plan(std::vector<PlanRule> rules);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  const std::vector<PlanRule>& rules() const { return rules_; }

  static constexpr int kNone = -1;
  /// The first rule whose pattern matches, or kNone. Costs the path's parts, not the rules.
  int match(std::string_view path) const;

  struct Applied {
    std::vector<int> rule;               ///< by path: index of its rule, or kNone
    std::vector<std::string> unmatched;  ///< paths without a rule
    /// Paths that a later rule would split otherwise, the catch-all `**` aside.
    std::vector<std::string> ambiguous;
  };
  /// Every path in one pass.
  Applied apply(std::span<const std::string> paths) const;

 private:
  struct Node;
  void collect(const Node& node, std::span<const std::string_view> parts,
               std::vector<int>& found) const;
  std::vector<int> matches(std::string_view path) const;

  std::vector<PlanRule> rules_;
  std::unique_ptr<Node> root_;
};

/// The plan of this trainer's models.
const Plan& standard_plan();

/// Reads lines "PATTERN SPLIT [DIMENSION]"; empty lines and what follows # do not count.
/// Error with the line when one is malformed.
Result<Plan> parse_plan(std::string_view text);

}  // namespace stallscope::trainer
