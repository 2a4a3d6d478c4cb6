#include "base/install_tree.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace stallscope {
namespace {

namespace fs = std::filesystem;

Result<std::string> first_existing(const std::vector<fs::path>& folders, std::string_view relative,
                                   const char* variable) {
  std::string tried;
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path path = folder / relative;
    if (fs::exists(path, error)) return fs::weakly_canonical(path, error).string();
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  return Error{
      .message = "cannot find '" + std::string(relative) + "' of this installation in " + tried,
      .remedy = std::string("set ") + variable + " to the folder that holds it"};
}

std::vector<fs::path> from_variable(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  return {fs::path(value)};
}

}  // namespace

std::string executable_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

Result<std::string> data_path(std::string_view relative) {
  std::vector<fs::path> folders = from_variable("STALLSCOPE_DATA");
  const fs::path program = fs::path(executable_path()).parent_path();
  folders.push_back(program.parent_path() / "share" / "stallscope");
  folders.emplace_back(STALLSCOPE_SOURCE_DIR);
  return first_existing(folders, relative, "STALLSCOPE_DATA");
}

Result<std::string> library_path(std::string_view file_name) {
  std::vector<fs::path> folders = from_variable("STALLSCOPE_LIB");
  const fs::path program = fs::path(executable_path()).parent_path();
  folders.push_back(program.parent_path() / "lib" / "stallscope");
  folders.push_back(program / "lib");
  return first_existing(folders, file_name, "STALLSCOPE_LIB");
}

}  // namespace stallscope
