#include "source/syntax/notebook.h"

#include <nlohmann/json.hpp>

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

}  // namespace

Notebook notebook_code(std::string_view json) {
  Notebook out;
  auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object() || !parsed.contains("cells") ||
      !parsed["cells"].is_array())
    return out;
  unsigned number = 0;
  for (const auto& cell : parsed["cells"]) {
    ++number;
    if (!cell.is_object()) continue;
    const auto type = cell.find("cell_type");
    if (type == cell.end() || *type != "code") continue;
    std::string source = source_of(cell);
    if (!source.ends_with('\n')) source += '\n';
    const bool magic_cell = source.starts_with("%%");
    unsigned line = 0;
    for (size_t at = 0; at < source.size();) {
      size_t end = source.find('\n', at);
      size_t text = source.find_first_not_of(" \t", at);
      const bool magic = magic_cell || (text < end && (source[text] == '%' || source[text] == '!'));
      out.code += magic ? std::string(end - at, ' ') + "\n" : source.substr(at, end - at + 1);
      out.cell_of_line.push_back("cell " + std::to_string(number) + ", line " +
                                 std::to_string(++line));
      at = end + 1;
    }
  }
  return out;
}

}  // namespace stallscope
