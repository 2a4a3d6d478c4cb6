#include "import/symbolize.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace stallscope {
namespace {

std::string hexadecimal(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string object_key(const NativeAddress& place) {
  return std::string(place.build_id.empty() ? place.module_path : place.build_id);
}

/// The address to look up: a return address lies behind the call it belongs to.
uint64_t code_address(const NativeAddress& place) {
  return place.is_return_address && place.address > 0 ? place.address - 1 : place.address;
}

SymbolFrame unnamed(const NativeAddress& place) {
  const std::string module = std::filesystem::path(place.module_path).filename().string();
  return {.function = (module.empty() ? "unknown" : module) + "+" + hexadecimal(place.address),
          .file = {},
          .line = 0};
}

}  // namespace

void RunSymbols::load(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto symbols = json.is_object() ? json.find("symbols") : json.end();
  if (!json.is_object() || symbols == json.end() || !symbols->is_object()) return;
  for (const auto& [key, frames] : symbols->items()) {
    std::vector<SymbolFrame> read;
    for (const nlohmann::json& frame : frames) {
      if (!frame.is_array() || frame.size() != 3 || !frame[0].is_string() ||
          !frame[1].is_string() || !frame[2].is_number_unsigned())
        break;
      read.push_back({frame[0], frame[1], frame[2]});
    }
    if (read.size() == frames.size() && !read.empty()) known_.emplace(key, std::move(read));
  }
}

std::string RunSymbols::to_json() const {
  nlohmann::ordered_json symbols = nlohmann::ordered_json::object();
  for (const auto& [key, frames] : known_) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const SymbolFrame& frame : frames)
      list.push_back({frame.function, frame.file, frame.line});
    symbols[key] = std::move(list);
  }
  const nlohmann::ordered_json json = {{"schemaVersion", "1.0"}, {"symbols", std::move(symbols)}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

const std::vector<SymbolFrame>& RunSymbols::frames(const NativeAddress& place) {
  const std::string object = object_key(place);
  const std::string key = object + "+" + hexadecimal(code_address(place));
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  if (const auto it = unnamed_.find(key); it != unnamed_.end()) return it->second;
  auto symbols = objects_.find(object);
  if (symbols == objects_.end())
    symbols =
        objects_
            .emplace(object, ObjectSymbols::open(std::string(place.module_path), place.build_id))
            .first;
  std::vector<SymbolFrame> found;
  if (symbols->second) found = symbols->second->lookup(code_address(place));
  if (found.empty()) return unnamed_.emplace(key, std::vector{unnamed(place)}).first->second;
  changed_ = true;
  return known_.emplace(key, std::move(found)).first->second;
}

Symbolizer RunSymbols::symbolizer() {
  return [this](Trace& trace, const NativeAddress& place, std::vector<Frame>& out) {
    const StringId module = trace.strings.intern(place.module_path);
    for (const SymbolFrame& symbol : frames(place))
      out.push_back({.function = trace.strings.intern(symbol.function),
                     .file = trace.strings.intern(symbol.file),
                     .module = module,
                     .line = symbol.line,
                     .kind = FrameKind::native});
  };
}

std::vector<std::string> RunSymbols::missing() const {
  std::vector<std::string> names;
  for (const auto& [object, symbols] : objects_)
    if (!symbols && !object.empty()) names.push_back(object);
  return names;
}

}  // namespace stallscope
