#include "rule/file_join.h"

#include <algorithm>

namespace stallscope {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view without_leading(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  return path;
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

FileJoin::FileJoin(std::span<const SourceFact> facts,
                   std::vector<std::pair<std::string, std::string>> path_map,
                   std::map<std::string, std::string> run_hashes)
    : path_map_(std::move(path_map)), run_hashes_(std::move(run_hashes)) {
  for (const SourceFact& fact : facts) files_.emplace(fact.file, fact.content_hash);
  for (const auto& [path, hash] : files_) by_name_.emplace(file_name(path), path);
}

std::optional<std::string> FileJoin::source_file(const std::string& run_path) const {
  return find(run_path).file;
}

bool FileJoin::changed_since(const std::string& run_path) const {
  return find(run_path).changed;
}

FileJoin::Found FileJoin::find(const std::string& run_path) const {
  if (const auto it = cache_.find(run_path); it != cache_.end()) return it->second;
  std::string path = run_path;
  for (const auto& [from, to] : path_map_) {
    if (!path.starts_with(from)) continue;
    path = to + path.substr(from.size());
    break;
  }
  const auto hash = run_hashes_.find(run_path);
  const std::string run_hash = hash == run_hashes_.end() ? "" : hash->second;

  std::string best;
  size_t longest = 0;
  bool unique = false, best_same = false;
  const auto [first, last] = by_name_.equal_range(file_name(path));
  for (auto it = first; it != last; ++it) {
    const std::string& candidate = it->second;
    const bool same = !run_hash.empty() && files_.at(candidate) == run_hash;
    const size_t length = common_suffix(path, candidate);
    if (std::pair(same, length) < std::pair(best_same, longest)) continue;
    unique = std::pair(same, length) > std::pair(best_same, longest);
    best = candidate;
    longest = length;
    best_same = same;
  }
  Found found;
  if (unique) {
    const std::string& here = files_.at(best);
    found.changed = !run_hash.empty() && !here.empty() && here != run_hash;
    if (!found.changed) found.file = best;
  }
  return cache_.emplace(run_path, std::move(found)).first->second;
}

}  // namespace stallscope
