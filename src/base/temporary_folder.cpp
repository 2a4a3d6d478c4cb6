#include "base/temporary_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stallscope {

namespace fs = std::filesystem;

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

/// The folders of this process, as a signal handler can read them.
struct InUse {
  std::atomic<bool> taken = false, ready = false;
  std::array<char, 256> path{};
};
std::array<InUse, 16> in_use;
std::atomic<pid_t> owner = 0;

/// Removes a folder and what is in it, with nothing that a signal handler must not call.
void remove_tree(int parent, const char* name, unsigned depth) {
  constexpr unsigned kDeepest = 32, kPasses = 4;
  const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || depth > kDeepest) return;
  // More than once: somebody may have been about to make a file.
  for (unsigned pass = 0; pass < kPasses; ++pass) {
    alignas(dirent64) char entries[4096];
    (void)lseek(folder, 0, SEEK_SET);
    for (long size = 0; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;) {
      for (long at = 0; at < size;) {
        const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
        at += entry->d_reclen;
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(folder, entry->d_name, 0) != 0) remove_tree(folder, entry->d_name, depth + 1);
      }
    }
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0) break;
  }
  (void)close(folder);
}

extern "C" void remove_and_end(int signal) {
  // A child that has not become another program yet owns nothing.
  if (getpid() == owner.load()) {
    for (const InUse& one : in_use) {
      if (one.ready.load()) remove_tree(AT_FDCWD, one.path.data(), 0);
    }
  }
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

/// Once in a process; what a forked one has inherited is not its own.
void take_signals() {
  if (owner.exchange(getpid()) == getpid()) return;
  for (InUse& one : in_use) {
    one.ready.store(false);
    one.taken.store(false);
  }
  for (const int signal : kSignals) {
    struct sigaction now = {};
    // Who ignores it (nohup) or handles it goes on.
    if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours = {};
    ours.sa_handler = remove_and_end;
    (void)sigaction(signal, &ours, nullptr);
  }
}

void note(const std::string& path) {
  take_signals();
  for (InUse& one : in_use) {
    if (path.size() >= one.path.size() || one.taken.exchange(true)) continue;
    std::ranges::copy(path, one.path.begin());
    one.path[path.size()] = '\0';
    one.ready.store(true);
    return;
  }
}

void forget(const std::string& path) {
  for (InUse& one : in_use) {
    if (!one.ready.load() || path != one.path.data()) continue;
    one.ready.store(false);
    one.taken.store(false);
  }
}

/// The folder, opened and locked; -1 when it is in use, not ours, gone, or on a file system that
/// locks no folders.
int lock_folder(const std::string& path, int how) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  struct stat at = {};
  // A folder without links was removed while it was waited for.
  if (fstat(folder, &at) == 0 && at.st_uid == geteuid() && flock(folder, how) == 0 &&
      fstat(folder, &at) == 0 && at.st_nlink > 0)
    return folder;
  (void)close(folder);
  return -1;
}

/// Removes the folders of this purpose whose processes are gone.
void remove_abandoned(const fs::path& parent, const std::string& prefix) {
  constexpr size_t kRandom = 6;
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != prefix.size() + kRandom || !name.starts_with(prefix)) continue;
    const int lock = lock_folder(it->path().string(), LOCK_EX | LOCK_NB);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(it->path(), ignored);
    (void)close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return;  // TMPDIR names no folder
  const std::string prefix = "stallscope-" + purpose + "-";
  remove_abandoned(parent, prefix);
  constexpr unsigned kTries = 8;
  for (unsigned i = 0; i < kTries; ++i) {
    std::string pattern = (parent / (prefix + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) return;
    lock_ = lock_folder(pattern, LOCK_EX);
    // Another process may have found it before it was locked.
    if (lock_ < 0 && !fs::exists(pattern, error)) continue;
    path_ = std::move(pattern);
    note(path_);
    return;
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  forget(path_);
  if (lock_ >= 0) (void)close(lock_);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

}  // namespace stallscope
