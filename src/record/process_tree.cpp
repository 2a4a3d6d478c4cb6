#include "record/process_tree.h"

#include <charconv>
#include <filesystem>
#include <fstream>
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

std::vector<pid_t> process_tree(pid_t root) {
  constexpr size_t kMostProcesses = 4096;
  std::vector<pid_t> tree = {root};
  for (size_t i = 0; i < tree.size() && tree.size() < kMostProcesses; ++i) {
    const std::string task = "/proc/" + std::to_string(tree[i]) + "/task/";
    for (const pid_t thread : threads_of(tree[i])) {
      std::ifstream children(task + std::to_string(thread) + "/children");
      for (pid_t child = 0; children >> child;) tree.push_back(child);
    }
  }
  return tree;
}

}  // namespace stallscope
