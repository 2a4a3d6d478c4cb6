#include "source/project_root.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>

#include "base/file.h"
#include "base/settings_file.h"
#include "source/gitignore.h"
#include "source/project.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kRepositories = {".git", ".hg"};
constexpr std::array<std::string_view, 7> kProjectFiles = {
    "pyproject.toml", "stallscope.yml", "stallscope.yaml", "setup.py",
    "setup.cfg",      "ruff.toml",      "CMakeLists.txt"};
/// Read for the calls into one project of a repository; a collection of many projects has more.
/// To list them takes some hundredths of a second, to read them a second or two, once.
constexpr size_t kMostAroundProject = 2'000;

bool has_any(const fs::path& folder, std::span<const std::string_view> names) {
  std::error_code ec;
  return std::ranges::any_of(names,
                             [&](std::string_view name) { return fs::exists(folder / name, ec); });
}

fs::path folder_of(const std::string& path) {
  std::error_code ec;
  fs::path at = fs::weakly_canonical(path, ec);
  if (ec) at = fs::absolute(path);
  return fs::is_directory(at, ec) ? at : at.parent_path();
}

/// Whether a repository's .gitignore files leave out a folder in it: what others installed or
/// unpacked there is no part of it.
bool leaves_out(const fs::path& repository, const fs::path& folder) {
  const fs::path relative = folder.lexically_relative(repository);
  Gitignore ignore;
  fs::path at;
  for (const fs::path& part : relative) {
    if (auto text = read_file((repository / at / ".gitignore").string(), 1u << 20))
      ignore.add(at.generic_string(), *text);
    at /= part;
    if (ignore.ignores(at.generic_string(), true)) return true;
  }
  return false;
}

std::string common_folder(const fs::path& a, const fs::path& b) {
  fs::path out;
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  for (auto part = a.begin(); part != end; ++part) out /= *part;
  return out.string();
}

}  // namespace

bool has_root_mark(const std::string& folder) {
  return has_any(folder, kRepositories) || has_any(folder, kProjectFiles);
}

bool is_wide_folder(const std::string& folder) {
  std::error_code ec;
  const fs::path at = fs::weakly_canonical(folder, ec);
  if (ec || !at.has_relative_path()) return true;
  const char* const home = std::getenv("HOME");
  return (home != nullptr && *home != '\0' && fs::equivalent(at, home, ec)) ||
         fs::equivalent(at, fs::temp_directory_path(ec), ec) || at == "/tmp" || at == "/var/tmp" ||
         at == "/home" || at == "/dev/shm";
}

std::string project_root(const std::string& path) {
  const fs::path own = folder_of(path);
  fs::path nearest;
  for (fs::path at = own; at.has_relative_path(); at = at.parent_path()) {
    // What lies in a folder that holds everything is not its project, but for the files in itself.
    if (at != own && is_wide_folder(at.string())) break;
    // An installed package is no part of the project that its environment lies in.
    if (at != own && is_virtual_environment(at)) break;
    if (!settings_file_in(at.string()).empty()) return at.string();
    if (nearest.empty() && has_root_mark(at.string())) nearest = at;
    if (!has_any(at, kRepositories)) continue;
    const bool whole = at == nearest || (!leaves_out(at, nearest) &&
                                         !holds_more_files(at.string(), kMostAroundProject));
    return (whole ? at : nearest).string();
  }
  return (nearest.empty() ? own : nearest).string();
}

Result<std::string> project_root(const std::vector<std::string>& paths) {
  std::error_code ec;
  std::map<fs::path, std::string> roots;  // by folder: a hook names many files of few
  std::string common;
  for (const std::string& path : paths) {
    if (!fs::exists(path, ec))
      return Error{
          .message = "there is no such file or folder", .file = path, .remedy = "Check the path."};
    std::string& own = roots[folder_of(path)];
    if (own.empty()) own = project_root(path);
    common = common.empty() ? own : common_folder(common, own);
  }
  return common;
}

}  // namespace stallscope
