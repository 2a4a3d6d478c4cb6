#include "cli/lint_settings.h"

#include <algorithm>
#include <filesystem>

#include "base/settings_file.h"
#include "base/text.h"
#include "rule/known_rules.h"
#include "rule/load.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// `path` as seen from `folder`, both absolute; empty when it is not below it.
std::string below(const std::string& path, const std::string& folder) {
  if (folder == "/") return path.substr(1);
  if (!path.starts_with(folder) || path.size() <= folder.size() || path[folder.size()] != '/')
    return {};
  return path.substr(folder.size() + 1);
}

std::string parent_folder(const std::string& path) {
  return fs::path(path).parent_path().string();
}

}  // namespace

ProjectSettings::ProjectSettings(std::string root, GivenSettings given)
    : root_(std::move(root)), given_(std::move(given)), given_exclude_(path_globs(given_.exclude)) {
  std::error_code ec;
  working_folder_ = fs::weakly_canonical(fs::current_path(ec), ec).string();
}

Result<std::shared_ptr<ProjectSettings>> ProjectSettings::read(const std::string& root,
                                                               GivenSettings given) {
  std::shared_ptr<ProjectSettings> out(new ProjectSettings(root, std::move(given)));
  auto settings = out->load(find_config(root));
  if (!settings) return settings.error();
  out->root_settings_ = *settings;
  out->by_folder_[root] = *settings;
  return out;
}

Result<ProjectSettings::Shared> ProjectSettings::load(const std::string& file) const {
  auto out = std::make_shared<FileSettings>();
  if (!file.empty()) {
    auto config = load_config(file);
    if (!config) return config.error();
    out->config = std::move(*config);
    out->folder = parent_folder(file);
  }
  out->exclude = path_globs(out->config.exclude);
  EvaluateOptions& evaluation = out->evaluation;
  evaluation.select = given_.select.empty() ? out->config.select : given_.select;
  evaluation.ignore = out->config.ignore;
  evaluation.ignore.insert(evaluation.ignore.end(), given_.ignore.begin(), given_.ignore.end());
  evaluation.severities = out->config.severities;
  return Shared(std::move(out));
}

Status ProjectSettings::expect_known(const Config& config) const {
  if (config.rule_folders.empty() || &config == &of_root())
    return expect_known_rules(config, rules_);
  // Its own rules are read where it is the root's; here their names are enough.
  auto rules = load_rules(config.rule_folders);
  if (!rules) return rules.error();
  rules->insert(rules->end(), rules_.begin(), rules_.end());
  return expect_known_rules(config, *rules);
}

Status ProjectSettings::expect_rules(std::span<const Rule> rules) {
  rules_.assign(rules.begin(), rules.end());
  for (const auto& [option, ids] :
       {std::pair{"--select", &given_.select}, std::pair{"--ignore", &given_.ignore}}) {
    for (const std::string& id : *ids) {
      if (is_known_rule(id, rules)) continue;
      return Error{.message = std::string(option) + ": " + unknown_rule(id, rules),
                   .remedy = "`stallscope rules list` shows them all."};
    }
  }
  return expect_known(of_root());
}

const ProjectSettings::Shared& ProjectSettings::of_folder(const std::string& folder) {
  if (const auto known = by_folder_.find(folder); known != by_folder_.end()) return known->second;
  // Outside the root lie only files that links lead to.
  if (below(folder, root_).empty()) return root_settings_;
  const std::string file = settings_file_in(folder);
  if (file.empty()) return by_folder_[folder] = of_folder(parent_folder(folder));
  auto settings = load(file);
  Status usable = settings ? expect_known((*settings)->config) : Status(settings.error());
  if (!usable && status_) status_ = usable;
  return by_folder_[folder] = settings ? *settings : root_settings_;
}

std::string ProjectSettings::whole(const std::string& path) const {
  return (fs::path(root_) / path).string();
}

const FileSettings& ProjectSettings::of(const std::string& file) {
  return *of_folder(parent_folder(whole(file)));
}

bool ProjectSettings::excludes(const std::string& path, bool is_folder) {
  const std::string whole_path = whole(path);
  if (given_exclude_.covers(path, is_folder) ||
      given_exclude_.covers(below(whole_path, working_folder_), is_folder))
    return true;
  const FileSettings& settings = of(path);
  return settings.exclude.covers(below(whole_path, settings.folder), is_folder);
}

bool ProjectSettings::ignores(Finding& finding) {
  if (finding.locations.empty()) return false;
  const std::string& file = finding.locations.front().file;
  const FileSettings& settings = of(file);
  return ignored_at_path(settings.config, below(whole(file), settings.folder), finding);
}

}  // namespace stallscope
