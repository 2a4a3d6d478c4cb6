#include "record/line_evidence.h"

#include <filesystem>
#include <fstream>

#include "collect/settings.h"
#include "trace/line_ranges.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

void join(std::string& known, std::string_view more) {
  auto lines = lines_of_ranges(known);
  lines.merge(lines_of_ranges(more));
  known = ranges_of_lines(lines);
}

void read(const fs::path& path, std::map<std::string, RecordedLines>& out) {
  std::ifstream stream(path);
  RecordedLines* of_file = nullptr;
  for (std::string line; std::getline(stream, line);) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string_view kind = std::string_view(line).substr(0, space);
    const std::string_view rest = std::string_view(line).substr(std::min(space + 1, line.size()));
    if (kind == "file")
      of_file = &out[std::string(rest)];
    else if (kind == "watched" && of_file)
      join(of_file->watched, rest);
    else if (kind == "hit" && of_file)
      join(of_file->hit, rest);
  }
}

}  // namespace

std::map<std::string, RecordedLines> take_line_evidence(const std::string& recording_folder) {
  std::map<std::string, RecordedLines> out;
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error))
    if (entry.path().extension() == settings::kLinesSuffix) files.push_back(entry.path());
  for (const fs::path& file : files) {
    read(file, out);
    fs::remove(file, error);
  }
  return out;
}

}  // namespace stallscope
