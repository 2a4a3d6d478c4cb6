#include "cli/lint_engine.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/terminal.h"
#include "cli/lint_diff.h"
#include "rule/baseline.h"
#include "rule/load.h"
#include "rule/suppress.h"
#include "source/syntax/notebook.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_ids(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& text : given) {
    for (size_t at = 0; at <= text.size();) {
      size_t end = std::min(text.find(',', at), text.size());
      if (end > at) out.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return out;
}

/// Command line over project file over defaults.
Result<Config> settings_of(LintSettings& settings) {
  std::error_code ec;
  const fs::path first = settings.paths.empty() ? fs::path(".") : fs::path(settings.paths.front());
  const fs::path folder = fs::is_directory(first, ec) ? first : first.parent_path();
  const std::string file = find_config(folder.empty() ? "." : folder.string());
  if (file.empty()) return Config{};
  auto config = load_config(file);
  if (!config) return config;
  auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(settings.rule_folders, config->rule_folders);
  append(settings.exclude, config->exclude);
  append(settings.ignore, config->ignore);
  if (settings.select.empty()) settings.select = config->select;
  if (settings.baseline.empty()) settings.baseline = config->baseline;
  if (settings.libclang.empty()) settings.libclang = config->libclang;
  if (settings.fail_on.empty() && config->fail_on) settings.fail_on = to_string(*config->fail_on);
  return config;
}

/// Whether lint could have found something of this id, so that a comment about it is judged.
bool is_judged(const Linted& linted, const EvaluateOptions& options, const std::string& id) {
  const auto names = [&](const std::vector<std::string>& ids) {
    return std::ranges::find(ids, id) != ids.end();
  };
  if (id == "*") return options.select.empty() && options.ignore.empty();
  if (!options.select.empty() && !names(options.select)) return false;
  const auto rule = std::ranges::find(linted.rules, id, &Rule::id);
  return !names(options.ignore) && (rule == linted.rules.end() || rule->has_source());
}

/// Takes out what comments in the source accept; says which accept nothing.
void suppress(Linted& linted, const EvaluateOptions& options) {
  const SourceAnalysis& source = linted.source;
  std::map<std::string, Suppressions> by_file;
  for (const auto& file : source.index.files()) {
    if (!file->has_suppressions || !std::ranges::binary_search(source.project.chosen, file->path))
      continue;
    if (auto text = source_text(source, file->path))
      by_file[file->path] = parse_suppressions(*text, comment_style(file->path));
  }
  const SuppressionOutcome outcome = apply_suppressions(linted.results.findings, by_file);
  for (const UnusedSuppression& unused : outcome.unused) {
    if (!is_judged(linted, options, unused.id)) continue;
    linted.messages.push_back(unused.file + ":" + std::to_string(unused.line) +
                              ": this suppression of " + unused.id + " is not needed");
  }
  for (const auto& [file, suppressions] : by_file) {
    for (const SuppressionProblem& problem : suppressions.problems)
      linted.messages.push_back(file + ":" + std::to_string(problem.line) + ": " + problem.message);
  }
}

/// Analyses and takes out what comments and per-path settings accept.
Status find_all(const LintSettings& settings, Linted& out) {
  SourceAnalysisOptions analysis;
  analysis.cache = settings.cache ? SourceCache::made : SourceCache::none;
  analysis.cache_root = settings.cache_root;
  analysis.project.exclude = settings.exclude;
  analysis.times = settings.times;
  analysis.max_file_bytes = settings.max_file_mb << 20;
  analysis.given = settings.given;
  analysis.libclang = settings.libclang;
  analysis.types_within = std::chrono::seconds(settings.libclang_budget);
  analysis.when_late =
      "in the " + std::to_string(settings.libclang_budget) +
      " s of --libclang-budget: read by structure, findings there are less certain" +
      (settings.cache ? "; the next run goes on from here" : "");
  Progress progress;
  if (settings.progress) {
    analysis.types_progress = [&](size_t done, size_t all) {
      progress.update(
          "Types of C++, " + std::to_string(done) + " of " + std::to_string(all) + " files",
          static_cast<double>(done) / static_cast<double>(all));
    };
  }
  auto source = analyze_source(settings.paths, out.rules, analysis);
  if (!source) return source.error();
  progress.clear();
  out.source = std::move(*source);
  EvaluateOptions evaluation;
  evaluation.select = split_ids(settings.select);
  evaluation.ignore = split_ids(settings.ignore);
  evaluation.severities = out.config.severities;
  out.results = evaluate(out.rules, nullptr, out.source.facts, evaluation);
  suppress(out, evaluation);
  apply_path_settings(out.config, out.results.findings);
  return ok_status();
}

