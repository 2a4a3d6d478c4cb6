#include "cli/serve.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace stallscope {
namespace {

constexpr int kTimeoutSeconds = 5;  // a client that says nothing must not block the others
constexpr size_t kMaxRequestBytes = 16'384;

volatile std::sig_atomic_t stop_requested = 0;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string read_request(int socket) {
  std::string request;
  std::array<char, 4096> buffer{};
  while (request.size() < kMaxRequestBytes && request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) break;
    request.append(buffer.data(), static_cast<size_t>(got));
  }
  return request;
}

/// The value of a header, in lower case; empty when absent.
std::string header(const std::string& request, std::string_view name) {
  const std::string text = lower(request);
  const size_t at = text.find(fmt::format("\r\n{}:", name));
  if (at == std::string::npos) return {};
  const size_t begin = text.find_first_not_of(' ', at + name.size() + 3);
  return text.substr(begin, text.find("\r\n", begin) - begin);
}

void respond_short(int socket, std::string_view status) {
  send_all(socket, fmt::format("HTTP/1.1 {0}\r\nContent-Type: text/plain\r\nContent-Length: "
                               "{1}\r\nConnection: close\r\n\r\n{0}",
                               status, status.size()));
}

void respond_file(int socket, const ServedFile& served, std::string_view origin, bool body) {
  const Descriptor file(::open(served.file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file.ok() || ::fstat(file.get(), &status) != 0)
    return respond_short(socket, "404 Not Found");
  std::string head = fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nConnection: close\r\n",
      served.content_type, status.st_size);
  if (!origin.empty()) head += fmt::format("Access-Control-Allow-Origin: {}\r\n", origin);
  if (!send_all(socket, head + "\r\n") || !body) return;
  std::array<char, 65'536> buffer{};
  for (ssize_t got = 0; (got = ::read(file.get(), buffer.data(), buffer.size())) > 0;)
    if (!send_all(socket, {buffer.data(), static_cast<size_t>(got)})) return;
}

void answer(int socket, const std::vector<ServedFile>& files, const ServeOptions& options,
            uint16_t port) {
  const timeval timeout{kTimeoutSeconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  const std::string request = read_request(socket);
  const std::string host = header(request, "host");
  if (host != fmt::format("127.0.0.1:{}", port) && host != fmt::format("localhost:{}", port))
    return respond_short(socket, "403 Forbidden");
  const bool get = request.starts_with("GET "), head = request.starts_with("HEAD ");
  if (!get && !head) return respond_short(socket, "405 Method Not Allowed");
  const size_t begin = get ? 4 : 5;
  const std::string path = request.substr(begin, request.find_first_of(" ?#", begin) - begin);
  const auto served = std::ranges::find(files, path, &ServedFile::path);
  if (served == files.end()) return respond_short(socket, "404 Not Found");
  respond_file(socket, *served, options.allowed_origin, get);
}

Error system_error(const std::string& what) {
  return {.message = fmt::format("{}: {}", what, std::strerror(errno))};
}

}  // namespace

Status serve(const std::vector<ServedFile>& files, const ServeOptions& options) {
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.ok()) return system_error("cannot open a socket");
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 16) != 0) {
    Error error = system_error(fmt::format("cannot listen on 127.0.0.1:{}", options.port));
    error.remedy = "choose another port with --port (Perfetto's page admits 9001 only)";
    return error;
  }
  socklen_t size = sizeof address;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const uint16_t port = ntohs(address.sin_port);

  struct sigaction action{};
  action.sa_handler = [](int) { stop_requested = 1; };  // without SA_RESTART: poll returns
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  if (options.ready) options.ready(port);
  while (stop_requested == 0) {
    pollfd waiting{listener.get(), POLLIN, 0};
    // The timeout closes the gap between the check of the flag and the wait.
    if (::poll(&waiting, 1, 1000) <= 0) continue;
    const Descriptor client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.ok()) answer(client.get(), files, options, port);
  }
  return ok_status();
}

}  // namespace stallscope
