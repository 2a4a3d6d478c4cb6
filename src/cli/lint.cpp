// `stallscope lint`: stalls in source, without running it.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/terminal.h"
#include "cli/command.h"
#include "cli/lint_engine.h"
#include "cli/lint_fix.h"
#include "cli/reading_notes.h"
#include "report/findings_format.h"
#include "report/json_parts.h"
#include "report/text.h"
#include "rule/edit.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct LintOptions {
  LintSettings settings;
  std::string format = "text", output, stdin_filename;
  bool no_cache = false, exit_zero = false, statistics = false;
  bool timings = false;
  bool fix = false, unsafe_fixes = false, dry_run = false, add_ignore = false;
};

/// "cell 3" and 2 of a line of a notebook's code.
struct CellLine {
  std::string cell;
  uint32_t line = 0;
};

CellLine cell_line(const SourceAnalysis& source, const Place& place) {
  const auto& inputs = source.project.inputs;
  const auto input = std::ranges::lower_bound(inputs, place.file, {}, &SourceInput::path);
  if (input == inputs.end() || input->path != place.file) return {};
  const auto& cells = source.index.files()[static_cast<size_t>(input - inputs.begin())];
  if (place.line == 0 || place.line > cells->lines_of_cells.size()) return {};
  const std::string& text = cells->lines_of_cells[place.line - 1];
  const size_t comma = text.find(", line ");
  if (comma == std::string::npos) return {};
  return {text.substr(0, comma), static_cast<uint32_t>(std::stoul(text.substr(comma + 7)))};
}

/// Places in a notebook as its reader counts: by cell, and by line within it.
void name_cells(Finding& finding, const SourceAnalysis& source, bool for_people) {
  for (Place& place : finding.locations) {
    const CellLine at = cell_line(source, place);
    if (at.line == 0) continue;
    if (&place == &finding.locations.front()) {
      Snippet& snippet = finding.snippet;
      // The line above a cell's first is another cell's.
      if (at.line == 1 && snippet.first_line < place.line && !snippet.lines.empty())
        snippet.lines.erase(snippet.lines.begin());
      snippet.first_line = at.line > 1 ? at.line - 1 : 1;
    }
    place.line = at.line;
    if (for_people)
      place.file += ":" + at.cell;
    else if (&place == &finding.locations.front())
      finding.message = at.cell + ", line " + std::to_string(at.line) + ": " + finding.message;
  }
}

/// A message that begins "n.ipynb:8: ", of a line of the notebook's code, as its reader counts.
std::string with_cell(const std::string& message, const SourceAnalysis& source) {
  constexpr std::string_view kEnding = ".ipynb:";
  const size_t ending = message.find(kEnding);
  if (ending == std::string::npos) return message;
  const size_t number = ending + kEnding.size();
  Place place{.file = message.substr(0, number - 1)};
  const auto [end, error] =
      std::from_chars(message.data() + number, message.data() + message.size(), place.line);
  const CellLine at = error == std::errc() ? cell_line(source, place) : CellLine();
  if (at.line == 0) return message;
  return place.file + ":" + at.cell + ":" + std::to_string(at.line) + std::string(end);
}

/// Paths of the project as the user would type them. Each is asked of the disk once: findings and
/// the calls that prove them name few files many times.
class TypedPaths {
 public:
  explicit TypedPaths(const SourceAnalysis& source) : root_(source.project.root) {}

  const std::string& of(const std::string& file) {
    const auto [known, is_new] = known_.try_emplace(file);
    std::error_code ec;
    if (is_new)
      known->second = fs::proximate(root_ / file, fs::current_path(ec), ec).generic_string();
    return known->second;
  }

 private:
  fs::path root_;
  std::map<std::string, std::string> known_;
};

