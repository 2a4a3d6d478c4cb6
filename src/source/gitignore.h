// .gitignore patterns: enough of git's own rules to leave out what git leaves out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// Whether `path` matches a glob with *, **, ? and [sets]; * does not cross a slash.
bool glob_matches(std::string_view glob, std::string_view path);

class Gitignore {
 public:
  /// Adds the lines of a .gitignore that lies in `folder` (relative to the root, "" = root).
  void add(std::string_view folder, std::string_view text);
  /// Whether `path` (relative to the root) is ignored; the last match decides.
  bool ignores(std::string_view path, bool directory) const;
  /// Whether `path` or a folder above it is ignored.
  bool covers(std::string_view path, bool directory) const;

 private:
  struct Line {
    std::string folder, glob;
    bool negated = false, directories_only = false, anchored = false;
  };
  std::vector<Line> lines_;
};

/// The globs of settings and options, which match as lines of a .gitignore do: without a slash
/// wherever the name occurs, else from the folder of the settings on; what names a folder covers
/// all below it.
Gitignore path_globs(const std::vector<std::string>& globs);

}  // namespace stallscope
