#include "base/temporary_folder.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace stallscope {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return;  // TMPDIR names no folder
  std::string pattern = (parent / ("stallscope-" + purpose + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) != nullptr) path_ = std::move(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

}  // namespace stallscope
