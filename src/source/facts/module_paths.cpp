#include "source/facts/module_paths.h"

#include <algorithm>

namespace stallscope {
namespace {

/// "a/b/c.py" as "a.b.c"; a package's __init__ as the package.
std::string module_of(std::string_view path) {
  std::string out(path.substr(0, path.rfind('.')));
  std::ranges::replace(out, '/', '.');
  if (out.ends_with(".__init__")) out.resize(out.size() - 9);
  return out;
}

}  // namespace

std::string_view module_name(std::string_view path) {
  if (path.ends_with("/__init__.py")) path.remove_suffix(12);
  path = path.substr(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

ModulePaths::ModulePaths(std::span<const std::unique_ptr<FileFacts>> files) : files_(files) {
  for (const auto& file : files) modules_.push_back(module_of(file->path));
}

bool ModulePaths::matches(size_t file, std::string_view module, size_t from_file) const {
  const std::string& path = modules_[file];
  if (module.starts_with('.')) {
    size_t dots = module.find_first_not_of('.');
    if (dots == std::string_view::npos) dots = module.size();
    std::string base = modules_[from_file];
    const bool package = files_[from_file]->path.ends_with("__init__.py");
    for (size_t i = package ? 1 : 0; i < dots; ++i)
      base.resize(base.rfind('.') == std::string::npos ? 0 : base.rfind('.'));
    std::string_view rest = module.substr(dots);
    if (!rest.empty()) base += (base.empty() ? "" : ".") + std::string(rest);
    return path == base || path.starts_with(base + ".");
  }
  auto ends_in = [](std::string_view whole, std::string_view part) {
    return whole == part || (whole.ends_with(part) && whole[whole.size() - part.size() - 1] == '.');
  };
  // A re-export: the package is named, the function lies deeper.
  const std::string package = std::string(module) + ".";
  return ends_in(path, module) || path.starts_with(package) ||
         path.find("." + package) != std::string::npos;
}

}  // namespace stallscope
