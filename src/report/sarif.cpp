// SARIF 2.1.0 (OASIS standard, 27 March 2020), as GitHub code scanning reads it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/present.h"
#include "report/text_safety.h"
#include "report/tool_info.h"

namespace stallscope {
namespace {

// GitHub keeps 5,000 results per run (docs, "SARIF support for code scanning").
constexpr size_t kMaxResults = 5'000;
constexpr size_t kMaxBytes = 10'000'000;  // and refuses larger files

Json message(std::string_view text) {
  return {{"text", text.empty() ? "-" : valid_utf8(text)}};
}

Json location_json(const Place& place) {
  Json out = Json::object();
  if (!place.file.empty()) {
    Json physical = {{"artifactLocation", {{"uri", file_uri(place.file)}}}};
    if (place.line > 0) {
      physical["region"] = {{"startLine", place.line}};
      if (place.column > 0) physical["region"]["startColumn"] = place.column;
    }
    out["physicalLocation"] = physical;
  }
  if (!place.function.empty())
    out["logicalLocations"] = Json::array({{{"fullyQualifiedName", place.function}}});
  return out;
}

/// A replacement that a tool may apply: only for safe fixes whose `before` stands
/// exactly once in the cited line, so that the region is known and not guessed.
Json fixes_json(const Finding& finding) {
  const Place& place = primary_place(finding);
  const Snippet& snippet = finding.snippet;
  if (finding.fix.applicability != Applicability::safe || finding.fix.before.empty() ||
      place.file.empty() || place.line < snippet.first_line ||
      place.line - snippet.first_line >= snippet.lines.size())
    return {};
  const std::string& line = snippet.lines[place.line - snippet.first_line];
  const size_t at = line.find(finding.fix.before);
  if (at == std::string::npos || line.find(finding.fix.before, at + 1) != std::string::npos)
    return {};
  const Json region = {{"startLine", place.line},
                       {"startColumn", at + 1},
                       {"endLine", place.line},
                       {"endColumn", at + 1 + finding.fix.before.size()}};
  const Json replacement = {{"deletedRegion", region},
                            {"insertedContent", {{"text", finding.fix.after}}}};
  const Json change = {{"artifactLocation", {{"uri", file_uri(place.file)}}},
                       {"replacements", Json::array({replacement})}};
  return Json::array(
      {{{"description", message(finding.title)}, {"artifactChanges", Json::array({change})}}});
}

Json result_json(const Finding& finding, const std::map<std::string, size_t>& rule_index) {
  Json out = {{"ruleId", finding.rule_id}};
  if (const auto at = rule_index.find(finding.rule_id); at != rule_index.end())
    out["ruleIndex"] = at->second;
  out["level"] = finding_level(finding);
  out["message"] = message(finding_paragraph(finding));
  Json locations = Json::array(), related = Json::array();
  for (const Place& place : finding.locations) {
    if (!place.known()) continue;
    (locations.empty() ? locations : related).push_back(location_json(place));
  }
  out["locations"] = locations;
  if (!related.empty()) out["relatedLocations"] = related;
  out["partialFingerprints"] = {{"stallscopeFinding/v1", finding.fingerprint}};
  if (Json fixes = fixes_json(finding); !fixes.is_null()) out["fixes"] = fixes;
  const Json whole = finding_json(finding);
  out["properties"] = {{"status", whole["status"]},
                       {"severity", whole["severity"]},
                       {"gain", whole["gain"]},
                       {"evidence", whole["evidence"]}};
  return out;
}

/// Meta of every rule, and of those that only findings name.
std::vector<RuleMeta> complete_rules(std::span<const Finding> findings,
                                     std::span<const RuleMeta> rules) {
  std::map<std::string, RuleMeta> by_id;
  for (const RuleMeta& rule : rules) by_id.emplace(rule.id, rule);
  for (const Finding& finding : findings)
    by_id.try_emplace(finding.rule_id, RuleMeta{.id = finding.rule_id,
                                                .title = finding.title,
                                                .why = {},
                                                .severity = finding.severity,
                                                .advice = finding.advice,
                                                .outcome = RuleOutcome::fired,
                                                .reason = {}});
  std::vector<RuleMeta> out;
  for (auto& [id, rule] : by_id) out.push_back(std::move(rule));
  return out;
}

Json rule_json(const RuleMeta& rule) {
  Finding like;
  like.severity = rule.severity;
  like.advice = rule.advice;
  return {{"id", rule.id},
          {"shortDescription", message(rule.title)},
          {"fullDescription", message(rule.why.empty() ? rule.title : rule.why)},
          {"defaultConfiguration", {{"level", finding_level(like)}}},
          {"properties",
           {{"tags", Json::array({"performance"})}, {"severity", to_string(rule.severity)}}}};
}

/// How the run went: what could not be read is no result, and must not read as clean.
Json invocations_json(std::span<const std::string> notes) {
  Json told = Json::array();
  for (const std::string& note : notes)
    told.push_back({{"level", "warning"}, {"message", message(note)}});
  return Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", told}}});
}

Json log_json(const FindingsList& list, size_t kept) {
  std::map<std::string, size_t> index;
  Json rules_out = Json::array(), results = Json::array();
  for (const RuleMeta& rule : complete_rules(list.findings, list.rules)) {
    index.emplace(rule.id, index.size());
    rules_out.push_back(rule_json(rule));
  }
  for (const Finding& finding : list.findings.first(kept))
    results.push_back(result_json(finding, index));
  const ToolInfo& tool = tool_info();
  const Json driver = {{"name", tool.name},
                       {"informationUri", tool.information_uri},
                       {"version", tool.version},
                       {"rules", rules_out}};
  Json run = {{"tool", {{"driver", driver}}},
              {"invocations", invocations_json(list.notes)},
              {"results", results}};
  if (kept < list.findings.size())
    run["properties"] = {{"resultsLeftOut", list.findings.size() - kept}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

Result<std::string> render_sarif(const FindingsList& list) {
  // Findings come by gain: when the file grows too large, those that matter least go.
  for (size_t kept = std::min(list.findings.size(), kMaxResults);; kept /= 2) {
    std::string text = dump(log_json(list, kept), 1) + "\n";
    if (text.size() <= kMaxBytes || kept == 0) return text;
  }
}

constexpr FindingsFormat kSarifFormat{"sarif", "report.sarif", "SARIF 2.1.0, for code scanning",
                                      render_sarif};
const RegisterFindingsFormat kSarifFindings(kSarifFormat);
const RegisterFormat kSarifReport({kSarifFormat.name, kSarifFormat.file_name,
                                   kSarifFormat.description, render_findings_of<render_sarif>});

}  // namespace
}  // namespace stallscope
