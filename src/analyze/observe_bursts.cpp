// collective-burst: runs of small collectives that could be one.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/collectives.h"
#include "analyze/observation_builder.h"

namespace stallscope {
namespace {

constexpr size_t kShortestRun = 4;
/// Below this size a collective is bound by its latency: half of the full bandwidth of NCCL over
/// NVLink is reached at some hundred KB.
constexpr double kSmallBytes = 256 * 1024;
/// Without a size, this duration is what latency-bound collectives take.
constexpr Ns kSmallDuration = 500'000;
/// What may lie between two of a run, at least.
constexpr Ns kClose = 200'000;
/// Kernels between two of a run may fill this share: more, and the collective waits for work.
constexpr double kMostCompute = 0.25;

bool is_small(const Collective& c) {
  return c.bytes ? *c.bytes <= kSmallBytes : c.end - c.start <= kSmallDuration;
}

bool continues(const RankContext& context, const Collective& a, const Collective& b) {
  if (b.step != a.step || b.operation != a.operation) return false;
  const Ns between = b.start - a.end;
  if (between > std::max(kClose, 3 * (a.end - a.start))) return false;
  if (between <= 0) return true;
  const Ns compute = overlap(context.usage.compute, a.end, b.start);
  return static_cast<double>(compute) <= kMostCompute * static_cast<double>(between);
}

struct Run {
  std::vector<const Collective*> members;
};

void add_run(const RankContext& context, SiteTable& sites, const Run& run, double best_rate,
             std::map<std::tuple<SiteId, std::string, std::string>, ObservationBuilder>& rows) {
  if (run.members.size() < kShortestRun) return;
  const Collective& first = *run.members.front();
  const uint32_t used = first.step == kNoIndex ? kNoIndex : context.used_rank[first.step];
  if (used == kNoIndex) return;
  const SiteId site = sites.of(first.call);
  ObservationBuilder& row = rows[{site, first.operation, first.group}];
  if (row.subject.empty()) {
    row.site = site;
    row.subject = first.operation;
    row.texts["operation"] = first.operation;
    row.texts["group"] = first.group;
  }
  const auto length = static_cast<double>(run.members.back()->end - first.start);
  double bytes = 0, shortest = length, longest = 0;
  bool sized = true;
  for (const Collective* c : run.members) {
    const auto duration = static_cast<double>(c->end - c->start);
    shortest = std::min(shortest, duration);
    longest = std::max(longest, duration);
    sized = sized && c->bytes.has_value();
    if (c->bytes) {
      bytes += *c->bytes;
      row.median["bytes"].push_back(*c->bytes);
    }
    if (c->on_host) row.blocked.add(used, duration);
    row.events.push_back(c->id);
  }
  // One latency, and all bytes at the best rate this rank has shown; without sizes, the longest.
  const double coalesced =
      std::min(length, sized && best_rate > 0 ? shortest + bytes / best_rate : longest);
  row.count.add(used, 1);
  row.median["run_length"].push_back(static_cast<double>(run.members.size()));
  if (sized) row.median["run_bytes"].push_back(bytes);
  row.per_step["duration_ns"].add(used, length);
  row.per_step["coalesced_ns"].add(used, coalesced);
  row.per_step["saving_ns"].add(used, length - coalesced);
  row.consider(length, first.id);
}

}  // namespace

void observe_bursts(const RankContext& context, SiteTable& sites,
                    const std::vector<Collective>& collectives, Observations& observations) {
  double best_rate = 0;  // bytes per nanosecond
  for (const Collective& c : collectives)
    if (c.bytes && c.end > c.start)
      best_rate = std::max(best_rate, *c.bytes / static_cast<double>(c.end - c.start));
  std::map<std::tuple<SiteId, std::string, std::string>, ObservationBuilder> rows;
  std::map<std::pair<std::string, bool>, Run> open;  // by group; host and device apart
  for (const Collective& c : collectives) {
    Run& run = open[{c.group, c.on_host}];
    if (!run.members.empty() && (!is_small(c) || !continues(context, *run.members.back(), c))) {
      add_run(context, sites, run, best_rate, rows);
      run.members.clear();
    }
    if (is_small(c)) run.members.push_back(&c);
  }
  for (const auto& [key, run] : open) add_run(context, sites, run, best_rate, rows);
  RowMaker maker;
  for (const auto& [key, row] : rows) maker.add("collective-burst", row);
  maker.make(context, sites, observations);
}

}  // namespace stallscope
