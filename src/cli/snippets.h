// The source lines that a report cites, kept with the run as they were when it
// was recorded.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "rule/file_join.h"
#include "rule/finding.h"

namespace stallscope {

/// Lines by file, read from run folders (sources.json) or from this machine.
class SourceStore {
 public:
  /// Takes over what the run folder at `path` has kept, if it is one.
  void load(const std::string& path);
  /// Takes over what `other` knows of files that this store does not know yet.
  void take(SourceStore&& other);
  /// What is kept, as JSON text: the content of sources.json, and of a summary.
  std::string to_json() const;
  /// Takes over what to_json wrote; what is damaged is left out.
  void take_json(const std::string& text);
  /// Remembers the lines around every place that a rank's observations name.
  void cite(const RankSummary& rank);
  /// Writes sources.json into the run folder at `path`, if it is one that can be written.
  void save(const std::string& path);
  /// The lines around a finding's primary place, when they are known: of a place in the run as they
  /// were then, else of the file here that it is; of a place in the analysed source as they are.
  void add_snippet(Finding& finding, const FileJoin& files);
  /// Content hash of each known file.
  std::map<std::string, std::string> hashes() const;

 private:
  struct File {
    std::string hash;
    std::map<uint32_t, std::string> lines;
  };
  void cite(const Place& place);
  File* file_at(const std::string& path);
  const std::vector<std::string>& lines_here(const std::string& path);

  std::map<std::string, File> files_;
  std::map<std::string, std::vector<std::string>> contents_;  ///< whole files read on this machine
  std::map<std::string, std::vector<std::string>> here_;      ///< files of this machine as they are
  std::map<std::string, std::string> loaded_;  ///< content hash of what the run loaded, by path
  std::set<std::string> absent_;               ///< not here, or changed since
  std::vector<std::string> folders_;           ///< where relative paths may lead to
  bool changed_ = false;
};

}  // namespace stallscope
