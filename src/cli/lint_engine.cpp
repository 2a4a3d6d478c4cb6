#include "cli/lint_engine.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/lint_diff.h"
#include "cli/reading_notes.h"
#include "rule/baseline.h"
#include "rule/known_rules.h"
#include "rule/load.h"
#include "rule/outcome.h"
#include "rule/rank_findings.h"
#include "rule/suppress.h"
#include "source/syntax/notebook.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// The words of lists that are repeated or separated by commas.
std::vector<std::string> split_list(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& text : given) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      const std::string_view word = trimmed(std::string_view(text).substr(at, end - at));
      if (!word.empty()) out.emplace_back(word);
      at = end + 1;
    }
  }
  return out;
}

/// What is said once for all files: command line over the root's settings over defaults.
void take_settings_of_root(LintSettings& settings, const Config& root) {
  add_rule_folders(root, settings.rule_folders);
  if (settings.baseline.empty()) settings.baseline = root.baseline;
  if (settings.libclang.empty()) settings.libclang = root.libclang;
  if (settings.fail_on.empty() && root.fail_on) settings.fail_on = to_string(*root.fail_on);
  if (settings.min_severity.empty() && root.min_severity)
    settings.min_severity = to_string(*root.min_severity);
}

/// Whether lint could have found something of this id, a rule's or "*", so that a comment about it
/// is judged.
bool is_judged(const Linted& linted, const EvaluateOptions& options, const std::string& id) {
  const auto names = [&](const std::vector<std::string>& ids) {
    return std::ranges::find(ids, id) != ids.end();
  };
  if (id == "*") return options.select.empty() && options.ignore.empty();
  if (!options.select.empty() && !names(options.select)) return false;
  const auto rule = std::ranges::find(linted.rules, id, &Rule::id);
  return !names(options.ignore) && rule->has_source();
}

/// Takes out what comments in the source accept; says which accept nothing.
void suppress(Linted& linted) {
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
    const std::string place = unused.file + ":" + std::to_string(unused.line) + ": ";
    if (unused.id != "*" && !is_known_rule(unused.id, linted.rules))
      linted.messages.push_back(place + unknown_rule(unused.id, linted.rules));
    else if (is_judged(linted, linted.settings->of(unused.file).evaluation, unused.id))
      linted.messages.push_back(place + "this suppression of " + unused.id + " is not needed");
  }
  for (const auto& [file, suppressions] : by_file) {
    for (const SuppressionProblem& problem : suppressions.problems)
      linted.messages.push_back(file + ":" + std::to_string(problem.line) + ": " + problem.message);
  }
}

/// What the rules find, by the settings that hold for each file. Files of the same settings, most
/// often all, are evaluated together.
RuleResults evaluate_files(const Linted& linted) {
  std::map<const FileSettings*, std::vector<SourceFact>> groups;
  groups[&linted.settings->of("")];  // says of each rule whether it applies
  for (const SourceFact& fact : linted.source.facts)
    groups[&linted.settings->of(fact.file)].push_back(fact);
  RuleResults out;
  for (const auto& [settings, facts] : groups) {
    RuleResults some = evaluate(linted.rules, nullptr, facts, settings->evaluation);
    std::ranges::move(some.findings, std::back_inserter(out.findings));
    if (out.rules.empty()) out.rules = some.rules;
    // Both are of all rules, by id; the better known outcome comes first.
    for (size_t i = 0; i < out.rules.size(); ++i)
      if (some.rules[i].outcome < out.rules[i].outcome) out.rules[i] = some.rules[i];
  }
  rank_findings(out.findings);
  return out;
}

/// Analyses and takes out what comments and per-path settings accept.
Status find_all(const LintSettings& settings, const std::string& root, Linted& out) {
  SourceAnalysisOptions analysis;
  analysis.cache = settings.cache ? SourceCache::made : SourceCache::none;
  analysis.cache_root = settings.cache_root;
  analysis.project.root = root;
  analysis.project.excludes = [&](const std::string& path, bool is_folder) {
    return out.settings->excludes(path, is_folder);
  };
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
  out.results = evaluate_files(out);
  if (auto read = out.settings->status(); !read) return read;
  suppress(out);
  std::erase_if(out.results.findings, [&](Finding& f) { return out.settings->ignores(f); });
  return ok_status();
}

/// Whether findings that a file had may be in another one now: where it is gone, or was looked at
/// and has them no more. Where it was not, they are still in it.
Baseline::MayHaveMoved moved_in(const Project& project) {
  return [&project](const std::string& file) {
    return !std::ranges::binary_search(project.inputs, file, {}, &SourceInput::path) ||
           std::ranges::binary_search(project.chosen, file);
  };
}

