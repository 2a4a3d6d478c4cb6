#include "source/clang/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/heap.h"
#include "base/sanitized.h"

namespace stallscope {
namespace {

using Clock = std::chrono::steady_clock;

/// That a worker may add to what it began with; the sanitizers of our own tests take more.
#ifdef STALLSCOPE_SANITIZED
constexpr uint64_t kMostMemory = 3ULL << 30;
#else
constexpr uint64_t kMostMemory = 900ULL << 20;
#endif
constexpr auto kLongest = std::chrono::seconds(20);        ///< for one file
constexpr auto kLongestHeavy = std::chrono::seconds(180);  ///< with real headers to compile
constexpr uint32_t kLargestMessage = 256U << 20;

enum class Answer : char { ready = 'R', unusable = 'U', types = 'T', failed = 'F' };

bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool receive_all(int from, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = recv(from, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

std::string with_length(std::string_view bytes) {
  const auto size = static_cast<uint32_t>(bytes.size());
  std::string out(reinterpret_cast<const char*>(&size), sizeof size);
  return out.append(bytes);
}

bool send_message(int to, Answer answer, std::string_view bytes) {
  return send_all(to, with_length(static_cast<char>(answer) + std::string(bytes)));
}

std::string packed(const ClangRequest& request) {
  std::string out;
  for (const std::string* part :
       {&request.path, &request.text, &request.precompiled, &request.aten, &request.uses})
    out += with_length(*part);
  out += with_length(std::to_string(request.prefix.size()));
  for (const auto* list : {&request.prefix, &request.arguments}) {
    for (const std::string& part : *list) out += with_length(part);
  }
  return out;
}

std::optional<ClangRequest> unpacked(std::string_view bytes) {
  std::vector<std::string> parts;
  while (bytes.size() >= sizeof(uint32_t)) {
    uint32_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size > bytes.size()) return std::nullopt;
    parts.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  constexpr size_t kFixed = 6;
  if (parts.size() < kFixed) return std::nullopt;
  ClangRequest out;
  out.path = std::move(parts[0]);
  out.text = std::move(parts[1]);
  out.precompiled = std::move(parts[2]);
  out.aten = std::move(parts[3]);
  out.uses = std::move(parts[4]);
  const auto prefix = parts.begin() + kFixed;
  const auto arguments = prefix + std::atoi(parts[kFixed - 1].c_str());
  out.prefix.assign(prefix, arguments);
  out.arguments.assign(arguments, parts.end());
  return out;
}

/// Bytes of data that this process has now.
uint64_t data_size() {
  uint64_t pages = 0, skipped = 0;
  std::ifstream in("/proc/self/statm");
  for (int field = 0; field < 5; ++field) in >> skipped;
  in >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void limit_worker() {
  const rlim_t most = data_size() + kMostMemory;
  const rlimit data{most, most}, none{0, 0};
  (void)setrlimit(RLIMIT_DATA, &data);
  (void)setrlimit(RLIMIT_CORE, &none);
  // At the parent's death; unlike a kill it leaves LLVM the time to remove a half-written file.
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
  // What libclang says about its own crashes is for nobody.
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (null >= 0) (void)dup2(null, fd);
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGBUS})
    (void)std::signal(number, SIG_DFL);
}

constexpr int kRoom = 640 << 20;

/// The room that heavy files take at once, on huge pages: a fifth of the time would go into page
/// faults and system calls.
void make_room() {
  constexpr uintptr_t kHugePage = 2 << 20;
  (void)mallopt(M_TOP_PAD, kRoom);
  // What is left of the heap is used up first.
  const void* const before = sbrk(0);
  std::array<void* volatile, 64> blocks{};  // volatile: none is optimised away
  for (void* volatile& block : blocks) {
    block = std::malloc(kLargestHeapBlock / 2);
    if (!block || sbrk(0) != before) break;
  }
  const auto start = (reinterpret_cast<uintptr_t>(before) / kHugePage + 1) * kHugePage;
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / kHugePage * kHugePage;
  if (start < end) (void)madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
  for (void* volatile& block : blocks) std::free(block);
  (void)mallopt(M_TOP_PAD, kHeapStep);
}

/// Where clang's own headers (stddef.h) are, of the version nearest to the library's; empty when
/// there are none: a wheel's library comes without.
std::string resource_folder(const std::string& library, const clang::Api& api) {
  namespace fs = std::filesystem;
  const std::string version = api.text(api.getClangVersion());
  const size_t word = version.find("version ");
  const std::string major = word == std::string::npos
                                ? std::string()
                                : version.substr(word + 8, version.find('.', word) - word - 8);
  std::error_code ec;
  const fs::path beside = fs::weakly_canonical(library, ec).parent_path();
  for (const fs::path& lib : {beside, fs::path("/usr/lib/llvm-" + major + "/lib"),
                              fs::path("/usr/lib64"), fs::path("/usr/lib")}) {
    for (const std::string& name : {major, version.substr(std::min(word + 8, version.size()), 6)}) {
      const fs::path folder = lib / "clang" / name;
      if (!name.empty() && fs::exists(folder / "include/stddef.h", ec)) return folder.string();
    }
  }
  return {};
}

[[noreturn]] void work(int peer, const std::string& library) {
  limit_worker();
  (void)setenv("LIBCLANG_NOTHREADS", "1", 1);  // it works on this thread, whose heap is prepared
  keep_heap();
  const auto api = clang::open_library(library);
  if (!api) {
    (void)send_message(peer, Answer::unusable, api.error().to_string());
    _exit(0);
  }
  const std::string resources = resource_folder(library, *api);
  if (!send_message(peer, Answer::ready, {})) _exit(0);
  bool roomy = false;
  for (;;) {
    ParsedFile file(*api, nullptr);
    uint32_t size = 0;
    if (!receive_all(peer, reinterpret_cast<char*>(&size), sizeof size) || size > kLargestMessage)
      _exit(0);
    std::string bytes(size, '\0');
    if (!receive_all(peer, bytes.data(), size)) _exit(0);
    auto request = unpacked(bytes);
    if (!request) _exit(0);
    if (!resources.empty())
      request->arguments.insert(request->arguments.end(), {"-resource-dir", resources});
    if (request->heavy() && !std::exchange(roomy, true)) make_room();
    const auto types = read_types(*api, *request, file);
    const bool sent = types ? send_message(peer, Answer::types, to_bytes(*types))
                            : send_message(peer, Answer::failed, types.error().message);
    if (!sent) _exit(0);
  }
}

/// Processes that were killed. Hundreds of megabytes take their time to go, while which this one
/// has other work; it waits for them when another is added, or at its end.
class Ended {
 public:
  static void add(pid_t process) {
    static Ended all;
    std::erase_if(all.processes_, [](pid_t p) { return waitpid(p, nullptr, WNOHANG) != 0; });
    all.processes_.push_back(process);
  }
  ~Ended() {
    for (const pid_t process : processes_) {
      while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

 private:
  std::vector<pid_t> processes_;
};

/// One process, at most one request in it.
class Worker {
 public:
  Worker() = default;
  explicit Worker(const std::string& library) {
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      close(ends[0]);
      work(ends[1], library);
    }
    close(ends[1]);
    peer_ = ends[0];
    if (process_ < 0) stop();
    deadline_ = Clock::now() + kLongest;
  }
  Worker(Worker&& other) noexcept { *this = std::move(other); }
  Worker& operator=(Worker&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(peer_, other.peer_);
    std::swap(deadline_, other.deadline_);
    std::swap(buffer_, other.buffer_);
    std::swap(request, other.request);
    return *this;
  }
  ~Worker() { stop(); }

  bool alive() const { return peer_ >= 0; }
  int peer() const { return peer_; }
  Clock::time_point deadline() const { return deadline_; }

  void stop() {
    if (peer_ >= 0) close(peer_);
    peer_ = -1;
    if (process_ > 0) {
      kill(process_, SIGKILL);
      Ended::add(process_);
    }
    process_ = -1;
  }

  bool give(const ClangRequest& given, size_t index) {
    deadline_ = Clock::now() + (given.heavy() ? kLongestHeavy : kLongest);
    request = index;
    return send_all(peer_, with_length(packed(given)));
  }

  /// Takes what has come; a whole message when there is one. `broken` once no more will come.
  std::optional<std::string> take(bool& broken) {
    char chunk[64 * 1024];
    const ssize_t got = recv(peer_, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0) buffer_.append(chunk, static_cast<size_t>(got));
    broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    uint32_t size = 0;
    if (buffer_.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, buffer_.data(), sizeof size);
    if (buffer_.size() < sizeof size + size) return std::nullopt;
    std::string out = buffer_.substr(sizeof size, size);
    buffer_.erase(0, sizeof size + size);
    return out;
  }

  static constexpr size_t kNoRequest = static_cast<size_t>(-1);
  size_t request = kNoRequest;

 private:
  pid_t process_ = -1;
  int peer_ = -1;
  Clock::time_point deadline_;
  std::string buffer_;
};

class Pool {
 public:
  /// `first` was started before anybody knew whether it would be needed.
  Pool(const std::string& library, Worker first, std::span<const ClangRequest> requests,
       unsigned count, std::optional<std::chrono::milliseconds> within,
       const ClangWorkers::Each& each)
      : library_(library),
        requests_(requests),
        end_(within ? Clock::now() + *within : Clock::time_point::max()),
        each_(each) {
    out_.types.resize(requests.size());
    out_.gave_up.resize(requests.size());
    if (count > 0) workers_.push_back(std::move(first));
    for (unsigned i = 1; i < count; ++i) workers_.emplace_back(library_);
  }

  ClangOutcome run() {
    while (out_.unusable.empty()) {
      std::erase_if(workers_, [](const Worker& worker) { return !worker.alive(); });
      if (workers_.empty()) break;
      wait();
      for (Worker& worker : workers_) serve(worker);
      if (Clock::now() < end_) continue;
      out_.late = std::ranges::any_of(workers_, &Worker::alive);
      break;
    }
    return std::move(out_);
  }

 private:
  void wait() {
    std::vector<pollfd> polled;
    auto first = end_;
    for (const Worker& worker : workers_) {
      polled.push_back({.fd = worker.peer(), .events = POLLIN, .revents = 0});
      first = std::min(first, worker.deadline());
    }
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(first - Clock::now()).count();
    (void)poll(polled.data(), polled.size(),
               static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
  }

  void serve(Worker& worker) {
    bool broken = false;
    auto message = worker.take(broken);
    if (message && !message->empty()) {
      accept(worker, *message);
    } else if (broken || Clock::now() >= worker.deadline()) {
      // The file it was at has no types; a worker that never got one is not tried again.
      if (worker.request < requests_.size()) done(worker.request, nullptr);
      const bool again = worker.request != Worker::kNoRequest && next_ < requests_.size();
      worker = again ? Worker(library_) : Worker();
    }
  }

  void accept(Worker& worker, const std::string& message) {
    const auto answer = static_cast<Answer>(message.front());
    const std::string_view rest = std::string_view(message).substr(1);
    if (answer == Answer::unusable) {
      out_.unusable = rest;
      return;
    }
    if (worker.request < requests_.size()) {
      auto types = std::make_unique<ClangTypes>();
      const bool read = answer == Answer::types && from_bytes(rest, *types);
      if (read) types->real_headers = requests_[worker.request].heavy();
      done(worker.request, read ? std::move(types) : nullptr);
    }
    if (next_ >= requests_.size()) {
      worker.stop();
    } else if (const size_t index = next_++; !worker.give(requests_[index], index)) {
      worker = Worker(library_);
    }
  }

  void done(size_t request, std::unique_ptr<ClangTypes> types) {
    each_(request, types.get());
    out_.gave_up[request] = !types;
    out_.types[request] = std::move(types);
  }

  const std::string& library_;
  std::span<const ClangRequest> requests_;
  const Clock::time_point end_;
  const ClangWorkers::Each& each_;
  std::vector<Worker> workers_;
  size_t next_ = 0;
  ClangOutcome out_;
};

}  // namespace

struct ClangWorkers::First {
  Worker worker;
};

ClangWorkers::ClangWorkers(std::string library)
    : library_(std::move(library)), first_(std::make_unique<First>(Worker(library_))) {}
ClangWorkers::ClangWorkers(ClangWorkers&&) noexcept = default;
ClangWorkers& ClangWorkers::operator=(ClangWorkers&&) noexcept = default;
ClangWorkers::~ClangWorkers() = default;

ClangOutcome ClangWorkers::read(std::span<const ClangRequest> requests, unsigned workers,
                                std::optional<std::chrono::milliseconds> within,
                                const Each& each) && {
  const auto count = static_cast<unsigned>(std::min<size_t>(workers, requests.size()));
  return Pool(library_, std::move(first_->worker), requests, count, within, each).run();
}

}  // namespace stallscope
