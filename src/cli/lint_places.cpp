#include "cli/lint_places.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/lines.h"
#include "cli/lint_engine.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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
      const auto text = source_text(source, relative);
      lines = text ? split_lines(*text) : std::vector<std::string>();
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

}  // namespace stallscope
