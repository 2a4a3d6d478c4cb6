// Where things are in a run folder.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "import/run_folder.h"
#include "trace/segment_format.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

bool has_file(const fs::path& folder, std::string_view name) {
  std::error_code error;
  return fs::is_regular_file(folder / name, error);
}

std::vector<fs::path> sub_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && !entry.is_symlink(ignored)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::optional<int> rank_of_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kRankFolderPrefix)) return std::nullopt;
  int rank = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kRankFolderPrefix.size(), end, rank);
  if (error != std::errc() || stop != end || rank < 0) return std::nullopt;
  return rank;
}

/// Rank folders of a folder, by rank.
std::vector<std::string> numbered_folders(const fs::path& folder) {
  std::vector<std::pair<int, std::string>> found;
  for (const fs::path& path : sub_folders(folder))
    if (const std::optional<int> rank = rank_of_folder(path))
      found.emplace_back(*rank, path.string());
  std::ranges::sort(found);
  std::vector<std::string> paths;
  for (auto& [rank, path] : found) paths.push_back(std::move(path));
  return paths;
}

/// A launch: a folder of rank folders that each have a run.json of their own.
bool is_launch(const fs::path& folder) {
  const std::vector<std::string> ranks = numbered_folders(folder);
  return std::ranges::any_of(ranks,
                             [](const std::string& rank) { return has_file(rank, kManifestFile); });
}

}  // namespace

std::vector<std::string> files_with_suffix(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored) && entry.path().filename().string().ends_with(suffix))
      files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string trace_folder_of(const std::string& path) {
  if (has_file(path, kManifestFile) || is_launch(path)) return path;
  const fs::path trace = fs::path(path) / "trace";
  std::error_code error;
  if (has_file(trace, kManifestFile) && !fs::is_symlink(trace, error)) return trace.string();
  // Launches: the newest one, whether or not its ranks were merged.
  std::string newest, newest_start;
  for (const fs::path& folder : sub_folders(path)) {
    if (!is_launch(folder)) continue;
    const Result<RunManifest> manifest = manifest_of(folder.string());
    const std::string start = manifest ? manifest->started_at : std::string();
    if (newest.empty() || start > newest_start) {
      newest = folder.string();
      newest_start = start;
    }
  }
  return newest;
}

std::vector<std::string> rank_folders(const std::string& trace_folder) {
  std::vector<std::string> ranks = numbered_folders(trace_folder);
  if (!ranks.empty()) return ranks;
  const fs::path local = fs::path(trace_folder) / kLocalFolder;
  std::error_code error;
  if (fs::is_directory(local, error)) return {local.string()};
  return {trace_folder};
}

Result<RunManifest> manifest_of(const std::string& folder) {
  if (has_file(folder, kManifestFile)) return read_manifest(folder);
  for (const std::string& rank : numbered_folders(folder))
    if (has_file(rank, kManifestFile)) return read_manifest(rank);
  return read_manifest(fs::path(folder).parent_path().string());
}

}  // namespace stallscope
