#include "rule/claims.h"

#include <algorithm>
#include <map>
#include <numeric>
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

// How Dynamo calls the rest of a function behind a graph break: this, then its name and a line.
constexpr std::string_view kResumed = "torch_dynamo_resume_in_";

// A name that is none says nothing against another: lambdas, comprehensions, the module. Of C++
// it is the line that counts, because inlined code carries its caller's name.
bool is_of_function(const Place& place, const SourceFact& fact) {
  if (fact.language != "python") return true;
  const std::string seen = bare_function(place.function), known = bare_function(fact.function);
  return seen.empty() || known.empty() || seen == known ||
         seen.starts_with(std::string(kResumed) + known + "_at_");
}

/// Source facts by file, and by line or function.
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

  /// The facts of the file that `place` names.
  std::vector<uint32_t> in_file(const Place& place) const {
    const auto members = of_file(place).second;
    return members == nullptr ? std::vector<uint32_t>() : *members;
  }

  /// The facts of the function that `place` names, whatever its line.
  std::vector<uint32_t> in_function(const Place& place) const {
    std::vector<uint32_t> out;
    const auto [file, members] = of_file(place);
    // Lambdas and comprehensions are no functions here; the first line of theirs is their own.
    const bool is_function = !bare_function(place.function).empty() || place.function == "<module>";
    if (members == nullptr || !is_function) return out;
    const AnalysedFunction* function = files_.function_at(file, place.function, place.line);
    if (function == nullptr) return out;
    for (const uint32_t i : *members)
      if (facts_[i].function == function->name && facts_[i].first_line >= function->first_line &&
          facts_[i].first_line <= function->last_line)
        out.push_back(i);
    return out;
  }

 private:
  std::pair<std::string, const std::vector<uint32_t>*> of_file(const Place& place) const {
    if (place.file.empty() || place.line == 0) return {};
    const auto file = files_.source_file(place.file);
    if (!file) return {};
    const auto it = by_file_.find(*file);
    return {*file, it == by_file_.end() ? nullptr : &it->second};
  }

  void add(const Place& place, bool innermost, std::vector<Meeting>& out) const {
    const auto members = of_file(place).second;
    if (members == nullptr) return;
    for (const uint32_t i : *members) {
      const SourceFact& fact = facts_[i];
      if (place.line < fact.first_line || place.line > std::max(fact.first_line, fact.last_line))
        continue;
      if (!is_of_function(place, fact)) continue;
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
          std::span<const SourceFact> facts, const FileJoin& files, const LineVerdicts& lines)
      : rules_(rules), seen_(seen), facts_(facts), index_(facts, files), lines_(lines) {
    for (uint32_t i = 0; i < rules.size(); ++i) rule_of_.emplace(rules[i].id, i);
    result_.fact_used.resize(facts.size());
    result_.fact_ran.resize(facts.size());
    result_.fact_waited_below.resize(facts.size());
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
    std::vector<uint32_t> candidates;
    if (!best) candidates = only_in_function(block, matches);
    if (candidates.size() == 1) best = candidates.front();
    if (!best && matches.empty()) return;

    Claim claim;
    claim.is_made_there = !best && candidates.empty();
    if (claim.is_made_there) candidates = loaders_of(block, rules_[matches.front().rule]);
    claim.block = block;
    claim.fact = best;
    claim.rule = best                  ? rule_of_.at(facts_[*best].rule_id)
                 : !candidates.empty() ? rule_of_.at(facts_[candidates.front()].rule_id)
                                       : matches.front().rule;
    claim.candidates = std::move(candidates);
    for (const TraceMatch& match : matches) {
      if (match.rule == claim.rule) claim.condition = match.condition;
      if (!rules_[match.rule].fallback) related.insert(rules_[match.rule].id);
    }
    related.erase(rules_[claim.rule].id);
    claim.related.assign(related.begin(), related.end());
    for (const auto& [fact, innermost] : met)
      if (!innermost && is_about(fact, block))
        result_.fact_waited_below[fact] = static_cast<uint32_t>(result_.claims.size());
    result_.claims.push_back(std::move(claim));
  }

  // Where no line is met: the matches, in the function that the trace names, of the best of the
  // rules whose condition holds.
  std::vector<uint32_t> only_in_function(const Block& block,
                                         const std::vector<TraceMatch>& matches) {
    const Seen& seen = seen_[block.front()];
    if (seen.rank == nullptr || !seen.rank->health.stacks_name_functions) return {};
    std::vector<uint32_t> facts = index_.in_function(seen.observation->place);
    for (const TraceMatch& match : matches) {
      const std::string& id = rules_[match.rule].id;
      if (std::ranges::find(facts, id, [&](uint32_t i) { return facts_[i].rule_id; }) ==
          facts.end())
        continue;
      std::erase_if(facts, [&](uint32_t i) { return facts_[i].rule_id != id; });
      for (const uint32_t i : facts) result_.fact_used[i] = true;
      return facts;
    }
    return {};
  }

  // A step waits at its loop, and the loader is made elsewhere: the rule's matches that may have
  // run in the function, else in the file, else in what the run loaded.
  std::vector<uint32_t> loaders_of(const Block& block, const Rule& rule) {
    const Observation& o = *seen_[block.front()].observation;
    if (o.kind != "input-wait") return {};
    std::vector<uint32_t> loaded(facts_.size());
    std::iota(loaded.begin(), loaded.end(), 0);
    std::erase_if(loaded, [&](uint32_t i) { return !lines_.was_loaded(facts_[i].file); });
    for (std::vector<uint32_t> facts :
         {index_.in_function(o.place), index_.in_file(o.place), std::move(loaded)}) {
      std::erase_if(facts, [&](uint32_t i) {
        return facts_[i].rule_id != rule.id || facts_[i].language != "python" ||
               lines_.of(facts_[i]) == LineVerdict::not_run;
      });
      if (facts.empty()) continue;
      for (const uint32_t i : facts) result_.fact_used[i] = true;
      return facts;
    }
    return {};
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
    return innermost && is_about(fact, block);
  }

  // Whether the fact's rule is about what the block is, be its condition met or not.
  bool is_about(uint32_t fact, const Block& block) const {
    const auto it = rule_of_.find(facts_[fact].rule_id);
    if (it == rule_of_.end()) return false;
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
  const LineVerdicts& lines_;
  std::map<std::string, uint32_t> rule_of_;
  Claims result_;
};

}  // namespace

Claims make_claims(std::span<const Rule> rules, std::span<const Seen> seen,
                   std::span<const SourceFact> facts, const FileJoin& files,
                   const LineVerdicts& lines) {
  return Claimer(rules, seen, facts, files, lines).run();
}

}  // namespace stallscope
