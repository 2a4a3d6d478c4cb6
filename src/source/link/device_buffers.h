// The program's own classes that hold device memory: made and freed by the driver
// each time an object of theirs comes and goes.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/facts/source_fact.h"
#include "source/link/call_graph.h"

namespace stallscope {

/// An object that a constructor makes for its own: `data_(std::make_shared<Storage>(n))`.
struct OwnedObject {
  FunctionId constructor = 0;
  std::string_view class_name;
  uint8_t given = 0;  ///< arguments of its constructor
};

/// Classes of C++ whose constructor allocates and whose destructor frees, themselves or through
/// what they call; or whose constructor hands on how to free; or makes objects of such classes.
class DeviceBuffers {
 public:
  DeviceBuffers(const CallGraph& graph, std::span<const OwnedObject> owned);
  /// Where objects of a class that are made with so many arguments take and free their memory; null
  /// if they hold none then.
  const std::vector<SourceLine>* lines_of(std::string_view class_name, uint8_t given) const;

 private:
  using Constructors = std::unordered_map<std::string_view, std::vector<const FunctionFacts*>>;

  std::unordered_map<std::string_view, std::vector<SourceLine>> classes_;
  Constructors allocating_, idle_;  ///< those that take memory, and those that take none
};

}  // namespace stallscope
