// JSON-RPC messages with the header of the language server protocol.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"

namespace stallscope {

/// Reads and writes messages on two file descriptors.
class JsonRpc {
 public:
  JsonRpc(int in, int out) : in_(in), out_(out) {}

  /// The next message; nullopt at the end of input. A message that is no JSON is an error.
  std::optional<Result<nlohmann::json>> read();
  /// Whether a further message, or a part of one, arrives within the time.
  bool pending(int milliseconds) const;
  void write(const nlohmann::json& message) const;

 private:
  bool fill();

  int in_, out_;
  std::string buffer_;
};

}  // namespace stallscope
