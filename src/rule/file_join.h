// FileJoin: which file here is the one that a run saw there. Runs are recorded
// in containers and on nodes whose paths differ; files meet by their longest
// common path suffix, settled by content hash where it is known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "source/facts/source_fact.h"

namespace stallscope {

/// A function of an analysed file.
struct AnalysedFunction {
  std::string name;  ///< qualified, as facts name it
  uint32_t first_line = 0, last_line = 0;
};

/// A file that static analysis read, whether or not it found anything in it.
struct AnalysedFile {
  std::string content_hash;
  std::vector<AnalysedFunction> functions;
};
using AnalysedFiles = std::map<std::string, AnalysedFile>;  ///< by path

/// Prefixes of a run's paths and what stands for them here: --path-map FROM=TO.
using PathMap = std::vector<std::pair<std::string, std::string>>;

class FileJoin {
 public:
  /// `path_map`: prefixes of run paths and what stands for them here.
  /// `run_hashes`: content hash by run path, where the run knows it.
  FileJoin(AnalysedFiles files, PathMap path_map, std::map<std::string, std::string> run_hashes);

  /// The analysed file that `run_path` is, or nullopt when none is, more than
  /// one may be, or its content is known to differ.
  std::optional<std::string> source_file(const std::string& run_path) const;

  /// The analysed file that `run_path` is by its name, where its content is known to differ.
  std::optional<std::string> changed_file(const std::string& run_path) const;

  /// The function of analysed file `file` that a trace means by its name and a line in it or of
  /// its decorators; nullptr where there is no such one.
  const AnalysedFunction* function_at(const std::string& file, std::string_view function,
                                      uint32_t line) const;

 private:
  struct Found {
    std::optional<std::string> file;
    bool changed = false;
  };
  const Found& find(const std::string& run_path) const;
  std::string best_match(const std::string& path, const std::string& run_hash) const;

  AnalysedFiles files_;
  std::multimap<std::string, std::string, std::less<>> by_name_;  // last component -> path
  PathMap path_map_;
  std::map<std::string, std::string> run_hashes_;
  bool paths_are_here_ = false;  ///< some of the run's files lie here under the run's own paths
  mutable std::map<std::string, Found> cache_;
};

/// What `run_path` is by the first of `map` that holds it; itself where none does.
std::string mapped_path(const std::string& run_path, const PathMap& map);

/// The files that `facts` lie in, where nothing else is known of what was analysed.
AnalysedFiles files_of(std::span<const SourceFact> facts);

/// Number of equal trailing path components: 2 for "/a/b/c.py" and "x/b/c.py".
size_t common_suffix(std::string_view a, std::string_view b);

}  // namespace stallscope
