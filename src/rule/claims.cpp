#include "rule/claims.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace stallscope {
namespace {

/// A fact that lies on a frame of an observation.
struct Meeting {
  uint32_t fact = 0;
  bool innermost = false;  ///< at the observation's own place, not at a caller's
};

/// Source facts by file and line.
class FactIndex {
 public:
  FactIndex(std::span<const SourceFact> facts, const FileJoin& files)
      : facts_(facts), files_(files) {
    for (uint32_t i = 0; i < facts.size(); ++i) by_file_[facts[i].file].push_back(i);
  }

  std::vector<Meeting> at(const Observation& o) const {
    std::vector<Meeting> meetings;
    add(o.place, true, meetings);
    for (const Place& frame : o.stack) add(frame, false, meetings);
    return meetings;
  }

 private:
  void add(const Place& place, bool innermost, std::vector<Meeting>& out) const {
    if (place.file.empty() || place.line == 0) return;
    const auto file = files_.source_file(place.file);
    if (!file) return;
    const auto it = by_file_.find(*file);
    if (it == by_file_.end()) return;
    for (const uint32_t i : it->second) {
      const SourceFact& fact = facts_[i];
      if (place.line < fact.first_line || place.line > std::max(fact.first_line, fact.last_line))
        continue;
      if (std::ranges::find(out, i, &Meeting::fact) == out.end()) out.push_back({i, innermost});
    }
  }

  std::span<const SourceFact> facts_;
  const FileJoin& files_;
  std::unordered_map<std::string, std::vector<uint32_t>> by_file_;
};

class Claimer {
 public:
  Claimer(std::span<const Rule> rules, std::span<const Seen> seen,
          std::span<const SourceFact> facts, const FileJoin& files)
      : rules_(rules), seen_(seen), facts_(facts), index_(facts, files) {
    for (uint32_t i = 0; i < rules.size(); ++i) rule_of_.emplace(rules[i].id, i);
    result_.fact_used.resize(facts.size());
    result_.fact_ran.resize(facts.size());
    result_.rule_decided.resize(rules.size());
    result_.rule_undecided.resize(rules.size());
  }

  Claims run() {
    for (const Block& block : host_blocks(seen_)) claim(block);
    return std::move(result_);
  }

 private:
  void claim(const Block& block) {
    const std::vector<TraceMatch> matches = matches_of(block);
    std::map<uint32_t, bool> met;  // fact -> innermost
    for (const uint32_t i : block)
      for (const Meeting& meeting : index_.at(*seen_[i].observation)) {
        met[meeting.fact] = met[meeting.fact] || meeting.innermost;
        result_.fact_ran[meeting.fact] = true;
      }

    std::optional<uint32_t> best;
    std::set<std::string> related;
    for (const auto& [fact, innermost] : met) {
      if (!may_claim(fact, innermost, block, matches)) continue;
      if (!best || key(fact, met.at(fact), matches) < key(*best, met.at(*best), matches))
        best = fact;
      result_.fact_used[fact] = true;
      related.insert(facts_[fact].rule_id);
    }
    if (!best && matches.empty()) return;

    Claim claim;
    claim.block = block;
    claim.fact = best;
    claim.rule = best ? rule_of_.at(facts_[*best].rule_id) : matches.front().rule;
    for (const TraceMatch& match : matches) {
      if (match.rule == claim.rule) claim.condition = match.condition;
      if (!rules_[match.rule].fallback) related.insert(rules_[match.rule].id);
    }
    related.erase(rules_[claim.rule].id);
    claim.related.assign(related.begin(), related.end());
    result_.claims.push_back(std::move(claim));
  }

  std::vector<TraceMatch> matches_of(const Block& block) {
    std::vector<TraceMatch> matches;
    for (const uint32_t i : block) {
      TraceVerdict verdict = judge(rules_, seen_[i]);
      for (const TraceMatch& match : verdict.matches)
        if (std::ranges::find(matches, match.rule, &TraceMatch::rule) == matches.end())
          matches.push_back(match);
      note_decisions(seen_[i], verdict);
    }
    if (block.size() > 1) sort_matches(rules_, matches);
    return matches;
  }

  void note_decisions(const Seen& seen, const TraceVerdict& verdict) {
    for (uint32_t i = 0; i < rules_.size(); ++i) {
      const bool concerned = std::ranges::any_of(rules_[i].trace, [&](const TraceCondition& c) {
        return c.kind == seen.observation->kind;
      });
      if (!concerned) continue;
      const bool undecided = std::ranges::find(verdict.undecided, i) != verdict.undecided.end();
      (undecided ? result_.rule_undecided : result_.rule_decided)[i] = true;
    }
  }

  // At its own line a rule may speak for any observation of a kind that it is
  // about; through a caller's line only for one that meets its condition.
  bool may_claim(uint32_t fact, bool innermost, const Block& block,
                 const std::vector<TraceMatch>& matches) const {
    const auto it = rule_of_.find(facts_[fact].rule_id);
    if (it == rule_of_.end()) return false;
    if (std::ranges::find(matches, it->second, &TraceMatch::rule) != matches.end()) return true;
    if (!innermost) return false;
    const Rule& rule = rules_[it->second];
    return std::ranges::any_of(block, [&](uint32_t i) {
      const std::string& kind = seen_[i].observation->kind;
      if (rule.gain == GainModel::remove_sync && kind == "host-sync") return true;
      return std::ranges::any_of(rule.trace,
                                 [&](const TraceCondition& c) { return c.kind == kind; });
    });
  }

  using Key = std::tuple<bool, bool, int, int, std::string, uint32_t>;
  Key key(uint32_t fact, bool innermost, const std::vector<TraceMatch>& matches) const {
    const uint32_t rule = rule_of_.at(facts_[fact].rule_id);
    const bool matched = std::ranges::find(matches, rule, &TraceMatch::rule) != matches.end();
    return {!matched,
            !innermost,
            -static_cast<int>(facts_[fact].certainty),
            -static_cast<int>(rules_[rule].severity),
            rules_[rule].id,
            fact};
  }

  std::span<const Rule> rules_;
  std::span<const Seen> seen_;
  std::span<const SourceFact> facts_;
  FactIndex index_;
  std::map<std::string, uint32_t> rule_of_;
  Claims result_;
};

}  // namespace

Claims make_claims(std::span<const Rule> rules, std::span<const Seen> seen,
                   std::span<const SourceFact> facts, const FileJoin& files) {
  return Claimer(rules, seen, facts, files).run();
}

}  // namespace stallscope
