#include "rule/seen.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "rule/rank_findings.h"

namespace stallscope {
namespace {

constexpr std::string_view kWait = "wait";  // the operation of a wait for a collective's end

std::string text_of(const Observation& o, const char* key) {
  const auto it = o.texts.find(key);
  return it == o.texts.end() ? std::string() : it->second;
}

bool better(std::span<const Rule> rules, const TraceMatch& a, const TraceMatch& b) {
  const Rule& ra = rules[a.rule];
  const Rule& rb = rules[b.rule];
  const auto rank = [](const Rule& rule, const TraceMatch& match) {
    return std::tuple(rule.fallback, rule.advice, -static_cast<int64_t>(rule.layer),
                      !match.specificity.names_operator,
                      // A burst or a late rank says more of a line than that it communicates.
                      match.condition->kind == "collective",
                      -static_cast<int64_t>(match.specificity.comparisons),
                      -static_cast<int>(rule.severity));
  };
  const auto ka = rank(ra, a);
  const auto kb = rank(rb, b);
  return ka != kb ? ka < kb : ra.id < rb.id;
}

}  // namespace

bool is_of_whole_trace(const Observation& observation) {
  return text_of(observation, "scope") == "whole trace";
}

ObservationView Seen::view() const {
  return {.observation = observation, .step_ns = rank == nullptr ? 0 : rank->step_median};
}

bool Seen::startup_only() const {
  return observation->one_time_ns > 0 && observation->count.total <= 0;
}

std::vector<Seen> seen_observations(const RunSummary& run) {
  std::vector<Seen> seen;
  for (const RankSummary& rank : run.ranks)
    for (const Observation& o : rank.observations) seen.push_back({&o, &rank});
  const RankSummary* slowest = slowest_rank(run);
  for (const Observation& o : run.cross_rank) {
    // Where no rank can carry a verdict: the slow one itself, or one that waits for the late one.
    const auto other = std::ranges::find_if(run.ranks, [&o](const RankSummary& rank) {
      return (rank.rank == o.rank) == (o.kind == "straggler");
    });
    seen.push_back({&o, slowest != nullptr || other == run.ranks.end() ? slowest : &*other});
  }
  return seen;
}

void sort_matches(std::span<const Rule> rules, std::vector<TraceMatch>& matches) {
  std::ranges::sort(matches,
                    [&](const TraceMatch& a, const TraceMatch& b) { return better(rules, a, b); });
}

TraceVerdict judge(std::span<const Rule> rules, const Seen& seen) {
  TraceVerdict verdict;
  const ObservationView view = seen.view();
  for (uint32_t i = 0; i < rules.size(); ++i) {
    if (seen.startup_only() && !rules[i].startup) continue;
    bool undecided = false;
    const TraceMatch* kept = nullptr;
    for (const TraceCondition& condition : rules[i].trace) {
      if (condition.kind != seen.observation->kind) continue;
      const auto held = holds(condition.where, view);
      undecided = undecided || !held;
      if (!held.value_or(false)) continue;
      const TraceMatch match{i, &condition, specificity(condition.where)};
      if (kept == nullptr) {
        kept = &verdict.matches.emplace_back(match);
      } else if (better(rules, match, *kept)) {
        verdict.matches.back() = match;
      }
    }
    if (kept == nullptr && undecided) verdict.undecided.push_back(i);
  }
  sort_matches(rules, verdict.matches);
  return verdict;
}

bool is_host_block_kind(std::string_view kind) {
  return kind == "host-sync" || kind == "pageable-copy" || kind == "copy" || kind == "allocation";
}

bool is_collective_kind(std::string_view kind) {
  return kind == "collective" || kind == "collective-burst" || kind == "collective-wait";
}

std::vector<Block> host_blocks(std::span<const Seen> seen) {
  using Key = std::tuple<const RankSummary*, std::string, uint32_t, std::string, std::string>;
  std::map<Key, size_t> open;
  std::vector<Block> blocks;
  // Where ranks wait for a late one, the line is one matter of all ranks.
  std::set<std::pair<std::string, uint32_t>> shared;
  for (const Seen& s : seen)
    if (s.observation->kind == "collective-wait")
      shared.emplace(s.observation->place.file, s.observation->place.line);
  // What a framework's line starts is several matters, one for each operation; a wait belongs to
  // the one that it waits for.
  std::map<std::pair<std::string, uint32_t>, std::string> first_operation;
  for (const Seen& s : seen)
    if (is_collective_kind(s.observation->kind) && s.observation->subject != kWait)
      first_operation.try_emplace({s.observation->place.file, s.observation->place.line},
                                  s.observation->subject);
  const auto operation_of = [&](const Observation& o) {
    const auto other = first_operation.find({o.place.file, o.place.line});
    return o.subject == kWait && other != first_operation.end() ? other->second : o.subject;
  };
  for (uint32_t i = 0; i < seen.size(); ++i) {
    const Observation& o = *seen[i].observation;
    const bool constant = o.kind == "repeated-kernels";
    const bool collective = is_collective_kind(o.kind);
    // A line's samples, in and before the steps, and its counted calls over trees.
    const bool python = o.kind == "python-hot-function" || o.numbers.contains("leaves");
    if ((constant || python || collective || is_host_block_kind(o.kind)) && o.place.line > 0) {
      const bool of_all = collective && shared.contains({o.place.file, o.place.line});
      const Key key{of_all ? nullptr : seen[i].rank, o.place.file, o.place.line,
                    constant     ? o.kind
                    : python     ? "python"
                    : collective ? "collective" + operation_of(o)
                                 : text_of(o, "operators"),
                    collective ? "" : text_of(o, "copy")};
      const auto [it, added] = open.emplace(key, blocks.size());
      if (!added) {
        blocks[it->second].push_back(i);
        continue;
      }
    }
    blocks.push_back({i});
  }
  return blocks;
}

}  // namespace stallscope
