#include "cli/lint_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "report/json_parts.h"
#include "source/index.h"

namespace stallscope {

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void join_advice(std::vector<Finding>& findings) {
  std::vector<Finding> kept;
  std::map<std::string, size_t> first;
  for (Finding& finding : findings) {
    const auto [known, is_new] = first.try_emplace(finding.rule_id, kept.size());
    if (finding.advice && !is_new)
      std::ranges::move(finding.locations, std::back_inserter(kept[known->second].locations));
    else
      kept.push_back(std::move(finding));
  }
  findings = std::move(kept);
}

std::string statistics_text(const std::vector<Finding>& findings, bool as_json) {
  std::map<std::string, size_t> counts;
  for (const Finding& finding : findings) ++counts[finding.rule_id];
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [id, count] : counts) sorted.emplace_back(count, id);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (as_json) {
    Json list = Json::array();
    for (const auto& [count, id] : sorted) list.push_back({{"ruleId", id}, {"count", count}});
    return dump(list, 2) + "\n";
  }
  std::string out;
  for (const auto& [count, id] : sorted) out += fmt::format("{:6}  {}\n", count, id);
  return out;
}

size_t step_lines(const SourceAnalysis& source) {
  size_t lines = 0;
  const auto& files = source.index.files();
  for (size_t f = 0; f < files.size(); ++f) {
    if (std::ranges::binary_search(source.project.chosen, files[f]->path))
      lines += source.index.step_lines(f);
  }
  return lines;
}

std::string totals_text(const std::vector<Finding>& findings, const SourceAnalysis& source) {
  const std::string files = counted(source.project.chosen.size(), "file");
  if (findings.empty()) return "no findings in " + files;
  std::set<std::string_view> with_findings;
  std::map<Severity, size_t, std::greater<>> by_severity;
  for (const Finding& finding : findings) {
    for (const Place& place : finding.locations) with_findings.insert(place.file);
    ++by_severity[finding.severity];
  }
  std::string shares;
  for (const auto& [severity, count] : by_severity)
    shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", count, to_string(severity));
  return fmt::format("{} in {} of {}: {}", counted(findings.size(), "finding"),
                     with_findings.size(), files, shares);
}

}  // namespace stallscope
