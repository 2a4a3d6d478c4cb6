// The GPUs' own view of themselves, through NVML, loaded when the driver has it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// What one GPU says now; a value that it does not tell is negative.
struct GpuReading {
  double clock_mhz = -1, max_clock_mhz = -1;  ///< of the multiprocessors
  double throttle_reasons = -1;               ///< bits of nvmlClocksEventReasons
  double power_w = -1;
  double memory_bytes = -1;
  double processes = -1;  ///< that compute on it and are not among those given
};

class Nvml {
 public:
  /// Loads libnvidia-ml.so.1; without it, or without a driver, there are no GPUs.
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  size_t gpus() const;
  /// What each is, "NVIDIA H200" say; empty texts where the driver does not tell.
  std::vector<std::string> names() const;
  /// "GPU-..." of each, as the driver numbers them; empty texts where it does not tell.
  std::vector<std::string> uuids() const;
  GpuReading read(size_t gpu, const std::vector<pid_t>& ours) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// The GPUs that a process sees, in its own numbering, by its CUDA_VISIBLE_DEVICES (numbers or the
/// beginnings of uuids; what follows a wrong entry is not seen, as CUDA has it).
std::vector<size_t> visible_gpus(std::string_view devices, const std::vector<std::string>& uuids);

}  // namespace stallscope
