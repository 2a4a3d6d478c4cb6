#include "record/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <utility>

#include "base/file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReports[] = {"report.html", "report.json"};
constexpr const char* kTrace = "trace";

Error folder_error(const char* what, const fs::path& path, const std::error_code& error) {
  return Error{.message = std::string(what) + ": " + error.message(),
               .file = path.string(),
               .remedy = "choose another folder with -o"};
}

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

/// "20261121-023500-1a2b3c": sorts by time, unique enough to never meet another.
std::string new_run_id() {
  const std::time_t now = std::time(nullptr);
  struct tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%Y%m%d-%H%M%S-", &utc);
  char random[8];
  std::snprintf(random, sizeof random, "%06x", std::random_device{}() & 0xffffffU);
  return std::string(text, length) + random;
}

/// The id of the run that DIR/trace holds; empty when it is no run of ours.
std::string present_run_id(const fs::path& root) {
  const fs::path trace = root / kTrace;
  std::error_code error;
  if (fs::is_symlink(trace, error)) return fs::read_symlink(trace, error).filename().string();
  const Result<RunManifest> manifest = read_manifest(trace.string());
  if (manifest) return manifest->id;
  // A run.json that is damaged is still a run of ours.
  return present(trace / kManifestFile) ? "damaged-" + new_run_id() : std::string();
}

/// Report files of ours carry the tool's name; nobody else's are touched.
bool is_our_report(const fs::path& path) {
  const Result<std::string> text = read_file(path.string());
  return text && text->find("stallscope") != std::string::npos;
}

Status retire(const fs::path& root, bool force, std::vector<std::string>& notes) {
  const std::string id = present_run_id(root);
  if (id.empty() && present(root / kTrace))
    return Error{.message = "exists and is no stallscope run",
                 .file = (root / kTrace).string(),
                 .remedy = "choose another folder with -o"};
  std::vector<fs::path> ours;
  for (const char* name : kReports) {
    if (!present(root / name)) continue;
    if (!is_our_report(root / name))
      return Error{.message = "exists and is no stallscope report",
                   .file = (root / name).string(),
                   .remedy = "choose another folder with -o"};
    ours.push_back(root / name);
  }
  const bool linked = fs::is_symlink(root / kTrace);
  if (present(root / kTrace)) ours.push_back(root / kTrace);
  if (ours.empty()) return ok_status();
  std::error_code error;
  if (force) {
    for (const fs::path& path : ours)
      if (fs::remove_all(path, error); error) return folder_error("cannot remove", path, error);
    return ok_status();
  }
  // A launch's ranks stay where they are, under their own id; its report joins them.
  const fs::path aside = linked ? root / id : root / "earlier" / (id.empty() ? new_run_id() : id);
  fs::create_directories(aside, error);
  if (error) return folder_error("cannot create", aside, error);
  for (const fs::path& path : ours) {
    if (linked && path.filename() == kTrace)
      fs::remove(path, error);
    else
      fs::rename(path, aside / path.filename(), error);
    if (error) return folder_error("cannot move aside", path, error);
  }
  notes.push_back("the earlier run is kept in " + aside.string() + " (--force replaces it)");
  return ok_status();
}

/// A folder name for a launch: equal on all its ranks.
std::string launch_id(const RankIdentity& identity) {
  return identity.launcher + "-" + content_hash(identity.job).substr(0, 10);
}

Result<RunFolder> create_rank_folder(RunFolder folder, const RankIdentity& identity) {
  // The same launcher process may start a job several times: the first folder
  // that does not have this rank yet is this run's.
  constexpr int kMaxRuns = 10'000;
  const std::string base = launch_id(identity);
  const std::string rank = "rank-" + std::to_string(identity.rank);
  for (int run = 1; run <= kMaxRuns; ++run) {
    folder.run_id = run == 1 ? base : base + "-" + std::to_string(run);
    const fs::path launch = fs::path(folder.root) / folder.run_id;
    std::error_code error;
    fs::create_directories(launch, error);
    if (error) return folder_error("cannot create", launch, error);
    if (fs::create_directory(launch / rank, error)) {
      folder.trace = (launch / rank).string();
      Result<FolderLock> lock = FolderLock::take(folder.trace, false);
      if (!lock) return lock.error();
      folder.lock = std::move(*lock);
      return folder;
    }
    if (error) return folder_error("cannot create", launch / rank, error);
  }
  return Error{.message = "holds too many runs of this launch", .file = folder.root};
}

}  // namespace

