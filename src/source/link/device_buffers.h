// The program's own classes that hold device memory: made and freed by the driver
// each time an object of theirs comes and goes.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/facts/source_fact.h"
#include "source/link/call_graph.h"

namespace stallscope {

/// Classes of C++ whose constructor allocates and whose destructor frees, themselves or through
/// what they call; or whose constructor hands on how to free.
class DeviceBuffers {
 public:
  explicit DeviceBuffers(const CallGraph& graph);
  /// Where objects of a class that are made with so many arguments take and free their memory; null
  /// if they hold none then.
  const std::vector<SourceLine>* lines_of(std::string_view class_name, uint8_t given) const;

 private:
  std::unordered_map<std::string_view, std::vector<SourceLine>> classes_;
  /// Constructors that allocate nothing.
  std::unordered_map<std::string_view, std::vector<const FunctionFacts*>> idle_;
};

}  // namespace stallscope
