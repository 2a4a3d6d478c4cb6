#include "cli/lint_fix.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "rule/comments.h"
#include "rule/edit.h"
#include "rule/suppress.h"
#include "source/extract/file_facts.h"
#include "source/syntax/ast.h"

namespace stallscope {
namespace {

/// Where line `number` (1-based) begins and ends, without its line end.
struct LineSpan {
  size_t first = 0, last = 0;
};

std::optional<LineSpan> line_span(std::string_view text, uint32_t number) {
  LineSpan out;
  for (uint32_t at = 1; at < number; ++at) {
    const size_t end = text.find('\n', out.first);
    if (end == std::string_view::npos) return std::nullopt;
    out.first = end + 1;
  }
  out.last = std::min(text.find('\n', out.first), text.size());
  while (out.last > out.first && text[out.last - 1] == '\r') --out.last;
  return out;
}

bool accepts(std::string_view text, CommentStyle style, uint32_t line, std::string_view rule_id) {
  const Suppressions found = parse_suppressions(text, style);
  return std::ranges::any_of(found.list,
                             [&](const Suppression& s) { return s.covers(rule_id, line); });
}

/// Bytes that do not parse; 0 for launch scripts and configuration, which have no grammar here.
uint32_t unreadable(std::string_view text, std::string_view path) {
  const std::string_view language = language_of_file(path);
  if (language == "config") return 0;
  const bool python = language != "cpp" && language != "cuda";
  return parse_source(text, python ? Grammar::python : Grammar::cuda).error_bytes;
}

/// The line of a comment that accepts something at `line` already; 0 when there is none.
uint32_t accepting_comment(std::string_view text, CommentStyle style, uint32_t line) {
  for (const Suppression& known : parse_suppressions(text, style).list) {
    if (!known.whole_file && known.first_line <= line && line <= known.last_line) return known.line;
  }
  return 0;
}

/// Applies `change` to each finding's file in turn, from the last line up, so
/// that what is above keeps its place.
template <typename Change>
std::vector<ChangedFile> change_all(const Linted& linted, Change change) {
  std::map<std::string, std::vector<const Finding*>> by_file;
  for (const Finding& finding : linted.results.findings) {
    // A notebook's code is not its file's text.
    if (!finding.locations.empty() && !finding.locations.front().file.ends_with(".ipynb"))
      by_file[finding.locations.front().file].push_back(&finding);
  }
  std::vector<ChangedFile> out;
  for (auto& [path, findings] : by_file) {
    auto text = source_text(linted.source, path);
    if (!text) continue;
    std::ranges::stable_sort(findings, [](const Finding* a, const Finding* b) {
      const Place &x = a->locations.front(), &y = b->locations.front();
      return std::pair(x.line, x.column) > std::pair(y.line, y.column);
    });
    ChangedFile file{.path = path, .before = *text, .after = std::move(*text)};
    for (const Finding* finding : findings) {
      if (auto changed = change(*finding, file)) {
        file.after = std::move(*changed);
        ++file.count;
      }
    }
    if (file.count > 0) out.push_back(std::move(file));
  }
  return out;
}

FixGrade grade_of(const Linted& linted, const Finding& finding) {
  const Rule* rule = rule_of(linted, finding);
  return rule && rule->fix.applicability == Applicability::safe ? FixGrade::safe
                                                                : FixGrade::suggestion;
}

/// One fix for each place of a rule.
std::vector<ChangedFile> fix_once(const Linted& linted, FixGrade most) {
  return change_all(
      linted, [&](const Finding& finding, const ChangedFile& file) -> std::optional<std::string> {
        if (grade_of(linted, finding) > most) return std::nullopt;
        return fixed(linted, finding, file.after);
      });
}

}  // namespace

std::optional<std::string> fixed(const Linted& linted, const Finding& finding,
                                 std::string_view text) {
  const Rule* rule = rule_of(linted, finding);
  const SourceFact* match = match_of(linted, finding);
  if (!rule || !match || match->language != "python") return std::nullopt;
  std::vector<TextEdit> edits = edits_of(rule->edit, text, {match->first_byte, match->last_byte});
  if (edits.empty()) return std::nullopt;
  return apply_edits(text, std::move(edits));
}

std::optional<std::string> with_ignore(std::string_view text, std::string_view path, uint32_t line,
                                       std::string_view rule_id) {
  if (path.ends_with(".json")) return std::nullopt;  // most readers of JSON take no comments
  const CommentStyle style = comment_style(path);
  const LineRange joined = joined_lines(text, style, line);
  const auto first = line_span(text, joined.first);
  if (!first) return std::nullopt;
  const uint32_t errors = unreadable(text, path);
  const auto inserted = [&](size_t at, const std::string& what) -> std::optional<std::string> {
    std::string out(text);
    out.insert(at, what);
    const uint32_t moved = line + static_cast<uint32_t>(std::ranges::count(what, '\n'));
    if (!accepts(out, style, moved, rule_id) || unreadable(out, path) > errors) return std::nullopt;
    return out;
  };
  // A comment that accepts something here accepts one thing more.
  if (const uint32_t known = accepting_comment(text, style, line)) {
    const LineSpan span = *line_span(text, known);
    const std::string_view there = text.substr(span.first, span.last - span.first);
    const size_t close = there.find(']', there.rfind("stallscope:"));
    if (close != std::string_view::npos)
      return inserted(span.first + close, ", " + std::string(rule_id));
  }
  const std::string sign = style == CommentStyle::slashes ? "//" : "#";
  const std::string comment = sign + " stallscope: ignore[" + std::string(rule_id) + "]";
  if (joined.first == joined.last) {
    if (auto out = inserted(first->last, "  " + comment)) return out;
  }
  const std::string_view above = text.substr(first->first, first->last - first->first);
  const std::string indent(above.substr(0, std::min(above.find_first_not_of(" \t"), above.size())));
  const std::string_view end = text.substr(first->last).starts_with('\r') ? "\r\n" : "\n";
  return inserted(first->first, indent + comment + std::string(end));
}

size_t count_fixable(const Linted& linted, FixGrade grade) {
  size_t count = 0;
  (void)change_all(linted, [&](const Finding& finding, const ChangedFile& file) {
    if (grade_of(linted, finding) == grade && fixed(linted, finding, file.before)) ++count;
    return std::optional<std::string>();
  });
  return count;
}

Result<std::vector<ChangedFile>> fix_all(const LintSettings& settings, const Linted& linted,
                                         FixGrade most) {
  constexpr unsigned kPasses = 100;  // as many as ruff makes; each leaves less to do
  std::map<std::string, ChangedFile> all;
  LintSettings again = settings;
  std::vector<ChangedFile> made = fix_once(linted, most);
  for (unsigned pass = 0; pass < kPasses && !made.empty(); ++pass) {
    for (ChangedFile& file : made) {
      again.given[(std::filesystem::path(linted.source.project.root) / file.path).string()] = {
          .text = file.after};
      const auto [known, is_new] = all.try_emplace(file.path, file);
      if (is_new) continue;
      known->second.after = std::move(file.after);
      known->second.count += file.count;
    }
    const auto now = run_lint(again);
    if (!now) return now.error();
    made = fix_once(*now, most);
  }
  std::vector<ChangedFile> out;
  for (auto& [path, file] : all) out.push_back(std::move(file));
  return out;
}

std::vector<ChangedFile> ignore_all(const Linted& linted) {
  return change_all(linted, [](const Finding& finding, const ChangedFile& file) {
    return with_ignore(file.after, file.path, finding.locations.front().line, finding.rule_id);
  });
}

Status write_changed(const Linted& linted, std::span<const ChangedFile> files) {
  for (const ChangedFile& file : files) {
    std::error_code ec;
    // A link stays a link: what it leads to is written.
    const std::filesystem::path whole = std::filesystem::weakly_canonical(
        std::filesystem::path(linted.source.project.root) / file.path, ec);
    const auto mode = std::filesystem::status(whole, ec).permissions();
    if (auto written = write_file(whole.string(), file.after); !written) return written;
    if (!ec) std::filesystem::permissions(whole, mode, ec);
  }
  return ok_status();
}

}  // namespace stallscope
