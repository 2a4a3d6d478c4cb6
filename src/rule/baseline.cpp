#include "rule/baseline.h"

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stallscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestBaseline = 64 << 20;
constexpr const char* kVersion = "1.0";

}  // namespace

Result<Baseline> load_baseline(const std::string& path) {
  const auto text = read_file(path, kLargestBaseline);
  if (!text) return text.error();
  const auto wrong = [&](std::string message) {
    return Error{.message = std::move(message),
                 .file = path,
                 .remedy = "Write it anew with --update-baseline."};
  };
  const Json root = Json::parse(*text, nullptr, false);
  if (root.is_discarded()) return wrong("the baseline is not valid JSON");
  if (!root.is_object() || !root.contains("findings") || !root["findings"].is_array())
    return wrong("the baseline has no list of 'findings'");
  if (!root.contains("schemaVersion") || root["schemaVersion"] != kVersion)
    return wrong("the baseline is not of version " + std::string(kVersion));
  Baseline baseline;
  for (const Json& entry : root["findings"]) {
    if (!entry.is_object() || !entry.contains("fingerprint") || !entry["fingerprint"].is_string())
      return wrong("an entry of the baseline has no 'fingerprint'");
    const Json count = entry.value("count", Json(1U));
    if (!count.is_number_unsigned() || count == 0)
      return wrong("the 'count' of an entry must be a positive number");
    baseline.accepted[entry["fingerprint"]] += count.get<unsigned>();
  }
  return baseline;
}

std::string baseline_text(const std::vector<Finding>& findings) {
  struct Entry {
    std::string rule, file;
    unsigned count = 0;
  };
  std::map<std::string, Entry> entries;
  for (const Finding& finding : findings) {
    Entry& entry = entries[finding.fingerprint];
    entry.rule = finding.rule_id;
    if (!finding.locations.empty()) entry.file = finding.locations.front().file;
    ++entry.count;
  }
  Json list = Json::array();
  for (const auto& [fingerprint, entry] : entries) {
    Json item = {{"fingerprint", fingerprint}, {"ruleId", entry.rule}, {"file", entry.file}};
    if (entry.count > 1) item["count"] = entry.count;
    list.push_back(std::move(item));
  }
  return Json{{"schemaVersion", kVersion}, {"findings", std::move(list)}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::vector<Finding> apply_baseline(const Baseline& baseline, std::vector<Finding>& findings,
                                    std::vector<std::string>* gone) {
  std::map<std::string, unsigned> left = baseline.accepted;
  std::vector<Finding> kept, accepted;
  for (Finding& finding : findings) {
    const auto it = left.find(finding.fingerprint);
    const bool known = it != left.end() && it->second > 0;
    if (known) --it->second;
    (known ? accepted : kept).push_back(std::move(finding));
  }
  findings = std::move(kept);
  if (gone != nullptr)
    for (const auto& [fingerprint, count] : left)
      if (count > 0) gone->push_back(fingerprint);
  return accepted;
}

}  // namespace stallscope
