#include "source/project.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/file.h"
#include "source/extract/settings.h"
#include "source/gitignore.h"
#include "source/project_root.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 23> kNeverSource = {".git",
                                                           ".hg",
                                                           ".svn",
                                                           "__pycache__",
                                                           "node_modules",
                                                           "unsloth_compiled_cache",
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
class Walker {
 public:
  Walker(Project& project, const ProjectOptions& options) : project_(project), options_(options) {}

  /// Reads `folder`, and with `deep` what lies below it. False when there were too many files.
  bool walk(const fs::path& folder, const std::string& relative, bool deep = true) {
    return read(folder, relative, deep) && add_links();
  }

 private:
  bool read(const fs::path& folder, const std::string& relative, bool deep) {
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
      if (ignore_.ignores(path, directory)) continue;
      if (options_.excludes && options_.excludes(path, directory)) continue;
      if (directory) {
        if (deep && !is_virtual_environment(entry.path()) && !read(entry.path(), path, true))
          return false;
      } else if (entry.is_symlink(ec)) {
        links_.push_back({path, entry.path().string(), {}});
      } else if (entry.is_regular_file(ec)) {
        if (project_.inputs.size() >= options_.most_files) return false;
        project_.inputs.push_back({path, entry.path().string(), {}});
      }
    }
    return true;
  }

  /// A link to a file that was read is the same file; one to elsewhere is read here.
  bool add_links() {
    std::set<fs::path> known;
    std::error_code ec;
    for (const SourceInput& input : project_.inputs) known.insert(input.on_disk);
    for (SourceInput& link : links_) {
      if (!fs::is_regular_file(link.on_disk, ec) ||
          !known.insert(fs::weakly_canonical(link.on_disk, ec)).second)
        continue;
      if (project_.inputs.size() >= options_.most_files) return false;
      project_.inputs.push_back(std::move(link));
    }
    return true;
  }

  Project& project_;
  const ProjectOptions& options_;
  Gitignore ignore_;
  std::vector<SourceInput> links_;
};

}  // namespace

bool is_virtual_environment(const std::filesystem::path& folder) {
  std::error_code ec;
  return fs::exists(folder / "pyvenv.cfg", ec) || fs::exists(folder / "conda-meta", ec);
}

bool holds_more_files(const std::string& folder, size_t most) {
  Project counted;
  counted.root = folder;
  return !Walker(counted, {.most_files = most}).walk(folder, "");
}

bool is_excluded(const ProjectOptions& options, const std::string& path, bool is_folder) {
  if (!options.excludes || path == ".") return false;
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (options.excludes(path.substr(0, slash), true)) return true;
  return options.excludes(path, is_folder);
}

namespace {

/// What the named paths choose of a project whose root was read.
class Chooser {
 public:
  Chooser(Project& project, const ProjectOptions& options) : project_(project), options_(options) {}

  Status choose(const fs::path& path) {
    std::error_code ec;
    const std::string relative = fs::relative(path, project_.root, ec).generic_string();
    const bool directory = fs::is_directory(path, ec);
    if (is_excluded(options_, relative, directory)) {
      project_.notes.push_back(relative + ": left out, as settings or --exclude say");
      return ok_status();
    }
    if (directory)
      choose_folder(path, relative == "." ? "" : relative + "/");
    else
      return choose_file(path, relative);
    return ok_status();
  }

 private:
  Status choose_file(const fs::path& path, const std::string& relative) {
    if (language_of_file(relative).empty() || is_options_file(relative)) {
      project_.notes.push_back(relative + ": is no source file that lint reads");
      return ok_status();
    }
    std::error_code ec;
    if (!fs::is_regular_file(path, ec) || !std::ifstream(path))
      return Error{.message = "cannot be read",
                   .file = path.string(),
                   .remedy = "Check that it is a file and that you may read it."};
    add(relative, path);  // named, so read even if it is ignored
    project_.chosen.push_back(relative);
    project_.named.push_back(relative);
    return ok_status();
  }

  void choose_folder(const fs::path& path, const std::string& prefix) {
    bool any = false;
    for (const SourceInput& input : project_.inputs) {
      if (!input.path.starts_with(prefix)) continue;
      any = true;
      choose_linted(input.path);
    }
    if (any) return;
    // The folder itself is ignored: it was named, so it is read all the same.
    Project inner;
    inner.root = path.string();
    ProjectOptions options;
    if (options_.excludes)
      options.excludes = [&](const std::string& below, bool directory) {
        return options_.excludes(prefix + below, directory);
      };
    (void)Walker(inner, options).walk(path, "");
    for (SourceInput& input : inner.inputs) {
      input.path.insert(0, prefix);
      choose_linted(input.path);
      project_.inputs.push_back(std::move(input));
    }
    std::ranges::stable_sort(project_.inputs, {}, &SourceInput::path);
    const auto twice = std::ranges::unique(project_.inputs, {}, &SourceInput::path);
    project_.inputs.erase(twice.begin(), twice.end());
  }

  /// Documents and the like are read for the options that they give, and have no findings.
  void choose_linted(const std::string& path) {
    if (!is_options_file(path)) project_.chosen.push_back(path);
  }

  void add(const std::string& relative, const fs::path& on_disk) {
    auto at = std::ranges::lower_bound(project_.inputs, relative, {}, &SourceInput::path);
    if (at == project_.inputs.end() || at->path != relative)
      project_.inputs.insert(at, {relative, on_disk.string(), {}});
  }

  Project& project_;
  const ProjectOptions& options_;
};

}  // namespace

Result<Project> find_project(const std::vector<std::string>& paths, const ProjectOptions& options) {
  Project out;
  std::error_code ec;
  auto root = options.root.empty() ? project_root(paths) : Result<std::string>(options.root);
  if (!root) return root.error();
  out.root = std::move(*root);
  std::vector<fs::path> named;
  for (const std::string& path : paths) named.push_back(fs::weakly_canonical(path, ec));
  const bool deep =
      options.below_root && (!is_wide_folder(out.root) || has_root_mark(out.root) ||
                             std::ranges::find(named, fs::path(out.root)) != named.end());
  if (!Walker(out, options).walk(out.root, "", deep))
    return Error{.message = fmt::format("more than {} source files", options.most_files),
                 .file = out.root,
                 .remedy = "Name the folder that is yours.",
                 .code = kTooManyFiles};
  std::ranges::sort(out.inputs, {}, &SourceInput::path);
  Chooser chooser(out, options);
  for (const fs::path& path : named)
    if (auto chosen = chooser.choose(path); !chosen) return chosen.error();
  std::ranges::sort(out.chosen);
  out.chosen.erase(std::unique(out.chosen.begin(), out.chosen.end()), out.chosen.end());
  return out;
}

}  // namespace stallscope
