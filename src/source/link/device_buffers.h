// The program's own classes that hold device memory: made and freed by the driver
// each time an object of theirs comes and goes.
#pragma once

#include <string_view>
#include <unordered_set>

#include "source/link/call_graph.h"

namespace stallscope {

/// Classes of C++ whose constructor allocates and whose destructor frees, themselves or through a
/// method of theirs.
class DeviceBuffers {
 public:
  explicit DeviceBuffers(const CallGraph& graph);
  bool contains(std::string_view class_name) const { return classes_.contains(class_name); }

 private:
  std::unordered_set<std::string_view> classes_;
};

}  // namespace stallscope
