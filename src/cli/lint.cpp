// `stallscope lint`: stalls in source, without running it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/source_analysis.h"
#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/text.h"
#include "rule/baseline.h"
#include "rule/config.h"
#include "rule/evaluate.h"
#include "rule/load.h"
#include "rule/suppress.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct LintOptions {
  std::vector<std::string> paths = {"."};
  std::vector<std::string> rule_folders, select, ignore, exclude;
  std::string format = "text", output, fail_on, stdin_filename;
  std::string baseline, diff;
  bool no_cache = false, exit_zero = false, statistics = false, update_baseline = false;
  uint64_t max_file_mb = 4;
};

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

/// The lines around each finding, and paths as the user would type them.
void add_places(std::vector<Finding>& findings, const SourceAnalysis& source) {
  std::error_code ec;
  std::string file, text;
  std::vector<std::string> lines;
  for (Finding& finding : findings) {
    if (finding.locations.empty()) continue;
    const std::string relative = finding.locations.front().file;
    if (relative != file) {
      file = relative;
      lines.clear();
      auto input =
          std::ranges::lower_bound(source.project.inputs, relative, {}, &SourceInput::path);
      if (input != source.project.inputs.end()) {
        auto read =
            input->on_disk.empty() ? Result<std::string>(input->bytes) : read_file(input->on_disk);
        text = read ? std::move(read.value()) : std::string();
        for (size_t at = 0; at < text.size();) {
          size_t end = std::min(text.find('\n', at), text.size());
          lines.push_back(text.substr(at, end - at));
          at = end + 1;
        }
      }
    }
    constexpr uint32_t kAround = 1;
    const uint32_t line = finding.locations.front().line;
    finding.snippet.first_line = line > kAround ? line - kAround : 1;
    for (uint32_t l = finding.snippet.first_line; l <= line + kAround && l <= lines.size(); ++l) {
      finding.snippet.lines.push_back(lines[l - 1]);
    }
    for (Place& place : finding.locations) {
      const fs::path whole = fs::path(source.project.root) / place.file;
      place.file = fs::proximate(whole, fs::current_path(ec), ec).generic_string();
    }
  }
}

void print_statistics(const std::vector<Finding>& findings) {
  std::map<std::string, size_t> counts;
  for (const Finding& finding : findings) ++counts[finding.rule_id];
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [id, count] : counts) sorted.emplace_back(count, id);
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [count, id] : sorted) std::printf("%6zu  %s\n", count, id.c_str());
}

/// Takes out what comments in the source accept; says which accept nothing.
void suppress(std::vector<Finding>& findings, const SourceAnalysis& source) {
  std::map<std::string, Suppressions> by_file;
  for (const auto& file : source.index.files()) {
    if (!file->has_suppressions || !std::ranges::binary_search(source.project.chosen, file->path))
      continue;
    auto input =
        std::ranges::lower_bound(source.project.inputs, file->path, {}, &SourceInput::path);
    auto text =
        input->on_disk.empty() ? Result<std::string>(input->bytes) : read_file(input->on_disk);
    if (text) by_file[file->path] = parse_suppressions(*text, comment_style(file->path));
  }
  const SuppressionOutcome outcome = apply_suppressions(findings, by_file);
  for (const UnusedSuppression& unused : outcome.unused) {
    print_message(unused.file + ":" + std::to_string(unused.line) + ": this suppression of " +
                  unused.id + " is not needed");
  }
  for (const auto& [file, suppressions] : by_file) {
    for (const SuppressionProblem& problem : suppressions.problems) {
      print_message(file + ":" + std::to_string(problem.line) + ": " + problem.message);
    }
  }
}

/// One argument of a shell command, quoted.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Result<std::string> command_output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return Error{.message = "cannot run: " + command};
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  if (pclose(pipe) != 0)
    return Error{.message = "failed: " + command, .remedy = "Check the revision given to --diff."};
  return out;
}

