#include "rule/evaluate.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyze/places.h"
#include "rule/build_finding.h"
#include "rule/claims.h"
#include "rule/line_verdicts.h"
#include "rule/outcome.h"
#include "rule/rank_findings.h"
#include "rule/unmeasured.h"

namespace stallscope {
namespace {

class Engine {
 public:
  Engine(std::span<const Rule> rules, const RunSummary* run, std::span<const SourceFact> facts,
         const EvaluateOptions& options)
      : run_(run),
        facts_(facts),
        options_(options),
        files_(file_join(facts, options)),
        lines_(options, files_) {
    for (const Rule& rule : rules)
      if (is_selected(rule, options)) rules_.push_back(rule);
    std::ranges::sort(rules_, {}, &Rule::id);
    if (run == nullptr) return;
    reach_.emplace(*run);
    recorded_part_ = options.recorded_part;
    const bool cut = std::ranges::any_of(
        run->ranks, [](const RankSummary& rank) { return rank.health.discarded_oldest > 0; });
    if (cut) recorded_part_ += (recorded_part_.empty() ? "" : " ") + std::string("--max-size");
  }

  RuleResults evaluate(std::span<const Rule> all_rules) {
    if (run_ != nullptr) seen_ = seen_observations(*run_);
    const RankSummary* slowest = run_ == nullptr ? nullptr : slowest_rank(*run_);
    claims_ = make_claims(rules_, seen_, facts_, files_, lines_);
    add_measured(slowest);
    name_waits_for_input();
    add_environment();
    add_unmeasured();
    for (Finding& finding : results_.findings) override_severity(finding);
    name_all();
    rank_findings(results_.findings);
    add_outcomes(all_rules);
    return std::move(results_);
  }

 private:
  // Where a claim's finding is: its own line, or, without one, what it is about.
  std::tuple<uint32_t, std::string, uint32_t, std::string> key_of(const Claim& claim) const {
    const Place place = place_of(claim, seen_, facts_);
    if (place.line > 0) return {claim.rule, place.file, place.line, ""};
    const Observation& o = *seen_[claim.block.front()].observation;
    return {claim.rule, place.file + "\x1f" + place.function, 0, o.kind + "\x1f" + o.subject};
  }

  void add_measured(const RankSummary* slowest) {
    std::map<decltype(key_of(Claim())), std::vector<const Claim*>> groups;
    for (const Claim& claim : claims_.claims) groups[key_of(claim)].push_back(&claim);
    for (const auto& [key, claims] : groups) {
      for (const Claim* claim : claims) finding_of_claim_[claim] = results_.findings.size();
      if (claims.front()->fact) fact_of_[results_.findings.size()] = *claims.front()->fact;
      results_.findings.push_back(
          measured_finding(rules_[claims.front()->rule], claims, seen_, facts_, slowest));
    }
  }

  // What runs in a loader takes the same time as the wait for it: its own advice may not be the
  // best.
  void name_waits_for_input() {
    const auto same = [](const Place& a, const Place& b) {
      return a.line == b.line && a.file == b.file;
    };
    for (const auto& [claim, wait] : finding_of_claim_) {
      const Observation& o = *seen_[claim->block.front()].observation;
      if (o.kind != "input-wait" || o.place.line == 0 || o.stack.empty()) continue;
      const std::string part =
          " It is a part of the wait for input at " + stallscope::line_text(o.place) + ".";
      for (size_t i = 0; i < results_.findings.size(); ++i) {
        Finding& finding = results_.findings[i];
        if (i == wait || finding.stack.size() <= o.stack.size()) continue;
        const auto outer = finding.stack.end() - static_cast<std::ptrdiff_t>(o.stack.size());
        if (std::equal(o.stack.begin(), o.stack.end(), outer, same) &&
            !finding.message.ends_with(part))
          finding.message += part;
      }
    }
  }

  void add_environment() {
    if (run_ == nullptr) return;
    std::map<std::string, std::string> environment;
    for (const RankSummary& rank : run_->ranks)
      environment.insert(rank.environment.begin(), rank.environment.end());
    for (const Rule& rule : rules_) {
      for (const EnvironmentCondition& condition : rule.environment) {
        auto it = environment.find("env." + condition.name);
        if (it == environment.end()) it = environment.find(condition.name);
        if (it == environment.end()) continue;
        FieldValue value{.number = std::nullopt, .text = it->second};
        if (condition.value.numeric())
          if (const auto parsed = parse_comparison(it->second); parsed && parsed->numeric())
            value.number = parsed->low;
        if (!compare(condition.value, value).value_or(false)) continue;
        Finding f;
        f.rule_id = rule.id;
        f.title = rule.title;
        f.severity = rule.severity;
        f.advice = rule.advice;
        f.status = FindingStatus::measured;
        f.subject = condition.name + "=" + it->second;
        f.message = "The run's environment had " + f.subject + ".";
        f.fix = rule.fix;
        results_.findings.push_back(std::move(f));
      }
    }
  }

