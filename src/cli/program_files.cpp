#include "cli/program_files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analyze/places.h"
#include "source/project.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The folders that an environment says hold installed packages.
std::vector<std::string> installed_folders(std::span<const RunManifest> manifests) {
  std::vector<std::string> out;
  for (const RunManifest& manifest : manifests) {
    const auto it = manifest.environment.find(kInstalledFact);
    if (it == manifest.environment.end()) continue;
    for (std::string_view rest = it->second; !rest.empty();) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      if (!folder.empty()) out.emplace_back(folder);
      rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    }
  }
  return out;
}

/// A module's file below `folder`, as `python -m MODULE` finds it; empty if there is none.
fs::path file_of_module(const fs::path& folder, std::string module) {
  std::ranges::replace(module, '.', '/');
  for (const std::string& name : {module + ".py", module + "/__main__.py"})
    if (is_file(folder / name)) return folder / name;
  return {};
}

class Finder {
 public:
  Finder(std::span<const RunManifest> manifests, const PathMap& path_map)
      : path_map_(path_map), installed_(installed_folders(manifests)) {
    for (const RunManifest& manifest : manifests)
      if (const std::string& folder = manifest.working_directory; !folder.empty())
        folders_.insert(mapped_path(folder, path_map));
    if (folders_.empty()) folders_.insert("");
  }

  /// Adds the file that the run calls `path`, if it is the user's own and lies here.
  void add(const std::string& path, std::set<std::string>& out) const {
    const auto is_installed = [&](const std::string& folder) { return path.starts_with(folder); };
    if (path.empty() || is_library_file(path) || std::ranges::any_of(installed_, is_installed))
      return;
    for (const std::string& folder : folders_) {
      const fs::path here = fs::absolute(fs::path(folder) / mapped_path(path, path_map_));
      if (!is_file(here) || is_library_file(here.string())) continue;
      out.insert(here.lexically_normal().string());
      return;
    }
  }

  /// Adds what `command` starts, and what lies beside it.
  void add_program(std::span<const std::string> command, std::set<std::string>& out) const {
    for (const std::string& folder : folders_) {
      for (size_t i = 0; i + 1 < command.size(); ++i) {
        if (command[i] != "-m") continue;
        const std::string& module = command[i + 1];
        const fs::path file = file_of_module(folder, module);
        if (file.empty()) continue;
        // All of a package is one program.
        const bool is_package = module.find('.') != std::string::npos;
        add_with_folder(
            file,
            is_package ? fs::path(folder) / module.substr(0, module.find('.')) : file.parent_path(),
            out);
        return;
      }
      const auto script = std::ranges::find_if(command, [&](const std::string& word) {
        return word.ends_with(".py") && !word.starts_with('-') &&
               is_file(fs::path(folder) / mapped_path(word, path_map_));
      });
      if (script == command.end()) continue;
      const fs::path file = fs::path(folder) / mapped_path(*script, path_map_);
      add_with_folder(file, file.parent_path(), out);
      return;
    }
  }

 private:
  static void add_with_folder(const fs::path& file, const fs::path& folder,
                              std::set<std::string>& out) {
    const std::string around = fs::absolute(folder).lexically_normal().string();
    out.insert(fs::absolute(file).lexically_normal().string());
    if (!is_wide_folder(around)) out.insert(around);
  }

  const PathMap& path_map_;
  std::vector<std::string> installed_;
  std::set<std::string> folders_;  // of the runs, as they are called here
};

}  // namespace

ProgramFiles program_files(const RunSummary& run, std::span<const RunManifest> manifests,
                           const PathMap& path_map) {
  const Finder finder(manifests, path_map);
  ProgramFiles files;
  std::set<std::string> seen;
  const auto add = [&](const Observation& observation) {
    seen.insert(observation.place.file);
    for (const Place& frame : observation.stack) seen.insert(frame.file);
  };
  for (const RankSummary& rank : run.ranks) std::ranges::for_each(rank.observations, add);
  std::ranges::for_each(run.cross_rank, add);
  for (const std::string& path : seen) finder.add(path, files.observed);
  for (const RunManifest& manifest : manifests) {
    for (const auto& [path, lines] : manifest.lines) finder.add(path, files.loaded);
    finder.add_program(manifest.command, files.own);
  }
  return files;
}

}  // namespace stallscope
