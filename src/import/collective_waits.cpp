#include "import/collective_waits.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace stallscope {
namespace {

const Field* field_of(const Trace& trace, const Event& event, uint32_t key) {
  const auto fields = trace.payload(event.payload);
  const auto found = std::ranges::find(fields, key, &Field::key);
  return found == fields.end() ? nullptr : &*found;
}

bool equal(const Trace& trace, const Event& a, const Event& b, uint32_t key) {
  const Field* const of_a = field_of(trace, a, key);
  const Field* const of_b = field_of(trace, b, key);
  if (of_a == nullptr || of_b == nullptr) return of_a == of_b;
  return of_a->integer == of_b->integer;
}

bool is_wait(const Event& event) {
  return static_cast<CollectiveOp>(event.detail) == CollectiveOp::wait;
}

}  // namespace

bool CollectiveWaits::ends(const Event& wait, const Event& started) const {
  const Field* const async = field_of(trace_, started, kKeyAsync);
  if (!is_wait(wait) || is_wait(started) || (async != nullptr && async->integer == 1) ||
      !equal(trace_, wait, started, kKeyGroup) || !equal(trace_, wait, started, kKeyBytes))
    return false;
  // A wait that the program itself calls may come long after: it stays one.
  const auto waiting = trace_.stack(wait.stack), starting = trace_.stack(started.stack);
  if (waiting.empty() || waiting.size() != starting.size() ||
      !std::equal(waiting.begin() + 1, waiting.end(), starting.begin() + 1))
    return false;
  const Frame& a = trace_.frame(waiting[0]);
  const Frame& b = trace_.frame(starting[0]);
  return a.file == b.file && a.function == b.function &&
         trace_.text(a.file).find("torch/distributed/") != std::string_view::npos;
}

std::optional<Event> CollectiveWaits::next(const Event& event) {
  const auto [latest, first] = latest_.try_emplace(event.track, event);
  if (first) return std::nullopt;
  if (ends(event, latest->second)) {
    latest->second.duration = event.start + event.duration - latest->second.start;
    const Event whole = latest->second;
    latest_.erase(latest);
    return whole;
  }
  return std::exchange(latest->second, event);
}

std::vector<Event> CollectiveWaits::rest() {
  std::vector<Event> events;
  for (const auto& [track, event] : latest_) events.push_back(event);
  latest_.clear();
  return events;
}

}  // namespace stallscope