FolderLock::FolderLock(FolderLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<FolderLock> FolderLock::take(const std::string& folder, bool wait) {
  FolderLock lock;
  lock.descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.descriptor_ < 0)
    return Error{.message = std::string("cannot open: ") + std::strerror(errno), .file = folder};
  if (::flock(lock.descriptor_, LOCK_EX | (wait ? 0 : LOCK_NB)) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return Error{.message = "another run is recording into this folder",
                 .file = folder,
                 .remedy = "choose another folder with -o"};
  return lock;  // a file system without locks: go on without
}

Result<RunFolder> create_run_folder(const std::string& root, const RankIdentity& identity,
                                    bool force) {
  RunFolder folder;
  std::error_code error;
  folder.root = fs::absolute(root, error).lexically_normal().string();
  folder.made_root = !present(folder.root);
  fs::create_directories(folder.root, error);
  if (error) return folder_error("cannot create", folder.root, error);
  if (::access(folder.root.c_str(), W_OK | X_OK) != 0)
    return folder_error("cannot write here", folder.root,
                        std::error_code(errno, std::generic_category()));
  folder.one_of_many = identity.rank >= 0 && identity.world_size != 1;
  if (folder.one_of_many) return create_rank_folder(std::move(folder), identity);

  const Result<FolderLock> making = FolderLock::take(folder.root, true);
  if (!making) return making.error();
  const fs::path trace = fs::path(folder.root) / kTrace;
  if (present(trace)) {
    const Result<FolderLock> unused = FolderLock::take(trace.string(), false);
    if (!unused) return unused.error();
  }
  if (Status retired = retire(folder.root, force, folder.notes); !retired) return retired.error();
  fs::create_directory(trace, error);
  if (error) return folder_error("cannot create", trace, error);
  folder.trace = trace.string();
  folder.run_id = new_run_id();
  Result<FolderLock> lock = FolderLock::take(folder.trace, false);
  if (!lock) return lock.error();
  folder.lock = std::move(*lock);
  return folder;
}

void remove_run_folder(const RunFolder& folder) {
  std::error_code error;
  fs::remove_all(folder.trace, error);
  // Only if nothing else is in them.
  if (folder.one_of_many) fs::remove(fs::path(folder.trace).parent_path(), error);
  if (folder.made_root) fs::remove(folder.root, error);
}

std::vector<int> incomplete_ranks(const std::string& launch_folder, int world_size) {
  std::vector<int> missing;
  for (int rank = 0; rank < world_size; ++rank) {
    const Result<RunManifest> manifest =
        read_manifest(launch_folder + "/rank-" + std::to_string(rank));
    if (!manifest || !manifest->complete) missing.push_back(rank);
  }
  return missing;
}

Result<bool> claim_merge(const RunFolder& folder, const RankIdentity& identity, FolderLock& lock) {
  const fs::path launch = fs::path(folder.trace).parent_path();
  Result<FolderLock> taken = FolderLock::take(folder.root, true);
  if (!taken) return taken.error();
  if (!incomplete_ranks(launch.string(), identity.world_size).empty()) return false;
  lock = std::move(*taken);
  std::vector<std::string> notes;
  const fs::path link = fs::path(folder.root) / kTrace;
  std::error_code error;
  if (fs::is_symlink(link, error) && fs::read_symlink(link, error) == folder.run_id)
    // Two ranks that end at once both see all complete: the first one has merged. With an
    // unknown number of ranks every one merges what is there.
    return identity.world_size == 0;
  if (Status retired = retire(folder.root, false, notes); !retired) return retired.error();
  fs::create_directory_symlink(folder.run_id, link, error);
  if (error) return folder_error("cannot create", link, error);
  return true;
}

}  // namespace stallscope
