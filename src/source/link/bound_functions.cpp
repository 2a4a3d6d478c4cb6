// Contexts of the C++ functions that a module of Python is made of.
#include <unordered_set>

#include "source/link/contexts.h"
#include "source/link/purpose.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

/// The names of bound functions of C++ that Python calls, and whether only what sets up does: of
/// distCUDA2(points) the one call stands in create_from_points().
std::unordered_map<std::string_view, bool> Contexts::called_for_set_up() const {
  std::unordered_set<std::string_view> bound;
  for (const auto& file : graph_.files()) bound.insert(file->bound.begin(), file->bound.end());
  std::unordered_map<std::string_view, bool> out;
  if (bound.empty()) return out;
  for (const auto& file : graph_.files()) {
    if (file->language != "python" || is_test_file(*file)) continue;
    for (const CallFacts& call : file->calls) {
      const std::string_view name = last_component(call.name);
      if (!bound.contains(name)) continue;
      const bool sets_up = (file->functions[call.function].flags & kInitFunction) != 0;
      const auto [known, added] = out.try_emplace(name, sets_up);
      if (!added) known->second &= sets_up;
    }
  }
  return out;
}

/// The C++ functions that a module of Python is made of: operators, or what only sets up.
std::vector<uint16_t> Contexts::bound_functions() const {
  std::vector<uint16_t> out(graph_.functions(), 0);
  const std::unordered_map<std::string_view, bool> set_up = called_for_set_up();
  for (FunctionId id = 0; id < graph_.functions(); ++id) {
    if (graph_.index_in_file(id) != 0) continue;
    for (const std::string& name : graph_.file(id).bound) {
      for (FunctionId to : graph_.named(name)) {
        const FunctionFacts& f = graph_.function(to);
        constexpr uint32_t kBeside = kInitFunction | kCheckpointFunction | kTestFunction;
        // sample_points() launches kernels: an operator, whatever its name says.
        const bool evaluates = (f.flags & kEvalFunction) != 0 &&
                               (f.flags & (kWeakRole | kDeviceWork)) != (kWeakRole | kDeviceWork);
        if (graph_.file(to).language == "python" || (f.flags & kBeside) != 0 || evaluates ||
            contains_any(graph_.file(to).path, {"viewer", "visualiz", "/gui/"}))
          continue;
        if (f.name.ends_with("_meta")) continue;  // of shapes alone
        const auto calls = set_up.find(name);
        // override_training_data(): what is set is set before the steps.
        const bool once = is_setter_name(f.name) || (calls != set_up.end() && calls->second);
        out[to] = once ? kInInit : kInForward;
      }
    }
  }
  return out;
}

}  // namespace stallscope
