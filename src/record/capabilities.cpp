#include "record/capabilities.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

#include "base/install_tree.h"
#include "base/units.h"
#include "collect/settings.h"
#include "record/machine.h"
#include "record/nvml.h"
#include "record/python_versions.h"
#include "record/thread_moment.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Capability library_capability(const char* name, const char* file, const char* finds,
                              bool required) {
  const Result<std::string> path = library_path(file);
  if (path)
    return {.name = name,
            .ability = Ability::yes,
            .detail = std::string(finds) + " (" + *path + ")",
            .remedy = {},
            .required = required};
  return {.name = name,
          .ability = Ability::no,
          .detail = path.error().message,
          .remedy = "build or install stallscope as a whole (scripts/build.sh)",
          .required = required};
}

Capability cuda_driver() {
  Capability driver{.name = "cuda-driver", .ability = Ability::no, .detail = {}, .remedy = {}};
  const std::string version = first_line("/proc/driver/nvidia/version");
  std::error_code error;
  if (!version.empty()) {
    driver.ability = Ability::yes;
    driver.detail = version;
  } else if (fs::exists("/dev/nvidiactl", error)) {
    driver.ability = Ability::limited;
    driver.detail = "a GPU device is here, but the driver's version cannot be read";
    driver.remedy = "start the container with the NVIDIA runtime (--gpus all)";
  } else {
    driver.detail = "no NVIDIA driver: kernels and copies of a GPU cannot be recorded";
    driver.remedy = "install the driver, or record programs that use NVTX, MPI or Python";
  }
  return driver;
}

/// Folders in which CUPTI is usually found, besides those of the dynamic linker.
std::vector<fs::path> cupti_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* toolkit = std::getenv(variable))
      folders.push_back(fs::path(toolkit) / "extras/CUPTI/lib64");
  folders.emplace_back("/usr/local/cuda/extras/CUPTI/lib64");
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  return folders;
}

/// "12.8" or "13.1.75" from what cuptiGetVersion says; it works without a driver.
std::string cupti_version(void* library) {
  int (*get)(uint32_t*) = nullptr;
  get = reinterpret_cast<decltype(get)>(::dlsym(library, "cuptiGetVersion"));
  uint32_t version = 0;
  if (get == nullptr || get(&version) != 0) return "unknown";
  if (version >= 130000)  // from 13.0: major, minor and update in two digits each
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
  return "12.x (interface " + std::to_string(version) + ")";
}

Capability cupti() {
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
    std::vector<std::string> places = {name};  // as the dynamic linker finds it
    for (const fs::path& folder : cupti_folders()) places.push_back((folder / name).string());
    for (const std::string& place : places) {
      void* library = ::dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (library == nullptr) continue;
      return {.name = "cupti",
              .ability = Ability::yes,
              .detail = "found " + place + ", version " + cupti_version(library),
              .remedy = {}};
    }
  }
  return {.name = "cupti",
          .ability = Ability::no,
          .detail =
              "CUPTI is not in the usual places; a program that brings its own (PyTorch "
              "does) is recorded all the same",
          .remedy = "install the CUDA toolkit, or set CUDA_HOME to it"};
}

Capability nvtx() {
  Capability nvtx =
      library_capability("nvtx", settings::kCollectLibrary,
                         "NVTX ranges are recorded in any program that has them", true);
  const char* theirs = std::getenv(settings::kNvtxInjection);
  if (nvtx.ability == Ability::yes && theirs != nullptr && *theirs != '\0') {
    nvtx.ability = Ability::limited;
    nvtx.detail = std::string(settings::kNvtxInjection) + " already names '" + theirs + "'";
    nvtx.remedy = "unset it to record NVTX ranges";
  }
  return nvtx;
}

/// Reading another process's memory is what sampling Python from outside takes:
/// tried on a child, as a run would.
Capability reading_memory() {
  Capability reading{.name = "process-memory", .ability = Ability::yes, .detail = {}, .remedy = {}};
  static int probe = 0x5ca1ab1e;
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return reading;
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe_ends[1]);
    char byte = 0;
    [[maybe_unused]] const ssize_t got = ::read(pipe_ends[0], &byte, 1);
    ::_exit(0);
  }
  int copy = 0, code = 0;
  const struct iovec local = {&copy, sizeof copy}, remote = {&probe, sizeof probe};
  const bool works = child > 0 &&
                     ::process_vm_readv(child, &local, 1, &remote, 1, 0) == sizeof copy &&
                     copy == probe;
  if (!works) code = errno;
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  reading.detail = "Python can be sampled from outside" +
                   (scope.empty() ? std::string() : " (ptrace_scope " + scope + ")");
  if (works) return reading;
  reading.ability = Ability::no;
  reading.detail = std::string("Python cannot be sampled from outside: process_vm_readv: ") +
                   std::strerror(code) + (scope.empty() ? "" : " (ptrace_scope " + scope + ")");
  reading.remedy =
      "allow it with `sysctl kernel.yama.ptrace_scope=1`, or start the container with "
      "--cap-add SYS_PTRACE";
  return reading;
}

/// Naming native functions below sampled Python lines takes copies of a running thread's stack.
Capability native_frames() {
  Capability native{.name = "native-frames",
                    .ability = Ability::yes,
                    .detail = "native functions below sampled Python lines are named",
                    .remedy = {}};
  if (ThreadMoment::open(0)) return native;
  native.ability = Ability::limited;
  native.detail = std::string(
                      "native functions below sampled Python lines are named for sleeping threads "
                      "only: perf_event_open: ") +
                  std::strerror(errno);
  native.remedy =
      "set `sysctl kernel.perf_event_paranoid=2`, or start the container with --cap-add PERFMON";
  return native;
}

