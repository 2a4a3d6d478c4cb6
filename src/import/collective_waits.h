// A synchronous collective of torch.distributed is two calls below Python: one that starts it and
// one that waits. They are one event, named for what is done.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace stallscope {

class CollectiveWaits {
 public:
  explicit CollectiveWaits(const Trace& trace) : trace_(trace) {}

  /// Takes the next collective of a thread, in order, and gives the one before it, complete, if
  /// there was one.
  std::optional<Event> next(const Event& event);
  /// What is left when the recording ends.
  std::vector<Event> rest();

 private:
  /// True when `wait` ends what `started` began, both called by one function of the library.
  bool ends(const Event& wait, const Event& started) const;

  const Trace& trace_;
  std::unordered_map<TrackId, Event> latest_;
};

}  // namespace stallscope
