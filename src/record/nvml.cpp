#include "record/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>

namespace stallscope {
namespace {

using Device = void*;
constexpr int kSuccess = 0, kInsufficientSize = 7;
constexpr unsigned kClockSm = 1;

struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {  // nvmlProcessInfo_v2_t, as the _v3 function fills it
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

template <typename Pointer>
void find(void* library, Pointer& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer>(::dlsym(library, name));
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  std::vector<Device> devices;
  int (*shutdown)() = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*max_clock)(Device, unsigned, unsigned*) = nullptr;
  int (*reasons)(Device, unsigned long long*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;

  /// What the function says of each device, as text.
  std::vector<std::string> texts(int (*function)(Device, char*, unsigned)) const {
    std::vector<std::string> all;
    for (const Device device : devices) {
      char text[96] = "";  // NVML_DEVICE_UUID_V2_BUFFER_SIZE, NVML_DEVICE_NAME_V2_BUFFER_SIZE
      const bool known = function != nullptr && function(device, text, sizeof text) == kSuccess;
      all.emplace_back(known ? text : "");
    }
    return all;
  }
};

Nvml::Nvml() : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml.handle == nullptr) return;
  int (*init)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  find(nvml.handle, init, "nvmlInit_v2");
  find(nvml.handle, count, "nvmlDeviceGetCount_v2");
  find(nvml.handle, by_index, "nvmlDeviceGetHandleByIndex_v2");
  find(nvml.handle, nvml.clock, "nvmlDeviceGetClockInfo");
  find(nvml.handle, nvml.max_clock, "nvmlDeviceGetMaxClockInfo");
  find(nvml.handle, nvml.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  find(nvml.handle, nvml.power, "nvmlDeviceGetPowerUsage");
  find(nvml.handle, nvml.memory, "nvmlDeviceGetMemoryInfo");
  find(nvml.handle, nvml.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  find(nvml.handle, nvml.name, "nvmlDeviceGetName");
  find(nvml.handle, nvml.uuid, "nvmlDeviceGetUUID");
  if (init == nullptr || count == nullptr || by_index == nullptr || init() != kSuccess) return;
  find(nvml.handle, nvml.shutdown, "nvmlShutdown");
  unsigned devices = 0;
  if (count(&devices) != kSuccess) return;
  constexpr unsigned kMostDevices = 64;
  for (unsigned i = 0; i < std::min(devices, kMostDevices); ++i)
    if (Device device = nullptr; by_index(i, &device) == kSuccess) nvml.devices.push_back(device);
}

Nvml::~Nvml() {
  if (library_->shutdown != nullptr) library_->shutdown();
  // The library stays loaded: drivers do not all survive being closed.
}

size_t Nvml::gpus() const {
  return library_->devices.size();
}

std::vector<std::string> Nvml::names() const {
  return library_->texts(library_->name);
}

std::vector<std::string> Nvml::uuids() const {
  return library_->texts(library_->uuid);
}

GpuReading Nvml::read(size_t gpu, const std::vector<pid_t>& ours) const {
  const Library& nvml = *library_;
  const Device device = nvml.devices[gpu];
  GpuReading reading;
  unsigned value = 0;
  if (nvml.clock != nullptr && nvml.clock(device, kClockSm, &value) == kSuccess)
    reading.clock_mhz = value;
  if (nvml.max_clock != nullptr && nvml.max_clock(device, kClockSm, &value) == kSuccess)
    reading.max_clock_mhz = value;
  if (nvml.power != nullptr && nvml.power(device, &value) == kSuccess)
    reading.power_w = value / 1000.0;
  unsigned long long bits = 0;
  if (nvml.reasons != nullptr && nvml.reasons(device, &bits) == kSuccess)
    reading.throttle_reasons = static_cast<double>(bits);
  Memory memory = {};
  if (nvml.memory != nullptr && nvml.memory(device, &memory) == kSuccess)
    reading.memory_bytes = static_cast<double>(memory.used);
  if (nvml.processes != nullptr) {
    std::vector<ProcessInfo> found(64);
    auto count = static_cast<unsigned>(found.size());
    const int code = nvml.processes(device, &count, found.data());
    if (code == kSuccess) {
      found.resize(std::min<size_t>(count, found.size()));
      reading.processes = static_cast<double>(std::ranges::count_if(found, [&](const auto& each) {
        return std::ranges::find(ours, static_cast<pid_t>(each.pid)) == ours.end();
      }));
    } else if (code == kInsufficientSize) {
      reading.processes = count;
    }
  }
  return reading;
}

std::vector<size_t> visible_gpus(std::string_view devices, const std::vector<std::string>& uuids) {
  std::vector<size_t> gpus;
  while (!devices.empty()) {
    const size_t comma = std::min(devices.find(','), devices.size());
    const std::string_view entry = devices.substr(0, comma);
    devices.remove_prefix(std::min(comma + 1, devices.size()));
    size_t gpu = uuids.size();
    if (entry.starts_with("GPU-")) {
      const auto found = std::ranges::find_if(
          uuids, [entry](const std::string& uuid) { return uuid.starts_with(entry); });
      gpu = static_cast<size_t>(found - uuids.begin());
    } else {
      const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), gpu);
      if (error != std::errc() || end != entry.data() + entry.size()) gpu = uuids.size();
    }
    if (gpu >= uuids.size()) break;
    gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace stallscope
