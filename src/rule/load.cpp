#include "rule/load.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/install_tree.h"
#include "base/parallel.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestRuleFile = 1 << 20;
// Tables that stand beside the rules and are read by others.
constexpr std::array<std::string_view, 2> kTables = {"frameworks.yaml", "library-sync.yaml"};

// Rule files of a folder, in the order of their names.
Result<std::vector<std::string>> rule_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string ending = it->path().extension().string();
    const bool table = std::ranges::find(kTables, it->path().filename().string()) != kTables.end();
    if ((ending == ".yaml" || ending == ".yml") && !table) files.push_back(it->path().string());
  }
  if (error)
    return Error{.message = "cannot read the rule folder: " + error.message(),
                 .file = folder,
                 .remedy = "Name a folder that holds rule files (*.yaml)."};
  std::ranges::sort(files);
  return files;
}

Result<Rule> load_rule(const std::string& file) {
  auto text = read_file(file, kLargestRuleFile);
  if (!text) return text.error();
  return parse_rule(*text, file);
}

// The rules of files, in their order. Most of the time of a short lint goes here.
std::vector<std::optional<Result<Rule>>> load_all(const std::vector<std::string>& files) {
  std::vector<std::optional<Result<Rule>>> rules(files.size());
  constexpr size_t kWorthThread = 8, kMostThreads = 4;
  parallel_for(
      files.size(), [&](size_t i) { rules[i] = load_rule(files[i]); },
      std::min(kMostThreads, (files.size() + kWorthThread - 1) / kWorthThread));
  return rules;
}

}  // namespace

Result<std::vector<Rule>> load_rules(std::span<const std::string> folders) {
  std::map<std::string, Rule> by_id;
  uint32_t layer = 0;
  for (const std::string& folder : folders) {
    auto files = rule_files(folder);
    if (!files) return files.error();
    if (files->empty())
      return Error{.message = "the rule folder holds no rule files (*.yaml)", .file = folder};
    for (std::optional<Result<Rule>>& loaded : load_all(*files)) {
      Result<Rule>& rule = *loaded;
      if (!rule) return rule.error();
      const std::string file = rule->file;
      const auto known = by_id.find(rule->id);
      const bool same_folder = known != by_id.end() && fs::path(known->second.file).parent_path() ==
                                                           fs::path(file).parent_path();
      if (same_folder)
        return Error{
            .message = "rule '" + rule->id + "' is already defined in " + known->second.file,
            .file = file,
            .line = 1,
            .column = 1};
      rule->layer = layer;
      rule->drops_source =
          known != by_id.end() && known->second.has_source() && !rule->has_source();
      by_id.insert_or_assign(rule->id, std::move(*rule));
    }
    ++layer;
  }
  std::vector<Rule> rules;
  rules.reserve(by_id.size());
  for (auto& [id, rule] : by_id) rules.push_back(std::move(rule));
  return rules;
}

Result<std::vector<Rule>> load_bundled_rules(std::span<const std::string> extra) {
  const auto bundled = data_path("rules");
  if (!bundled) return bundled.error();
  std::vector<std::string> folders = {*bundled};
  folders.insert(folders.end(), extra.begin(), extra.end());
  return load_rules(folders);
}

}  // namespace stallscope