/// Lines that changed since a revision, by file relative to the repository's root.
Result<std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>>> changed_lines(
    const std::string& root, const std::string& revision) {
  std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>> out;
  const std::string command = "git -C " + quoted(root) +
                              " diff -U0 --no-color --no-ext-diff --relative " + quoted(revision) +
                              " --";
  auto text = command_output(command);
  if (!text) return text.error();
  std::string file;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line = std::string_view(*text).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("+++ b/")) file = line.substr(6);
    if (!line.starts_with("@@ ")) continue;
    const size_t plus = line.find('+');
    if (plus == std::string_view::npos) continue;
    unsigned first = 0, count = 1;
    const std::string range(line.substr(plus + 1, line.find(' ', plus) - plus - 1));
    if (std::sscanf(range.c_str(), "%u,%u", &first, &count) >= 1 && count > 0)
      out[file].emplace_back(first, first + count - 1);
  }
  return out;
}

/// Advice holds for the project, so it is shown once per rule.
void keep_one_advice(std::vector<Finding>& findings) {
  std::set<std::string> shown;
  std::erase_if(findings,
                [&](const Finding& f) { return f.advice && !shown.insert(f.rule_id).second; });
}

Result<std::string> render(const LintOptions& options, const RuleResults& results,
                           const SourceAnalysis& source) {
  if (options.format != "json")
    return render_findings(options.format, results.findings, results.rules);
  Json out;
  out["schemaVersion"] = "1.0";
  out["findings"] = findings_json(results.findings);
  out["rules"] = rules_json(results.rules);
  Json warnings = Json::array();
  for (const auto& file : source.index.files()) {
    if (!file->note.empty()) warnings.push_back(file->path + ": " + file->note);
    if (file->readable < 1) {
      warnings.push_back(file->path + ": " +
                         std::to_string(static_cast<int>(100 * file->readable)) +
                         " % of it could be parsed");
    }
  }
  out["warnings"] = warnings;
  out["errors"] = Json::array();
  return dump(out, 2) + "\n";
}

/// Keeps findings on lines that changed since `revision`.
Status keep_changed(std::vector<Finding>& findings, const std::string& root,
                    const std::string& revision) {
  const auto changed = changed_lines(root, revision);
  if (!changed) return changed.error();
  std::erase_if(findings, [&](const Finding& f) {
    if (f.locations.empty()) return true;
    const auto file = changed->find(f.locations.front().file);
    if (file == changed->end()) return true;
    return std::ranges::none_of(file->second, [&](const auto& range) {
      return range.first <= f.locations.front().line && f.locations.front().line <= range.second;
    });
  });
  return ok_status();
}

/// Command line over project file over defaults.
Result<Config> settings_of(LintOptions& options) {
  std::error_code ec;
  const fs::path first = options.paths.empty() ? fs::path(".") : fs::path(options.paths.front());
  const std::string file =
      find_config(fs::is_directory(first, ec) ? first.string() : first.parent_path().string());
  if (file.empty()) return Config{};
  auto config = load_config(file);
  if (!config) return config;
  auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(options.rule_folders, config->rule_folders);
  append(options.exclude, config->exclude);
  append(options.ignore, config->ignore);
  if (options.select.empty()) options.select = config->select;
  if (options.baseline.empty()) options.baseline = config->baseline;
  if (options.fail_on.empty() && config->fail_on) options.fail_on = to_string(*config->fail_on);
  return config;
}

int write_out(const LintOptions& options, const std::string& text) {
  if (options.output.empty() || options.output == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitClean;
  }
  auto written = write_file(options.output, text);
  if (!written) print_error(written.error());
  return written ? kExitClean : kExitCannot;
}

/// What is left of the findings once comments, settings, baseline and --diff have spoken.
Status narrow(const LintOptions& options, const Config& config, const SourceAnalysis& source,
              std::vector<Finding>& findings) {
  suppress(findings, source);
  apply_path_settings(config, findings);
  if (!options.diff.empty()) {
    if (auto kept = keep_changed(findings, source.project.root, options.diff); !kept) return kept;
  }
  if (options.baseline.empty()) return ok_status();
  if (options.update_baseline) {
    auto written = write_file(options.baseline, baseline_text(findings));
    findings.clear();
    return written;
  }
  auto baseline = load_baseline(options.baseline);
  if (!baseline) return baseline.error();
  apply_baseline(*baseline, findings);
  return ok_status();
}

