#include "record/own_profiles.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "record/profile_owner.h"
#include "trace/sample_file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Larger ones stay where they are: a report of them is one of its own.
constexpr uint64_t kLargest = 512ULL << 20;
constexpr size_t kMostProfiles = 64;
/// Of the working directory, how much is looked at.
constexpr size_t kMostEntries = 20'000;
constexpr int kDeepest = 4;

bool is_exported_name(const std::string& name) {
  return name.ends_with(".pt.trace.json") || name.ends_with(".pt.trace.json.gz");
}

// CLOCK_REALTIME; 0 when it cannot be told.
Ns written_at(const fs::path& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0) return 0;
  return static_cast<Ns>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

std::vector<fs::path> exported_into(const std::string& folder, Ns since) {
  std::vector<fs::path> files;
  std::error_code error;
  size_t looked_at = 0;
  for (auto entry = fs::recursive_directory_iterator(
           folder, fs::directory_options::skip_permission_denied, error);
       !error && entry != fs::recursive_directory_iterator() && ++looked_at < kMostEntries;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) {
      const std::string name = entry->path().filename().string();
      if (entry.depth() >= kDeepest || name.starts_with(".")) entry.disable_recursion_pending();
      continue;
    }
    if (is_exported_name(entry->path().filename().string()) && entry->is_regular_file(ignored) &&
        written_at(entry->path()) >= since)
      files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

// Enough to come upon the first rows of a process; a compressed file is not looked into.
std::string begin_of(const fs::path& path) {
  constexpr std::streamsize kBytes = 1 << 20;
  if (path.extension() == ".gz") return {};
  std::string text(kBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), kBytes);
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace

std::vector<std::string> take_own_profiles(const Annotations& annotations,
                                           const std::string& working_directory, Ns since,
                                           const std::string& recording_folder) {
  std::vector<std::pair<int64_t, fs::path>> profiles;
  for (const auto& [pid, path] : annotations.profiles) profiles.emplace_back(pid, path);
  const std::map<int64_t, int32_t> recorded = recorded_processes(recording_folder);
  for (const fs::path& path : exported_into(working_directory, since))
    profiles.emplace_back(owner_of_profile(path.filename().string(), begin_of(path), recorded),
                          path);
  std::vector<std::string> notes;
  std::set<fs::path> taken;
  for (const auto& [pid, path] : profiles) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error || !fs::is_regular_file(real, error) || !taken.insert(real).second) continue;
    const uint64_t bytes = fs::file_size(real, error);
    if (error || bytes > kLargest || taken.size() > kMostProfiles) {
      notes.push_back("The program's own profile " + real.string() +
                      " was not taken into the run: report on it by itself");
      continue;
    }
    fs::path to =
        fs::path(recording_folder) / (std::to_string(pid) + "." + std::to_string(taken.size()));
    to += kProfileSuffix;
    if (fs::copy_file(real, to, error); error)
      notes.push_back("The program's own profile " + real.string() +
                      " could not be copied: " + error.message());
  }
  return notes;
}

}  // namespace stallscope
