// Samples the Python stacks of a program and its children from outside, in a
// thread of the recorder. The program is neither stopped nor changed.
#pragma once

#include <sys/types.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "record/recorded_time.h"

namespace stallscope {

struct SamplerOptions {
  std::string folder;      ///< where PID.samples and PID-1.samples files go
  uint32_t rate_hz = 200;  ///< per thread; lowered when it would cost more than the budget
  double budget = 0.01;    ///< of one core
  bool native = true;      ///< the native functions below Python too
  RecordingBounds bounds = {};
};

/// What the sampler did, for run.json.
struct SamplerResult {
  size_t processes = 0;
  uint64_t samples = 0;
  std::string native;         ///< whether native functions could be named, and why not
  uint64_t native_looks = 0;  ///< that found native functions
  double cpu_seconds = 0;
  uint32_t lowest_rate_hz = 0;        ///< what the budget allowed at worst
  std::set<std::string> files;        ///< Python sources of all stacks
  std::vector<std::string> versions;  ///< of the interpreters that were sampled: "3.11"
  std::vector<std::string> notes;     ///< what could not be sampled, one sentence each
};

/// Samples from start() to stop().
class PythonSampler {
 public:
  explicit PythonSampler(SamplerOptions options);
  ~PythonSampler();
  PythonSampler(const PythonSampler&) = delete;
  PythonSampler& operator=(const PythonSampler&) = delete;
  void start(pid_t root);
  SamplerResult stop();

 private:
  class Loop;
  SamplerOptions options_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace stallscope
