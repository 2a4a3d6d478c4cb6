#include "record/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// The value of the first "key<separator>value" line of a file; empty when absent.
std::string line_value(const char* path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const size_t begin = line.find_first_not_of(" \t\"", at + 1);
    if (begin == std::string::npos) continue;
    const size_t end = line.find_last_not_of(" \t\"\r");
    return line.substr(begin, end - begin + 1);
  }
  return {};
}

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// "3.11" when `path` resolves to an interpreter named python3.11; empty otherwise.
std::string python_version(const std::string& path) {
  std::error_code error;
  const std::string name = fs::canonical(path, error).filename().string();
  constexpr std::string_view kPrefix = "python";
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string();
}

/// "580.159.04" of the driver's own line, in which words come before and after; else the line.
std::string driver_version(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return line;
}

}  // namespace

bool tsc_is_constant() {
  const std::string flags = " " + line_value("/proc/cpuinfo", "flags", ':') + " ";
  return flags.find(" constant_tsc ") != std::string::npos &&
         flags.find(" nonstop_tsc ") != std::string::npos;
}

std::string find_program(const std::string& program) {
  if (program.empty()) return {};
  if (program.find('/') != std::string::npos)
    return is_executable_file(program) ? program : std::string();
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (;;) {
    const size_t colon = folders.find(':');
    const std::string_view folder = folders.substr(0, colon);
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    if (is_executable_file(candidate)) return candidate.string();
    if (colon == std::string_view::npos) return {};
    folders.remove_prefix(colon + 1);
  }
}

std::map<std::string, std::string> machine_facts(const std::vector<std::string>& command) {
  std::map<std::string, std::string> facts;
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) facts[key] = value;
  };
  set("cpu.model", line_value("/proc/cpuinfo", "model name", ':'));
  set("cpu.cores", std::to_string(std::thread::hardware_concurrency()));
  set("os", line_value("/etc/os-release", "PRETTY_NAME", '='));
  set("clock.tsc", tsc_is_constant() ? "constant" : "not constant");
  const std::string memory = line_value("/proc/meminfo", "MemTotal", ':');
  if (!memory.empty())
    set("memory.bytes", std::to_string(std::strtoull(memory.c_str(), nullptr, 10) * 1024));
  struct utsname name = {};
  if (::uname(&name) == 0) {
    set("kernel", std::string(name.sysname) + " " + name.release);
    set("host", name.nodename);
  }
  if (const char* devices = std::getenv("CUDA_VISIBLE_DEVICES"))
    set("env.CUDA_VISIBLE_DEVICES", devices);
  if (const char* threads = std::getenv("OMP_NUM_THREADS")) set("env.OMP_NUM_THREADS", threads);
  if (!command.empty()) set("python", python_version(find_program(command[0])));
  std::ifstream driver("/proc/driver/nvidia/version");
  if (std::string line; std::getline(driver, line)) set("driver.version", driver_version(line));
  return facts;
}

}  // namespace stallscope
