// A folder of our own that goes away with the object.
#pragma once

#include <string>

namespace stallscope {

/// Made in $TMPDIR or /tmp, readable by this user only; removed with what is in it: by the
/// destructor; by SIGINT, SIGTERM and SIGHUP where nobody else takes them; else, after a SIGKILL,
/// by the next process that makes one of the same purpose. path() is empty when none could be made.
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
  int lock_ = -1;  ///< of the folder; free = its process is gone
};

}  // namespace stallscope
