#include "base/settings_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "base/pyproject.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// Where services keep recipes, of which one is often called after the tool that it runs.
constexpr std::array<std::string_view, 7> kRecipeFolders = {
    ".github", ".gitlab", ".circleci", ".buildkite", ".woodpecker", ".gitea", ".forgejo"};

bool holds_recipes(const fs::path& folder) {
  return std::ranges::any_of(folder, [](const fs::path& part) {
    return std::ranges::find(kRecipeFolders, part.native()) != kRecipeFolders.end();
  });
}

/// Whether `file`, to which others write too, says anything to us.
bool speaks_to_us(const fs::path& pyproject) {
  const auto text = read_file(pyproject.string(), 1 << 20);
  if (!text || !mentions_settings(*text)) return false;
  const auto settings = pyproject_settings(*text, pyproject.string());
  return !settings || !settings->empty();  // what is broken is reported when it is loaded
}

}  // namespace

std::string settings_file_in(const std::string& folder) {
  std::error_code absent;
  if (holds_recipes(folder)) return {};
  for (const char* name : {"stallscope.yml", "stallscope.yaml", "pyproject.toml"}) {
    const fs::path file = fs::path(folder) / name;
    if (!fs::is_regular_file(file, absent)) continue;
    if (file.extension() != ".toml" || speaks_to_us(file)) return file.string();
  }
  return {};
}

}  // namespace stallscope
