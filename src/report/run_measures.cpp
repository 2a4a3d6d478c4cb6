#include "report/run_measures.h"

#include <nlohmann/json.hpp>

#include "report/json_parts.h"

namespace stallscope {
namespace {

// A report may come from anywhere: every member is asked for by type.
double number_of(const Json& object, const char* key, double otherwise = 0) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text_of(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& member(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found != object.end() ? *found : kNothing;
}

const Json* slowest_rank_of(const Json& report) {
  const Json* slowest = nullptr;
  double longest = 0;
  for (const Json& rank : member(report, "ranks")) {
    const double median = number_of(member(rank, "stepTimeNs"), "median");
    if (median <= longest) continue;
    longest = median;
    slowest = &rank;
  }
  return slowest;
}

std::vector<double> steps_of(const Json& rank) {
  std::vector<double> steps;
  const Json& durations = member(member(rank, "steps"), "durationNs");
  const Json& uses = member(member(rank, "steps"), "use");
  if (durations.is_array() && uses.is_array() && durations.size() == uses.size())
    for (size_t i = 0; i < durations.size(); ++i)
      if (durations[i].is_number() && uses[i].is_string() && uses[i] == "used")
        steps.push_back(durations[i].get<double>());
  // Of a run with very many ranks the report keeps medians only.
  const double median = number_of(member(rank, "stepTimeNs"), "median");
  if (steps.empty() && median > 0) steps.push_back(median);
  return steps;
}

std::optional<ClassTimes> breakdown_of(const Json& rank) {
  const Json& rows = member(rank, "breakdown");
  if (!rows.is_array() || rows.empty()) return std::nullopt;
  ClassTimes times;
  for (const Json& row : rows)
    for (size_t i = 0; i < kStepClasses; ++i)
      if (text_of(row, "class") == to_string(static_cast<StepClass>(i)))
        times.ns[i] = static_cast<Ns>(number_of(row, "durationNs"));
  return times;
}

std::vector<KernelMeasure> kernels_of(const Json& rank) {
  // The table covers the whole trace: all its steps share it.
  const double steps = number_of(rank, "stepsUsed") + number_of(rank, "stepsDiscarded");
  std::vector<KernelMeasure> kernels;
  const Json& rows = member(rank, "kernels");
  if (steps <= 0 || !rows.is_array()) return kernels;
  for (const Json& row : rows)
    kernels.push_back({text_of(row, "name"), text_of(row, "operator"),
                       number_of(row, "totalNs") / steps, number_of(row, "count") / steps});
  return kernels;
}

FindingMeasure finding_of(const Json& row) {
  FindingMeasure finding{text_of(row, "fingerprint"),
                         text_of(row, "ruleId"),
                         text_of(row, "title"),
                         text_of(row, "severity"),
                         {},
                         {},
                         {}};
  const Json& locations = member(row, "locations");
  if (locations.is_array() && !locations.empty() && !text_of(locations[0], "file").empty()) {
    finding.place = text_of(locations[0], "file");
    const double line = number_of(locations[0], "line");
    if (line > 0) finding.place += ":" + std::to_string(static_cast<int64_t>(line));
  } else {
    finding.place = text_of(row, "subject");
  }
  const Json& gain = member(row, "gain");
  const Json& mid = member(member(gain, "stepTimeNs"), "mid");
  if (mid.is_number()) finding.gain_ns = mid.get<double>();
  const Json& once = member(gain, "oneTimeNs");
  if (once.is_number()) finding.one_time_ns = once.get<double>();
  return finding;
}

Result<RunMeasures> measures_of_document(const Json& report, const std::string& label) {
  RunMeasures run;
  run.label = label;
  const std::string version = text_of(report, "schemaVersion");
  if (!member(report, "ranks").is_array() || version.empty())
    return Error{.message = "is no report.json of this tool", .file = label};
  if (!version.starts_with("1."))
    return Error{.message = "has schema version " + version + "; this tool reads 1.x",
                 .file = label,
                 .remedy = "make the report again with this version"};
  for (const Json& why : member(member(report, "trust"), "abstentions"))
    if (why.is_string()) run.abstentions.push_back(why.get<std::string>());
  const bool verdict = member(member(report, "summary"), "stepTimeNs").is_object();
  const Json* slowest = slowest_rank_of(report);
  if (verdict && slowest != nullptr) {
    run.steps = steps_of(*slowest);
    run.breakdown = breakdown_of(*slowest);
    run.kernels = kernels_of(*slowest);
  }
  if (run.steps.empty() && run.abstentions.empty())
    run.abstentions.emplace_back("No steps were found.");
  for (const Json& row : member(report, "findings"))
    if (text_of(row, "status") == "measured") run.findings.push_back(finding_of(row));
  return run;
}

}  // namespace

Result<RunMeasures> measures_of_json(std::string_view json, const std::string& label) {
  const Json report = Json::parse(json, nullptr, false);
  if (report.is_discarded()) return Error{.message = "is not valid JSON", .file = label};
  return measures_of_document(report, label);
}

Result<RunMeasures> measures_of(const Report& report, const std::string& label) {
  return measures_of_document(report_json(report), label);
}

}  // namespace stallscope
