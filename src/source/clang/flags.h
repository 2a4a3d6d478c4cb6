// How a C++ or CUDA file is compiled: by its project's compile_commands.json,
// else by guesses; and which of its libraries are read from our own stubs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

struct ClangFlags {
  std::vector<std::string> arguments;
  /// Headers to read before the file: our stubs, or PyTorch's own; the same for many files.
  std::vector<std::string> prefix;
  /// Of the libraries in the prefix that are not ours: files that are new when they are.
  std::vector<std::string> witnesses;
  /// The folder ATen of PyTorch's own headers, where these are on the include path.
  std::string aten;
  /// With these, a header that uses their templates as programs do; see ClangRequest::uses.
  std::string uses;
};

/// What compile_commands.json says: arguments of clang by file, cleaned.
class CompileCommands {
 public:
  /// Reads the file; what is no such file says nothing.
  explicit CompileCommands(const std::string& path);
  /// The arguments of `file`, of a neighbour (headers have none of their own), else of the first
  /// entry; null when there are none.
  const std::vector<std::string>* of(const std::string& file) const;

 private:
  std::map<std::string, std::vector<std::string>> by_file_;
};

class ClangFlagFinder {
 public:
  /// `root`: of the project; `stubs`: the folder of our own headers.
  ClangFlagFinder(std::string root, std::string stubs);

  /// For the file at the absolute `path` with this text.
  ClangFlags of(const std::string& path, std::string_view text);

 private:
  const CompileCommands* commands_for(const std::string& path);
  std::string find(const std::vector<std::string>& folders, std::string_view header) const;

  std::string root_, stubs_;
  bool has_standard_library_ = false;
  std::map<std::string, std::unique_ptr<CompileCommands>> databases_;  ///< by path
};

/// Of a compiler's arguments those that decide what code means, with absolute paths: include
/// folders, macros, the standard. Nothing that loads, writes or runs anything is kept.
std::vector<std::string> meaningful_arguments(const std::vector<std::string>& arguments,
                                              const std::string& folder);
/// A shell command as its words.
std::vector<std::string> split_command(std::string_view command);

}  // namespace stallscope
