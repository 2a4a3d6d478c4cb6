#include "analyze/phases.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace stallscope {
namespace {

constexpr size_t kMostPhases = 20;
// A range this long wraps the step, unless it holds hardly anything else that has a name.
constexpr double kWrapsStep = 0.9, kLeastInside = 0.3;
constexpr int kMostWrappers = 4;

struct Phase {
  Ns start = 0, end = 0;
  StringId name = 0;
};

struct Found {
  std::vector<Phase> pieces;                  ///< disjoint, by start
  std::map<std::string_view, double> ranges;  ///< how many of a name in all used steps
};

class Phases {
 public:
  explicit Phases(const RankContext& context)
      : context_(context), trace_(context.trace), thread_(*step_thread(context)) {
    for (const uint32_t i : context.used)
      host_ns_ += context.steps[i].host_end - context.steps[i].host_start;
  }

  static const HostThread* step_thread(const RankContext& context) {
    const uint32_t thread = context.marks.thread;
    return thread == kNoIndex || context.used.empty() ? nullptr : &context.index.threads[thread];
  }

  std::vector<PhaseShare> find() {
    Found found = pieces();
    for (int i = 0; i < kMostWrappers; ++i) {
      const auto wrapper = longest(found);
      if (!wrapper || static_cast<double>(wrapper->second) < kWrapsStep * host_ns()) break;
      wrappers_.insert(wrapper->first);
      Found inside = pieces();
      if (static_cast<double>(total(inside)) < kLeastInside * host_ns()) break;
      found = std::move(inside);
    }
    return rows(found);
  }

 private:
  double host_ns() const { return static_cast<double>(host_ns_); }

  bool is_phase(EventId id) const {
    const StringId name = trace_.names()[id];
    return trace_.kinds()[id] == EventKind::range &&
           trace_.details()[id] == static_cast<uint8_t>(RangeKind::annotation) &&
           !wrappers_.contains(name) && (context_.natures[name] & kFramework) == 0;
  }

  // "Optimizer.step#Adam.step" and "enumerate(DataLoader)#...": what follows only names a class.
  std::string_view phase_name(StringId name) const {
    const std::string_view text = trace_.strings.text(name);
    const size_t hash = text.find('#');
    return hash == 0 ? text : text.substr(0, hash);
  }

  // Parts that keep their own row inside a longer range: Lightning's optimizer.step holds the whole
  // backward pass, and anything may hold a collection of garbage.
  bool is_well_known(EventId id) const {
    constexpr std::array<std::string_view, 3> kParts = {"forward", "backward", "optimizer.step"};
    const std::string_view name = phase_name(trace_.names()[id]);
    return context_.natures[trace_.names()[id]] != 0 ||
           std::ranges::find(kParts, name) != kParts.end();
  }

  // What is left of ranges in used steps once those that keep a row of their own are taken out of
  // them, by start. What reaches far beyond its step, like an epoch, is none of it.
  Found pieces() const {
    Found out;
    std::vector<Phase>& found = out.pieces;
    std::vector<Phase> open;  // each inside the one before; `start` moves on as pieces are cut off
    const auto close_until = [&](Ns time) {
      while (!open.empty() && open.back().end <= time) {
        const Phase done = open.back();
        open.pop_back();
        if (done.end > done.start) found.push_back(done);
        if (!open.empty()) open.back().start = done.end;
      }
    };
    for (EventId id = thread_.first; id < thread_.last; ++id) {
      const Ns start = trace_.starts()[id], end = trace_.end(id);
      close_until(start);
      if (!is_phase(id) || (!open.empty() && !is_well_known(id))) continue;
      const uint32_t used = context_.used_at(start);
      if (used == kNoIndex) continue;
      const Ns within = std::min(
          end, open.empty() ? context_.steps[context_.used[used]].host_end : open.back().end);
      if (within - start <= (end - start) / 2) continue;
      if (!open.empty() && start > open.back().start)
        found.push_back({open.back().start, start, open.back().name});
      open.push_back({start, within, trace_.names()[id]});
      out.ranges[phase_name(trace_.names()[id])] += 1;
    }
    close_until(std::numeric_limits<Ns>::max());
    std::ranges::stable_sort(found, {}, &Phase::start);
    return out;
  }

  static Ns total(const Found& found) {
    Ns sum = 0;
    for (const Phase& phase : found.pieces) sum += phase.end - phase.start;
    return sum;
  }

  static std::optional<std::pair<StringId, Ns>> longest(const Found& found) {
    std::map<StringId, Ns> by_name;
    for (const Phase& phase : found.pieces) by_name[phase.name] += phase.end - phase.start;
    const auto most = std::ranges::max_element(by_name, {}, [](const auto& e) { return e.second; });
    if (most == by_name.end()) return std::nullopt;
    return *most;
  }

  std::vector<PhaseShare> rows(const Found& found) const {
    const std::vector<Phase>& phases = found.pieces;
    if (phases.empty() || host_ns_ <= 0) return {};
    std::map<std::string_view, PhaseShare> by_name;
    PhaseShare rest;
    for (const Phase& phase : phases) {
      PhaseShare& row = by_name[phase_name(phase.name)];
      row.host += phase.end - phase.start;
    }
    rest.host = host_ns_ - total(found);
    add_device_work(phases, by_name, rest);
    std::vector<PhaseShare> out;
    for (auto& [name, row] : by_name) {
      row.name = name;
      row.per_step = found.ranges.at(name);
      out.push_back(std::move(row));
    }
    std::ranges::stable_sort(out, std::greater{}, &PhaseShare::host);
    for (; out.size() > kMostPhases; out.pop_back()) {
      rest.host += out.back().host;
      rest.device += out.back().device;
    }
    out.push_back(std::move(rest));
    const auto steps = static_cast<Ns>(context_.used.size());
    for (PhaseShare& row : out) {
      row.host /= steps;
      row.device /= steps;
      row.per_step /= static_cast<double>(steps);
      row.fraction = static_cast<double>(row.host) * static_cast<double>(steps) / host_ns();
    }
    return out;
  }

  // By the instant of the launch, on whatever thread: autograd launches while the step's waits.
  void add_device_work(const std::vector<Phase>& phases,
                       std::map<std::string_view, PhaseShare>& by_name, PhaseShare& rest) const {
    if (context_.work == nullptr) return;
    size_t last = 0;  // launches are nearly in order
    const DeviceWork& work = *context_.work;
    for (size_t i = 0; i < work.activities.size(); ++i) {
      const EventId launch = work.launches[i];
      if (launch == kNoEvent) continue;
      const Ns at = trace_.starts()[launch];
      const auto inside = [&] { return phases[last].start <= at && at < phases[last].end; };
      if (!inside()) {
        const auto next = std::ranges::upper_bound(phases, at, {}, &Phase::start);
        last = next == phases.begin() ? 0 : static_cast<size_t>(next - phases.begin()) - 1;
        if (!inside() && context_.used_at(at) == kNoIndex) continue;
      }
      PhaseShare& row = inside() ? by_name[phase_name(phases[last].name)] : rest;
      row.device += trace_.end(work.activities[i]) - trace_.starts()[work.activities[i]];
    }
  }

  const RankContext& context_;
  const Trace& trace_;
  const HostThread& thread_;
  Ns host_ns_ = 0;  ///< of the used steps together
  std::set<StringId> wrappers_;
};

}  // namespace

std::vector<PhaseShare> phases_of(const RankContext& context) {
  if (Phases::step_thread(context) == nullptr) return {};
  return Phases(context).find();
}

}  // namespace stallscope
