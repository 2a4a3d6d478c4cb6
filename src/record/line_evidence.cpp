#include "record/line_evidence.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "collect/settings.h"
#include "trace/line_ranges.h"
#include "trace/sample_file.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestProgramFile = 16ULL << 20;  // nobody writes more by hand

/// What processes said of one file.
struct FileLines {
  std::set<uint32_t> watched, started, hit;
  std::set<std::string> states;  ///< size and time, as it was loaded
  bool unwatched = false;        ///< some process loaded it and could not tell its lines
};

/// The first word of `text`, which loses it and the blank behind it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

/// The files of stallscope_lines.py, read one after the other.
class Reader {
 public:
  void read(const fs::path& path) {
    std::ifstream stream(path);
    by_number_.clear();
    told_lines_ = ends_later_ = false;
    bool empty = true;
    for (std::string line; std::getline(stream, line); empty = false) take(line);
    // What a process loaded it tells when it ends, if it comes to that.
    silent_ += empty || ends_later_ ? 1 : 0;
  }

  TakenLines finish(uint32_t silent_samples) const {
    TakenLines out;
    for (const auto& [path, lines] : files_) {
      RecordedLines& to = out.files[path];
      std::set<uint32_t> watched = lines.watched;
      if (compiled_) {
        std::set<uint32_t> compiled;
        std::ranges::set_difference(lines.watched, lines.started,
                                    std::inserter(compiled, compiled.end()));
        std::erase_if(watched, [&](uint32_t line) { return compiled.contains(line); });
        to.compiled = ranges_of_lines(compiled);
      }
      to.watched = ranges_of_lines(lines.unwatched ? lines.hit : watched);
      to.hit = ranges_of_lines(lines.hit);
      to.hash = hash_of(path, lines.states);
    }
    // Forked workers leave no word where nobody tells lines: their modules are their parent's.
    out.silent_processes = silent_ + (any_told_lines_ ? silent_samples : 0);
    return out;
  }

 private:
  void take(std::string_view rest) {
    const std::string_view kind = take_word(rest);
    if (kind == "lines") {
      told_lines_ = any_told_lines_ = true;
    } else if (kind == "modules") {
      ends_later_ = true;
    } else if (kind == "ended") {
      ends_later_ = false;
    } else if (kind == "compiled") {
      compiled_ = true;
    } else if (kind == "file") {
      const std::string number(take_word(rest));
      std::string state(take_word(rest));
      state += " ";
      state += take_word(rest);
      if (rest.empty()) return;
      FileLines& file = files_[std::string(rest)];
      file.states.insert(std::move(state));
      file.unwatched = file.unwatched || !told_lines_;
      by_number_[number] = &file;
    } else {
      const auto file = by_number_.find(take_word(rest));
      if (file == by_number_.end()) return;
      if (kind == "watched") file->second->watched.merge(lines_of_ranges(rest));
      if (kind == "started") file->second->started.merge(lines_of_ranges(rest));
      if (kind == "hit") file->second->hit.merge(lines_of_ranges(rest));
    }
  }

  /// The content that ran, if the file still is what every process loaded.
  static std::string hash_of(const std::string& path, const std::set<std::string>& loaded) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return kChangedWhileRecorded;
    const int64_t time_ns =
        static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
    const std::string now = std::to_string(status.st_size) + " " + std::to_string(time_ns);
    if (loaded != std::set{now}) return kChangedWhileRecorded;
    const Result<std::string> text = read_file(path, kLargestProgramFile);
    return text ? content_hash(*text) : std::string();
  }

  std::map<std::string, FileLines> files_;
  std::map<std::string, FileLines*, std::less<>> by_number_;  ///< of the process that is read
  bool told_lines_ = false, any_told_lines_ = false, ends_later_ = false, compiled_ = false;
  uint32_t silent_ = 0;
};

/// The process that a file of the recording folder belongs to: PID.samples, PID-1.lines.
std::string process_of(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find_first_not_of("0123456789"));
}

}  // namespace

TakenLines take_line_evidence(const std::string& recording_folder) {
  std::vector<fs::path> files;
  std::set<std::string> told, sampled;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error)) {
    const fs::path& path = entry.path();
    const std::string process = process_of(path);
    if (path.extension() == settings::kLinesSuffix) {
      files.push_back(path);
      told.insert(process);
    } else if (path.filename().string() == process + std::string(kSampleSuffix)) {
      sampled.insert(process);
    }
  }
  std::ranges::sort(files);
  Reader reader;
  for (const fs::path& file : files) {
    reader.read(file);
    fs::remove(file, error);
  }
  // Python whose stacks were sampled, and that left no word: -I, -S, or a path of its own.
  return reader.finish(static_cast<uint32_t>(std::ranges::count_if(
      sampled, [&](const std::string& process) { return !told.contains(process); })));
}

}  // namespace stallscope
