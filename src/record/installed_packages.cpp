#include "record/installed_packages.h"

#include <filesystem>
#include <map>
#include <string_view>

#include "base/file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string, std::less<>>;

/// What the installers' records in `folder` name: its packages and modules.
Names installed_in(const fs::path& folder) {
  Names names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".dist-info") continue;
    const Result<std::string> record = read_file((entry.path() / "RECORD").string());
    if (!record) continue;
    // Lines "PATH,HASH,SIZE"; a path with a comma is quoted, and no package's name has one.
    for (std::string_view rest = *record; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      names.emplace(line.substr(0, line.find_first_of("/,")));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    }
  }
  return names;
}

}  // namespace

std::string installed_packages(const std::set<std::string>& files) {
  std::map<fs::path, Names> known;
  std::set<std::string> found;
  for (const std::string& file : files) {
    // Where interpreters look by themselves is known without asking.
    if (!file.starts_with('/') || file.find("-packages/") != std::string::npos) continue;
    fs::path inside = fs::path(file);
    for (fs::path folder = inside.parent_path(); folder.has_relative_path();
         inside = folder, folder = folder.parent_path()) {
      const auto [names, added] = known.try_emplace(folder);
      if (added) names->second = installed_in(folder);
      if (!names->second.contains(inside.filename().string())) continue;
      found.insert(inside.string() + (inside == fs::path(file) ? "" : "/"));
      break;
    }
  }
  std::string text;
  for (const std::string& path : found)
    if (path.find(':') == std::string::npos) text += (text.empty() ? "" : ":") + path;
  return text;
}

}  // namespace stallscope