Capability gpu_permission() {
  Capability permission{.name = "gpu-permission",
                        .ability = Ability::yes,
                        .detail = "activity tracing needs no privilege",
                        .remedy = {}};
  std::error_code error;
  if (!fs::exists("/proc/driver/nvidia/version", error)) {
    permission.ability = Ability::no;
    permission.detail = "no NVIDIA driver to ask";
    permission.remedy = "see cuda-driver";
  } else if (::access("/dev/nvidiactl", R_OK | W_OK) != 0) {
    permission.ability = Ability::no;
    permission.detail = std::string("/dev/nvidiactl cannot be opened: ") + std::strerror(errno);
    permission.remedy =
        "add this user to the group that owns it, or start the container with --gpus all";
  }
  return permission;
}

Capability nvml() {
  const size_t gpus = Nvml().gpus();
  if (gpus > 0)
    return {.name = "nvml",
            .ability = Ability::yes,
            .detail = "clocks, power and memory of " + std::to_string(gpus) + " GPUs are sampled",
            .remedy = {}};
  return {.name = "nvml",
          .ability = Ability::no,
          .detail = "libnvidia-ml.so.1 tells of no GPU: lowered clocks cannot be named",
          .remedy =
              "it comes with the driver; in a container set NVIDIA_DRIVER_CAPABILITIES to "
              "include utility"};
}

Capability nccl() {
  const char* theirs = std::getenv(settings::kNcclProfiler);
  if (theirs != nullptr && *theirs != '\0')
    return {.name = "nccl",
            .ability = Ability::limited,
            .detail = std::string(settings::kNcclProfiler) + " already names '" + theirs +
                      "': only NCCL's NVTX ranges are recorded",
            .remedy = "unset it to record algorithms, protocols and channels"};
  return library_capability("nccl", settings::kCollectLibrary,
                            "NCCL 2.23 and later call the profiler plugin (v1 to v5); older ones "
                            "are seen by their NVTX ranges",
                            false);
}

Capability annotations() {
  const Result<std::string> folder = library_path(settings::kPythonFolder);
  if (!folder)
    return {.name = "annotate",
            .ability = Ability::no,
            .detail = folder.error().message,
            .remedy = "build or install stallscope as a whole (scripts/build.sh)"};
  return {.name = "annotate",
          .ability = Ability::yes,
          .detail = "PyTorch and JAX programs are marked (run --annotate off leaves them alone)",
          .remedy = {}};
}

Capability mpi() {
  Capability mpi = library_capability(
      "mpi", settings::kMpiLibrary, "MPI calls are recorded in Open MPI and MPICH programs", false);
  const std::string launcher = find_program("mpirun");
  mpi.detail += launcher.empty() ? "; no mpirun on PATH" : "; mpirun is " + launcher;
  return mpi;
}

Capability python() {
  std::string found;
  bool any = false;
  for (const PythonInstallation& each : python_installations()) {
    any = any || each.supported;
    found += (found.empty() ? "" : ", ") + each.path + " (" + each.version +
             (each.supported ? "" : ", its stacks cannot be read") + ")";
  }
  if (any) return {.name = "python", .ability = Ability::yes, .detail = found, .remedy = {}};
  return {.name = "python",
          .ability = Ability::no,
          .detail = found.empty() ? "no Python on PATH" : found,
          .remedy = "stacks are read for CPython 3.8 to 3.14"};
}

Capability clocks() {
  if (tsc_is_constant())
    return {.name = "clock",
            .ability = Ability::yes,
            .detail = "the time-stamp counter is constant: an event's time costs about 10 ns",
            .remedy = {}};
  return {.name = "clock",
          .ability = Ability::limited,
          .detail =
              "the time-stamp counter is not constant; clock_gettime is used, which costs "
              "more per event",
          .remedy = "nothing to do: virtual machines often hide it"};
}

Capability disk() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  constexpr double kEnough = 1 << 30;  // about 30 million events
  struct statvfs info = {};
  Capability disk{.name = "disk", .ability = Ability::yes, .detail = {}, .remedy = {}};
  if (::statvfs(folder.c_str(), &info) != 0 || ::access(folder.c_str(), W_OK) != 0) {
    disk.ability = Ability::no;
    disk.detail = folder + " cannot be written";
    disk.remedy = "set TMPDIR to a folder on this machine that can";
    disk.required = true;
    return disk;
  }
  const double room = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  disk.detail = folder + " has " + format_bytes(room) + " free";
  if (room < kEnough) {
    disk.ability = Ability::limited;
    disk.remedy = "free some room, set TMPDIR elsewhere, or record with --max-size";
  }
  return disk;
}

}  // namespace

std::string_view to_string(Ability ability) {
  switch (ability) {
    case Ability::yes:
      return "yes";
    case Ability::limited:
      return "limited";
    case Ability::no:
      return "no";
  }
  return "no";
}

std::vector<Capability> probe_capabilities() {
  return {nvtx(),   cuda_driver(),    gpu_permission(), cupti(),       nvml(),   nccl(), mpi(),
          python(), reading_memory(), native_frames(),  annotations(), clocks(), disk()};
}

}  // namespace stallscope
