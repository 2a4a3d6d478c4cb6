#include "rule/file_join.h"

#include <algorithm>

#include "analyze/places.h"
#include "rule/finding.h"

namespace stallscope {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view without_leading(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
}

// More lines of decorators than this above one function is nobody's style.
constexpr uint32_t kMostDecoratorLines = 40;

// "/work" holds /work/a.py, but not /workspace/a.py.
bool is_within(std::string_view path, std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  return path.starts_with(folder) &&
         (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/');
}

// `path` with `to` in place of the folder `from` that it lies in.
std::string moved(std::string_view path, std::string_view from, std::string_view to) {
  while (from.ends_with('/')) from.remove_suffix(1);
  while (to.ends_with('/')) to.remove_suffix(1);
  return std::string(to) + std::string(path.substr(from.size()));
}

}  // namespace

size_t common_suffix(std::string_view a, std::string_view b) {
  a = without_leading(a);
  b = without_leading(b);
  size_t count = 0;
  while (!a.empty() && !b.empty()) {
    const std::string_view tail = file_name(a);
    if (tail != file_name(b)) break;
    ++count;
    const auto shorten = [&](std::string_view& path) {
      path.remove_suffix(std::min(path.size(), tail.size() + 1));
    };
    shorten(a);
    shorten(b);
  }
  return count;
}

std::string mapped_path(const std::string& run_path, const PathMap& map) {
  for (const auto& [from, to] : map)
    if (is_within(run_path, from)) return moved(run_path, from, to);
  return run_path;
}

AnalysedFiles files_of(std::span<const SourceFact> facts) {
  AnalysedFiles files;
  for (const SourceFact& fact : facts) files[fact.file].content_hash = fact.content_hash;
  return files;
}

FileJoin::FileJoin(AnalysedFiles files, PathMap path_map,
                   std::map<std::string, std::string> run_hashes)
    : files_(std::move(files)), path_map_(std::move(path_map)), run_hashes_(std::move(run_hashes)) {
  for (const auto& [path, file] : files_) by_name_.emplace(file_name(path), path);
  paths_are_here_ = std::ranges::any_of(run_hashes_, [&](const auto& entry) {
    return files_.contains(mapped_path(entry.first, path_map_));
  });
}

std::optional<std::string> FileJoin::source_file(const std::string& run_path) const {
  const Found& found = find(run_path);
  return found.changed ? std::nullopt : found.file;
}

std::optional<std::string> FileJoin::changed_file(const std::string& run_path) const {
  const Found& found = find(run_path);
  return found.changed ? found.file : std::nullopt;
}

const AnalysedFunction* FileJoin::function_at(const std::string& file, std::string_view function,
                                              uint32_t line) const {
  const auto it = files_.find(file);
  if (it == files_.end()) return nullptr;
  const std::vector<AnalysedFunction>& functions = it->second.functions;
  const auto holds_line = [line](const AnalysedFunction& f) {
    return f.first_line <= line && line <= f.last_line;
  };
  const AnalysedFunction* inner = nullptr;  // the innermost of the name that holds the line
  const AnalysedFunction* next = nullptr;   // the first of the name below it
  for (const AnalysedFunction& f : functions) {
    if (bare_function(f.name) != bare_function(function)) continue;
    if (holds_line(f) && (inner == nullptr || f.first_line >= inner->first_line)) inner = &f;
    if (f.first_line > line && (next == nullptr || f.first_line < next->first_line)) next = &f;
  }
  if (inner != nullptr || next == nullptr) return inner;
  // Above a function lie its decorators only, not what is within another one.
  const bool is_within_another = std::ranges::any_of(functions, [&](const AnalysedFunction& f) {
    return holds_line(f) && f.last_line < next->last_line;
  });
  const bool is_near = next->first_line - line <= kMostDecoratorLines;
  return is_near && !is_within_another ? next : nullptr;
}

// The same path is the same file. Otherwise the longest common end decides, which may be the name
// alone where only one file here has it and the run's is no library's.
std::string FileJoin::best_match(const std::string& path, const std::string& run_hash) const {
  const std::string exact(without_leading(path));
  if (files_.contains(path)) return path;
  if (files_.contains(exact)) return exact;
  std::string best;
  size_t longest = 0;
  bool unique = false, best_same = false;
  const auto [first, last] = by_name_.equal_range(file_name(path));
  for (auto it = first; it != last; ++it) {
    const std::string& candidate = it->second;
    const bool same = !run_hash.empty() && files_.at(candidate).content_hash == run_hash;
    const size_t length = common_suffix(path, candidate);
    if (!same && length == 1 && is_library_file(path)) continue;
    if (std::pair(same, length) < std::pair(best_same, longest)) continue;
    unique = std::pair(same, length) > std::pair(best_same, longest);
    best = candidate;
    longest = length;
    best_same = same;
  }
  return unique ? best : std::string();
}

const FileJoin::Found& FileJoin::find(const std::string& run_path) const {
  if (const auto it = cache_.find(run_path); it != cache_.end()) return it->second;
  const std::string path = mapped_path(run_path, path_map_);
  const auto hash = run_hashes_.find(run_path);
  const std::string run_hash = hash == run_hashes_.end() ? "" : hash->second;
  Found found;
  if (const std::string best = best_match(path, run_hash); !best.empty()) {
    const std::string& here = files_.at(best).content_hash;
    const bool differs = !run_hash.empty() && !here.empty() && here != run_hash;
    // A path that is not here is then another file's of that name, not an older text of this one.
    const bool another = differs && paths_are_here_ && best != path;
    if (!another) found = {.file = best, .changed = differs};
  }
  return cache_.emplace(run_path, std::move(found)).first->second;
}

}  // namespace stallscope
