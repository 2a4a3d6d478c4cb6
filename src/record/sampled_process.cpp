#include "record/sampled_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include "record/launcher.h"

namespace stallscope {
namespace {

/// The rank that the process was started with, from its own environment.
RankIdentity identity_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string block{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, std::string, std::less<>> variables;
  for (size_t begin = 0; begin < block.size();) {
    const size_t end = std::min(block.find('\0', begin), block.size());
    const std::string variable = block.substr(begin, end - begin);
    if (const size_t equals = variable.find('='); equals != std::string::npos)
      variables.emplace(variable.substr(0, equals), variable.substr(equals + 1));
    begin = end + 1;
  }
  return detect_rank([&variables](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

}  // namespace

SampledProcess::SampledProcess(pid_t pid, const PythonRuntime& runtime, const std::string& folder)
    : pid_(pid),
      stacks_(pid, runtime),
      writer_(pid, identity_of(pid)),
      path_(folder + "/" + std::to_string(pid) + std::string(kSampleSuffix)) {
  refresh_threads();
}

SampledProcess::~SampledProcess() {
  for (auto& [tid, thread] : threads_)
    if (thread.schedule_file >= 0) ::close(thread.schedule_file);
}

void SampledProcess::refresh_threads() {
  std::vector<PythonThread> alive = stacks_.threads();
  for (auto it = threads_.begin(); it != threads_.end();) {
    const bool there = std::ranges::any_of(
        alive, [&](const PythonThread& thread) { return thread.tid == it->first; });
    if (!there && it->second.schedule_file >= 0) ::close(it->second.schedule_file);
    it = there ? std::next(it) : threads_.erase(it);
  }
  for (const PythonThread& thread : alive) {
    Thread& known = threads_[thread.tid];
    known.thread = thread;
    if (known.schedule_file >= 0) continue;
    const std::string path =
        "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(thread.tid) + "/schedstat";
    known.schedule_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
}

/// False when the thread has had no CPU time since the last look: its stack is the same.
bool SampledProcess::has_run(Thread& thread) {
  char text[64];
  const ssize_t got = ::pread(thread.schedule_file, text, sizeof text, 0);
  uint64_t on_cpu = 0;
  if (got <= 0 || std::from_chars(text, text + got, on_cpu).ec != std::errc()) return true;
  return std::exchange(thread.on_cpu_ns, on_cpu) != on_cpu;
}

bool SampledProcess::take_stack(Thread& thread) {
  const std::vector<PythonFrame> frames = stacks_.walk(thread.thread);
  if (frames.empty()) return false;
  std::vector<std::pair<uint64_t, int64_t>> key;
  for (const PythonFrame& frame : frames) key.emplace_back(frame.code, frame.unit);
  const auto known = known_stacks_.find(key);
  if (known != known_stacks_.end()) {
    thread.stack = known->second;
    return true;
  }
  std::vector<uint32_t> ids;
  for (const PythonFrame& frame : frames) {
    const std::optional<PythonStacks::Place> place = stacks_.place(frame);
    if (!place) return false;
    ids.push_back(writer_.frame(place->function, place->file, place->line));
  }
  thread.stack = writer_.stack(ids);
  // Bounded, and forgotten now and then, because code objects come and go.
  constexpr size_t kMostStacks = 20'000;
  if (known_stacks_.size() >= kMostStacks) known_stacks_.clear();
  known_stacks_.emplace(std::move(key), thread.stack);
  return true;
}

size_t SampledProcess::sample(Ns now, Ns longest) {
  size_t written = 0;
  for (auto& [tid, thread] : threads_) {
    const bool ran = has_run(thread);
    if (thread.seen && thread.has_stack) {
      writer_.event(tid, thread.start, std::min(now - thread.start, longest), thread.stack);
      ++written;
    }
    if (ran || !thread.seen) thread.has_stack = take_stack(thread);
    thread.seen = true;
    thread.start = now;
  }
  constexpr size_t kFlushBytes = 64 * 1024;
  if (writer_.pending() > kFlushBytes) flush();
  return written;
}

void SampledProcess::flush() {
  const std::string text = writer_.take();
  if (text.empty()) return;
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  // A full disk loses samples, not the run; the reader leaves out a cut line.
  [[maybe_unused]] const ssize_t put = ::write(fd, text.data(), text.size());
  ::close(fd);
}

}  // namespace stallscope
