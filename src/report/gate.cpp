#include "report/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/statistics.h"
#include "report/json_parts.h"
#include "report/tool_info.h"

namespace stallscope {
namespace {

constexpr size_t kStepsKept = 1000;  // of each run in the baseline file
constexpr size_t kPlacesShown = 5;

std::string percent(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::vector<double> medians_of(std::span<const RunMeasures> runs) {
  std::vector<double> medians;
  for (const RunMeasures& run : runs)
    if (!run.steps.empty()) medians.push_back(median_of(run.steps));
  return medians;
}

std::string each_run(std::span<const RunMeasures> runs) {
  std::string text;
  for (const double median : medians_of(runs))
    text += (text.empty() ? "median step of each run: " : ", ") + format_duration(median);
  return text;
}

GateResult undecided(GateResult result, std::string why, std::string next) {
  result.passed = false;
  result.undecided = true;
  result.found = std::move(why);
  result.next = std::move(next);
  return result;
}

std::string first_abstention(std::span<const RunMeasures> runs) {
  for (const RunMeasures& run : runs)
    if (run.steps.empty())
      return run.label + ": " + (run.abstentions.empty() ? "no steps" : run.abstentions.front());
  return {};
}

bool holds_for(const Comparison& comparison, double value) {
  return compare(comparison, FieldValue{.number = value, .text = {}}).value_or(false);
}

GateResult check_step_time(const Comparison& limit, std::span<const RunMeasures> runs) {
  GateResult result{.assertion = "step-time", .expected = limit.written + " per step"};
  if (const std::string why = first_abstention(runs); !why.empty())
    return undecided(result, why, "record at least four steps with device work");
  const double found = median_of(medians_of(runs));
  result.found = format_duration(found) + " per step";
  result.passed = holds_for(limit, found);
  result.evidence = {each_run(runs)};
  result.next = "stallscope report " + runs.front().label + ": the findings say what to remove";
  return result;
}

GateResult check_tolerance(double tolerance, std::span<const RunMeasures> runs,
                           std::span<const RunMeasures> baseline) {
  GateResult result{.assertion = "step-time against the baseline",
                    .expected = "at most " + percent(tolerance) + " slower"};
  if (const std::string why = first_abstention(runs); !why.empty())
    return undecided(result, why, "record at least four steps with device work");
  if (baseline.empty())
    return undecided(result, "there is no baseline",
                     "stallscope check --update-baseline with runs that are known to be good");
  const RunComparison comparison = compare_runs(baseline, runs);
  const StepTimeChange& step = comparison.step_time;
  result.found = verdict_sentence(comparison);
  result.evidence = {each_run(baseline) + " (baseline)", each_run(runs)};
  for (const ClassChange& change : comparison.classes)
    if (change.after_ns - change.before_ns > 0.01 * static_cast<double>(step.before))
      result.evidence.push_back(std::string(to_string(change.step_class)) + ": " +
                                format_duration(change.before_ns) + " -> " +
                                format_duration(change.after_ns));
  // Slower than tolerated, and more so than chance explains.
  result.passed = !(step.change > tolerance && step.verdict == Verdict::slower);
  result.next = "stallscope diff BEFORE AFTER: shows where the time went";
  return result;
}

StepClass class_named(std::string_view name) {
  for (size_t i = 0; i < kStepClasses; ++i)
    if (to_string(static_cast<StepClass>(i)) == name) return static_cast<StepClass>(i);
  return StepClass::other;  // the project file was checked: it names no other
}

GateResult check_budget(const ClassBudget& budget, std::span<const RunMeasures> runs) {
  GateResult result{.assertion = "class " + budget.step_class};
  const StepClass step_class = class_named(budget.step_class);
  result.expected = budget.comparison.written + (budget.is_share ? " of the step" : " per step");
  if (const std::string why = first_abstention(runs); !why.empty())
    return undecided(result, why, "record at least four steps with device work");
  std::vector<double> times, shares;
  for (const RunMeasures& run : runs) {
    if (!run.breakdown || run.breakdown->total() <= 0) continue;
    const auto time = static_cast<double>((*run.breakdown)[step_class]);
    times.push_back(time);
    shares.push_back(time / static_cast<double>(run.breakdown->total()));
  }
  if (times.empty()) return undecided(result, "there is no breakdown", "make the report again");
  const double time = median_of(times), share = median_of(shares);
  result.found = format_duration(time) + " per step, " + percent(share) + " of the step";
  result.passed = holds_for(budget.comparison, budget.is_share ? share : time);
  for (const FindingMeasure& finding : runs.front().findings)
    if (finding.gain_ns && result.evidence.size() < kPlacesShown)
      result.evidence.push_back(finding.rule_id + " at " + finding.place + ": " +
                                format_duration(*finding.gain_ns) + " per step");
  result.next = "stallscope report " + runs.front().label;
  return result;
}

// Findings that at least half of the runs show, each once.
std::vector<FindingMeasure> usual(std::span<const RunMeasures> runs) {
  std::map<std::string, std::pair<FindingMeasure, size_t>> seen;
  for (const RunMeasures& run : runs) {
    std::set<std::string> counted;
    for (const FindingMeasure& finding : run.findings) {
      if (!counted.insert(finding.fingerprint).second) continue;
      auto& [kept, count] = seen[finding.fingerprint];
      kept = finding;
      ++count;
    }
  }
  std::vector<FindingMeasure> findings;
  for (const auto& [fingerprint, entry] : seen)
    if (entry.second * 2 >= runs.size()) findings.push_back(entry.first);
  return findings;
}

void list_places(GateResult& result, const std::vector<FindingMeasure>& findings) {
  for (const FindingMeasure& finding : findings) {
    if (result.evidence.size() == kPlacesShown) {
      result.evidence.push_back(fmt::format("and {} more", findings.size() - kPlacesShown));
      break;
    }
    std::string line = finding.rule_id + " at " + finding.place;
    if (finding.gain_ns) line += ": " + format_duration(*finding.gain_ns) + " per step";
    result.evidence.push_back(line);
  }
  result.found = fmt::format("{}", findings.size());
  if (!findings.empty()) result.next = "stallscope rules explain " + findings.front().rule_id;
}

GateResult check_findings(std::string assertion, std::string expected, uint64_t limit,
                          const std::vector<FindingMeasure>& findings) {
  GateResult result{.assertion = std::move(assertion), .expected = std::move(expected)};
  result.passed = findings.size() <= limit;
  list_places(result, findings);
  return result;
}

}  // namespace

bool asserts_nothing(const CheckSettings& settings) {
  return !settings.step_time && !settings.tolerance && settings.classes.empty() &&
         settings.findings.empty() && settings.no_new.empty();
}

std::vector<GateResult> check_gate(const CheckSettings& settings, std::span<const RunMeasures> runs,
                                   std::span<const RunMeasures> baseline) {
  std::vector<GateResult> results;
  if (runs.size() < settings.repeats) {
    GateResult result{.assertion = "repeats", .expected = fmt::format("{} runs", settings.repeats)};
    results.push_back(undecided(result, fmt::format("{} given", runs.size()),
                                "give one report.json or trace per repeat"));
  }
  if (settings.step_time) results.push_back(check_step_time(*settings.step_time, runs));
  if (settings.tolerance) results.push_back(check_tolerance(*settings.tolerance, runs, baseline));
  for (const ClassBudget& budget : settings.classes) results.push_back(check_budget(budget, runs));
  const std::vector<FindingMeasure> findings = usual(runs);
  const auto select = [&](const auto& wanted) {
    std::vector<FindingMeasure> selected;
    std::ranges::copy_if(findings, std::back_inserter(selected), wanted);
    return selected;
  };
  // A key is a rule id, or a severity: findings as bad as that or worse.
  for (const auto& budget : settings.findings) {
    const std::string& key = budget.first;
    const std::optional<Severity> severity = severity_of(key);
    results.push_back(check_findings(
        "findings " + key, fmt::format("at most {}", budget.second), budget.second,
        select([&](const FindingMeasure& finding) {
          return severity ? severity_of(finding.severity).value_or(Severity::info) >= *severity
                          : finding.rule_id == key;
        })));
  }
  if (!settings.no_new.empty()) {
    std::set<std::string> known;
    for (const FindingMeasure& finding : usual(baseline)) known.insert(finding.fingerprint);
    const auto asked = [&](const std::string& id) {
      return std::ranges::find(settings.no_new, id) != settings.no_new.end();
    };
    GateResult result = check_findings("no new findings", "none that the baseline has not", 0,
                                       select([&](const FindingMeasure& finding) {
                                         return (asked("all") || asked(finding.rule_id)) &&
                                                !known.contains(finding.fingerprint);
                                       }));
    if (baseline.empty())
      result = undecided(result, "there is no baseline",
                         "stallscope check --update-baseline with runs that are known to be good");
    results.push_back(result);
  }
  return results;
}

std::string write_baseline(std::span<const RunMeasures> runs) {
  Json rows = Json::array();
  for (const RunMeasures& run : runs) {
    Json steps = Json::array(), breakdown, findings = Json::array();
    for (size_t i = 0; i < run.steps.size() && i < kStepsKept; ++i) steps.push_back(run.steps[i]);
    if (run.breakdown) breakdown = breakdown_json(*run.breakdown);
    for (const FindingMeasure& finding : run.findings)
      findings.push_back({{"fingerprint", finding.fingerprint},
                          {"ruleId", finding.rule_id},
                          {"place", finding.place}});
    rows.push_back({{"label", run.label},
                    {"stepsNs", steps},
                    {"breakdown", breakdown},
                    {"findings", findings}});
  }
  const Json document = {{"schemaVersion", "1.0"},
                         {"kind", "stallscope-baseline"},
                         {"tool", {{"version", tool_info().version}}},
                         {"runs", rows}};
  return dump(document, 1) + "\n";
}

Result<std::vector<RunMeasures>> read_baseline(std::string_view json, const std::string& file) {
  const Json document = Json::parse(json, nullptr, false);
  const bool ours = document.is_object() && document.contains("kind") &&
                    document["kind"] == "stallscope-baseline" && document.contains("runs") &&
                    document["runs"].is_array();
  if (!ours)
    return Error{.message = "is no baseline file of stallscope check",
                 .file = file,
                 .remedy = "write it with stallscope check --update-baseline"};
  std::vector<RunMeasures> runs;
  for (const Json& row : document["runs"]) {
    if (!row.is_object()) continue;
    RunMeasures& run = runs.emplace_back();
    const auto text = [](const Json& object, const char* key) {
      return object.is_object() && object.contains(key) && object[key].is_string()
                 ? object[key].get<std::string>()
                 : std::string();
    };
    run.label = text(row, "label");
    if (row.contains("stepsNs") && row["stepsNs"].is_array())
      for (const Json& step : row["stepsNs"])
        if (step.is_number()) run.steps.push_back(step.get<double>());
    if (row.contains("breakdown") && row["breakdown"].is_array()) {
      ClassTimes times;
      for (const Json& part : row["breakdown"])
        for (size_t i = 0; i < kStepClasses; ++i)
          if (text(part, "class") == to_string(static_cast<StepClass>(i)) &&
              part.contains("durationNs") && part["durationNs"].is_number())
            times.ns[i] = static_cast<Ns>(part["durationNs"].get<double>());
      run.breakdown = times;
    }
    if (row.contains("findings") && row["findings"].is_array())
      for (const Json& finding : row["findings"])
        run.findings.push_back({text(finding, "fingerprint"),
                                text(finding, "ruleId"),
                                {},
                                {},
                                text(finding, "place"),
                                {},
                                {}});
    if (run.steps.empty()) run.abstentions.emplace_back("The baseline has no steps.");
  }
  return runs;
}

}  // namespace stallscope