/// "called from train() at a.ipynb:12" with the place as the findings' own are named.
std::string typed_link(const SourceAnalysis& source, TypedPaths& typed, const std::string& link) {
  constexpr std::string_view kAt = " at ";
  const size_t at = link.rfind(kAt), colon = link.rfind(':');
  if (at == std::string::npos || colon == std::string::npos || colon < at) return link;
  const size_t file = at + kAt.size();
  Place place{.file = link.substr(file, colon - file)};
  const char* const number = link.data() + colon + 1;
  std::from_chars(number, link.data() + link.size(), place.line);
  std::string shown = typed.of(place.file);
  if (const CellLine cell = cell_line(source, place); cell.line != 0) {
    shown += ":" + cell.cell;
    place.line = cell.line;
  }
  return link.substr(0, file) + shown + ":" + std::to_string(place.line);
}

/// The lines around each finding, and paths as the user would type them.
void add_places(std::vector<Finding>& findings, const SourceAnalysis& source, bool for_people) {
  constexpr uint32_t kAround = 1;
  TypedPaths typed(source);
  std::string file;
  std::vector<std::string> lines;
  for (Finding& finding : findings) {
    if (finding.locations.empty()) continue;
    const std::string relative = finding.locations.front().file;
    if (relative != file) {
      file = relative;
      lines.clear();
      const auto text = source_text(source, relative);
      for (size_t at = 0; text && at < text->size();) {
        size_t end = std::min(text->find('\n', at), text->size());
        lines.push_back(text->substr(at, end - at));
        at = end + 1;
      }
    }
    const uint32_t line = finding.locations.front().line;
    finding.snippet.first_line = line > kAround ? line - kAround : 1;
    for (uint32_t l = finding.snippet.first_line; l <= line + kAround && l <= lines.size(); ++l) {
      finding.snippet.lines.push_back(lines[l - 1]);
    }
    if (relative.ends_with(".ipynb")) name_cells(finding, source, for_people);
    for (Place& place : finding.locations) place.file = typed.of(place.file);
    for (std::string& link : finding.context_chain) link = typed_link(source, typed, link);
  }
}

/// Advice holds for the project, so it is shown once per rule, with all its places.
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

/// Findings by rule, the most frequent first.
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

/// Lines of the chosen files that run in every step or forward pass.
size_t step_lines(const SourceAnalysis& source) {
  size_t lines = 0;
  const auto& files = source.index.files();
  for (size_t f = 0; f < files.size(); ++f) {
    if (std::ranges::binary_search(source.project.chosen, files[f]->path))
      lines += source.index.step_lines(f);
  }
  return lines;
}

Result<std::string> render(const LintOptions& options, const Linted& linted) {
  const RuleResults& results = linted.results;
  if (options.format != "json")
    return render_findings(options.format, results.findings, results.rules);
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

std::string counted(size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
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
  AnalysisTimes times;
  settings.times = &times;
  auto linted = run_lint(settings);
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
  for (const std::string& message : linted->messages)
    print_message(with_cell(message, linted->source));
  std::vector<Finding>& findings = linted->results.findings;
  const bool for_people = options.format == "text" || options.format == "markdown";
  if (options.format != "json") {  // which has a place for them
    constexpr size_t kShown = 10;
    constexpr double kMostly = 0.9;  ///< a macro that is no C++ by itself is no news
    const std::vector<std::string> notes = reading_notes(linted->source, kMostly);
    for (size_t i = 0; i < std::min(kShown, notes.size()); ++i) print_message(notes[i]);
    if (notes.size() > kShown)
      print_message("... and " + counted(notes.size() - kShown, "file") + " more");
  }
  add_places(findings, linted->source, for_people);
  join_advice(findings);
  if (options.statistics) {
    const std::string text = statistics_text(findings, options.format == "json");
    if (auto written = write_out(options, text); !written) return fail(written.error());
    print_message(counted(step_lines(linted->source), "line") + " of step and forward code");
  } else {
    auto text = render(options, *linted);
    if (!text) return fail(text.error());
    if (auto written = write_out(options, *text); !written) return fail(written.error());
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
      app.add_option("--fail-on", options->settings.fail_on,
                     "Exit 1 on findings of this severity or above (default: medium)")
          ->check(CLI::IsMember({"info", "low", "medium", "high", "critical"}));
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
      return [options] { return lint(*options); };
    },
});

}  // namespace
}  // namespace stallscope
