// Calls of functions over pytrees: how many leaves their trees have, and how
// their cost grows with that number.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/observation_builder.h"
#include "analyze/process_index.h"

namespace stallscope {

/// What the counters "leaves" of a thread say: each follows the range it is about, and only
/// some calls have one.
class TreeCalls {
 public:
  TreeCalls(const Trace& trace, const HostThread& thread);

  /// Notes a call in the row of its place. False when its function is none over trees.
  bool add(EventId range, ObservationBuilder& row);
  /// Fills the row's fields once all calls were added: see observation_kinds().
  void finish(ObservationBuilder& row, StringId name) const;

 private:
  std::optional<double> growth(StringId name) const;

  const Trace& trace_;
  std::map<EventId, double> leaves_;
  std::map<StringId, std::vector<std::pair<double, double>>> sizes_;  ///< leaves, ns of the call
};

}  // namespace stallscope