/// Keeps what is on a line changed since the revision, and what the revision
/// did not have: a line may stall because of what was changed around it.
Status keep_new(const LintSettings& settings, Linted& out) {
  const std::string& root = out.source.project.root;
  const auto changed = changed_lines(root, settings.diff);
  if (!changed) return changed.error();
  auto tree = OldTree::checkout(root, settings.diff);
  if (!tree) return tree.error();
  LintSettings then = settings;
  then.paths = {tree->root()};
  then.given.clear();
  then.cache_root = root;  // most files are what they were
  Linted old;
  old.config = out.config;
  old.rules = out.rules;
  if (auto found = find_all(then, old); !found) return found;
  std::map<std::string, unsigned> known;
  for (const Finding& finding : old.results.findings) ++known[finding.fingerprint];
  std::erase_if(out.results.findings, [&](const Finding& f) {
    if (!f.locations.empty() && is_changed(*changed, f.locations.front())) return false;
    const auto before = known.find(f.fingerprint);
    return before != known.end() && before->second-- > 0;
  });
  return ok_status();
}

Status narrow(const LintSettings& settings, Linted& out) {
  std::vector<Finding>& findings = out.results.findings;
  if (!settings.diff.empty()) {
    if (auto kept = keep_new(settings, out); !kept) return kept;
  }
  if (settings.baseline.empty()) return ok_status();
  if (settings.update_baseline) {
    auto written = write_file(settings.baseline, baseline_text(findings));
    findings.clear();
    return written;
  }
  auto baseline = load_baseline(settings.baseline);
  if (!baseline) return baseline.error();
  apply_baseline(*baseline, findings);
  return ok_status();
}

}  // namespace

Result<Linted> run_lint(LintSettings settings) {
  Linted out;
  auto config = settings_of(settings);
  if (!config) return config.error();
  out.config = std::move(*config);
  auto rules = load_bundled_rules(settings.rule_folders);
  if (!rules) return rules.error();
  out.rules = std::move(*rules);
  if (const auto severity = severity_of(settings.fail_on)) out.fail_on = *severity;
  if (auto found = find_all(settings, out); !found) return found.error();
  if (auto narrowed = narrow(settings, out); !narrowed) return narrowed.error();
  return out;
}

Result<std::string> source_text(const SourceAnalysis& source, const std::string& file) {
  const auto input = std::ranges::lower_bound(source.project.inputs, file, {}, &SourceInput::path);
  if (input == source.project.inputs.end() || input->path != file)
    return Error{.message = "is no file of the project", .file = file};
  auto text =
      input->on_disk.empty() ? Result<std::string>(input->bytes) : read_file(input->on_disk);
  if (text && language_of_file(file) == "notebook") return notebook_code(*text).code;
  return text;
}

const Rule* rule_of(const Linted& linted, const Finding& finding) {
  const auto found = std::ranges::find(linted.rules, finding.rule_id, &Rule::id);
  return found == linted.rules.end() ? nullptr : &*found;
}

const SourceFact* match_of(const Linted& linted, const Finding& finding) {
  if (finding.locations.empty()) return nullptr;
  const Place& place = finding.locations.front();
  const auto found = std::ranges::find_if(linted.source.facts, [&](const SourceFact& fact) {
    return fact.rule_id == finding.rule_id && fact.file == place.file &&
           fact.first_line == place.line && fact.column == place.column;
  });
  return found == linted.source.facts.end() ? nullptr : &*found;
}

}  // namespace stallscope
