// report.json: the document of reports/report.schema.json.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/annotated.h"
#include "report/build.h"
#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/present.h"
#include "report/skew.h"
#include "report/tool_info.h"

namespace stallscope {
namespace {

constexpr const char* kSchemaVersion = "1.0";
constexpr const char* kSchemaId = "urn:stallscope:report:1.0";

Json tool_json() {
  const ToolInfo& tool = tool_info();
  return {{"name", tool.name}, {"version", tool.version}, {"commit", text_or_null(tool.commit)}};
}

Json run_json(const Report& report) {
  const RunInfo& run = report.run;
  return {{"id", text_or_null(run.id)},
          {"startedAt", text_or_null(run.started_at)},
          {"command", run.command.empty() ? Json() : Json(run.command)},
          {"exitCode", run.exit_code ? Json(*run.exit_code) : Json()},
          {"interrupted", run.interrupted},
          {"inputs", report.inputs}};
}

Json summary_json(const Report& report, const RankSummary* slowest) {
  Json step, fraction, nanoseconds;
  if (report.step_time) {
    const StepTime& time = *report.step_time;
    step = {{"median", time.median}, {"low", time.low}, {"high", time.high}, {"mean", time.mean}};
    if (report.recoverable && time.mean > 0) {
      const Gain::Range& range = *report.recoverable;
      const auto share = [&](Ns ns) {
        return static_cast<double>(ns) / static_cast<double>(time.mean);
      };
      fraction = {
          {"low", share(range.low)}, {"mid", share(range.mid)}, {"high", share(range.high)}};
      nanoseconds = {{"low", range.low}, {"mid", range.mid}, {"high", range.high}};
    }
  }
  return {{"stepTimeNs", step},
          {"stepsUsed", report.steps_used},
          {"stepsDiscarded", report.steps_discarded},
          {"recoverableFraction", fraction},
          {"recoverableNs", nanoseconds},
          {"slowestRank", slowest && slowest->rank >= 0 ? Json(slowest->rank) : Json()},
          {"findings", report.findings.size()}};
}

/// The start-up of the rank that took longest to its first steady step.
Json startup_json(const Report& report) {
  const RankSummary* longest = longest_startup(report.summary);
  Json out = Json::array();
  if (longest != nullptr)
    for (const StartupPhase& phase : longest->startup)
      out.push_back({{"phase", phase.name}, {"durationNs", phase.duration}});
  return out;
}

Json step_series_json(const RankSummary& rank) {
  Json index = Json::array(), duration = index, use = index;
  for (const Step& step : rank.steps) {
    index.push_back(step.index);
    duration.push_back(step.window_end - step.window_start);
    use.push_back(step_use_name(step.use));
  }
  return {{"index", index}, {"durationNs", duration}, {"use", use}};
}

Json kernels_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const KernelRow& row : rank.kernels) {
    Json& item = out.emplace_back(Json{{"name", row.name}, {"operator", text_or_null(row.op)}});
    add_line(item, row.place);
    item["count"] = row.count;
    item["totalNs"] = row.total;
    item["medianNs"] = row.median;
  }
  return out;
}

Json kernel_shares_json(const std::vector<KernelShare>& shares) {
  Json out = Json::array();
  for (const KernelShare& share : shares) {
    Json& item = out.emplace_back(Json{{"operator", text_or_null(share.op)}});
    add_place(item, share.place);
    item["count"] = share.count;
    item["totalNs"] = share.total;
  }
  return out;
}

Json collective_sizes_json(const RankSummary& rank) {
  Json out = Json::array();
  for (const Observation& row : rank.observations) {
    if (row.kind != "collective-size") continue;
    const auto awaited = row.texts.find("awaited_by");
    out.push_back({{"operation", row.subject},
                   {"group", text_or_null(row.texts.at("group"))},
                   {"bytes", number_of(row, "bytes")},
                   {"ranks", number_of(row, "world_size")},
                   {"count", static_cast<uint64_t>(row.count.total)},
                   {"durationNs", number_of(row, "duration_ns")},
                   {"exposedNs", number_of(row, "exposed_ns")},
                   {"hiddenNs", number_of(row, "hidden_ns")},
                   {"algorithmGbPerS", number_of(row, "algorithm_gb_per_s")},
                   {"busGbPerS", number_of(row, "bus_gb_per_s")},
                   {"awaitedBy", awaited == row.texts.end() ? Json() : Json(awaited->second)},
                   {"awaitedShare", number_of(row, "awaited_share")}});
  }
  return out;
}

