#include "cli/json_rpc.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace stallscope {
namespace {

constexpr size_t kLargestMessage = size_t{256} << 20;

/// The value of Content-Length in a message's header; 0 when there is none.
size_t content_length(std::string_view header) {
  constexpr std::string_view kName = "Content-Length:";
  const size_t at = header.find(kName);
  if (at == std::string_view::npos) return 0;
  header.remove_prefix(at + kName.size());
  while (header.starts_with(' ')) header.remove_prefix(1);
  size_t length = 0;
  std::from_chars(header.data(), header.data() + header.size(), length);
  return length;
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
