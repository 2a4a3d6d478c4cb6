// `stallscope lint`: stalls in source, without running it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/heap.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/lint_engine.h"
#include "cli/lint_fix.h"
#include "cli/lint_places.h"
#include "cli/lint_totals.h"
#include "cli/reading_notes.h"
#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/text.h"
#include "rule/edit.h"

namespace stallscope {
namespace {

struct LintOptions {
  LintSettings settings;
  std::string format = "text", output, stdin_filename;
  bool no_cache = false, exit_zero = false, statistics = false;
  bool timings = false, quiet = false;
  bool fix = false, unsafe_fixes = false, dry_run = false, add_ignore = false;
};

/// Where people read the notes, a macro that is no C++ by itself is no news.
constexpr double kMostlyRead = 0.9;

Result<std::string> render(const LintOptions& options, const Linted& linted) {
  const RuleResults& results = linted.results;
  if (options.format != "json")
    return render_findings(options.format, {results.findings, results.rules,
                                            reading_notes(linted.source, kMostlyRead)});
  Json out;
  out["schemaVersion"] = "1.0";
  out["findings"] = findings_json(results.findings);
  out["rules"] = rules_json(results.rules);
  out["stepLines"] = step_lines(linted.source);
  out["warnings"] = reading_notes(linted.source, 1);
  out["errors"] = Json::array();
  return dump(out, 2) + "\n";
}

Status write_out(const LintOptions& options, const std::string& text) {
  if (!options.output.empty() && options.output != "-") return write_file(options.output, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ok_status();
}

void print_timings(const AnalysisTimes& times) {
  const auto parse = static_cast<double>(times.parse_ns),
             facts = static_cast<double>(times.facts_ns);
  const double total = parse + facts;
  char text[160];
  std::snprintf(text, sizeof text, "parsing took %.2f s of %.2f s processor time in files, %.0f %%",
                parse / 1e9, total / 1e9, total > 0 ? 100 * parse / total : 0.0);
  print_message(text);
}

/// The findings of what is on disk now.
Status relint(const LintOptions& options, Linted& linted) {
  auto again = run_lint(options.settings);
  if (!again) return again.error();
  linted = std::move(*again);
  return ok_status();
}

/// Makes the fixes or shows them, which are the same; how many findings they are for.
Result<size_t> fix(const LintOptions& options, Linted& linted) {
  const size_t unsafe = count_fixable(linted, FixGrade::suggestion);
  const auto files = fix_all(options.settings, linted,
                             options.unsafe_fixes ? FixGrade::suggestion : FixGrade::safe);
  if (!files) return files.error();
  size_t count = 0;
  std::string difference;
  for (const ChangedFile& file : *files) {
    count += file.count;
    if (options.dry_run) difference += unified_diff(file.path, file.before, file.after);
  }
  const auto made =
      options.dry_run ? write_out(options, difference) : write_changed(linted, *files);
  if (!made) return made.error();
  print_message(options.dry_run ? counted(count, "finding") + " can be fixed"
                                : "fixed " + counted(count, "finding"));
  if (!options.unsafe_fixes && unsafe > 0)
    print_message("--unsafe-fixes would change " + counted(unsafe, "further line") +
                  ", and perhaps what is computed");
  if (!options.dry_run) {
    if (auto again = relint(options, linted); !again) return again.error();
  }
  return count;
}

/// Accepts what can be accepted. What is left stays in `linted`, to be reported; how much it is.
Result<size_t> add_ignores(const LintOptions& options, Linted& linted) {
  const std::vector<ChangedFile> files = ignore_all(linted);
  if (auto written = write_changed(linted, files); !written) return written.error();
  size_t count = 0;
  for (const ChangedFile& file : files) count += file.count;
  print_message("added comments that accept " + counted(count, "finding"));
  if (auto again = relint(options, linted); !again) return again.error();
  const size_t left = linted.results.findings.size();
  if (left > 0)
    print_message("no comment can stand where " + counted(left, "finding") +
                  (left == 1 ? " is" : " are") +
                  ": --baseline FILE --update-baseline accepts them");
  return left;
}

int lint(LintOptions options) {
  LintSettings& settings = options.settings;
  settings.cache = !options.no_cache;
  settings.progress = true;
  if (!options.stdin_filename.empty()) {
    if (options.fix || options.add_ignore)
      return fail({.message = "--fix and --add-ignore change files, not the standard input"});
    std::string& text = settings.given[options.stdin_filename].text;
    char buffer[64 * 1024];
    while (std::cin.read(buffer, sizeof buffer) || std::cin.gcount() > 0)
      text.append(buffer, static_cast<size_t>(std::cin.gcount()));
    if (std::cin.bad()) return fail({.message = "the standard input cannot be read"});
    settings.paths = {folder_above(options.stdin_filename)};
  }
  set_quiet(options.quiet);
  AnalysisTimes times;
  settings.times = &times;
  keep_heap();
  // Never given back: the process ends behind this, and to free a large project piece by piece
  // takes a thirtieth of its lint.
  static auto& linted = *new Result<Linted>(run_lint(settings));
  if (!linted) return fail(linted.error());
  if (options.timings) print_timings(times);
  if (options.fix) {
    const auto fixed = fix(options, *linted);
    if (!fixed) return fail(fixed.error());
    if (options.dry_run) return *fixed > 0 && !options.exit_zero ? kExitFindings : kExitClean;
  }
  size_t left = 0;
  if (options.add_ignore) {
    const auto not_accepted = add_ignores(options, *linted);
    if (!not_accepted) return fail(not_accepted.error());
    left = *not_accepted;
  }
  for (const Rule& rule : linted->rules) {
    if (rule.drops_source)
      print_message(rule.file +
                    " replaces a rule that looks at source and has no `source:`, so lint "
                    "finds nothing of it; give it one, or another id");
  }
  const bool nothing = linted->source.project.chosen.empty();
  if (nothing)
    print_message(
        fmt::format("there is nothing to lint: no Python, C++ or CUDA file and no notebook in {} "
                    "that .gitignore, settings or --exclude do not leave out",
                    fmt::join(settings.paths, ", ")));
  for (const std::string& message : linted->messages)
    print_message(with_cell(message, linted->source));
  std::vector<Finding>& findings = linted->results.findings;
  const bool for_people = options.format == "text" || options.format == "markdown";
  if (options.format != "json") {  // which has a place for them
    constexpr size_t kShown = 10;
    const std::vector<std::string> notes = reading_notes(linted->source, kMostlyRead);
    for (size_t i = 0; i < std::min(kShown, notes.size()); ++i) print_message(notes[i]);
    if (notes.size() > kShown)
      print_message("... and " + counted(notes.size() - kShown, "file") + " more");
  }
  join_advice(findings);
  std::string totals = totals_text(findings, linted->source);
  if (linted->left_out > 0)
    totals +=
        fmt::format("; {} below {} left out", linted->left_out, to_string(linted->min_severity));
  add_places(findings, linted->source, for_people);
  if (options.statistics) {
    const std::string text = statistics_text(findings, options.format == "json");
    if (auto written = write_out(options, text); !written) return fail(written.error());
    print_message(counted(step_lines(linted->source), "line") + " of step and forward code");
  } else {
    auto text = render(options, *linted);
    if (!text) return fail(text.error());
    if (auto written = write_out(options, *text); !written) return fail(written.error());
    if (!nothing && (options.format == "text" || !options.output.empty())) print_message(totals);
  }
  const bool fails = std::ranges::any_of(
      findings, [&](const Finding& f) { return !f.advice && f.severity >= linted->fail_on; });
  return (fails || left > 0) && !options.exit_zero ? kExitFindings : kExitClean;
}

const RegisterCommand lint_registration({
    .name = "lint",
    .summary = "Find stalls in C++, CUDA and Python source without running it",
    .examples = "Examples:\n"
                "  stallscope lint .                          the project in this folder\n"
                "  stallscope lint train.py --format sarif -o stalls.sarif\n"
                "  stallscope lint src --select item-in-step,explicit-sync --fail-on high\n"
                "  stallscope lint . --fix --dry-run              what the safe fixes would change",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto options = std::make_shared<LintOptions>();
      app.add_option("path", options->settings.paths, "Files and folders to lint")
          ->capture_default_str();
      app.add_option("--format", options->format,
                     "text, json, sarif, junit, github, gitlab or markdown")
          ->capture_default_str();
      app.add_option("-o,--output", options->output,
                     "Write there instead of to the standard output")
          ->type_name("FILE");
      app.add_option("--select", options->settings.select, "Only these rules (comma-separated)")
          ->type_name("IDS")
          ->allow_extra_args(false);
      app.add_option("--ignore", options->settings.ignore, "Not these rules (comma-separated)")
          ->type_name("IDS")
          ->allow_extra_args(false);
      app.add_option(
             "--exclude", options->settings.exclude,
             "Leave out what matches, named or not: globs as in .gitignore (comma-separated)")
          ->type_name("GLOBS")
          ->allow_extra_args(false);
      app.add_option("--rules", options->settings.rule_folders,
                     "A folder with rules of your own (repeatable)")
          ->type_name("DIR")
          ->allow_extra_args(false);
      app.add_option("--baseline", options->settings.baseline, "Accept the findings of this file")
          ->type_name("FILE");
      app.add_flag("--update-baseline", options->settings.update_baseline,
                   "Write the findings into the baseline; what it has of other files stays");
      app.add_option("--diff", options->settings.diff,
                     "Only findings that this revision does not have, or on lines changed since")
          ->type_name("REV");
      const CLI::IsMember severities({"info", "low", "medium", "high", "critical"});
      app.add_option("--min-severity", options->settings.min_severity,
                     "Leave out findings below this severity (default: info, none)")
          ->check(severities);
      app.add_option("--fail-on", options->settings.fail_on,
                     "Exit 1 on findings of this severity or above (default: medium)")
          ->check(severities);
      app.add_option("--stdin-filename", options->stdin_filename,
                     "Read the file from the standard input under this name")
          ->type_name("PATH");
      app.add_option("--max-file-size", options->settings.max_file_mb, "Skip larger files, in MB")
          ->check(CLI::Range(1, 1024))
          ->capture_default_str();
      app.add_option("--libclang", options->settings.libclang,
                     "Types of C++: auto, off or the library's path (default: auto)")
          ->type_name("auto|off|PATH");
      app.add_option("--libclang-budget", options->settings.libclang_budget,
                     "Seconds for the types of C++ (0: only those in the cache); the rest is read "
                     "without, and by the next run")
          ->type_name("SECONDS")
          ->capture_default_str();
      app.add_flag("--no-cache", options->no_cache, "Neither read nor write .stallscope-cache");
      app.add_flag("--timings", options->timings, "Say where the time of reading files went");
      app.add_flag("--statistics", options->statistics,
                   "Count findings by rule instead of showing them, in --format json too");
      auto* fix = app.add_flag("--fix", options->fix, "Make the fixes that are graded safe");
      app.add_flag("--unsafe-fixes", options->unsafe_fixes,
                   "With --fix: also those graded suggestion, which may change what is computed")
          ->needs(fix);
      app.add_flag("--dry-run", options->dry_run, "With --fix: show them as a diff instead")
          ->needs(fix);
      app.add_flag("--add-ignore", options->add_ignore,
                   "Accept every finding with a comment on its line");
      app.add_flag("--exit-zero", options->exit_zero, "Exit 0 whatever is found");
      app.add_flag("-q,--quiet", options->quiet, "Findings and errors only");
      return [options] { return lint(*options); };
    },
});

}  // namespace
}  // namespace stallscope
