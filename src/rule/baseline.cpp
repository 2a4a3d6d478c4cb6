#include "rule/baseline.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stallscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kLargestBaseline = 64 << 20;
constexpr const char* kVersion = "1.0";

const std::string& place_file(const Finding& finding) {
  static const std::string kNone;
  return finding.locations.empty() ? kNone : finding.locations.front().file;
}

std::string stated(const Json& entry, const char* key) {
  const auto value = entry.find(key);
  return value != entry.end() && value->is_string() ? value->get<std::string>() : std::string();
}

}  // namespace

void Baseline::add(const std::string& fingerprint, const std::string& file, const Entry& entry) {
  Entry& to = accepted_[fingerprint][file];
  to.rule = entry.rule;
  to.count += entry.count;
}

void Baseline::add(const Finding& finding) {
  add(finding.fingerprint, place_file(finding), {.rule = finding.rule_id, .count = 1});
}

bool Baseline::take(const Finding& finding) {
  return take_moved(finding, [&](const std::string& file) { return file == place_file(finding); });
}

bool Baseline::take_moved(const Finding& finding, const MayHaveMoved& moved) {
  const auto files = accepted_.find(finding.fingerprint);
  if (files == accepted_.end()) return false;
  const auto from = std::ranges::find_if(
      files->second, [&](const auto& f) { return f.second.count > 0 && moved(f.first); });
  if (from == files->second.end()) return false;
  --from->second.count;
  return true;
}

Result<Baseline> load_baseline(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return Error{.message = "there is no such baseline",
                 .file = path,
                 .remedy = "Write it with --update-baseline."};
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
    baseline.add(entry["fingerprint"], stated(entry, "file"),
                 {.rule = stated(entry, "ruleId"), .count = count.get<unsigned>()});
  }
  return baseline;
}

std::string baseline_text(const Baseline& baseline) {
  Json list = Json::array();
  for (const auto& [fingerprint, files] : baseline.accepted()) {
    for (const auto& [file, entry] : files) {
      Json item = {{"fingerprint", fingerprint}, {"ruleId", entry.rule}, {"file", file}};
      if (entry.count > 1) item["count"] = entry.count;
      list.push_back(std::move(item));
    }
  }
  return Json{{"schemaVersion", kVersion}, {"findings", std::move(list)}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::vector<Finding> apply_baseline(Baseline baseline, std::vector<Finding>& findings,
                                    std::vector<std::string>* gone,
                                    const Baseline::MayHaveMoved& moved) {
  std::vector<bool> accepted(findings.size());
  for (size_t i = 0; i < findings.size(); ++i) accepted[i] = baseline.take(findings[i]);
  std::vector<Finding> kept, taken;
  for (size_t i = 0; i < findings.size(); ++i) {
    const bool known = accepted[i] || baseline.take_moved(findings[i], moved);
    (known ? taken : kept).push_back(std::move(findings[i]));
  }
  findings = std::move(kept);
  if (gone == nullptr) return taken;
  for (const auto& [fingerprint, files] : baseline.accepted())
    if (std::ranges::any_of(files, [](const auto& f) { return f.second.count > 0; }))
      gone->push_back(fingerprint);
  return taken;
}

}  // namespace stallscope
