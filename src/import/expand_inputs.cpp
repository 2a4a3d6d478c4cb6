// From what the user named to the paths that each import as one rank.
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "import/importer.h"
#include "import/run_folder.h"
#include "import/summary_head.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found = {};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return paths;
}

/// The traces and summaries that lie directly in a folder of other tools' files.
Result<std::vector<std::string>> members(const std::string& folder) {
  std::vector<std::string> files, traces;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) files.push_back(entry.path().string());
  }
  if (error) return Error{.message = "cannot be read: " + error.message(), .file = folder};
  std::ranges::sort(files);
  for (const std::string& file : files) {
    const Result<ImportSource> source = open_source(file);
    if (source && (is_summary(*source) || best_importer(*source))) traces.push_back(file);
  }
  if (traces.empty())
    return Error{.message = "holds neither a recorded run nor a trace of a known format",
                 .file = folder,
                 .remedy = "name the folder that `stallscope run -o` wrote, or trace files"};
  return traces;
}

Status expand(const std::string& path, std::vector<std::string>& out) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    out.push_back(path);
    return ok_status();
  }
  if (const std::string trace = trace_folder_of(path); !trace.empty()) {
    const std::vector<std::string> ranks = rank_folders(trace);
    out.insert(out.end(), ranks.begin(), ranks.end());
    return ok_status();
  }
  // An importer may understand the folder as a whole.
  const Result<ImportSource> source = open_source(path);
  if (source && best_importer(*source)) {
    out.push_back(path);
    return ok_status();
  }
  const Result<std::vector<std::string>> files = members(path);
  if (!files) return files.error();
  out.insert(out.end(), files->begin(), files->end());
  return ok_status();
}

}  // namespace

Result<std::vector<std::string>> expand_inputs(std::span<const std::string> paths) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    std::error_code error;
    std::vector<std::string> named = {path};
    if (!fs::exists(path, error) && path.find_first_of("*?[") != std::string::npos)
      named = matches(path);
    if (named.empty()) return Error{.message = "no file matches", .file = path};
    for (const std::string& each : named)
      if (const Status status = expand(each, expanded); !status) return status.error();
  }
  // The same rank twice would count twice.
  std::vector<std::string> unique;
  for (std::string& path : expanded)
    if (std::ranges::find(unique, path) == unique.end()) unique.push_back(std::move(path));
  return unique;
}

}  // namespace stallscope
