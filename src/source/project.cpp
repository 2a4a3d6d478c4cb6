#include "source/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "source/gitignore.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 22> kNeverSource = {".git",
                                                           ".hg",
                                                           ".svn",
                                                           "__pycache__",
                                                           "node_modules",
                                                           ".venv",
                                                           "venv",
                                                           ".env",
                                                           ".tox",
                                                           ".nox",
                                                           ".mypy_cache",
                                                           ".pytest_cache",
                                                           ".ruff_cache",
                                                           ".eggs",
                                                           "site-packages",
                                                           ".ipynb_checkpoints",
                                                           ".stallscope-cache",
                                                           "buck-out",
                                                           "_build",
                                                           ".direnv",
                                                           "__pypackages__",
                                                           ".cache"};
constexpr std::array<std::string_view, 8> kRootMarks = {
    ".git",      "pyproject.toml", "stallscope.yml", "setup.py",
    "setup.cfg", "ruff.toml",      "CMakeLists.txt", ".hg"};

bool is_virtual_environment(const fs::path& folder) {
  std::error_code ec;
  return fs::exists(folder / "pyvenv.cfg", ec) || fs::exists(folder / "conda-meta", ec);
}

bool has_root_mark(const fs::path& folder) {
  std::error_code ec;
  return std::ranges::any_of(kRootMarks,
                             [&](std::string_view mark) { return fs::exists(folder / mark, ec); });
}

class Walker {
 public:
  Walker(Project& project, const ProjectOptions& options)
      : project_(project), options_(options), root_(project.root) {}

  /// Reads `folder`, and with `deep` what lies below it. False when there were too many files.
  bool walk(const fs::path& folder, const std::string& relative, bool deep = true) {
    std::error_code ec;
    if (auto text = read_file((folder / ".gitignore").string(), 1u << 20))
      ignore_.add(relative, *text);
    std::vector<fs::directory_entry> entries;
    for (auto it =
             fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, ec);
         !ec && it != fs::directory_iterator(); it.increment(ec)) {
      entries.push_back(*it);
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& e) { return e.path(); });
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      const std::string path = relative.empty() ? name : relative + "/" + name;
      // A link to a folder may lead back up; its files are read where they are.
      const bool directory = entry.is_directory(ec) && !entry.is_symlink(ec);
      if (!directory && language_of_file(name).empty()) continue;
      if (std::ranges::find(kNeverSource, name) != kNeverSource.end()) continue;
      if (ignore_.ignores(path, directory) || excluded(path)) continue;
      if (directory) {
        if (deep && !is_virtual_environment(entry.path()) && !walk(entry.path(), path))
          return false;
      } else if (entry.is_regular_file(ec)) {
        if (project_.inputs.size() >= options_.most_files) return false;
        project_.inputs.push_back({path, entry.path().string(), {}});
      }
    }
    return true;
  }

 private:
  bool excluded(const std::string& path) const {
    return std::ranges::any_of(options_.exclude, [&](const std::string& glob) {
      return glob_matches(glob, path) || glob_matches(glob + "/**", path);
    });
  }
  Project& project_;
  const ProjectOptions& options_;
  fs::path root_;
  Gitignore ignore_;
};

}  // namespace

std::string project_root(const std::string& path) {
  std::error_code ec;
  fs::path at = fs::weakly_canonical(path, ec);
  if (ec) at = fs::absolute(path);
  if (!fs::is_directory(at, ec)) at = at.parent_path();
  const fs::path own = at;
  for (; at.has_relative_path(); at = at.parent_path()) {
    if (has_root_mark(at)) return at.string();
  }
  return own.string();
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

Result<Project> find_project(const std::vector<std::string>& paths, const ProjectOptions& options) {
  Project out;
  std::error_code ec;
  std::vector<fs::path> named;
  for (const std::string& path : paths) {
    if (!fs::exists(path, ec))
      return Error{
          .message = "there is no such file or folder", .file = path, .remedy = "Check the path."};
    named.push_back(fs::weakly_canonical(path, ec));
    std::string root = project_root(path);
    // Several projects: their common folder.
    while (!out.root.empty() && root != out.root && !(out.root + "/").starts_with(root + "/")) {
      if ((root + "/").starts_with(out.root + "/"))
        root = out.root;
      else
        root = fs::path(root).parent_path().string();
    }
    out.root = root;
  }
  const bool deep =
      options.below_root && (!is_wide_folder(out.root) || has_root_mark(out.root) ||
                             std::ranges::find(named, fs::path(out.root)) != named.end());
  if (!Walker(out, options).walk(out.root, "", deep))
    return Error{.message = fmt::format("more than {} source files", options.most_files),
                 .file = out.root,
                 .remedy = "Name the folder that is yours.",
                 .code = kTooManyFiles};
  auto add = [&](const std::string& relative, const fs::path& on_disk) {
    auto at = std::ranges::lower_bound(out.inputs, relative, {}, &SourceInput::path);
    if (at == out.inputs.end() || at->path != relative)
      out.inputs.insert(at, {relative, on_disk.string(), {}});
  };
  std::ranges::sort(out.inputs, {}, &SourceInput::path);
  for (const fs::path& path : named) {
    const std::string relative = fs::relative(path, out.root, ec).generic_string();
    if (!fs::is_directory(path, ec)) {
      add(relative, path);  // named, so read even if it is ignored
      out.chosen.push_back(relative);
      continue;
    }
    const std::string prefix = relative == "." ? "" : relative + "/";
    size_t before = out.chosen.size();
    for (const SourceInput& input : out.inputs) {
      if (input.path.starts_with(prefix)) out.chosen.push_back(input.path);
    }
    if (out.chosen.size() != before) continue;
    // The folder itself is ignored: it was named, so it is read all the same.
    Project inner;
    inner.root = path.string();
    (void)Walker(inner, {.exclude = options.exclude}).walk(path, "");
    for (const SourceInput& input : inner.inputs) {
      add(prefix + input.path, input.on_disk);
      out.chosen.push_back(prefix + input.path);
    }
  }
  std::ranges::sort(out.chosen);
  out.chosen.erase(std::unique(out.chosen.begin(), out.chosen.end()), out.chosen.end());
  return out;
}

}  // namespace stallscope
