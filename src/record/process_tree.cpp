#include "record/process_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>

namespace stallscope {

namespace fs = std::filesystem;

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (fs::directory_iterator it("/proc/" + std::to_string(process) + "/task", error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    pid_t tid = 0;
    std::from_chars(name.data(), name.data() + name.size(), tid);
    if (tid > 0) threads.push_back(tid);
  }
  return threads;
}

namespace {

/// A small file of /proc, without a stream's buffers: this runs all the time, for every thread.
std::string list_of(const std::string& path) {
  std::string text;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<size_t>(got));
  ::close(fd);
  return text;
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  constexpr size_t kMostProcesses = 4096;
  std::vector<pid_t> tree = {root};
  for (size_t i = 0; i < tree.size() && tree.size() < kMostProcesses; ++i) {
    const std::string task = "/proc/" + std::to_string(tree[i]) + "/task/";
    for (const pid_t thread : threads_of(tree[i])) {
      const std::string children = list_of(task + std::to_string(thread) + "/children");
      const char* const end = children.data() + children.size();
      pid_t child = 0;
      for (const char* at = children.data(); at < end;) {
        const auto number = std::from_chars(at, end, child);
        if (number.ec == std::errc()) tree.push_back(child);
        at = number.ptr + 1;
      }
    }
  }
  return tree;
}

}  // namespace stallscope
