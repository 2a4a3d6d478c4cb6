// Typed reading of a JSON object with errors that carry file, line and column.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stallscope {

/// Parses `text`, which must be an object; the error carries line and column.
Result<nlohmann::json> parse_json_object(std::string_view text, const std::string& file);

/// Reads the fields of one object and remembers the first thing that is wrong.
/// A position is that of the key in `text`: exact for keys that occur once.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& object, std::string_view text, std::string file)
      : object_(object), text_(text), file_(std::move(file)) {}

  void text(const char* key, std::string& out, bool required = true);
  void texts(const char* key, std::vector<std::string>& out);
  void boolean(const char* key, bool& out);
  /// An integer in [low, high]; `null` leaves `out` as it is.
  template <typename T>
  void integer(const char* key, T& out, int64_t low, int64_t high) {
    int64_t value = 0;
    if (read_integer(key, low, high, value)) out = static_cast<T>(value);
  }
  /// A finite number; `null` leaves `out` as it is.
  void number(const char* key, double& out);
  /// The object under `key`, or nullptr when it is absent or null.
  const nlohmann::json* object(const char* key);
  void fail(const char* key, const std::string& expected);

  /// Takes over what a nested object's reader found.
  void adopt(const Error& error);

  bool failed() const { return failed_; }
  const Error& error() const { return error_; }

 private:
  const nlohmann::json* find(const char* key) const;
  bool read_integer(const char* key, int64_t low, int64_t high, int64_t& out);

  const nlohmann::json& object_;
  std::string_view text_;
  std::string file_;
  Error error_;
  bool failed_ = false;
};

}  // namespace stallscope
