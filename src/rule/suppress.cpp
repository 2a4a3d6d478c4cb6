#include "rule/suppress.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/suggest.h"
#include "base/text.h"
#include "rule/comments.h"
#include "source/extract/file_facts.h"

namespace stallscope {
namespace {

constexpr uint32_t kWholeFile = std::numeric_limits<uint32_t>::max();

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

constexpr std::string_view kTool = "stallscope:";

/// Where the next directive for this tool begins in a comment, at a further comment sign:
/// "type: ignore  # stallscope: ignore[a]". What stands in quotes is about comments.
size_t next_directive(std::string_view text, std::string_view sign) {
  for (size_t at = text.find(sign); at != std::string_view::npos; at = text.find(sign, at + 1)) {
    const bool quoted =
        at > 0 && std::string_view("`'\"").find(text[at - 1]) != std::string_view::npos;
    if (!quoted && trimmed(text.substr(at + sign.size())).starts_with(kTool)) return at;
  }
  return text.size();
}

class CommentReader {
 public:
  CommentReader(Suppressions& out, CommentStyle style)
      : out_(out), sign_(style == CommentStyle::slashes ? "//" : "#") {}

  void read(const Comment& comment) {
    std::string_view text = trimmed(comment.text);
    // A line that is only a comment may be code taken out, with the comment behind it.
    if (!text.starts_with(kTool) && comment.alone) return;
    while (!text.empty()) {
      const size_t end = next_directive(text, sign_);
      if (text.starts_with(kTool)) read_directive(comment, trimmed(text.substr(0, end)));
      text = trimmed(text.substr(std::min(end + sign_.size(), text.size())));
    }
  }

 private:
  void read_directive(const Comment& comment, std::string_view text) {
    text = trimmed(text.substr(kTool.size()));
    size_t length = 0;
    while (length < text.size() && is_word(text[length])) ++length;
    const std::string_view verb = text.substr(0, length);
    static constexpr std::array<std::string_view, 2> kVerbs = {"ignore", "ignore-file"};
    if (std::ranges::find(kVerbs, verb) == kVerbs.end())
      return problem(comment.line, "unknown directive '" + std::string(verb.substr(0, 40)) + "'" +
                                       suggestion(verb, kVerbs));
    text = trimmed(text.substr(length));
    if (!text.starts_with('[') || text.find(']') == std::string_view::npos)
      return problem(comment.line, "name the rules to ignore in brackets: ignore[item-in-step]");
    Suppression suppression;
    suppression.line = comment.line;
    const size_t close = text.find(']');
    if (!read_ids(text.substr(1, close - 1), comment.line, suppression)) return;
    suppression.reason = trimmed(text.substr(close + 1));
    suppression.whole_file = verb == "ignore-file";
    if (suppression.whole_file) {
      suppression.first_line = 1;
      suppression.last_line = kWholeFile;
    } else {
      suppression.first_line = comment.about.first;
      suppression.last_line = comment.about.last;
    }
    out_.list.push_back(std::move(suppression));
  }

  bool read_ids(std::string_view text, uint32_t line, Suppression& suppression) {
    while (true) {
      const size_t comma = text.find(',');
      const std::string_view id = trimmed(text.substr(0, comma));
      const bool good = id == "*" || (!id.empty() && std::ranges::all_of(id, is_word));
      if (!good) {
        problem(line, "'" + std::string(id.substr(0, 40)) + "' is no rule id");
        return false;
      }
      suppression.ids.emplace_back(id);
      if (comma == std::string_view::npos) return true;
      text.remove_prefix(comma + 1);
    }
  }

  void problem(uint32_t line, std::string message) {
    out_.problems.push_back({line, std::move(message)});
  }

  Suppressions& out_;
  std::string_view sign_;
};

}  // namespace

CommentStyle comment_style(std::string_view file) {
  const std::string_view language = language_of_file(file);
  if (language == "cpp" || language == "cuda" || file.ends_with(".json"))
    return CommentStyle::slashes;
  if (file.ends_with(".yaml") || file.ends_with(".yml")) return CommentStyle::yaml;
  if (language == "config" && !file.ends_with(".toml")) return CommentStyle::shell;
  return CommentStyle::hash;
}

bool Suppression::covers(std::string_view rule_id, uint32_t at) const {
  if (at < first_line || at > last_line) return false;
  return std::ranges::any_of(ids,
                             [&](const std::string& id) { return id == "*" || id == rule_id; });
}

Suppressions parse_suppressions(std::string_view text, CommentStyle style) {
  Suppressions result;
  CommentReader reader(result, style);
  for (const Comment& comment : comments_of(text, style)) reader.read(comment);
  return result;
}

SuppressionOutcome apply_suppressions(std::vector<Finding>& findings,
                                      const std::map<std::string, Suppressions>& by_file) {
  SuppressionOutcome outcome;
  std::set<std::pair<const Suppression*, std::string>> used;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const Place place = finding.locations.empty() ? Place() : finding.locations.front();
    const auto file = by_file.find(place.file);
    bool silenced = false;
    if (file != by_file.end()) {
      for (const Suppression& suppression : file->second.list) {
        if (!suppression.covers(finding.rule_id, place.line)) continue;
        silenced = true;
        for (const std::string& id : suppression.ids)
          if (id == "*" || id == finding.rule_id) used.emplace(&suppression, id);
      }
    }
    (silenced ? outcome.suppressed : kept).push_back(std::move(finding));
  }
  findings = std::move(kept);
  for (const auto& [file, suppressions] : by_file)
    for (const Suppression& suppression : suppressions.list)
      for (const std::string& id : suppression.ids)
        if (!used.contains({&suppression, id}))
          outcome.unused.push_back({.file = file, .line = suppression.line, .id = id});
  return outcome;
}

}  // namespace stallscope
