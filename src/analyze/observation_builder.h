// Gathers the events of one observation over the used steps.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/places.h"
#include "analyze/rank_context.h"
#include "analyze/summary.h"

namespace stallscope {

/// A quantity by used step, added in any order.
class StepSums {
 public:
  void add(uint32_t used_step, double value) {
    if (!sums_.empty() && sums_.back().first == used_step)
      sums_.back().second += value;
    else
      sums_.emplace_back(used_step, value);
  }
  void append(const StepSums& other) {
    sums_.insert(sums_.end(), other.sums_.begin(), other.sums_.end());
  }
  Distribution over(size_t used_steps) const;
  double total() const;

 private:
  std::vector<std::pair<uint32_t, double>> sums_;
};

/// Sums for the members of an Observation; `finish` makes the row.
struct ObservationBuilder {
  SiteId site = 0;
  StepSums count, blocked, idle;
  double one_time_ns = 0;
  std::map<std::string, StepSums> per_step;           ///< fields given per used step
  std::map<std::string, std::vector<double>> median;  ///< fields given as medians of occurrences
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, double> causes;  ///< cause -> weight; the heaviest is named
  std::string subject;
  std::vector<EventId> events;                    ///< see Observation::events
  std::vector<std::pair<double, EventId>> worst;  ///< at most kMaxExemplars, by weight
  std::unordered_map<StackId, double> stacks;     ///< stack -> weight; the heaviest is shown

  /// Remembers `event` for the exemplars when it is among the worst, and where it comes from.
  void consider(double weight, EventId event, StackId stack = 0);

  Observation finish(const RankContext& context, const SiteTable& sites,
                     std::string_view kind) const;
  /// What it costs in all, to tell dear rows from cheap ones before they are made.
  double weight() const;
};

/// Rows kept per kind, dearest first, so that a rank's summary stays small.
inline constexpr size_t kMostPerKind = 200;

/// Makes the dearest rows of many builders: rows are costly, for their timelines.
class RowMaker {
 public:
  /// `builder` must live until `make`.
  void add(std::string_view kind, const ObservationBuilder& builder) {
    candidates_.push_back({builder.weight(), kind, &builder});
  }
  void make(const RankContext& context, const SiteTable& sites, std::vector<Observation>& rows);

 private:
  struct Candidate {
    double weight;
    std::string_view kind;
    const ObservationBuilder* builder;
  };
  std::vector<Candidate> candidates_;
};

}  // namespace stallscope
