#include "record/annotations.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace stallscope {
namespace {

namespace fs = std::filesystem;

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

void add_rank(std::string_view text, int64_t pid, Annotations& annotations) {
  ProcessRank process{.pid = pid};
  const char* const end = text.data() + text.size();
  const auto rank = std::from_chars(text.data(), end, process.rank);
  if (rank.ptr == end || *rank.ptr != ' ') return;
  std::from_chars(rank.ptr + 1, end, process.world_size);
  if (process.rank >= 0 && process.rank < process.world_size) annotations.ranks.push_back(process);
}

void add_line(std::string_view line, int64_t pid, Annotations& annotations) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view kind = line.substr(0, space), rest = line.substr(space + 1);
  if (kind == "announcements" || kind == "own-ns") {
    uint64_t count = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), count);
    (kind == "own-ns" ? annotations.own_ns : annotations.announcements) += count;
  } else if (kind == "marked") {
    add_once(annotations.marked, rest);
  } else if (kind == "profile") {
    annotations.profiles.emplace_back(pid, rest);
  } else if (kind == "rank") {
    add_rank(rest, pid, annotations);
  } else if (kind == "setting") {
    const size_t value = rest.find(' ');
    if (value == std::string_view::npos) return;
    const std::string_view set_to = rest.substr(value + 1);
    const auto [known, added] = annotations.settings.emplace(rest.substr(0, value), set_to);
    if (!added && known->second != set_to) known->second = "mixed";
  } else if (kind == "left-out") {
    add_once(annotations.left_out, rest);
  }
}

}  // namespace

Annotations take_annotations(const std::string& recording_folder) {
  Annotations annotations;
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error))
    if (entry.path().extension() == settings::kAnnotatedSuffix) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    std::ifstream stream(file);
    const std::string stem = file.stem().string();
    int64_t pid = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), pid);
    for (std::string line; std::getline(stream, line);) add_line(line, pid, annotations);
    stream.close();
    fs::remove(file, error);
    ++annotations.processes;
  }
  return annotations;
}

}  // namespace stallscope
