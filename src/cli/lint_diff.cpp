#include "cli/lint_diff.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "base/shell.h"
#include "source/extract/file_facts.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

Result<std::string> command_output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return Error{.message = "cannot run: " + command};
  std::string out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  if (pclose(pipe) != 0)
    return Error{.message = "failed: " + command, .remedy = "Check the revision given to --diff."};
  return out;
}

/// The names of source files in a list that ends each with a zero byte.
std::string source_names(std::string_view all) {
  std::string out;
  while (!all.empty()) {
    const size_t end = std::min(all.find('\0'), all.size() - 1);
    const std::string_view name = all.substr(0, end);
    all.remove_prefix(end + 1);
    if (!language_of_file(name).empty() || name.ends_with(".gitignore"))
      out.append(name).push_back('\0');
  }
  return out;
}

}  // namespace

Result<ChangedLines> changed_lines(const std::string& root, const std::string& revision) {
  ChangedLines out;
  auto text = command_output("git -C " + shell_quoted(root) +
                             " diff -U0 --no-color --no-ext-diff --relative " +
                             shell_quoted(revision) + " --");
  if (!text) return text.error();
  std::string file;
  for (size_t at = 0; at < text->size();) {
    size_t end = std::min(text->find('\n', at), text->size());
    std::string_view line = std::string_view(*text).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("+++ b/")) file = line.substr(6);
    if (!line.starts_with("@@ ")) continue;
    const size_t plus = line.find('+');
    if (plus == std::string_view::npos) continue;
    unsigned first = 0, count = 1;
    const std::string range(line.substr(plus + 1, line.find(' ', plus) - plus - 1));
    if (std::sscanf(range.c_str(), "%u,%u", &first, &count) >= 1 && count > 0)
      out[file].emplace_back(first, first + count - 1);
  }
  return out;
}

bool is_changed(const ChangedLines& changed, const Place& place) {
  const auto file = changed.find(place.file);
  // A notebook's lines are those of its code, not of its file.
  if (file == changed.end() || place.file.ends_with(".ipynb")) return false;
  return std::ranges::any_of(file->second, [&](const auto& range) {
    return range.first <= place.line && place.line <= range.second;
  });
}

Result<OldTree> OldTree::checkout(const std::string& root, const std::string& revision) {
  OldTree out;
  std::error_code ec;
  const std::string& folder = out.folder_.path();
  if (folder.empty())
    return Error{.message = "cannot make a temporary folder for the old revision"};
  const std::string git =
      "GIT_INDEX_FILE=" + shell_quoted(folder + "/index") + " git -C " + shell_quoted(root);
  auto names = command_output(git + " ls-tree -r -z --name-only " + shell_quoted(revision));
  if (!names) return names.error();
  auto prefix = command_output(git + " rev-parse --show-prefix");
  if (!prefix) return prefix.error();
  while (prefix->ends_with('\n') || prefix->ends_with('/')) prefix->pop_back();
  if (auto written = write_file(folder + "/names", source_names(*names)); !written)
    return written.error();
  out.root_ = folder + "/tree" + (prefix->empty() ? "" : "/" + *prefix);
  auto done =
      command_output(git + " read-tree " + shell_quoted(revision) + " && " + git +
                     " checkout-index -z --stdin --prefix=" + shell_quoted(folder + "/tree/") +
                     " < " + shell_quoted(folder + "/names"));
  if (!done) return done.error();
  fs::create_directories(out.root_ + "/.git", ec);  // marks the project's root
  if (ec) return Error{.message = "cannot write: " + ec.message(), .file = out.root_};
  return out;
}

}  // namespace stallscope
