#include "record/python_versions.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// "3.11" of "python3.11", "3.14t" of a free-threaded "python3.14t"; empty for other names
/// ("python3.11-config", "python3").
std::string version_in_name(std::string_view name) {
  constexpr std::string_view kPrefix = "python";
  if (!name.starts_with(kPrefix)) return {};
  const std::string_view version = name.substr(kPrefix.size());
  std::string_view number = version;
  if (number.ends_with('t')) number.remove_suffix(1);
  const bool plain = number.find('.') != std::string_view::npos &&
                     number.find_first_not_of("0123456789.") == std::string_view::npos;
  return plain ? std::string(version) : std::string();
}

/// A program, not a script that starts one (pyenv's shims).
bool is_binary(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return std::string_view(magic, sizeof magic) == "\177ELF";
}

bool is_supported(const std::string& version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc() || dot == end) return false;
  const char* const rest = std::from_chars(dot + 1, end, minor).ptr;
  const bool free_threaded = rest != end && *rest == 't';
  return major == 3 && minor >= 8 && minor <= 14 && !free_threaded;
}

}  // namespace

std::vector<PythonInstallation> python_installations() {
  std::vector<PythonInstallation> found;
  std::set<std::string> seen;
  const auto look_at = [&](const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return;
    const std::string version = version_in_name(real.filename().string());
    if (version.empty() || !is_binary(real) || !seen.insert(real.string()).second) return;
    found.push_back({real.string(), version, is_supported(version)});
  };
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "";
  while (!folders.empty()) {
    const size_t colon = folders.find(':');
    const fs::path folder(folders.substr(0, colon));
    folders.remove_prefix(colon == std::string_view::npos ? folders.size() : colon + 1);
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().filename().string().starts_with("python")) look_at(entry.path());
  }
  // pyenv puts scripts on PATH; the interpreters lie here.
  const char* root = std::getenv("PYENV_ROOT");
  const char* home = std::getenv("HOME");
  const fs::path versions = fs::path(root != nullptr   ? root
                                     : home != nullptr ? std::string(home) + "/.pyenv"
                                                       : std::string("/nonexistent")) /
                            "versions";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(versions, error))
    look_at(entry.path() / "bin/python3");
  std::ranges::sort(found, {}, &PythonInstallation::path);
  return found;
}

}  // namespace stallscope
