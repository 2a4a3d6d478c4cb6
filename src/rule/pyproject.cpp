#include "rule/pyproject.h"

#include <simdjson.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

// The TOML reader, last: its assertions would end the program at a key that begins with a stray
// byte, which it refuses properly a few lines on; with NDEBUG they would be promises to the
// compiler instead.
#undef NDEBUG
#define TOML_ASSERT(expr) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace stallscope {
namespace {

/// Writes TOML values as flow YAML, in the order and on the lines they have.
class Writer {
 public:
  void value(const toml::node& node) {
    to_line(node.source().begin.line);
    if (const toml::table* table = node.as_table())
      map(*table);
    else if (const toml::array* array = node.as_array())
      list(*array);
    else if (const auto* text = node.as_string())
      out_ += quoted(text->get());
    else if (const auto* flag = node.as_boolean())
      out_ += flag->get() ? "true" : "false";
    else if (const auto* whole = node.as_integer())
      out_ += std::to_string(whole->get());
    else if (const auto* number = node.as_floating_point())
      out_ += nlohmann::json(number->get()).dump();
    else
      out_ += "\"\"";  // dates: no setting is one
  }

  std::string take() { return std::move(out_); }

 private:
  /// JSON's quotes are YAML's too.
  static std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void to_line(uint32_t line) {
    for (; line_ < line; ++line_) out_ += '\n';
  }

  void map(const toml::table& table) {
    std::vector<std::pair<const toml::key*, const toml::node*>> entries;
    for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
    std::ranges::sort(entries, {}, [](const auto& e) {
      return std::pair(e.first->source().begin.line, e.first->source().begin.column);
    });
    out_ += "{";
    for (const auto& [key, node] : entries) {
      to_line(key->source().begin.line);
      out_ += quoted(key->str()) + ": ";
      value(*node);
      out_ += ", ";
    }
    out_ += "}";
  }

  void list(const toml::array& array) {
    out_ += "[";
    for (const toml::node& node : array) {
      value(node);
      out_ += ", ";
    }
    out_ += "]";
  }

  std::string out_;
  uint32_t line_ = 1;
};

}  // namespace

namespace {

/// The first line that is not UTF-8; 0 when all are. (The parser takes for granted that they are.)
uint32_t first_broken_line(std::string_view text) {
  if (simdjson::validate_utf8(text)) return 0;
  uint32_t number = 1;
  for (; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!simdjson::validate_utf8(text.substr(0, end))) break;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return number;
}

}  // namespace

bool mentions_settings(std::string_view pyproject) {
  return pyproject.find("stallscope") != std::string_view::npos;
}

Result<std::string> pyproject_settings(std::string_view text, const std::string& file) {
  if (!mentions_settings(text)) return std::string();
  if (const uint32_t line = first_broken_line(text))
    return Error{.message = "not valid TOML: not UTF-8",
                 .file = file,
                 .line = line,
                 .remedy = "save the file as UTF-8"};
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error{.message = "not valid TOML: " + std::string(error.description()),
                 .file = file,
                 .line = error.source().begin.line,
                 .column = error.source().begin.column};
  }
  const toml::node_view<const toml::node> settings = parsed.table()["tool"]["stallscope"];
  if (!settings.is_table()) return std::string();
  Writer writer;
  writer.value(*settings.node());
  return writer.take();
}

}  // namespace stallscope
