#include "source/link/device_buffers.h"

#include <algorithm>
#include <unordered_set>

#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr unsigned kDeepestOwner = 4;  ///< objects that hold objects that hold memory

/// Of an object that is made, not of one that is copied or moved.
bool is_constructor(const FunctionFacts& f) {
  return !f.class_name.empty() && f.name == f.class_name && !f.copies;
}

bool is_destructor(const FunctionFacts& f) {
  return !f.class_name.empty() && f.name.starts_with('~');
}

/// What is made once, by its name. Other classes whose destructor frees nothing leak, or free where
/// nothing is seen: what their constructor allocates it allocates for each object.
bool lasts(std::string_view class_name) {
  return has_word(
      lower(snake_case(class_name)),
      {"context", "handle",  "manager", "pool",    "allocator", "engine",  "solver", "stream",
       "event",   "trainer", "model",   "network", "net",       "dataset", "loader", "optimizer",
       "layer",   "sync",    "app",     "session", "server",    "worker",  "comm"});
}

void add_once(std::vector<SourceLine>& lines, const SourceLine& line) {
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
}

}  // namespace

DeviceBuffers::DeviceBuffers(const CallGraph& graph, std::span<const OwnedObject> owned) {
  std::unordered_map<std::string_view, std::vector<SourceLine>> made, copied, freed;
  std::unordered_set<FunctionId> allocating;
  for (FunctionId id = 0; id < graph.functions(); ++id) {
    const FunctionFacts& f = graph.function(id);
    if (f.allocates_at == 0 && f.frees_at == 0) continue;
    const FileFacts& file = graph.file(id);
    const SourceLine line{file.path, f.allocates_at != 0 ? f.allocates_at : f.frees_at, f.qualified,
                          file.language};
    const auto note = [&](FunctionId by) {
      const FunctionFacts& run = graph.function(by);
      if (!is_constructor(run) && !is_destructor(run) && !run.copies) return;
      allocating.insert(by);
      if (is_constructor(run)) allocating_[run.class_name].push_back(&run);
      std::vector<SourceLine>& lines = (run.copies            ? copied
                                        : is_constructor(run) ? made
                                                              : freed)[run.class_name];
      add_once(lines, line);
    };
    note(id);
    // data{allocate(n), [](float* data) { cudaFree(data); }}
    if (f.frees_at != 0 && is_constructor(f))
      freed[f.class_name].push_back({file.path, f.frees_at, f.qualified, file.language});
    for (const uint32_t edge : graph.callers(id)) {
      const FunctionId caller = graph.edges()[edge].from;
      if (f.class_name.empty() || graph.function(caller).class_name == f.class_name) note(caller);
    }
  }
  // Tensor(shape) : storage_(std::make_shared<Storage>(n)): storage within storage
  bool grows = true;
  for (unsigned depth = 0; grows && depth < kDeepestOwner; ++depth) {
    grows = false;
    for (const OwnedObject& object : owned) {
      const FunctionFacts& f = graph.function(object.constructor);
      const bool held = is_one_of(object.class_name, {"device_vector"}) ||
                        (made.contains(object.class_name) &&
                         (freed.contains(object.class_name) || !lasts(object.class_name)));
      if (!held || !is_constructor(f) || f.class_name == object.class_name ||
          !allocating.insert(object.constructor).second)
        continue;
      allocating_[f.class_name].push_back(&f);
      const FileFacts& file = graph.file(object.constructor);
      add_once(made[f.class_name], {file.path, f.first_line, f.qualified, file.language});
      grows = true;
    }
  }
  for (FunctionId id = 0; id < graph.functions(); ++id) {
    const FunctionFacts& f = graph.function(id);
    if (!is_constructor(f) || !made.contains(f.class_name) || allocating.contains(id) ||
        (f.flags & kDeviceWork) != 0)
      continue;
    // What else it calls may allocate further down.
    const bool idle = std::ranges::all_of(graph.calls(id), [&](uint32_t edge) {
      const FunctionId to = graph.edges()[edge].to;
      return is_constructor(graph.function(to)) && !allocating.contains(to);
    });
    if (idle) idle_[f.class_name].push_back(&f);
  }
  for (auto& [name, lines] : made) {
    if (!freed.contains(name) && lasts(name)) continue;
    for (const auto* more : {&copied[name], &freed[name]}) {
      for (const SourceLine& line : *more) add_once(lines, line);
    }
    classes_.emplace(name, std::move(lines));
  }
}

const std::vector<SourceLine>* DeviceBuffers::lines_of(std::string_view class_name,
                                                       uint8_t given) const {
  const auto found = classes_.find(class_name);
  if (found == classes_.end()) return nullptr;
  // `Matrix m;` takes memory where the constructor without arguments does
  const auto takes_none_given = [](const FunctionFacts* f) { return f->required == 0; };
  const auto makers = allocating_.find(class_name);
  if (given == 0 &&
      (makers == allocating_.end() || std::ranges::none_of(makers->second, takes_none_given)))
    return nullptr;
  const auto idle = idle_.find(class_name);
  const bool takes_none =
      idle != idle_.end() && std::ranges::any_of(idle->second, [&](const FunctionFacts* f) {
        return given >= f->required && given <= f->accepted;
      });
  return takes_none ? nullptr : &found->second;
}

}  // namespace stallscope
