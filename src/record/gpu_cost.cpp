#include "record/gpu_cost.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stallscope {
namespace {

namespace fs = std::filesystem;

fs::path cost_file() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') return fs::path(cache) / "stallscope/gpu-cost";
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home) / ".cache/stallscope/gpu-cost";
}

/// A file of the user's, shown as it is: plain text of one line's length.
bool is_clause(std::string_view text) {
  constexpr size_t kLongest = 300;
  return !text.empty() && text.size() <= kLongest &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string gpu_cost(std::string_view level) {
  if (level == "none") return "no cost: nothing of it is loaded";
  std::error_code error;
  const fs::path path = cost_file();
  constexpr int kMostLines = 16;
  if (fs::is_regular_file(path, error)) {
    std::ifstream file(path);
    std::string line;
    for (int i = 0; i < kMostLines && std::getline(file, line); ++i) {
      const std::string_view text = line;
      if (!text.starts_with(level) || text.size() <= level.size() || text[level.size()] != ' ')
        continue;
      if (const std::string_view clause = text.substr(level.size() + 1); is_clause(clause))
        return "cost measured on this machine: " + std::string(clause);
    }
  }
  return "cost not measured on this machine (scripts/gpu-check.sh measures it)";
}

}  // namespace stallscope
