#include "source/syntax/notebook.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "source/syntax/identifier.h"

namespace stallscope {
namespace {

struct Cell {
  unsigned number = 0;  ///< from 1, of all cells
  bool is_code = false;
  std::string source;
};

/// Takes the cells with code out of a notebook's JSON and keeps nothing else: most of one are
/// pictures.
class CellReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Cell> cells;
  bool has_list = false;  ///< of cells

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool string(string_t& text) override {
    if (in_cell_ && depth_ == kCell && key_ == "cell_type") cells.back().is_code = text == "code";
    if (in_cell_ && depth_ == kCell && key_ == "source") cells.back().source = text;
    if (in_lines_ && depth_ == kLines) cells.back().source += text;
    return value();
  }
  bool key(string_t& name) override {
    if (depth_ == kRoot) in_cells_ = name == "cells";
    if (depth_ == kCell) key_ = name;
    return true;
  }
  bool start_object(size_t) override {
    value();
    if (++depth_ == kCell && in_list_) {
      in_cell_ = true;
      cells.push_back({number_, false, {}});
    }
    return true;
  }
  bool start_array(size_t) override {
    value();
    ++depth_;
    if (depth_ == kList && in_cells_) {
      in_list_ = has_list = true;
      number_ = 0;
      cells.clear();  // of a key given twice the last one counts
    }
    if (depth_ == kLines && in_cell_ && key_ == "source") {
      in_lines_ = true;
      cells.back().source.clear();
    }
    return true;
  }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  enum Depth : unsigned { kRoot = 1, kList = 2, kCell = 3, kLines = 4 };

  /// A value of any kind begins: in the list of cells it has a number.
  bool value() {
    if (in_list_ && depth_ == kList) ++number_;
    return true;
  }
  bool end() {
    if (in_cell_ && depth_ == kCell && !cells.back().is_code) cells.pop_back();
    --depth_;
    in_list_ = in_list_ && depth_ >= kList;
    in_cell_ = in_cell_ && depth_ >= kCell;
    in_lines_ = in_lines_ && depth_ >= kLines;
    return true;
  }

  unsigned depth_ = 0, number_ = 0;
  bool in_cells_ = false, in_list_ = false, in_cell_ = false, in_lines_ = false;
  std::string key_;  ///< of a cell
};

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

}  // namespace

Notebook notebook_code(std::string_view json) {
  Notebook out;
  if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
  CellReader reader;
  if (!nlohmann::json::sax_parse(json, &reader)) {
    reader = {};
    if (!nlohmann::json::sax_parse(without_nan(json), &reader)) {
      out.problem = "is no notebook that can be read: " +
                    std::string(json.empty() ? "it is empty" : "not valid JSON, or not UTF-8") +
                    "; save it again";
      return out;
    }
  }
  if (!reader.has_list) {
    out.problem = "is no notebook that can be read: it has no list of cells; save it as version 4";
    return out;
  }
  for (Cell& cell : reader.cells) {
    std::string& source = cell.source;
    if (!source.ends_with('\n')) source += '\n';
    const bool magic_cell = is_foreign(source);
    unsigned line = 0;
    for (size_t at = 0; at < source.size();) {
      const size_t end = source.find('\n', at);
      const std::string_view text = std::string_view(source).substr(at, end - at);
      out.code += (magic_cell ? std::string(text.size(), ' ') : python_line(text)) + "\n";
      out.cell_of_line.push_back("cell " + std::to_string(cell.number) + ", line " +
                                 std::to_string(++line));
      at = end + 1;
    }
  }
  return out;
}

}  // namespace stallscope
