// A folder of our own that goes away with the object.
#pragma once

#include <string>

namespace stallscope {

/// Made in $TMPDIR or /tmp, readable by this user only; removed with what is in
/// it. path() is empty when none could be made.
class TemporaryFolder {
 public:
  /// `purpose` is part of its name: stallscope-PURPOSE-XXXXXX.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace stallscope
