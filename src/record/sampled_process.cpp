#include "record/sampled_process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/file.h"
#include "record/clock.h"
#include "record/launcher.h"
#include "record/own_process.h"

namespace stallscope {
namespace {

/// What tells the program that a process runs from one that it ran before: the kernel gives each
/// other addresses.
std::string program_of(pid_t pid) {
  const Result<std::string> vector = read_file("/proc/" + std::to_string(pid) + "/auxv");
  return vector ? *vector : std::string();
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ hash >> 32;
}

}  // namespace

SampledProcess::SampledProcess(pid_t pid, const PythonRuntime& runtime, std::string path,
                               NativePermission& native)
    : pid_(pid),
      program_(program_of(pid)),
      stacks_(pid, runtime),
      writer_(pid, detect_rank_of(pid)),
      path_(std::move(path)),
      native_(pid, runtime.runtime, native) {
  refresh_threads();
}

SampledProcess::~SampledProcess() {
  for (auto& [tid, thread] : threads_) {
    close_files(thread);
    native_.forget(thread.native);
  }
}

void SampledProcess::close_files(Thread& thread) {
  if (thread.schedule_file >= 0) ::close(thread.schedule_file);
  if (thread.syscall_file >= 0) ::close(thread.syscall_file);
}

bool SampledProcess::is_replaced() const {
  const std::string now = program_of(pid_);
  return !now.empty() && now != program_;
}

void SampledProcess::refresh_threads() {
  std::vector<PythonThread> alive = stacks_.threads();
  stacks_.find_lock(alive);
  for (auto it = threads_.begin(); it != threads_.end();) {
    const bool there = std::ranges::any_of(
        alive, [&](const PythonThread& thread) { return thread.tid == it->first; });
    if (!there) {
      close_files(it->second);
      native_.forget(it->second.native);
    }
    it = there ? std::next(it) : threads_.erase(it);
  }
  for (const PythonThread& thread : alive) {
    Thread& known = threads_[thread.tid];
    known.thread = thread;
    if (known.schedule_file >= 0) continue;
    const std::string path =
        "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(thread.tid) + "/schedstat";
    known.schedule_file = open_to_keep(path);
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
  if (asleep > use.on_cpu_ns)
    return thread.waits_for_lock ? SampleState::lock_wait : SampleState::waiting;
  return thread.has_lock ? SampleState::python : SampleState::native;
}

bool SampledProcess::has_lock(const Thread& thread) {
  const std::optional<uint64_t> holder = stacks_.lock_holder();
  return !holder || thread.thread.has(*holder) || !thread.thread.shares_lock;
}

void SampledProcess::look_for_lock(Thread& thread, bool has_run) {
  if (has_run) {
    thread.waits_for_lock = false;
    const std::optional<uint64_t> holder = stacks_.lock_holder();
    if (threads_.size() < 2 || !holder || *holder == 0 || has_lock(thread)) return;
    if (thread.syscall_file < 0) {
      const std::string path = "/proc/" + std::to_string(pid_) + "/task/" +
                               std::to_string(thread.thread.tid) + "/syscall";
      thread.syscall_file = open_to_keep(path);
    }
    // "NUMBER 0xARGUMENT ..." of a thread that sleeps, "running" of another
    char text[256];
    const ssize_t got = ::pread(thread.syscall_file, text, sizeof text, 0);
    int number = 0;
    uint64_t futex = 0;
    if (got <= 0) return;
    const auto first = std::from_chars(text, text + got, number);
    if (first.ec != std::errc() || number != SYS_futex || text + got - first.ptr < 4) return;
    const auto second = std::from_chars(first.ptr + 3, text + got, futex, 16);
    thread.waits_for_lock = second.ec == std::errc() && stacks_.is_lock(futex);
  }
  if (!thread.waits_for_lock) return;
  const std::optional<uint64_t> holder = stacks_.lock_holder();
  const auto found = std::ranges::find_if(
      threads_, [&](const auto& other) { return holder && other.second.thread.has(*holder); });
  thread.lock_holder = found == threads_.end() ? 0 : found->first;
}

bool SampledProcess::take_stack(Thread& thread) {
  const std::vector<PythonFrame>& frames = stacks_.walk(thread.thread);
  if (frames.empty()) return false;
  uint64_t hash = frames.size();
  for (const PythonFrame& frame : frames)
    hash = mix(mix(hash, frame.code), static_cast<uint64_t>(frame.unit));
  KnownStack& known = known_stacks_[hash];
  if (known.key != frames) {
    known.key.clear();  // until all of it is known
    known.frames.clear();
    for (const PythonFrame& frame : frames) {
      const std::optional<PythonStacks::Place> place = stacks_.place(frame);
      if (!place) return false;
      files_.insert(place->file);
      known.frames.push_back(writer_.frame(place->function, place->file, place->line));
    }
    known.stack = writer_.stack(known.frames);
    known.key = frames;
  }
  thread.stack = known.stack;
  thread.frames_hash = hash;
  thread.instruction = stacks_.instruction_address(frames.front());
  return true;
}

uint32_t SampledProcess::whole_stack(Thread& thread, const CpuUse& use, Ns now, bool ask_native) {
  const bool asleep = use.known && use.on_cpu_ns == 0;
  const bool asked = thread.native.asked != 0;
  const std::span<const NativeFunction> functions =
      asleep ? native_.asleep(thread.thread.tid, thread.native, thread.instruction, now, ask_native)
             : native_.running(thread.native, thread.instruction, now);
  if (!asleep && asked) {
    NativeAnswers& answers = native_answers_[thread.instruction];
    ++answers.asked;
    answers.named += functions.empty() ? 0 : 1;
  }
  const auto python = known_stacks_.find(thread.frames_hash);
  if (functions.empty() || python == known_stacks_.end()) return thread.stack;
  uint64_t hash = thread.frames_hash;
  for (const NativeFunction& function : functions)
    hash = mix(mix(hash, reinterpret_cast<uint64_t>(function.module)), function.address);
  const auto [whole, added] = whole_stacks_.try_emplace(hash);
  if (!added) return whole->second;
  std::vector<uint32_t> frames;
  for (const NativeFunction& function : functions) frames.push_back(native_frame(function));
  frames.insert(frames.end(), python->second.frames.begin(), python->second.frames.end());
  return whole->second = writer_.stack(frames);
}

uint32_t SampledProcess::native_frame(const NativeFunction& function) {
  const auto [known, added] = native_frames_.try_emplace({function.module, function.address});
  if (added) {
    const ObjectFile* object = function.module->object;
    known->second = writer_.native(function.address, function.module->path,
                                   object != nullptr ? object->build_id() : std::string());
  }
  return known->second;
}

size_t SampledProcess::sample(Ns now, Ns longest, bool ask_native) {
  size_t written = 0;
  stacks_.begin_look();
  // Bounded, and forgotten now and then, because code objects come and go.
  constexpr size_t kMostStacks = 20'000;
  if (known_stacks_.size() >= kMostStacks) known_stacks_.clear();
  if (whole_stacks_.size() >= kMostStacks) whole_stacks_.clear();
  if (native_answers_.size() >= kMostStacks) native_answers_.clear();
  for (auto& [tid, thread] : threads_) {
    const CpuUse use = cpu_use(thread);
    if (thread.seen && thread.has_stack) {
      const SampleState state = state_of(thread, use, now - thread.start);
      writer_.event(tid, thread.start, std::min(now - thread.start, longest),
                    whole_stack(thread, use, now, ask_native), state,
                    state == SampleState::lock_wait ? thread.lock_holder : 0);
      ++written;
    }
    const bool has_run = !use.known || use.on_cpu_ns > 0 || !thread.seen;
    // A thread without CPU time since the last look has the same stack, and the lock or not.
    if (has_run) {
      thread.has_stack = take_stack(thread);
      thread.has_lock = has_lock(thread);
      native_.ran(thread.native);
      if (ask_native && thread.has_stack && native_answers_[thread.instruction].worth_asking())
        native_.ask(tid, thread.native, clock_now(CLOCK_MONOTONIC));
    }
    look_for_lock(thread, has_run);
    thread.seen = true;
    thread.start = now;
  }
  constexpr size_t kFlushBytes = 64 * 1024;
  if (writer_.pending() > kFlushBytes) flush();
  return written;
}

void SampledProcess::rest() {
  for (auto& [tid, thread] : threads_) thread.seen = false;
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
