#include "source/syntax/notebook.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "source/syntax/identifier.h"

namespace stallscope {
namespace {

/// A cell's source is a string or a list of lines.
std::string source_of(const nlohmann::json& cell) {
  auto found = cell.find("source");
  if (found == cell.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  std::string out;
  if (found->is_array()) {
    for (const auto& line : *found) {
      if (line.is_string()) out += line.get<std::string>();
    }
  }
  return out;
}

/// NaN and Infinity, which Python writes into metadata and JSON does not know, as numbers.
std::string without_nan(std::string_view json) {
  std::string out(json);
  bool quoted = false;
  for (size_t at = 0; at < out.size(); ++at) {
    if (quoted && out[at] == '\\') {
      ++at;
    } else if (out[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      for (const std::string_view word : {"NaN", "Infinity"}) {
        if (std::string_view(out).substr(at).starts_with(word))
          out.replace(at, word.size(), "0" + std::string(word.size() - 1, ' '));
      }
    }
  }
  return out;
}

/// Magics whose cell is Python, run as any other.
constexpr std::array<std::string_view, 5> kPythonCells = {"%%time", "%%timeit", "%%capture",
                                                          "%%prun", "%%memit"};

/// Whether a cell is handed to something else than the notebook's Python.
bool is_foreign(std::string_view source) {
  return source.starts_with("%%") &&
         std::ranges::find(kPythonCells, source.substr(0, source.find_first_of(" \t\r\n"))) ==
             kPythonCells.end();
}

/// Whether `c` may stand in a list of dotted names.
bool is_named(char c) {
  return is_identifier_char(c) || c == ' ' || c == '\t' || c == '.' || c == ',';
}

/// A line with blanks for what only IPython understands: `%magic`, `!command`, `?help`, `help?`;
/// `files = !ls` assigns a number.
std::string python_line(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::string out(line);
  const size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return out;
  const size_t end = line.find_last_not_of(kBlank) + 1;
  size_t from = end;
  const size_t help = std::min(line.find('?'), line.size());
  const bool asks = help < end && std::ranges::all_of(line.substr(first, help - first), is_named) &&
                    line.substr(help, end - help).find_first_not_of('?') == std::string_view::npos;
  if (asks || line[first] == '%' || line[first] == '!' || line[first] == '?') {
    from = first;
  } else if (const size_t target = line.find('='); target < end) {
    const size_t value = line.find_first_not_of(kBlank, target + 1);
    const bool assigns = std::ranges::all_of(line.substr(0, target), is_named);
    if (assigns && value < end && (line[value] == '!' || line[value] == '%')) {
      out[value] = '0';
      from = value + 1;
    }
  }
  std::fill(out.begin() + static_cast<ptrdiff_t>(from), out.begin() + static_cast<ptrdiff_t>(end),
            ' ');
  return out;
}

/// The notebook's JSON; discarded when it is none.
nlohmann::json parsed_notebook(std::string_view json) {
  auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded()) parsed = nlohmann::json::parse(without_nan(json), nullptr, false);
  return parsed;
}

}  // namespace

Notebook notebook_code(std::string_view json) {
  Notebook out;
  if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
  const nlohmann::json parsed = parsed_notebook(json);
  if (parsed.is_discarded()) {
    out.problem = "is no notebook that can be read: " +
                  std::string(json.empty() ? "it is empty" : "not valid JSON, or not UTF-8") +
                  "; save it again";
    return out;
  }
  if (!parsed.is_object() || !parsed.contains("cells") || !parsed["cells"].is_array()) {
    out.problem = "is no notebook that can be read: it has no list of cells; save it as version 4";
    return out;
  }
  unsigned number = 0;
  for (const auto& cell : parsed["cells"]) {
    ++number;
    if (!cell.is_object()) continue;
    const auto type = cell.find("cell_type");
    if (type == cell.end() || *type != "code") continue;
    std::string source = source_of(cell);
    if (!source.ends_with('\n')) source += '\n';
    const bool magic_cell = is_foreign(source);
    unsigned line = 0;
    for (size_t at = 0; at < source.size();) {
      const size_t end = source.find('\n', at);
      const std::string_view text = std::string_view(source).substr(at, end - at);
      out.code += (magic_cell ? std::string(text.size(), ' ') : python_line(text)) + "\n";
      out.cell_of_line.push_back("cell " + std::to_string(number) + ", line " +
                                 std::to_string(++line));
      at = end + 1;
    }
  }
  return out;
}

}  // namespace stallscope
