// The folder of a run: made without touching what is not ours, locked while a
// run records into it, an earlier run in it kept aside.
//
//   DIR/report.html, DIR/report.json
//   DIR/trace/run.json, *.ssg, ...       of an ordinary run
//   DIR/earlier/RUN-ID/...               what an earlier run had left in DIR
//
// When the recorder is itself one rank of a launch:
//   DIR/RUN-ID/rank-N/run.json, *.ssg, ...
//   DIR/trace -> RUN-ID                  once the last rank has merged
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/run_manifest.h"

namespace stallscope {

/// A lock on a folder, held until destroyed. Works across processes and hosts
/// that share the file system.
class FolderLock {
 public:
  FolderLock() = default;
  /// `wait`: until it is free; otherwise an error when somebody holds it.
  static Result<FolderLock> take(const std::string& folder, bool wait);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

struct RunFolder {
  std::string root;   ///< DIR
  std::string trace;  ///< holds run.json and the segments of this recorder
  std::string run_id;
  bool made_root = false;          ///< DIR did not exist before
  bool one_of_many = false;        ///< this recorder is one rank of a launch
  std::vector<std::string> notes;  ///< e.g. where an earlier run went
  FolderLock lock;
};

/// Makes the folders for a new run. An earlier run in DIR is moved to
/// DIR/earlier/ID, or deleted with `force`; files that are not a stallscope
/// run's are never touched: when they are in the way, that is an error.
Result<RunFolder> create_run_folder(const std::string& root, const RankIdentity& identity,
                                    bool force);

/// Removes what create_run_folder made, when the program could not be started.
void remove_run_folder(const RunFolder& folder);

/// After this rank is complete: true when this recorder is to merge, because
/// all ranks are complete and none has merged yet, or their number is not known. Points DIR/trace
/// at the launch and puts an earlier run's report aside. The lock is held until `lock` is
/// destroyed.
Result<bool> claim_merge(const RunFolder& folder, const RankIdentity& identity, FolderLock& lock);

/// Ranks of the launch that have no complete run.json yet, of `world_size`.
std::vector<int> incomplete_ranks(const std::string& launch_folder, int world_size);

}  // namespace stallscope