  /// The analysed files that stacks of the run name.
  std::set<std::string> files_in_trace() const {
    std::set<std::string> out;
    const auto add = [&](const Place& place) {
      if (const auto file = files_.source_file(place.file)) out.insert(*file);
    };
    for (const Seen& seen : seen_) {
      add(seen.observation->place);
      std::ranges::for_each(seen.observation->stack, add);
    }
    return out;
  }

  void add_unmeasured() {
    const bool loaded_only = options_.loaded_only && options_.silent_processes == 0;
    const std::set<std::string> traced = loaded_only ? files_in_trace() : std::set<std::string>();
    for (uint32_t i = 0; i < facts_.size(); ++i) {
      if (claims_.fact_used[i]) continue;
      const auto rule = std::ranges::lower_bound(rules_, facts_[i].rule_id, {}, &Rule::id);
      if (rule == rules_.end() || rule->id != facts_[i].rule_id) continue;
      if (loaded_only && !traced.contains(facts_[i].file) &&
          lines_.of(facts_[i]) == LineVerdict::not_loaded) {
        ++results_.not_loaded[facts_[i].file];
        continue;
      }
      Finding finding = unmeasured_finding(*rule, facts_[i]);
      if (reach_) set_status(finding, *rule, facts_[i], sighting(i), *reach_, recorded_part_);
      fact_of_[results_.findings.size()] = i;
      results_.findings.push_back(std::move(finding));
    }
  }

  Sighting sighting(uint32_t fact) const {
    Sighting out{.lines = lines_.of(facts_[fact]),
                 .in_trace = claims_.fact_ran[fact],
                 .waited_below = nullptr,
                 .loaded = lines_.was_loaded(facts_[fact].file),
                 .told_any = lines_.told_any()};
    if (const auto claim = claims_.fact_waited_below[fact])
      out.waited_below = &results_.findings[finding_of_claim_.at(&claims_.claims[*claim])];
    return out;
  }

  void override_severity(Finding& finding) const {
    const auto it = options_.severities.find(finding.rule_id);
    if (it != options_.severities.end()) finding.severity = it->second;
  }

  std::string line_text(size_t finding) const {
    if (const auto it = fact_of_.find(finding); it != fact_of_.end())
      return facts_[it->second].line_text;
    const Finding& f = results_.findings[finding];
    if (f.locations.empty() || f.locations.front().line == 0 || !options_.line_text) return {};
    return options_.line_text(f.locations.front().file, f.locations.front().line);
  }

  // Equal lines of one function are told apart by their order in the file.
  void name_all() {
    auto& findings = results_.findings;
    std::vector<size_t> order(findings.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto place = [&](size_t i) {
      return findings[i].locations.empty() ? Place() : findings[i].locations.front();
    };
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return std::tuple(findings[i].rule_id, place(i), findings[i].subject);
    });
    std::map<std::tuple<std::string, std::string, std::string>, unsigned> seen_lines;
    for (const size_t i : order) {
      const std::string text = line_text(i);
      const std::string& function = place(i).function;
      unsigned ordinal = 0;
      if (const auto it = fact_of_.find(i); it != fact_of_.end())
        ordinal = facts_[it->second].ordinal;
      else
        ordinal = seen_lines[{findings[i].rule_id, function,
                              text.empty() ? findings[i].subject : text}]++;
      findings[i].fingerprint =
          fingerprint(findings[i].rule_id, function, text, ordinal, findings[i].subject);
    }
  }

  void add_outcomes(std::span<const Rule> all_rules) {
    std::set<std::string> fired;
    for (const Finding& finding : results_.findings) fired.insert(finding.rule_id);
    results_.rules = rule_outcomes(rules_, fired, run_, claims_, options_);
    for (const Rule& rule : all_rules) {
      if (is_selected(rule, options_)) continue;
      Claims none;
      none.rule_decided.resize(1);
      none.rule_undecided.resize(1);
      auto meta = rule_outcomes(std::span(&rule, 1), {}, run_, none, options_);
      results_.rules.push_back(std::move(meta.front()));
    }
    std::ranges::sort(results_.rules, {}, &RuleMeta::id);
  }

  const RunSummary* run_;
  std::span<const SourceFact> facts_;
  const EvaluateOptions& options_;
  FileJoin files_;
  LineVerdicts lines_;
  std::optional<RunReach> reach_;  // none without a run
  std::string recorded_part_;
  std::vector<Rule> rules_;
  std::vector<Seen> seen_;
  Claims claims_;
  std::map<size_t, uint32_t> fact_of_;  // finding -> source match
  std::map<const Claim*, size_t> finding_of_claim_;
  RuleResults results_;
};

}  // namespace

FileJoin file_join(std::span<const SourceFact> facts, const EvaluateOptions& options) {
  AnalysedFiles files = options.files;
  files.merge(files_of(facts));
  return {std::move(files), options.path_map, options.run_file_hashes};
}

RuleResults evaluate(std::span<const Rule> rules, const RunSummary* run,
                     std::span<const SourceFact> facts, const EvaluateOptions& options) {
  return Engine(rules, run, facts, options).evaluate(rules);
}

}  // namespace stallscope
