// FileJoin: which file here is the one that a run saw there. Runs are recorded
// in containers and on nodes whose paths differ; files meet by their longest
// common path suffix, settled by content hash where it is known.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/facts/source_fact.h"

namespace stallscope {

class FileJoin {
 public:
  /// `path_map`: prefixes of run paths and what stands for them here.
  /// `run_hashes`: content hash by run path, where the run knows it.
  FileJoin(std::span<const SourceFact> facts,
           std::vector<std::pair<std::string, std::string>> path_map,
           std::map<std::string, std::string> run_hashes);

  /// The analysed file that `run_path` is, or nullopt when none is, more than
  /// one may be, or its content is known to differ.
  std::optional<std::string> source_file(const std::string& run_path) const;

  /// True when the file was found by name but its content is known to differ.
  bool changed_since(const std::string& run_path) const;

 private:
  struct Found {
    std::optional<std::string> file;
    bool changed = false;
  };
  Found find(const std::string& run_path) const;

  std::map<std::string, std::string> files_;                      // path -> content hash
  std::multimap<std::string, std::string, std::less<>> by_name_;  // last component -> path
  std::vector<std::pair<std::string, std::string>> path_map_;
  std::map<std::string, std::string> run_hashes_;
  mutable std::map<std::string, Found> cache_;
};

/// Number of equal trailing path components: 2 for "/a/b/c.py" and "x/b/c.py".
size_t common_suffix(std::string_view a, std::string_view b);

}  // namespace stallscope
