#include "source/link/programs.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>

namespace stallscope {
namespace {

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// How many leading folders two paths share.
size_t shared_folders(std::string_view a, std::string_view b) {
  size_t shared = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) shared += a[i] == '/';
  return shared;
}

/// Whether `folder` is `outer` or lies below it.
bool lies_in(std::string_view folder, std::string_view outer) {
  return outer.empty() || folder == outer ||
         (folder.starts_with(outer) && folder[outer.size()] == '/');
}

/// Disjoint sets of files.
class Groups {
 public:
  explicit Groups(size_t files) : parent_(files) { std::iota(parent_.begin(), parent_.end(), 0u); }
  uint32_t of(uint32_t file) {
    while (parent_[file] != file) file = parent_[file] = parent_[parent_[file]];
    return file;
  }
  void join(uint32_t a, uint32_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<uint32_t> parent_;
};

/// Files by what an import calls them. `folders`: one file of each folder of that name.
struct Modules {
  using Named = std::unordered_map<std::string_view, std::vector<uint32_t>>;
  Named files, folders;
};

/// Of the files of these names those that `module`, as `file` imports it, may mean: the nearest.
std::vector<uint32_t> meant(const CallGraph& graph, const Modules::Named& files, uint32_t file,
                            std::string_view module) {
  std::vector<uint32_t> out;
  const auto named = files.find(module.substr(module.rfind('.') + 1));
  if (named == files.end()) return out;
  size_t nearest = 0;
  for (const uint32_t other : named->second) {
    if (!graph.means(file, module, other)) continue;
    const size_t shared = shared_folders(graph.files()[file]->path, graph.files()[other]->path);
    if (shared < nearest) continue;
    if (shared > nearest) out.clear();
    nearest = shared;
    out.push_back(other);
  }
  return out;
}

/// The modules that a file imports with `path`: "net.losses" and what is in it are one.
std::vector<uint32_t> imported(const CallGraph& graph, const Modules& modules, uint32_t file,
                               std::string_view path) {
  const size_t dot = path.rfind('.');
  const std::array<std::string_view, 2> ways = {
      path, dot == std::string_view::npos ? std::string_view() : path.substr(0, dot)};
  for (const Modules::Named* named : {&modules.files, &modules.folders}) {
    for (const std::string_view module : ways) {
      std::vector<uint32_t> found = meant(graph, *named, file, module);
      if (!found.empty()) return found;
    }
  }
  return {};
}

/// Whether a file that is no Python may be about the programs of a folder.
bool is_near(std::string_view other, std::string_view folder) {
  const std::string_view own = folder_of(other);
  return lies_in(own, folder) || lies_in(folder, own) ||
         (!own.empty() && lies_in(folder, folder_of(own)));
}

}  // namespace

std::vector<std::vector<uint32_t>> programs_of(const CallGraph& graph) {
  const auto files = graph.files();
  const auto count = static_cast<uint32_t>(files.size());
  const auto is_python = [&](uint32_t file) { return files[file]->language == "python"; };
  Groups groups(count);
  Modules modules;
  std::map<std::string_view, uint32_t> folders;
  for (uint32_t file = 0; file < count; ++file) {
    if (!is_python(file)) continue;
    modules.files[module_name(files[file]->path)].push_back(file);
    const std::string_view folder = folder_of(files[file]->path);
    const auto [first, is_new] = folders.try_emplace(folder, file);
    if (is_new)
      modules.folders[folder.substr(folder.rfind('/') + 1)].push_back(file);
    else
      groups.join(file, first->second);
  }
  for (uint32_t file = 0; file < count; ++file) {
    if (!is_python(file)) continue;
    for (const auto& [bound, path] : files[file]->imports) {
      for (const uint32_t other : imported(graph, modules, file, path)) groups.join(file, other);
    }
  }
  std::map<uint32_t, std::vector<uint32_t>> programs;
  for (uint32_t file = 0; file < count; ++file) {
    if (is_python(file)) programs[groups.of(file)].push_back(file);
  }
  for (uint32_t file = 0; file < count; ++file) {
    if (is_python(file)) continue;
    std::set<uint32_t> near;
    for (const auto& [folder, first] : folders) {
      if (is_near(files[file]->path, folder)) near.insert(groups.of(first));
    }
    for (const uint32_t group : near) programs[group].push_back(file);
  }
  std::vector<std::vector<uint32_t>> out;
  for (auto& [group, members] : programs) out.push_back(std::move(members));
  return out;
}

}  // namespace stallscope
