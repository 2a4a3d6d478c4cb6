#include "source/link/frameworks.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "base/yaml.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

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
      const bool compiled = entry["language"].text() == "cpp";
      for (const YamlNode& name : entry["functions"].items())
        out.push_back({name.text(), owner, std::string_view(context) == "step", compiled});
    }
  }
  std::ranges::stable_sort(out, {}, &EntryPoint::name);
  return out;
}

namespace {

/// Whether a class, or one that it derives from, has `word` in its name.
bool is_kind_of(const CallGraph& graph, FunctionId method, std::string_view word) {
  const std::string& name = graph.function(method).class_name;
  if (name.find(word) != std::string::npos) return true;
  const ClassGraph& classes = graph.classes();
  for (const ClassPlace& meant : classes.visible(name, graph.file_index(method))) {
    for (const ClassPlace& klass : classes.with_bases(meant)) {
      if (std::ranges::any_of(klass.facts->bases, [&](const std::string& base) {
            return base.find(word) != std::string::npos;
          }))
        return true;
    }
  }
  return false;
}

}  // namespace

bool is_entry_point(const CallGraph& graph, FunctionId id, std::span<const EntryPoint> known,
                    bool step) {
  const FileFacts& file = graph.file(id);
  const FunctionFacts& function = graph.function(id);
  // train_step_gen(), training_step_logs(): parts of a step by their names; _execute_train_step().
  const std::string_view name =
      std::string_view(function.name).substr(function.name.starts_with('_') ? 1 : 0);
  const bool method = !function.class_name.empty() && (function.flags & kNested) == 0;
  if (step && !function.class_name.empty() &&
      (name.starts_with("train_step_") || name.starts_with("training_step_") ||
       name.ends_with("_train_step") || name.ends_with("_training_step")) &&
      !contains_any(name, {"end", "fn", "func", "init", "config", "make", "build", "create", "get_",
                           "compile", "jit", "before_", "after_", "on_"}))
    return true;
  // compute_loss(model, inputs, ...) of no class: what a Trainer is given in the place of its own
  const auto takes = [&](std::string_view parameter) {
    return std::ranges::find(function.parameters, parameter) != function.parameters.end();
  };
  if (step && !method && name == "compute_loss" && takes("model") && takes("inputs")) return true;
  // TrainBatch(), trainBatch(): the same of C++, which writes its names as it likes
  const std::string written = file.is_compiled() ? lower(snake_case(function.name)) : "";
  const auto is_known_as = [&](std::string_view as) {
    return std::ranges::any_of(
        std::ranges::equal_range(known, as, {}, &EntryPoint::name), [&](const EntryPoint& entry) {
          return entry.step == step && (!entry.compiled || file.is_compiled()) &&
                 (entry.class_contains.empty() ||
                  (!function.class_name.empty() && is_kind_of(graph, id, entry.class_contains)));
        });
  };
  // _training_step(): the same of a trainer that is not to be overridden
  return is_known_as(function.name) ||
         (!written.empty() && written != function.name && is_known_as(written)) ||
         (step && method && name != function.name && is_known_as(name));
}

}  // namespace stallscope
