#include "source/syntax/parsed_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/text.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr size_t kLongRun = 64;  ///< lines of comments that may stay: headers of files

constexpr std::string_view kOurs = "<<<<<<< ", kBase = "||||||| ", kTheirs = ">>>>>>> ",
                           kMiddle = "=======";

/// The line at `at`, with its end.
std::string_view line_at(std::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return text.substr(at, end == std::string_view::npos ? end : end - at + 1);
}

std::string_view without_indent(std::string_view line) {
  size_t indent = 0;
  while (indent < line.size() && (line[indent] == ' ' || line[indent] == '\t')) ++indent;
  return line.substr(indent);
}

class ParsedText {
 public:
  explicit ParsedText(std::string_view source) : source_(source) {}

  void blank_zeros() {
    for (size_t at = source_.find('\0'); at != std::string_view::npos;
         at = source_.find('\0', at + 1))
      blank(at, at + 1);
  }

  /// Both sides of a conflict are code; what a third one says was there before is not.
  void blank_conflicts() {
    if (conflict_line(source_) == 0) return;
    size_t base = std::string_view::npos;
    for (size_t at = 0; at < source_.size();) {
      const std::string_view line = line_at(source_, at);
      const size_t end = at + line.size();
      if (line.starts_with(kBase)) base = at;
      if (line.starts_with(kOurs) || line.starts_with(kTheirs)) blank(at, end);
      if (line.starts_with(kMiddle) && line.find_first_not_of("=\r\n") == std::string_view::npos) {
        blank(std::min(base, at), end);
        base = std::string_view::npos;
      }
      at = end;
    }
  }

  void blank_comments() {
    size_t first = 0, lines = 0;
    for (size_t at = 0; at < source_.size();) {
      const std::string_view line = line_at(source_, at), text = without_indent(line);
      // A string over several lines may end on one that begins like a comment.
      const bool comment = text.starts_with('#') && line.find("\"\"\"") == std::string_view::npos &&
                           line.find("'''") == std::string_view::npos;
      if (comment && lines++ == 0) first = at;
      if (!comment) {
        if (lines > kLongRun) blank(first, at);
        lines = 0;
      }
      at += line.size();
    }
    if (lines > kLongRun) blank(first, source_.size());
  }

  /// What `#if 0` and `#ifdef DEBUG` take out, up to their #else, #elif or #endif; the #else of
  /// `#ifdef USE_CUDA`, which is for builds without a device; and, behind `#define VARIANT 3`, all
  /// that `#if VARIANT == 1` and its like leave out. Inside an expression the first part stays, as
  /// if nothing asked for it.
  void blank_unused() {
    enum class Part : uint8_t {
      other,
      unused,
      rest,
      used,
      behind_used,
      device,
      host,
      inside,
      behind_inside
    };
    struct Open {
      Part part;
      size_t first;
      bool by_default = false;  ///< in `#ifndef NAME`: a header, or what nobody else has defined
    };
    std::vector<Open> open;
    const auto is_unused = [](const Open& o) {
      return o.part == Part::unused || o.part == Part::behind_used || o.part == Part::behind_inside;
    };
    for (size_t at = 0; at < source_.size();) {
      const std::string_view line = line_at(source_, at);
      const size_t first = at, end = at + line.size();
      at = end;
      std::string_view text = without_indent(line);
      if (!text.starts_with('#')) continue;
      text = without_indent(text.substr(1));
      if (text.starts_with("if")) {
        const bool nested = std::ranges::any_of(open, is_unused);
        const bool inside = is_inside_expression(first, end);
        open.push_back({nested                ? Part::other
                        : is_off(text)        ? Part::unused
                        : inside              ? Part::inside
                        : is_on(text)         ? Part::used
                        : is_for_device(text) ? Part::device
                                              : Part::other,
                        first, text.starts_with("ifndef")});
        if (open.back().part == Part::inside) blank(first, end);
        continue;
      }
      if (text.starts_with("define") || text.starts_with("undef"))
        note_definition(text, std::ranges::all_of(open, [](const Open& o) {
                          return o.by_default || o.part == Part::used;
                        }));
      if (open.empty()) continue;
      Open& top = open.back();
      if (text.starts_with("el")) top.by_default = false;
      if (top.part == Part::inside && text.starts_with("el")) {
        top = {Part::behind_inside, first, false};
      } else if (top.part == Part::used && (text.starts_with("else") || text.starts_with("elif"))) {
        top = {Part::behind_used, first, false};
      } else if (text.starts_with("else") && top.part == Part::unused) {
        blank(top.first, end);
        top.part = Part::rest;
      } else if (text.starts_with("else") && top.part == Part::device) {
        top = {Part::host, end, false};
      } else if (text.starts_with("elif ") && top.part == Part::unused) {
        blank(top.first, first);
        const std::optional<int> value = value_of(text.substr(2));
        if (value == 0) {
          top.first = first;
          continue;
        }
        replace(static_cast<size_t>(text.data() - source_.data()), "if  ");
        top.part = value ? Part::used : Part::other;
      } else if (text.starts_with("endif")) {
        if (top.part == Part::host || top.part == Part::behind_used) blank(top.first, first);
        if (top.part == Part::unused) blank(top.first, end);
        if (top.part == Part::rest || top.part == Part::inside) blank(first, end);
        if (top.part == Part::behind_inside) blank(top.first, end);
        open.pop_back();
      }
    }
  }

