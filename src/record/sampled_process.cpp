#include "record/sampled_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "record/launcher.h"

namespace stallscope {
SampledProcess::SampledProcess(pid_t pid, const PythonRuntime& runtime, const std::string& folder)
    : pid_(pid),
      stacks_(pid, runtime),
      writer_(pid, detect_rank_of(pid)),
      path_(folder + "/" + std::to_string(pid) + std::string(kSampleSuffix)) {
  refresh_threads();
}

SampledProcess::~SampledProcess() {
  for (auto& [tid, thread] : threads_)
    if (thread.schedule_file >= 0) ::close(thread.schedule_file);
}

void SampledProcess::refresh_threads() {
  std::vector<PythonThread> alive = stacks_.threads();
  stacks_.find_lock(alive);
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

SampledProcess::CpuUse SampledProcess::cpu_use(Thread& thread) {
  // "ON_CPU_NS WAITED_FOR_A_CPU_NS TIMESLICES"
  char text[96];
  const ssize_t got = ::pread(thread.schedule_file, text, sizeof text, 0);
  uint64_t on_cpu = 0, delayed = 0;
  if (got <= 0) return {};
  const auto first = std::from_chars(text, text + got, on_cpu);
  if (first.ec != std::errc() || first.ptr == text + got) return {};
  if (std::from_chars(first.ptr + 1, text + got, delayed).ec != std::errc()) return {};
  const uint64_t before_on_cpu = std::exchange(thread.on_cpu_ns, on_cpu);
  const uint64_t before_delayed = std::exchange(thread.delayed_ns, delayed);
  return {true, on_cpu - before_on_cpu, delayed - before_delayed};
}

SampleState SampledProcess::state_of(const Thread& thread, const CpuUse& use, Ns period) {
  if (!use.known || period <= 0) return SampleState::unknown;
  const uint64_t asleep = static_cast<uint64_t>(period) -
                          std::min(static_cast<uint64_t>(period), use.on_cpu_ns + use.delayed_ns);
  if (use.delayed_ns > use.on_cpu_ns && use.delayed_ns > asleep)
    return thread.has_lock ? SampleState::python_delayed : SampleState::delayed;
  if (asleep > use.on_cpu_ns) return SampleState::waiting;
  return thread.has_lock ? SampleState::python : SampleState::native;
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
  stacks_.begin_look();
  for (auto& [tid, thread] : threads_) {
    const CpuUse use = cpu_use(thread);
    if (thread.seen && thread.has_stack) {
      writer_.event(tid, thread.start, std::min(now - thread.start, longest), thread.stack,
                    state_of(thread, use, now - thread.start));
      ++written;
    }
    // A thread without CPU time since the last look has the same stack, and the lock or not.
    if (!use.known || use.on_cpu_ns > 0 || !thread.seen) {
      thread.has_stack = take_stack(thread);
      thread.has_lock = stacks_.lock_holder().value_or(thread.thread.state) == thread.thread.state;
    }
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
