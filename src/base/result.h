// Result<T>: the value or the reason why there is none. Used across module
// borders instead of exceptions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace stallscope {

/// What went wrong, where, and what the user can do about it.
struct Error {
  std::string message = {};  ///< one sentence, no trailing newline
  std::string file = {};     ///< the file concerned, empty if none
  uint64_t line = 0;         ///< 1-based; 0 = unknown
  uint64_t column = 0;       ///< 1-based; 0 = unknown
  uint64_t offset = 0;       ///< byte offset for binary files; 0 = unknown
  std::string remedy = {};   ///< what to do, as an imperative sentence; may be empty
  /// A stable name for scripts ("rank-missing"); empty reads as "error".
  std::string code = {};

  /// "file:line:column: message (remedy)", leaving out what is unknown.
  std::string to_string() const;
};

/// A value of type T or an Error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }

  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};

/// Success, or an Error.
using Status = Result<Unit>;
inline Status ok_status() {
  return Unit{};
}

}  // namespace stallscope