  /// kernel << <grid, block >> >(x): what some editors make of <<< and >>>.
  void join_launches() {
    constexpr size_t kLongest = 400;  ///< from one bracket to the other
    for (size_t at = source_.find("<< <"); at != std::string_view::npos;
         at = source_.find("<< <", at + 1)) {
      const std::string_view inside = source_.substr(at + 4, kLongest);
      const size_t close = inside.find(">>");
      if (close == std::string_view::npos || inside.substr(0, close).find(';') != inside.npos)
        continue;
      const size_t end = close + (inside.substr(close).starts_with(">> >") ? 4 : 3);
      if (!inside.substr(close).starts_with(">> >") && !inside.substr(close).starts_with(">>>"))
        continue;
      if (!without_indent(inside.substr(std::min(end, inside.size()))).starts_with('(')) continue;
      replace(at, "<<< ");
      if (end == close + 4) replace(at + 4 + close, ">>> ");
    }
  }

  std::string take() { return std::move(out_); }

 private:
  /// Whether a directive whose line is [first, end) stands between the parts of an expression,
  /// where the grammar has none: behind `f(a,`, or between `("a")` and `("b")` of a chain of calls.
  bool is_inside_expression(size_t first, size_t end) const {
    const size_t before = source_.find_last_not_of(" \t\r\n", first == 0 ? 0 : first - 1);
    const size_t behind = source_.find_first_not_of(" \t\r\n", end);
    if (first == 0 || before == std::string_view::npos || behind == std::string_view::npos)
      return false;
    const char last = source_[before], next = source_[behind];
    return last == ',' || last == '(' ||
           (last == ')' && (next == '(' || next == '.' || source_.substr(behind, 2) == "<<"));
  }

  /// "if 0", and what may stand behind it.
  static bool is_if_zero(std::string_view directive) {
    const std::string_view value = without_indent(directive.substr(2));
    return value.starts_with('0') && value.size() < directive.size() - 2 &&
           (value.size() == 1 ||
            std::string_view(" \t\r\n/").find(value[1]) != std::string_view::npos);
  }

  /// "ifdef MEASURE_TIME", "if defined(DEBUG)", "if VERBOSE > 0", "ifndef NDEBUG" of a name that
  /// the file does not define: compiled where somebody looks for a fault or takes the time.
  bool is_off(std::string_view directive) const {
    if (is_if_zero(directive) || value_of(directive) == 0) return true;
    const std::string_view name = only_name(directive);
    if (directive.starts_with("ifndef")) return name == "NDEBUG";
    return names_debugging(name) &&
           source_.find("define " + std::string(name)) == std::string_view::npos;
  }

