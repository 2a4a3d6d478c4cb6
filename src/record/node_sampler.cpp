#include "record/node_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>

#include "record/launcher.h"
#include "record/nvml.h"
#include "record/process_tree.h"
#include "record/process_usage.h"
#include "record/side_thread.h"
#include "trace/node_counters.h"
#include "trace/sample_file.h"
#include "trace/segment_format.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

double share(Ns part, Ns whole) {
  return whole > 0 ? std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0)
                   : 0;
}

/// A recorded process: its file of counters, and its totals at the last look.
struct Watched {
  SampleWriter writer;
  std::string path;
  std::vector<size_t> gpus;  ///< that it sees, in its own numbering
  std::optional<ProcessUsage> usage;
  std::optional<Throttling> throttling;

  void flush() {
    const std::string text = writer.take();
    if (text.empty()) return;
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return;
    // A full disk loses counters, not the run.
    [[maybe_unused]] const ssize_t put = ::write(fd, text.data(), text.size());
    ::close(fd);
  }
};

}  // namespace

class NodeSampler::Loop {
 public:
  Loop(NodeSamplerOptions options, pid_t root)
      : options_(std::move(options)),
        root_(root),
        recorded_(options_.folder, options_.bounds),
        thread_("the machine is watched no longer", [this](SideThread& thread) { run(thread); }) {}

  NodeSamplerResult finish() {
    result_.note = thread_.stop();
    return result_;
  }

 private:
  void run(SideThread& thread) {
    const Nvml nvml;
    result_.gpus = nvml.gpus();
    result_.gpu_names = nvml.names();
    uuids_ = nvml.uuids();
    machine_ = machine_usage();
    last_ = clock_now(CLOCK_MONOTONIC);
    while (thread.wait_until(clock_now(CLOCK_MONOTONIC) + options_.interval)) {
      look(nvml);
      for (auto& [pid, watched] : watched_)
        if (constexpr size_t kPending = 4096; watched.writer.pending() > kPending) watched.flush();
    }
    look(nvml);
    for (auto& [pid, watched] : watched_) watched.flush();
    result_.cpu_seconds = static_cast<double>(clock_now(CLOCK_THREAD_CPUTIME_ID)) / 1e9;
  }

  void look(const Nvml& nvml) {
    const Ns now = clock_now(CLOCK_MONOTONIC), period = now - last_;
    if (period <= 0) return;
    const std::vector<pid_t> tree = process_tree(root_);
    recorded_.find_segments(tree);
    recorded_.look(now);
    Ns ours = 0;
    std::map<pid_t, ProcessUsage> usages;
    for (const pid_t pid : tree)
      if (const std::optional<ProcessUsage> usage = process_usage(pid)) {
        usages[pid] = *usage;
        if (const auto before = totals_.find(pid); before != totals_.end())
          ours += usage->on_cpu - before->second;
        totals_[pid] = usage->on_cpu;
      }
    const MachineUsage machine = machine_usage();
    const double others = std::max(0.0, static_cast<double>(machine.busy - machine_.busy - ours)) /
                          static_cast<double>(period);
    const double stolen =
        static_cast<double>(machine.stolen - machine_.stolen) / static_cast<double>(period);
    std::vector<GpuReading> gpus;
    for (size_t i = 0; i < nvml.gpus(); ++i) gpus.push_back(nvml.read(i, tree));
    for (const auto& [pid, usage] : usages) {
      Watched* watched = watched_process(pid);
      if (watched == nullptr) continue;
      if (!recorded_.holds(pid)) {
        watched->usage.reset();
        continue;
      }
      write_process(pid, *watched, usage, now, period);
      watched->writer.counter(now, node::kOthers, others);
      watched->writer.counter(now, node::kStolen, stolen);
      for (size_t i = 0; i < watched->gpus.size(); ++i)
        write_gpu(*watched, i, gpus[watched->gpus[i]], now);
    }
    machine_ = machine;
    last_ = now;
  }

  static void write_process(pid_t pid, Watched& watched, const ProcessUsage& usage, Ns now,
                            Ns period) {
    const std::optional<Throttling> throttling = throttling_of(pid);
    if (watched.usage) {
      SampleWriter& writer = watched.writer;
      // The kernel counts a thread that a quota holds back as one that waits for a CPU.
      const Ns held_back =
          throttling && watched.throttling ? throttling->time - watched.throttling->time : 0;
      writer.counter(now, node::kDelayed,
                     share(usage.delayed - watched.usage->delayed - held_back, period));
      writer.counter(now, node::kStorage,
                     share(usage.storage_wait - watched.usage->storage_wait, period));
      writer.counter(now, node::kStopped, usage.stopped && watched.usage->stopped ? 1 : 0);
      if (throttling && watched.throttling)
        writer.counter(now, node::kThrottled, share(held_back, period));
    }
    watched.usage = usage;
    watched.throttling = throttling;
  }

  static void write_gpu(Watched& watched, size_t gpu, const GpuReading& reading, Ns now) {
    const auto put = [&](const char* name, double value) {
      if (value >= 0) watched.writer.counter(now, node::gpu_counter(gpu, name), value);
    };
    put(node::kClock, reading.clock_mhz);
    put(node::kMaxClock, reading.max_clock_mhz);
    put(node::kReasons, reading.throttle_reasons);
    put(node::kPower, reading.power_w);
    put(node::kMemory, reading.memory_bytes);
    put(node::kProcesses, reading.processes);
  }

  /// Only processes that leave events behind: counters alone would make ranks of launchers.
  Watched* watched_process(pid_t pid) {
    if (const auto known = watched_.find(pid); known != watched_.end()) return &known->second;
    const std::string base = options_.folder + "/" + std::to_string(pid);
    std::error_code error;
    if (!fs::exists(base + std::string(segment::kFileSuffix), error) &&
        !fs::exists(base + std::string(kSampleSuffix), error))
      return nullptr;
    return &watched_
                .emplace(pid, Watched{.writer = SampleWriter(pid, detect_rank_of(pid)),
                                      .path = base + ".node" + std::string(kSampleSuffix),
                                      .gpus = gpus_of(pid),
                                      .usage = std::nullopt,
                                      .throttling = std::nullopt})
                .first->second;
  }

  // Devices are numbered by each process as it sees them.
  std::vector<size_t> gpus_of(pid_t pid) const {
    const auto variables = environment_of(pid);
    if (const auto devices = variables.find("CUDA_VISIBLE_DEVICES"); devices != variables.end())
      return visible_gpus(devices->second, uuids_);
    std::vector<size_t> all(uuids_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  NodeSamplerOptions options_;
  pid_t root_;
  RecordedTime recorded_;
  NodeSamplerResult result_;
  std::vector<std::string> uuids_;
  std::map<pid_t, Watched> watched_;
  std::map<pid_t, Ns> totals_;
  MachineUsage machine_;
  Ns last_ = 0;
  SideThread thread_;  // last: it uses all of the above
};

NodeSampler::NodeSampler(NodeSamplerOptions options) : options_(std::move(options)) {}

NodeSampler::~NodeSampler() {
  if (loop_) (void)loop_->finish();
}

void NodeSampler::start(pid_t root) {
  if (!loop_) loop_ = std::make_unique<Loop>(options_, root);
}

NodeSamplerResult NodeSampler::stop() {
  if (!loop_) return {};
  NodeSamplerResult result = loop_->finish();
  loop_.reset();
  return result;
}

}  // namespace stallscope
