#include "source/frameworks.h"

#include "base/file.h"
#include "base/yaml.h"

namespace stallscope {

Result<std::vector<EntryPoint>> load_entry_points(const std::string& path) {
  auto text = read_file(path, 1u << 20);
  if (!text) return text.error();
  const auto root = read_yaml(*text, path);
  if (!root) return root.error();
  std::vector<EntryPoint> out;
  for (const char* context : {"step", "eval"}) {
    for (const YamlNode& entry : (*root)[context].items()) {
      const std::string owner = entry["class"].text();
      for (const YamlNode& name : entry["functions"].items())
        out.push_back({name.text(), owner, std::string_view(context) == "step"});
    }
  }
  return out;
}

}  // namespace stallscope