  /// "3", and what may stand behind it.
  static std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || !ends_there(text.substr(static_cast<size_t>(end - text.data()))))
      return {};
    return value;
  }

  /// Whether only a remark follows.
  static bool ends_there(std::string_view rest) {
    rest = trimmed(rest);
    return rest.empty() || rest.starts_with("//") || rest.starts_with("/*");
  }

  bool is_on(std::string_view directive) const {
    const std::optional<int> value = value_of(directive);
    return value && *value != 0;
  }

  /// What "if VARIANT == 3" or "if VARIANT" asks for, of a name that the file defines once, as a
  /// number.
  std::optional<int> value_of(std::string_view directive) const {
    if (!directive.starts_with("if")) return {};
    const std::string_view text = without_indent(directive.substr(2));
    if (directive.starts_with("ifdef") || directive.starts_with("ifndef")) return {};
    const auto end = std::ranges::find_if_not(text, is_identifier_char);
    const std::string_view name(text.begin(), end);
    if (name.empty()) return {};
    const std::string_view rest = trimmed(std::string_view(end, text.end()));
    const auto known = defined_.find(name);
    if (known == defined_.end() || !known->second) return {};
    if (ends_there(rest)) return known->second;
    const bool equal = rest.starts_with("==");
    if (!equal && !rest.starts_with("!=")) return {};
    const std::optional<int> other = number(trimmed(rest.substr(2)));
    if (!other) return {};
    return (known->second == other) == equal ? 1 : 0;
  }

  /// `#define VARIANT 3`, said once and whatever was asked for before: what the name stands for.
  void note_definition(std::string_view directive, bool always) {
    const bool defines = directive.starts_with("define");
    std::string_view text = without_indent(directive.substr(defines ? 6 : 5));
    const auto end = std::ranges::find_if_not(text, is_identifier_char);
    const std::string_view name(text.begin(), end);
    const auto [known, added] = defined_.try_emplace(name);
    known->second = added && defines && always ? number(trimmed(std::string_view(end, text.end())))
                                               : std::nullopt;
  }

  /// "ifdef USE_CUDA", "if defined(WITH_GPU)"
  static bool is_for_device(std::string_view directive) {
    return !directive.starts_with("ifndef") && names_device(only_name(directive));
  }

  /// The one name that a directive asks for; empty of `defined(A) || defined(B)`, `LEVEL == 0`.
  static std::string_view only_name(std::string_view directive) {
    directive.remove_prefix(directive.starts_with("ifndef")  ? 6
                            : directive.starts_with("ifdef") ? 5
                                                             : 2);
    directive = without_indent(directive);
    if (directive.starts_with("defined")) directive = directive.substr(7);
    const size_t first = directive.find_first_not_of(" \t(");
    if (first == std::string_view::npos) return {};
    directive.remove_prefix(first);
    const auto end = std::ranges::find_if_not(directive, is_identifier_char);
    const std::string_view name(directive.begin(), end), rest(end, directive.end());
    return rest.find_first_of("|&!=<") == std::string_view::npos ? name : std::string_view();
  }

  /// USE_CUDA, AER_THRUST_GPU; neither __CUDA_ARCH__, whose other side is the host's code for the
  /// device, nor CUDA_AWARE_MPI and MULTI_GPU, without which there is a device as well.
  static bool names_device(std::string_view name) {
    std::string words = lower(name);
    for (const std::string_view end : {"_enabled", "_support", "_backend"}) {
      if (words.ends_with(end)) words.resize(words.size() - end.size());
    }
    return (words.ends_with("cuda") || words.ends_with("gpu")) &&
           !has_word(words, {"no", "without", "disable", "aware", "multi", "single", "direct"});
  }

  /// DEBUG, KERNEL_TIMING, PERFORMANCES_ARGMIN; HIGH_PERFORMANCE is for runs that matter.
  static bool names_debugging(std::string_view name) {
    const std::string words = lower(name);
    return name != "NDEBUG" &&
           (has_word(words, {"debug", "dbg", "profile", "profiling", "timing", "timer", "measure",
                             "benchmark", "verbose"}) ||
            has_word(words.substr(0, words.find('_')), {"perf", "performance", "performances"}));
  }

  void replace(size_t at, std::string_view text) {
    if (out_.empty()) out_ = source_;
    out_.replace(at, text.size(), text);
  }

  void blank(size_t first, size_t last) {
    if (out_.empty()) out_ = source_;
    stallscope::blank(out_, first, last);
  }

  std::string_view source_;
  std::string out_;
  std::map<std::string_view, std::optional<int>> defined_;  ///< numbers by name, of #define lines
};

}  // namespace

void blank(std::string& text, size_t first, size_t last) {
  for (size_t at = first; at < last; ++at) {
    if (text[at] != '\n' && text[at] != '\r') text[at] = ' ';
  }
}

uint32_t conflict_line(std::string_view source) {
  // Nearly every file is done with two searches.
  if (source.find(kOurs) == std::string_view::npos ||
      source.find(kTheirs) == std::string_view::npos)
    return 0;
  uint32_t number = 0, first = 0;
  for (size_t at = 0; at < source.size();) {
    const std::string_view line = line_at(source, at);
    ++number;
    if (line.starts_with(kOurs) && first == 0) first = number;
    if (line.starts_with(kTheirs)) return first;
    at += line.size();
  }
  return 0;
}

std::string parsed_text(std::string_view source, Grammar grammar) {
  ParsedText text(source);
  text.blank_zeros();
  text.blank_conflicts();
  if (grammar == Grammar::python) {
    text.blank_comments();
  } else {
    text.blank_unused();
    text.join_launches();
  }
  return text.take();
}

}  // namespace stallscope
