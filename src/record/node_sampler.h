// Counters of the node beside the program: is it the code, or this machine?
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/units.h"
#include "record/recorded_time.h"

namespace stallscope {

struct NodeSamplerOptions {
  std::string folder;         ///< of the recorded processes' files; PID.node.samples go there
  Ns interval = 200'000'000;  ///< between looks
  RecordingBounds bounds = {};
};

/// What it did, for run.json.
struct NodeSamplerResult {
  size_t gpus = 0;                     ///< that NVML told about
  std::vector<std::string> gpu_names;  ///< what they are
  double cpu_seconds = 0;
  std::string note;  ///< why it ended early; empty when it did not
};

/// Samples from start() to stop(): for each recorded process the CPU time that others took from
/// it, throttling of its control group, waits for storage and time stopped; for the machine the
/// CPU time of other programs; for each GPU (by NVML, when there) clocks, reasons for throttling,
/// power, memory and the number of other processes on it.
class NodeSampler {
 public:
  explicit NodeSampler(NodeSamplerOptions options);
  ~NodeSampler();
  NodeSampler(const NodeSampler&) = delete;
  NodeSampler& operator=(const NodeSampler&) = delete;
  void start(pid_t root);
  NodeSamplerResult stop();

 private:
  class Loop;
  NodeSamplerOptions options_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace stallscope