/// ranks[] in order; what is large goes to the slowest ranks first, up to the limits.
Json ranks_json(const Report& report, const JsonLimits& limits) {
  const std::vector<RankSummary>& ranks = report.summary.ranks;
  std::vector<size_t> slowest_first(ranks.size());
  for (size_t i = 0; i < ranks.size(); ++i) slowest_first[i] = i;
  std::ranges::stable_sort(slowest_first, std::greater{},
                           [&](size_t i) { return ranks[i].step_median; });
  std::vector<Json> rows(ranks.size());
  size_t steps_left = limits.steps_in_all, slices_left = limits.slices_in_all,
         kernels_left = limits.kernel_ranks;
  for (const size_t i : slowest_first) {
    const RankSummary& rank = ranks[i];
    Json& row = rows[i] = rank_json(rank);
    row["steps"] = rank.steps.size() <= steps_left ? step_series_json(rank) : Json();
    steps_left -= std::min(steps_left, rank.steps.size());
    const size_t slices = std::min(rank.representative.slices.size(), limits.slices_per_timeline);
    const bool has_timeline = slices > 0 && slices <= slices_left;
    row["timeline"] =
        has_timeline ? timeline_json(rank.representative, limits.slices_per_timeline) : Json();
    if (has_timeline) slices_left -= slices;
    const bool has_kernels = kernels_left > 0;
    row["kernels"] = has_kernels ? kernels_json(rank) : Json();
    row["kernelsByOperator"] = has_kernels ? kernel_shares_json(rank.kernels_by_op) : Json();
    row["kernelsByLine"] = has_kernels ? kernel_shares_json(rank.kernels_by_line) : Json();
    row["collectives"] = has_kernels ? collective_sizes_json(rank) : Json();
    row["graphs"] = has_kernels ? graphs_json(rank) : Json();
    row["hostCosts"] = has_kernels ? host_costs_json(rank) : Json();
    row["hotFunctions"] = has_kernels ? hot_json(rank, "hot-function") : Json();
    row["hotLines"] = has_kernels ? hot_json(rank, "hot-line") : Json();
    if (!has_kernels)  // the slowest ranks' are kept
      row["waits"] = row["phases"] = row["queueDepth"] = nullptr;
    kernels_left -= kernels_left > 0 ? 1 : 0;
  }
  Json out = Json::array();
  for (Json& row : rows) out.push_back(std::move(row));
  return out;
}

Json skew_json(const RunSummary& summary) {
  Json out = Json::array();
  for (const CollectiveSkew& skew : collective_skew(summary))
    out.push_back({{"name", skew.name},
                   {"group", text_or_null(skew.group)},
                   {"count", skew.count},
                   {"lateRank", skew.late_rank < 0 ? Json() : Json(skew.late_rank)},
                   {"lateCount", skew.late_count},
                   {"waitNs", skew.wait}});
  return out;
}

Json errors_json(const std::vector<Error>& errors) {
  Json out = Json::array();
  for (const Error& error : errors)
    out.push_back({{"code", error.code.empty() ? "error" : error.code},
                   {"message", error.message},
                   {"file", text_or_null(error.file)},
                   {"remedy", text_or_null(error.remedy)}});
  return out;
}

Json annotations_json(const Report& report) {
  const std::optional<Annotated> annotated = annotated_of(report.environment);
  if (!annotated) return {};
  return {{"marked", annotated->marked},
          {"leftOut", annotated->left_out},
          {"calls", annotated->calls},
          {"ownNs", annotated->own_ns}};
}

}  // namespace

Json report_json(const Report& report, const JsonLimits& limits) {
  const RankSummary* slowest = slowest_rank(report.summary);
  return {{"$schema", kSchemaId},
          {"schemaVersion", kSchemaVersion},
          {"tool", tool_json()},
          {"run", run_json(report)},
          {"annotations", annotations_json(report)},
          {"environment", report.environment.empty() ? Json::object() : Json(report.environment)},
          {"trust", trust_json(report)},
          {"summary", summary_json(report, slowest)},
          {"breakdown", slowest ? breakdown_json(slowest->mean_breakdown) : Json::array()},
          {"startup", startup_json(report)},
          {"ranks", ranks_json(report, limits)},
          {"collectives", skew_json(report.summary)},
          {"rules", rules_json(report.rules)},
          {"findings", findings_json(report.findings)},
          {"reference", report.reference ? reference_json(*report.reference) : Json()},
          {"baseline", nullptr},
          {"warnings", report.warnings},
          {"errors", errors_json(report.errors)}};
}

namespace {

Result<std::string> render_json(const Report& report) {
  return dump(report_json(report), 1) + "\n";
}

Result<std::string> render_findings_json(const FindingsList& list) {
  const Json document = {{"$schema", kSchemaId},
                         {"schemaVersion", kSchemaVersion},
                         {"tool", tool_json()},
                         {"rules", rules_json(list.rules)},
                         {"findings", findings_json(list.findings)}};
  return dump(document, 1) + "\n";
}

constexpr FindingsFormat kJsonFormat{"json", "report.json", "everything, for programs",
                                     render_findings_json};
const RegisterFindingsFormat kJsonFindings(kJsonFormat);
const RegisterFormat kJsonReport({kJsonFormat.name, kJsonFormat.file_name, kJsonFormat.description,
                                  render_json});

}  // namespace
}  // namespace stallscope
