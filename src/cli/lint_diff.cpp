#include "cli/lint_diff.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "base/shell.h"
#include "source/extract/file_facts.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct GitOutput {
  bool succeeded = false;
  std::string text;
};

GitOutput run_git(const std::string& command) {
  GitOutput out;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return out;
  char buffer[4096];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.text.append(buffer, n);
  out.succeeded = pclose(pipe) == 0;
  return out;
}

Result<std::string> command_output(const std::string& command) {
  GitOutput out = run_git(command);
  if (!out.succeeded)
    return Error{.message = "failed: " + command, .remedy = "See what git says above."};
  return std::move(out.text);
}

std::string first_said_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// The beginning of a command of git in `folder`. A hook's variables name the outer repository, and
/// options of diffs in a variable go before those given.
std::string git_in(const RevisedFolder& folder, const std::string& index = {}) {
  std::string out = "env -u GIT_DIFF_OPTS";
  if (!folder.below.empty()) out += " -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE";
  if (!index.empty()) out += " GIT_INDEX_FILE=" + shell_quoted(index);
  return out + " git -C " + shell_quoted(folder.folder) + " ";
}

/// Calls `use` with each item of a list that ends each with a zero byte.
void for_each_item(std::string_view all, const auto& use) {
  while (!all.empty()) {
    const size_t end = std::min(all.find('\0'), all.size() - 1);
    use(all.substr(0, end));
    all.remove_prefix(end + 1);
  }
}

/// The names of source files in such a list.
std::string source_names(std::string_view all) {
  std::string out;
  for_each_item(all, [&](std::string_view name) {
    if (!language_of_file(name).empty() || name.ends_with(".gitignore"))
      out.append(name).push_back('\0');
  });
  return out;
}

/// Adds the submodules of `folder` that are checked out, and theirs. One whose commit of then was
/// never fetched is as new.
Status add_submodules(const RevisedFolder& folder, std::vector<RevisedFolder>& out) {
  auto entries = command_output(git_in(folder) + "ls-tree -r -z " + folder.tree);
  if (!entries) return entries.error();
  std::vector<RevisedFolder> found;
  for_each_item(*entries, [&](std::string_view entry) {
    constexpr std::string_view kSubmodule = "160000 commit ";
    const size_t tab = entry.find('\t');
    if (!entry.starts_with(kSubmodule) || tab == std::string_view::npos) return;
    const std::string path(entry.substr(tab + 1));
    RevisedFolder inner{
        .folder = folder.folder + "/" + path,
        .below = folder.below + path + "/",
        .prefix = "",
        .tree = std::string(entry.substr(kSubmodule.size(), tab - kSubmodule.size()))};
    std::error_code ec;
    if (fs::exists(inner.folder + "/.git", ec) &&
        run_git(git_in(inner) + "cat-file -e " + inner.tree + " 2>/dev/null").succeeded)
      found.push_back(std::move(inner));
  });
  for (const RevisedFolder& inner : found) {
    out.push_back(inner);
    if (auto added = add_submodules(inner, out); !added) return added;
  }
  return ok_status();
}

}  // namespace

Result<std::vector<RevisedFolder>> revised_folders(const std::string& root,
                                                   const std::string& revision) {
  RevisedFolder own{.folder = root, .below = "", .prefix = "", .tree = ""};
  const GitOutput prefix = run_git(git_in(own) + "rev-parse --show-prefix 2>&1");
  if (!prefix.succeeded)  // no repository, one of another user, no git
    return Error{.message = "--diff needs a repository of git: " + first_said_line(prefix.text),
                 .file = root,
                 .remedy = "Mend that, or accept findings with --baseline instead."};
  own.prefix = first_said_line(prefix.text);
  GitOutput tree;
  if (!revision.starts_with('-'))  // git would take it for an option
    tree = run_git(git_in(own) + "rev-parse --verify --quiet " +
                   shell_quoted(revision + "^{tree}") + " 2>/dev/null");
  if (!tree.succeeded)
    return Error{.message = "git knows no revision '" + revision + "'",
                 .file = root,
                 .remedy =
                     "Give --diff a branch, a tag or a commit; a shallow clone may lack it "
                     "(git fetch)."};
  own.tree = first_said_line(tree.text);
  std::vector<RevisedFolder> out{own};
  if (auto added = add_submodules(own, out); !added) return added.error();
  return out;
}

Result<Changes> Changes::since(const std::vector<RevisedFolder>& folders) {
  Changes out;
  for (const RevisedFolder& folder : folders) {
    // Whatever the user's settings of git are: they change how a diff looks.
    auto diff = command_output(
        git_in(folder) +
        "-c core.quotePath=false diff -U0 --inter-hunk-context=0 -M --no-color --no-ext-diff "
        "--no-textconv --src-prefix=a/ --dst-prefix=b/ --ignore-submodules=all --relative " +
        folder.tree + " --");
    if (!diff) return diff.error();
    add_changed_lines(*diff, folder.below, out.lines_);
    auto tracked = command_output(git_in(folder) + "ls-files -z");
    if (!tracked) return tracked.error();
    for_each_item(*tracked, [&](std::string_view name) {
      out.tracked_.insert(folder.below + std::string(name));
    });
  }
  return out;
}

bool Changes::contains(const Place& place) const {
  if (!tracked_.contains(place.file)) return true;
  const auto file = lines_.find(place.file);
  // A notebook's lines are those of its code, not of its file.
  if (file == lines_.end() || place.file.ends_with(".ipynb")) return false;
  return std::ranges::any_of(file->second, [&](const auto& range) {
    return range.first <= place.line && place.line <= range.second;
  });
}

Result<OldTree> OldTree::checkout(const std::vector<RevisedFolder>& folders) {
  OldTree out;
  const std::string& own = out.folder_.path();
  if (own.empty()) return Error{.message = "cannot make a temporary folder for the old revision"};
  const std::string top = own + "/tree/";
  for (const RevisedFolder& folder : folders) {
    const std::string git = git_in(folder, own + "/index");
    auto names = command_output(git + "ls-tree -r -z --name-only " + folder.tree);
    if (!names) return names.error();
    if (auto written = write_file(own + "/names", source_names(*names)); !written)
      return written.error();
    // Git writes below the prefix what a folder is called in its repository.
    const std::string to = top + (folder.below.empty() ? "" : folders[0].prefix + folder.below);
    auto done = command_output(git + "read-tree " + folder.tree + " && " + git +
                               "checkout-index -z --stdin --prefix=" + shell_quoted(to) + " < " +
                               shell_quoted(own + "/names"));
    if (!done) return done.error();
  }
  out.root_ = top + folders[0].prefix;
  while (out.root_.ends_with('/')) out.root_.pop_back();
  std::error_code ec;
  fs::create_directories(out.root_, ec);  // nothing of it may have been there
  if (ec) return Error{.message = "cannot write: " + ec.message(), .file = out.root_};
  return out;
}

}  // namespace stallscope
