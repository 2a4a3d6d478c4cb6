#include "source/link/taken_names.h"

#include <algorithm>

#include "source/names/mentions.h"
#include "source/names/names.h"

namespace stallscope {

TakenNames::TakenNames(const CallGraph& graph) {
  for (const auto& file : graph.files()) {
    if (file->skipped && file->language == "python") unread_.push_back(&file->mentions);
    for (const auto& [bound, path] : file->imports) {
      const uint32_t name = name_hash(last_component(path));
      if (bound == "*") {
        stars_.insert(name);
      } else {
        last_.insert(name);
        if (path.find('.') == std::string::npos) roots_.insert(name);
      }
    }
  }
}

bool TakenNames::may_have(std::string_view path, uint32_t name) const {
  if (last_.contains(name)) return true;
  path = path.substr(0, path.rfind('.'));
  if (path.ends_with("/__init__")) path.remove_suffix(std::string_view("/__init__").size());
  const uint32_t module = name_hash(path.substr(path.rfind('/') + 1));
  if (last_.contains(module) || stars_.contains(module)) return true;
  if (std::ranges::any_of(unread_, [&](const std::vector<uint32_t>* named) {
        return mentions(*named, name) && mentions(*named, module);
      }))
    return true;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (roots_.contains(name_hash(path.substr(at, end - at)))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace stallscope