/// Keeps what is on a line changed since the revision, and what the revision
/// did not have: a line may stall because of what was changed around it.
Status keep_new(const LintSettings& settings, Linted& out) {
  const Project& project = out.source.project;
  const auto folders = revised_folders(project.root, settings.diff);
  if (!folders) return folders.error();
  const auto changes = Changes::since(*folders);
  if (!changes) return changes.error();
  auto tree = OldTree::checkout(*folders);
  if (!tree) return tree.error();
  LintSettings then = settings;
  then.paths = {tree->root()};
  then.given.clear();
  then.cache_root = project.root;  // most files are what they were
  Linted old;
  old.settings = out.settings;  // a rule that is switched on finds nothing new
  old.rules = out.rules;
  if (auto found = find_all(then, tree->root(), old); !found) return found;
  Baseline known;
  for (const Finding& finding : old.results.findings) known.add(finding);
  std::vector<Finding> elsewhere, changed;
  for (Finding& finding : out.results.findings) {
    const bool is_old = known.take(finding);
    if (!finding.locations.empty() && changes->contains(finding.locations.front()))
      changed.push_back(std::move(finding));
    else if (!is_old)
      elsewhere.push_back(std::move(finding));
  }
  std::vector<Finding>& kept = out.results.findings = std::move(changed);
  const auto moved = moved_in(project);
  for (Finding& finding : elsewhere)
    if (!known.take_moved(finding, moved)) kept.push_back(std::move(finding));
  rank_findings(kept);
  return ok_status();
}

/// Accepts what is found, beside what the baseline accepts in files that were not looked at, and of
/// rules that this command line leaves out.
Status update_baseline(const LintSettings& settings, Linted& out) {
  const std::string& path = settings.baseline;
  std::vector<Finding>& findings = out.results.findings;
  EvaluateOptions asked;
  asked.select = split_list(settings.select);
  asked.ignore = split_list(settings.ignore);
  const auto is_left_out = [&](const std::string& id) {
    const auto rule = std::ranges::find(out.rules, id, &Rule::id);
    return rule != out.rules.end() && !is_selected(*rule, asked);
  };
  Baseline next;
  std::error_code ec;
  if (fs::exists(path, ec)) {
    const auto before = load_baseline(path);
    if (!before) return before.error();
    const auto looked_at = moved_in(out.source.project);
    for (const auto& [fingerprint, files] : before->accepted())
      for (const auto& [file, entry] : files)
        if (!looked_at(file) || is_left_out(entry.rule)) next.add(fingerprint, file, entry);
  }
  for (const Finding& finding : findings) next.add(finding);
  findings.clear();
  return write_file(path, baseline_text(next));
}

/// What cannot be asked for at once.
Status expect_sense(const LintSettings& settings) {
  if (!settings.update_baseline) return ok_status();
  if (settings.baseline.empty())
    return Error{.message = "--update-baseline: no baseline file is named",
                 .remedy = "Give --baseline FILE, or `baseline: FILE` in stallscope.yml."};
  if (!settings.diff.empty())
    return Error{.message = "--update-baseline accepts all findings, --diff shows the new ones",
                 .remedy = "Give one of them."};
  return ok_status();
}

Status narrow(const LintSettings& settings, Linted& out) {
  if (!settings.diff.empty()) {
    if (auto kept = keep_new(settings, out); !kept) return kept;
  }
  if (settings.baseline.empty()) return ok_status();
  if (settings.update_baseline) return update_baseline(settings, out);
  auto baseline = load_baseline(settings.baseline);
  if (!baseline) return baseline.error();
  apply_baseline(std::move(*baseline), out.results.findings, nullptr, moved_in(out.source.project));
  return ok_status();
}

}  // namespace

Result<Linted> run_lint(LintSettings settings) {
  Linted out;
  const auto root = project_root(settings.paths);
  if (!root) return root.error();
  auto own = ProjectSettings::read(*root, {.select = split_list(settings.select),
                                           .ignore = split_list(settings.ignore),
                                           .exclude = split_list(settings.exclude)});
  if (!own) return own.error();
  out.settings = std::move(*own);
  take_settings_of_root(settings, out.settings->of_root());
  if (auto sense = expect_sense(settings); !sense) return sense.error();
  auto rules = load_bundled_rules(settings.rule_folders);
  if (!rules) return rules.error();
  out.rules = std::move(*rules);
  if (auto known = out.settings->expect_rules(out.rules); !known) return known.error();
  if (const auto severity = severity_of(settings.fail_on)) out.fail_on = *severity;
  if (const auto severity = severity_of(settings.min_severity)) out.min_severity = *severity;
  if (auto found = find_all(settings, *root, out); !found) return found.error();
  if (auto read = expect_named_notebooks(out.source); !read) return read.error();
  if (auto narrowed = narrow(settings, out); !narrowed) return narrowed.error();
  out.left_out = std::erase_if(out.results.findings,
                               [&](const Finding& f) { return f.severity < out.min_severity; });
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
