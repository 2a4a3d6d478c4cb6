#include "source/frameworks.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/file.h"

namespace stallscope {

Result<std::vector<EntryPoint>> load_entry_points(const std::string& path) {
  auto text = read_file(path, 1u << 20);
  if (!text) return text.error();
  std::vector<EntryPoint> out;
  try {
    const YAML::Node root = YAML::Load(*text);
    for (const char* context : {"step", "eval"}) {
      for (const auto& entry : root[context]) {
        const std::string owner = entry["class"].as<std::string>("");
        for (const auto& name : entry["functions"]) {
          out.push_back({name.as<std::string>(), owner, std::string_view(context) == "step"});
        }
      }
    }
  } catch (const YAML::Exception& exception) {
    return Error{.message = "not a list of entry points: " + exception.msg,
                 .file = path,
                 .line = static_cast<uint64_t>(std::max(0, exception.mark.line)) + 1};
  }
  return out;
}

}  // namespace stallscope
