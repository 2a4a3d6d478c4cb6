// libnvidia-ml.so.1 with its real ABI and no driver. MOCK_NVML describes the GPUs:
//
//   "name=H200 clock=600 max=1980 reasons=0x20 power=320 memory=1000 pids=77,78;"
//   " clock=1980 max=1980"
//
// Clocks in MHz, power in W, memory in bytes; what is left out, the GPU does not tell.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Numbers of nvml.h.
constexpr int kSuccess = 0, kUninitialized = 1, kInvalidArgument = 2, kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr unsigned kClockSm = 1;

struct Gpu {
  std::map<std::string, std::string> values;
};
std::vector<Gpu> gpus;
bool initialized = false;

struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);

template <typename Value>
int give(const void* device, const char* name, Value* out, double scale = 1) {
  if (!initialized) return kUninitialized;
  const auto& values = static_cast<const Gpu*>(device)->values;
  const auto found = values.find(name);
  if (found == values.end()) return kNotSupported;
  *out =
      static_cast<Value>(static_cast<double>(strtoull(found->second.c_str(), nullptr, 0)) * scale);
  return kSuccess;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* text = getenv("MOCK_NVML");
  if (text == nullptr) return 9;  // NVML_ERROR_DRIVER_NOT_LOADED
  gpus.clear();
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ';');) {
    Gpu& gpu = gpus.emplace_back();
    std::istringstream words(one);
    for (std::string word; words >> word;)
      gpu.values[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  initialized = true;
  return kSuccess;
}
int nvmlShutdown() {
  initialized = false;
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus.size());
  return initialized ? kSuccess : kUninitialized;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= gpus.size()) return kInvalidArgument;
  *device = &gpus[index];
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  const auto index = static_cast<const Gpu*>(device) - gpus.data();
  return snprintf(text, size, "GPU-%08d-0000", static_cast<int>(index)) < static_cast<int>(size)
             ? kSuccess
             : kInsufficientSize;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  const auto& values = static_cast<const Gpu*>(device)->values;
  const auto found = values.find("name");
  if (found == values.end()) return kNotSupported;
  return snprintf(text, size, "NVIDIA %s", found->second.c_str()) < static_cast<int>(size)
             ? kSuccess
             : kInsufficientSize;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  return type == kClockSm ? give(device, "clock", mhz) : kNotSupported;
}
int nvmlDeviceGetMaxClockInfo(void* device, unsigned type, unsigned* mhz) {
  return type == kClockSm ? give(device, "max", mhz) : kNotSupported;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  return give(device, "reasons", bits);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return give(device, "power", milliwatts, 1000);
}
int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  *memory = {};
  return give(device, "memory", &memory->used);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* infos) {
  const auto& values = static_cast<const Gpu*>(device)->values;
  std::vector<unsigned> pids;
  if (const auto found = values.find("pids"); found != values.end()) {
    std::istringstream list(found->second);
    for (std::string pid; std::getline(list, pid, ',');)
      pids.push_back(static_cast<unsigned>(atoi(pid.c_str())));
  }
  const unsigned room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (room < pids.size()) return kInsufficientSize;
  for (size_t i = 0; i < pids.size(); ++i) infos[i] = {pids[i], 1 << 20, 0, 0};
  return kSuccess;
}

}  // extern "C"
