#include "cli/json_rpc.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/text.h"

namespace stallscope {
namespace {

constexpr size_t kLargestMessage = size_t{256} << 20;

/// The value of Content-Length in a message's header, whatever the capitals; 0 when there is none.
size_t content_length(std::string_view header) {
  for (size_t at = 0; at < header.size();) {
    const size_t end = std::min(header.find('\n', at), header.size());
    const std::string_view line = header.substr(at, end - at);
    at = end + 1;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        lower(trimmed(line.substr(0, colon))) != "content-length")
      continue;
    const std::string_view value = trimmed(line.substr(colon + 1));
    size_t length = 0;
    std::from_chars(value.data(), value.data() + value.size(), length);
    return length;
  }
  return 0;
}

}  // namespace

bool JsonRpc::fill() {
  char bytes[65536];
  ssize_t count = 0;
  do {
    count = ::read(in_, bytes, sizeof bytes);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::optional<Result<nlohmann::json>> JsonRpc::read() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  size_t header = buffer_.find(kEnd);
  while (header == std::string::npos) {
    if (buffer_.size() > kLargestMessage || !fill()) return std::nullopt;
    header = buffer_.find(kEnd);
  }
  const size_t length = content_length(std::string_view(buffer_).substr(0, header));
  const size_t start = header + kEnd.size();
  if (length > kLargestMessage) return std::nullopt;
  while (buffer_.size() < start + length) {
    if (!fill()) return std::nullopt;
  }
  nlohmann::json message = nlohmann::json::parse(
      buffer_.begin() + static_cast<std::ptrdiff_t>(start),
      buffer_.begin() + static_cast<std::ptrdiff_t>(start + length), nullptr, false);
  buffer_.erase(0, start + length);
  if (message.is_discarded()) return Error{.message = "a message is no JSON"};
  return message;
}

bool JsonRpc::pending(int milliseconds) const {
  if (!buffer_.empty()) return true;
  pollfd descriptor{.fd = in_, .events = POLLIN, .revents = 0};
  return ::poll(&descriptor, 1, milliseconds) > 0;
}

void JsonRpc::write(const nlohmann::json& message) const {
  const std::string body = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string all = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  for (size_t at = 0; at < all.size();) {
    const ssize_t count = ::write(out_, all.data() + at, all.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    at += static_cast<size_t>(count);
  }
}

}  // namespace stallscope
