#include "rule/outcome.h"

#include <algorithm>
#include <optional>

namespace stallscope {
namespace {

bool is_of_samples(std::string_view kind) {
  return kind == "python-hot-function" || kind == "lock-wait";
}

constexpr char kNoDeviceWork[] = "the run has no device work";

struct Verdict {
  RuleOutcome outcome;
  std::string reason;
};

// Why a condition on `kind` cannot be seen in this run, if so.
std::optional<Verdict> unreachable(const RunReach& reach, std::string_view kind) {
  const auto does_not_apply = [](std::string reason) {
    return Verdict{RuleOutcome::not_applicable, std::move(reason)};
  };
  if (kind.starts_with("collective") && !reach.collectives)
    return does_not_apply("the run has no collectives");
  if ((kind == "collective-wait" || kind == "slow-link" || kind == "straggler") &&
      !reach.several_ranks)
    return does_not_apply("the run has one rank only");
  if (kind == "host-work" && reach.device)
    return does_not_apply("it is about processes without device work");
  if (is_of_samples(kind) && !reach.samples)
    return Verdict{RuleOutcome::could_not_run, "no Python stack samples were recorded"};
  const bool about_device = kind != "host-work" && kind != "input-wait" && !is_of_samples(kind) &&
                            kind != "garbage-collection" && kind != "straggler" &&
                            kind != "slow-link" && !kind.starts_with("collective") &&
                            kind != "overhead";
  if (about_device && !reach.device) return does_not_apply(kNoDeviceWork);
  return std::nullopt;
}

Verdict trace_verdict(const Rule& rule, const RunReach& reach, bool decided, bool undecided) {
  if (!reach.steps && !rule.startup)
    return {RuleOutcome::could_not_run,
            reach.abstention.empty() ? "no steps were found" : reach.abstention};
  if (undecided && !decided)
    return {RuleOutcome::could_not_run, "the recording lacks a field that its condition compares"};
  std::optional<Verdict> first;
  for (const TraceCondition& condition : rule.trace) {
    auto verdict = unreachable(reach, condition.kind);
    if (!verdict) return {RuleOutcome::passed, ""};
    if (!first) first = std::move(verdict);
  }
  return first ? *first : Verdict{RuleOutcome::passed, ""};
}

Verdict verdict_of(const Rule& rule, const std::optional<RunReach>& reach, bool decided,
                   bool undecided, const EvaluateOptions& options) {
  const bool source_ran = rule.has_source() && options.source_was_analysed;
  if (!rule.trace.empty() && reach) {
    Verdict verdict = trace_verdict(rule, *reach, decided, undecided);
    if (verdict.outcome != RuleOutcome::passed && source_ran)
      return {RuleOutcome::passed, "in source; in the run: " + verdict.reason};
    return verdict;
  }
  if (!rule.environment.empty() && reach) return {RuleOutcome::passed, ""};
  if (source_ran) return {RuleOutcome::passed, ""};
  if (rule.has_source()) return {RuleOutcome::could_not_run, "no source was analysed"};
  return {RuleOutcome::not_applicable, "it needs a run"};
}

}  // namespace

RunReach::RunReach(const RunSummary& run) {
  several_ranks = run.ranks.size() > 1;
  collectives = !run.collectives.empty();
  for (const RankSummary& rank : run.ranks) {
    steps = steps || rank.step_median > 0;
    device = device || rank.view == RankView::device;
    collectives = collectives || rank.gpu.collective_kernels > 0 || !rank.collectives.empty();
    if (abstention.empty() && !rank.abstentions.empty()) abstention = rank.abstentions.front();
    for (const Observation& o : rank.observations) {
      samples = samples || is_of_samples(o.kind);
      collectives = collectives || o.kind == "collective";
    }
  }
}

std::string why_unmeasured(const Rule& rule, const RunReach& reach) {
  // What waits for the device costs nothing where there is none, steps or not.
  if (rule.gain == GainModel::remove_sync && !reach.device) return kNoDeviceWork;
  // A setting costs where it works, not at the line that makes it.
  if (rule.trace.empty())
    return rule.gain == GainModel::remove_sync ? ""
                                               : "its rule is about nothing that a trace shows";
  const Verdict verdict = trace_verdict(rule, reach, true, false);
  return verdict.outcome == RuleOutcome::passed ? std::string() : verdict.reason;
}

bool is_selected(const Rule& rule, const EvaluateOptions& options) {
  const auto listed = [&](const std::vector<std::string>& ids) {
    return std::ranges::find(ids, rule.id) != ids.end();
  };
  return (options.select.empty() || listed(options.select)) && !listed(options.ignore);
}

std::vector<RuleMeta> rule_outcomes(std::span<const Rule> rules, const std::set<std::string>& fired,
                                    const RunSummary* run, const Claims& claims,
                                    const EvaluateOptions& options) {
  std::optional<RunReach> reach;
  if (run != nullptr) reach.emplace(*run);
  std::vector<RuleMeta> metas;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    RuleMeta meta{.id = rule.id,
                  .title = rule.title,
                  .why = rule.why,
                  .severity = rule.severity,
                  .advice = rule.advice,
                  .outcome = RuleOutcome::fired,
                  .reason = ""};
    if (!is_selected(rule, options)) {
      meta.outcome = RuleOutcome::not_applicable;
      meta.reason = "switched off";
    } else if (!fired.contains(rule.id)) {
      Verdict verdict =
          verdict_of(rule, reach, claims.rule_decided[i], claims.rule_undecided[i], options);
      meta.outcome = verdict.outcome;
      meta.reason = std::move(verdict.reason);
    }
    metas.push_back(std::move(meta));
  }
  return metas;
}

}  // namespace stallscope
