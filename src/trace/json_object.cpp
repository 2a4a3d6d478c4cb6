#include "trace/json_object.h"

#include <algorithm>
#include <cmath>

namespace stallscope {
namespace {

void set_position(Error& error, std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  error.line = static_cast<uint64_t>(std::ranges::count(before, '\n')) + 1;
  const size_t newline = before.rfind('\n');
  error.column = offset - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  error.offset = offset;
}

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& file) {
  try {
    nlohmann::json value = nlohmann::json::parse(text);
    if (value.is_object()) return value;
    Error error{.message = "expected a JSON object, found " + std::string(value.type_name()),
                .file = file};
    set_position(error, text, 0);
    return error;
  } catch (const nlohmann::json::parse_error& failure) {
    Error error{.message = "is not valid JSON", .file = file};
    // "[json.exception...] parse error at line 1, column 2: reason": the reason is what helps.
    const std::string_view what = failure.what();
    if (const size_t reason = what.find(": "); reason != std::string_view::npos)
      error.message += std::string(what.substr(reason));
    set_position(error, text, failure.byte == 0 ? 0 : failure.byte - 1);
    return error;
  } catch (const nlohmann::json::out_of_range& failure) {
    // "[json.exception...] number overflow parsing '1e999'": no position, so the number is looked
    // up.
    const std::string_view what = failure.what();
    const size_t quote = std::min(what.find('\''), what.size());
    const std::string_view number = what.substr(std::min(quote + 1, what.size()));
    const std::string_view digits = number.substr(0, number.find('\''));
    Error error{.message = "holds a number beyond what can be stored: " + std::string(digits),
                .file = file};
    set_position(error, text, digits.empty() ? 0 : std::min(text.find(digits), text.size()));
    return error;
  }
}

const nlohmann::json* ObjectReader::find(const char* key) const {
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void ObjectReader::fail(const char* key, const std::string& expected) {
  if (failed_) return;
  failed_ = true;
  const auto it = object_.find(key);
  error_.message =
      "'" + std::string(key) + "' must be " + expected +
      (it == object_.end() ? ", but it is missing" : ", found " + std::string(it->type_name()));
  error_.file = file_;
  const size_t at = text_.find("\"" + std::string(key) + "\"");
  set_position(error_, text_, at == std::string_view::npos ? 0 : at);
}

void ObjectReader::adopt(const Error& error) {
  if (failed_) return;
  failed_ = true;
  error_ = error;
}

void ObjectReader::text(const char* key, std::string& out, bool required) {
  const nlohmann::json* value = find(key);
  if (value == nullptr && !required) return;
  if (value == nullptr || !value->is_string()) return fail(key, "a text");
  out = value->get<std::string>();
}

void ObjectReader::texts(const char* key, std::vector<std::string>& out) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_array() ||
      !std::ranges::all_of(*value, [](const nlohmann::json& item) { return item.is_string(); }))
    return fail(key, "a list of texts");
  out = value->get<std::vector<std::string>>();
}

void ObjectReader::boolean(const char* key, bool& out) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return fail(key, "true or false");
  out = value->get<bool>();
}

bool ObjectReader::read_integer(const char* key, int64_t low, int64_t high, int64_t& out) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return false;
  const bool fits =
      value->is_number_integer() &&
      !(value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) &&
      value->get<int64_t>() >= low && value->get<int64_t>() <= high;
  if (!fits) {
    fail(key, "an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return false;
  }
  out = value->get<int64_t>();
  return true;
}

void ObjectReader::number(const char* key, double& out) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return;
  if (!value->is_number() || !std::isfinite(value->get<double>())) return fail(key, "a number");
  out = value->get<double>();
}

const nlohmann::json* ObjectReader::object(const char* key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return nullptr;
  if (value->is_object()) return value;
  fail(key, "an object");
  return nullptr;
}

}  // namespace stallscope