int lint(LintOptions options) {
  const auto config = settings_of(options);
  if (!config) return print_error(config.error()), kExitCannot;
  auto rules = load_bundled_rules(options.rule_folders);
  if (!rules) return print_error(rules.error()), kExitCannot;
  const auto fail_on = severity_of(options.fail_on.empty() ? "medium" : options.fail_on);
  SourceAnalysisOptions analysis;
  analysis.cache = !options.no_cache;
  analysis.exclude = options.exclude;
  analysis.max_file_bytes = options.max_file_mb << 20;
  std::vector<std::string> paths = options.paths;
  if (!options.stdin_filename.empty()) {
    analysis.stdin_path = options.stdin_filename;
    analysis.stdin_bytes.assign(std::istreambuf_iterator<char>(std::cin), {});
    const std::string folder = fs::path(options.stdin_filename).parent_path().string();
    paths = {folder.empty() ? "." : folder};
  }
  auto source = analyze_source(paths, *rules, analysis);
  if (!source) return print_error(source.error()), kExitCannot;
  EvaluateOptions evaluation;
  evaluation.select = split_ids(options.select);
  evaluation.ignore = split_ids(options.ignore);
  evaluation.severities = config->severities;
  RuleResults results = evaluate(*rules, nullptr, source->facts, evaluation);
  keep_one_advice(results.findings);
  if (auto narrowed = narrow(options, *config, *source, results.findings); !narrowed) {
    return print_error(narrowed.error()), kExitCannot;
  }
  add_places(results.findings, *source);
  if (options.statistics) {
    print_statistics(results.findings);
  } else {
    auto text = render(options, results, *source);
    if (!text) return print_error(text.error()), kExitCannot;
    if (write_out(options, *text) != kExitClean) return kExitCannot;
  }
  const bool fails = std::ranges::any_of(
      results.findings, [&](const Finding& f) { return !f.advice && f.severity >= *fail_on; });
  return fails && !options.exit_zero ? kExitFindings : kExitClean;
}

const RegisterCommand registration({
    .name = "lint",
    .summary = "Find stalls in C++, CUDA and Python source without running it",
    .examples = "Examples:\n"
                "  stallscope lint .                          the project in this folder\n"
                "  stallscope lint train.py --format sarif -o stalls.sarif\n"
                "  stallscope lint src --select item-in-step,explicit-sync --fail-on high",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<LintOptions>();
      app.add_option("path", options->paths, "Files and folders to lint")->capture_default_str();
      app.add_option("--format", options->format,
                     "text, json, sarif, junit, github, gitlab or markdown")
          ->capture_default_str();
      app.add_option("-o,--output", options->output,
                     "Write there instead of to the standard output")
          ->type_name("FILE");
      app.add_option("--select", options->select, "Only these rules (comma-separated)")
          ->type_name("IDS");
      app.add_option("--ignore", options->ignore, "Not these rules (comma-separated)")
          ->type_name("IDS");
      app.add_option("--exclude", options->exclude, "Leave out files that match this glob")
          ->type_name("GLOB");
      app.add_option("--rules", options->rule_folders, "A folder with rules of your own")
          ->type_name("DIR");
      app.add_option("--baseline", options->baseline, "Accept the findings of this file")
          ->type_name("FILE");
      app.add_flag("--update-baseline", options->update_baseline,
                   "Write the findings into the baseline");
      app.add_option("--diff", options->diff, "Only findings on lines changed since this revision")
          ->type_name("REV");
      app.add_option("--fail-on", options->fail_on,
                     "Exit 1 on findings of this severity or above (default: medium)")
          ->check(CLI::IsMember({"info", "low", "medium", "high", "critical"}));
      app.add_option("--stdin-filename", options->stdin_filename,
                     "Read the file from the standard input under this name")
          ->type_name("PATH");
      app.add_option("--max-file-size", options->max_file_mb, "Skip larger files, in MB")
          ->capture_default_str();
      app.add_flag("--no-cache", options->no_cache, "Neither read nor write .stallscope-cache");
      app.add_flag("--statistics", options->statistics, "Count findings by rule");
      app.add_flag("--exit-zero", options->exit_zero, "Exit 0 whatever is found");
      return [options] { return lint(*options); };
    },
});

}  // namespace
}  // namespace stallscope
