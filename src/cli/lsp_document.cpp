#include "cli/lsp_document.h"

#include <algorithm>

namespace stallscope {
namespace {

using nlohmann::json;

/// Where a position of the protocol lies in `text`.
size_t offset_of(std::string_view text, const json& position) {
  size_t at = 0;
  for (auto line = position.at("line").get<uint32_t>(); line > 0; --line) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  const size_t end = std::min(text.find('\n', at), text.size());
  auto left = position.at("character").get<uint32_t>();
  while (at < end && left > 0) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    while (at < end && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    left -= std::min<uint32_t>(left, byte >= 0xf0 ? 2 : 1);
  }
  return at;
}

}  // namespace

uint32_t utf16_length(std::string_view text) {
  uint32_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

std::string LspDocument::lay_out() {
  if (!notebook) return parts.empty() ? std::string() : parts.front().text;
  std::string out;
  uint32_t line = 0;
  for (LspPart& part : parts) {
    part.first_line = line;
    part.first_byte = out.size();
    if (!part.code) continue;
    out += part.text;
    if (!part.text.ends_with('\n')) out += '\n';
    line += static_cast<uint32_t>(
        std::count(out.begin() + static_cast<ptrdiff_t>(part.first_byte), out.end(), '\n'));
  }
  return out;
}

std::string LspDocument::as_file() const {
  if (!notebook) return parts.empty() ? std::string() : parts.front().text;
  json cells = json::array();
  for (const LspPart& part : parts)
    cells.push_back({{"cell_type", part.code ? "code" : "markdown"}, {"source", part.text}});
  return json{{"cells", cells}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

LspPart* LspDocument::part(std::string_view uri) {
  const auto found = std::ranges::find(parts, uri, &LspPart::uri);
  return found == parts.end() ? nullptr : &*found;
}

const LspPart* LspDocument::part_at(uint32_t line) const {
  const LspPart* out = nullptr;
  for (const LspPart& part : parts) {
    if (part.code && part.first_line < line) out = &part;
  }
  return out;
}

void apply_change(std::string& text, const json& change) {
  const auto with = change.at("text").get<std::string>();
  if (!change.contains("range")) {
    text = with;
    return;
  }
  const size_t first = offset_of(text, change["range"].at("start"));
  const size_t last = std::max(first, offset_of(text, change["range"].at("end")));
  text.replace(first, last - first, with);
}

std::string part_after(const LspPart& part, std::string_view before, std::string_view after) {
  const size_t behind = before.size() - part.first_byte - part.text.size();
  return std::string(after.substr(part.first_byte, after.size() - behind - part.first_byte));
}

}  // namespace stallscope
