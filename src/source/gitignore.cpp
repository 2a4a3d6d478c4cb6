#include "source/gitignore.h"

#include <algorithm>

namespace stallscope {
namespace {

/// Matches one [set] at `glob[at]`; moves `at` behind it.
bool set_matches(std::string_view glob, size_t& at, char c) {
  size_t i = at + 1;
  const bool negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (negated) ++i;
  bool found = false, first = true;
  for (; i < glob.size() && (first || glob[i] != ']'); ++i, first = false) {
    if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
      found |= glob[i] <= c && c <= glob[i + 2];
      i += 2;
    } else {
      found |= glob[i] == c;
    }
  }
  if (i >= glob.size()) return false;
  at = i + 1;
  return found != negated;
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view path) {
  // Where to go on after a star that took too little: at most one of each kind is kept.
  size_t g = 0, p = 0, star_g = std::string_view::npos, star_p = 0;
  bool star_crosses = false;
  while (p < path.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star_crosses = g + 1 < glob.size() && glob[g + 1] == '*';
      while (g < glob.size() && glob[g] == '*') ++g;
      if (star_crosses && g < glob.size() && glob[g] == '/') ++g;
      star_g = g;
      star_p = p;
      continue;
    }
    size_t next = g;
    bool same = false;
    if (g < glob.size()) {
      if (glob[g] == '[') {
        same = path[p] != '/' && set_matches(glob, next, path[p]);
      } else {
        if (glob[g] == '\\' && g + 1 < glob.size()) ++next;
        same = glob[next] == path[p] || (glob[g] == '?' && path[p] != '/');
        ++next;
      }
    }
    if (same) {
      g = next;
      ++p;
    } else if (star_g != std::string_view::npos && (star_crosses || path[star_p] != '/')) {
      g = star_g;
      p = ++star_p;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

void Gitignore::add(std::string_view folder, std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Line out;
    out.folder = folder;
    if (line.front() == '!') {
      out.negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      out.directories_only = true;
      line.remove_suffix(1);
    }
    out.anchored = line.find('/') != std::string_view::npos;
    if (line.starts_with('/')) line.remove_prefix(1);
    out.glob = line;
    if (!out.glob.empty()) lines_.push_back(std::move(out));
  }
}

bool Gitignore::ignores(std::string_view path, bool directory) const {
  bool ignored = false;
  for (const Line& line : lines_) {
    if (line.directories_only && !directory) continue;
    std::string_view below = path;
    if (!line.folder.empty()) {
      if (!path.starts_with(line.folder) || path.size() <= line.folder.size() ||
          path[line.folder.size()] != '/')
        continue;
      below = path.substr(line.folder.size() + 1);
    }
    std::string_view name =
        below.substr(below.rfind('/') == std::string_view::npos ? 0 : below.rfind('/') + 1);
    if (glob_matches(line.glob, line.anchored ? below : name)) ignored = !line.negated;
  }
  return ignored;
}

bool Gitignore::covers(std::string_view path, bool directory) const {
  if (lines_.empty()) return false;
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (ignores(path.substr(0, slash), true)) return true;
  }
  return ignores(path, directory);
}

Gitignore path_globs(const std::vector<std::string>& globs) {
  Gitignore out;
  for (std::string_view glob : globs) {
    while (glob.starts_with("./")) glob.remove_prefix(1);  // keeps it at the settings' folder
    out.add("", glob);
  }
  return out;
}

}  // namespace stallscope
