// Which settings hold for which file of a project.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rule/config.h"
#include "rule/evaluate.h"
#include "rule/rule.h"
#include "source/gitignore.h"

namespace stallscope {

/// What the command line says beside the settings files.
struct GivenSettings {
  std::vector<std::string> select, ignore, exclude;
};

/// One settings file with what was given on top of it.
struct FileSettings {
  Config config;
  std::string folder;          ///< of the settings file, which its globs start from; absolute
  Gitignore exclude;           ///< from that folder
  EvaluateOptions evaluation;  ///< select, ignore and severities
};

/// The settings of each file: those of the nearest settings file in its folder or above. What is
/// said once for all (rules, baseline, fail-on, min-severity, libclang) is taken from the root's.
class ProjectSettings {
 public:
  /// Reads the settings of `root`, an absolute folder.
  static Result<std::shared_ptr<ProjectSettings>> read(const std::string& root,
                                                       GivenSettings given);

  /// Those of the root.
  const Config& of_root() const { return root_settings_->config; }

  /// An error if what was given or the root's settings name a rule that is none of these. Settings
  /// files read from here on are held to it too.
  Status expect_rules(std::span<const Rule> rules);

  /// Those of a file, by its path relative to the root. The root's, if its own cannot be read: see
  /// status().
  const FileSettings& of(const std::string& file);

  /// Whether settings or --exclude leave out a file or folder, by its path relative to the root.
  bool excludes(const std::string& path, bool is_folder);

  /// A finding's severity as per-path settings have it; true if they ignore the finding.
  bool ignores(Finding& finding);

  /// What was wrong with the first settings file that could not be read.
  Status status() const { return status_; }

 private:
  using Shared = std::shared_ptr<const FileSettings>;
  explicit ProjectSettings(std::string root, GivenSettings given);
  std::string whole(const std::string& path) const;
  const Shared& of_folder(const std::string& folder);
  Result<Shared> load(const std::string& file) const;
  Status expect_known(const Config& config) const;

  std::string root_;
  GivenSettings given_;
  Gitignore given_exclude_;
  std::string working_folder_;
  Shared root_settings_;
  std::vector<Rule> rules_;
  std::map<std::string, Shared> by_folder_;  ///< absolute
  Status status_ = ok_status();
};

}  // namespace stallscope
