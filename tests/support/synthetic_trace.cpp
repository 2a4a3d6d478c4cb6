#include "synthetic_trace.h"

#include <array>
#include <random>
#include <string>

namespace stallscope {
namespace {

constexpr int kThreads = 6;
constexpr int kKernelNames = 120;
constexpr int kStackCount = 400;

class Generator {
 public:
  explicit Generator(const SyntheticShape& shape) : shape_(shape), random_(shape.seed) {
    trace_.reserve(shape.events + 16);
    const uint32_t process = trace_.add_process({.pid = 1000, .rank = 0, .world_size = 1});
    for (int i = 0; i < kThreads; ++i)
      threads_[i] = {trace_.track(process, TrackKind::thread, -1, 1000 + i), 0};
    for (int i = 0; i < 2; ++i)
      streams_[i] = {trace_.track(process, TrackKind::stream, 0, 7 + i), 0};
    for (int i = 0; i < kKernelNames; ++i) kernels_.push_back(name("kernel_" + std::to_string(i)));
    for (int i = 0; i < kStackCount; ++i) stacks_.push_back(stack(i));
    const std::array<Field, 2> fields = {Field::of_integer(kKeyBytes, 4),
                                         Field::of_text(kKeyTargetMemory, name("pageable"))};
    small_copy_ = trace_.add_payload(fields);
  }

  Trace make() {
    const size_t per_step = shape_.events / shape_.steps;
    blocks_per_step_ = static_cast<uint32_t>(std::max<size_t>(per_step / 20, 1));
    for (uint32_t step = 0; step < shape_.steps; ++step) {
      Line& main = threads_[0];
      const Ns begin = main.now;
      const size_t before = trace_.size();
      block_ = 0;
      while (trace_.size() - before + 1 < per_step) add_block(threads_[block_ % kThreads]);
      Ns end = begin;
      for (Line& line : threads_) end = std::max(end, line.now);
      for (Line& line : threads_) line.now = end + 1000;
      trace_.add({.kind = EventKind::range,
                  .start = begin,
                  .duration = end - begin,
                  .track = main.track,
                  .name = name("step"),
                  .stack = stacks_[0]});
    }
    trace_.finish();
    return std::move(trace_);
  }

 private:
  struct Line {
    TrackId track = 0;
    Ns now = 0;
  };

  StringId name(const std::string& text) { return trace_.strings.intern(text); }
  Ns below(uint64_t n) { return static_cast<Ns>(random_() % n); }

  StackId stack(int which) {
    std::vector<FrameId> frames;
    for (int depth = 0; depth < 8; ++depth)
      frames.push_back(
          trace_.add_frame({.function = name("f" + std::to_string(which % (depth + 3))),
                            .file = name("model_" + std::to_string(depth) + ".py"),
                            .line = static_cast<uint32_t>(which + depth),
                            .kind = FrameKind::python}));
    return trace_.add_stack(frames);
  }

  void call(Line& line, ApiCall api, const char* text, uint32_t correlation, Ns duration,
            StackId at = 0) {
    trace_.add({.kind = EventKind::api,
                .detail = static_cast<uint8_t>(api),
                .start = line.now,
                .duration = duration,
                .track = line.track,
                .name = name(text),
                .correlation = correlation,
                .stack = at});
    line.now += duration;
  }

  Ns on_device(EventKind kind, StringId what, Ns duration, PayloadId payload, uint8_t detail,
               Ns launched) {
    Line& stream = streams_[correlation_ % 16 == 0];
    stream.now = std::max(stream.now, launched + 2000);
    trace_.add({.kind = kind,
                .detail = detail,
                .start = stream.now,
                .duration = duration,
                .track = stream.track,
                .name = what,
                .correlation = correlation_,
                .payload = payload});
    return stream.now += duration;
  }

  // Twenty events: nine calls, seven kernels, three ranges, and a copy with its synchronisation in
  // place of some of them.
  void add_block(Line& line) {
    const uint32_t place = block_++ % blocks_per_step_;  // the same program every step
    const std::string op = "aten::op" + std::to_string(place % 40);
    for (int i = 0; i < 3; ++i)
      trace_.add({.kind = EventKind::range,
                  .detail = static_cast<uint8_t>(RangeKind::op),
                  .start = line.now + i,
                  .duration = 34'000 - 2 * i,
                  .track = line.track,
                  .name = name(op + std::string(static_cast<size_t>(i), '_'))});
    for (int i = 0; i < 7; ++i) {
      ++correlation_;
      const Ns launched = line.now + 3000;
      call(line, ApiCall::launch, "cudaLaunchKernel", correlation_, 1500 + below(1000));
      on_device(EventKind::kernel, kernels_[(place * 7 + static_cast<uint32_t>(i)) % kKernelNames],
                200 + below(500), 0, 0, launched);
      line.now += 500 + below(1000);
    }
    const StackId at = stacks_[place % kStackCount];
    if (place % 4 == 0) {
      ++correlation_;
      const Ns launched = line.now + 2000;
      const EventKind kind = EventKind::memcpy;
      call(line, ApiCall::copy, "cudaMemcpyAsync", correlation_, 4000, at);
      const Ns done = on_device(kind, name("Memcpy DtoH (Device -> Pageable)"), 1500, small_copy_,
                                static_cast<uint8_t>(CopyKind::device_to_host), launched);
      call(line, ApiCall::stream_sync, "cudaStreamSynchronize", 0,
           std::max<Ns>(done - line.now, 0) + 1500, at);
    } else {
      call(line, ApiCall::other, "cudaGetDevice", 0, 300);
      call(line, ApiCall::event_record, "cudaEventRecord", 0, 700);
    }
    line.now += 15'000;
  }

  SyntheticShape shape_;
  std::mt19937_64 random_;
  Trace trace_;
  std::array<Line, kThreads> threads_;
  std::array<Line, 2> streams_;
  std::vector<StringId> kernels_;
  std::vector<StackId> stacks_;
  PayloadId small_copy_ = 0;
  uint32_t correlation_ = 0, block_ = 0, blocks_per_step_ = 0;
};

}  // namespace

Trace synthetic_trace(const SyntheticShape& shape) {
  return Generator(shape).make();
}

}  // namespace stallscope
