// What files of Python take from each other by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "source/link/call_graph.h"

namespace stallscope {

/// What `from utils import load, save` and the like take of each module.
class TakenNames {
 public:
  explicit TakenNames(const CallGraph& graph);

  /// Whether another file may have what the module at `path` defines under the name that has the
  /// hash `name`: some file imports that name, wherever from, or all of the module.
  bool may_have(std::string_view path, uint32_t name) const;

 private:
  /// Hashes of the names that imports end with: functions and classes, and modules as a whole.
  std::unordered_set<uint32_t> last_;
  /// What the files that are not read further name, of which nobody says what they import.
  std::vector<const std::vector<uint32_t>*> unread_;
  /// `import layers.utils` binds the package alone; modules of which a star takes all.
  std::unordered_set<uint32_t> roots_, stars_;
};

}  // namespace stallscope
