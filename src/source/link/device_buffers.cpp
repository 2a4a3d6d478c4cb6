#include "source/link/device_buffers.h"

namespace stallscope {
namespace {

bool is_constructor(const FunctionFacts& f) {
  return !f.class_name.empty() && f.name == f.class_name;
}

bool is_destructor(const FunctionFacts& f) {
  return !f.class_name.empty() && f.name.starts_with('~');
}

}  // namespace

DeviceBuffers::DeviceBuffers(const CallGraph& graph) {
  std::unordered_set<std::string_view> made, freed;
  const auto note = [&](const FunctionFacts& f) {
    if (is_constructor(f)) made.insert(f.class_name);
    if (is_destructor(f)) freed.insert(f.class_name);
  };
  for (FunctionId id = 0; id < graph.functions(); ++id) {
    const FunctionFacts& f = graph.function(id);
    if ((f.flags & kDriverAllocation) == 0) continue;
    note(f);
    for (const uint32_t edge : graph.callers(id)) {
      const FunctionFacts& caller = graph.function(graph.edges()[edge].from);
      if (caller.class_name == f.class_name) note(caller);
    }
  }
  for (const std::string_view name : made) {
    if (freed.contains(name)) classes_.insert(name);
  }
}

}  // namespace stallscope
