// What a candidate is about, as all files together know it.
#include <algorithm>
#include <string>

#include "source/index.h"
#include "source/names/names.h"
#include "source/names/roles.h"

namespace stallscope {

/// What the constructors of C++ make, each time that they run.
std::vector<OwnedObject> SourceIndex::objects_of_constructors() const {
  std::vector<OwnedObject> out;
  for (size_t file = 0; file < files_.size(); ++file) {
    const FileFacts& facts = *files_[file];
    if (!facts.is_compiled()) continue;
    for (const Candidate& c : facts.candidates) {
      if (!rules_->clauses()[c.clause].own_device_buffers ||
          !facts.functions[c.function].makes_or_ends() || (c.guards & kGuardCached) != 0)
        continue;
      const Dependency* const on = facts.dependency(c.subject.dependency);
      if (on && on->kind == DependencyKind::instance)
        out.push_back({graph_->id_of(file, c.function), on->name, c.given});
    }
  }
  return out;
}

/// Where the class of the object that the candidate declares takes and frees device memory; null if
/// it is none of the program's own, or holds none.
const std::vector<SourceLine>* SourceIndex::device_buffer_of(const FileFacts& facts,
                                                             const Candidate& candidate) const {
  const Dependency* const on = facts.dependency(candidate.subject.dependency);
  return on && on->kind == DependencyKind::instance
             ? device_buffers_->lines_of(on->name, candidate.given)
             : nullptr;
}

/// Whether a batch that callers hand in is one that a framework has moved; or one that they have,
/// where nothing but what is done with it says that it is a batch.
bool SourceIndex::is_moved(size_t file, uint32_t dependency) const {
  const Value given = resolved(file, depending_on(dependency), kMaxHops);
  if (given.kind == Kind::tensor_list && given.has(kModuleOutput)) return true;
  const FileFacts& facts = *files_[file];
  // C++ declares what it is handed: torch::cat(states, 0) is a tensor, and may be on the host.
  const Certainty needed = facts.is_compiled() ? Certainty::proven : Certainty::likely;
  const Dependency* const on = facts.dependency(dependency);
  return given.is_device() && given.certainty >= needed && on &&
         on->kind == DependencyKind::parameter &&
         !is_batch_name(facts.functions[on->function].parameters[on->parameter]);
}

/// advantages(rewards: Tensor) where all callers hand in what they made on the host, or what was
/// computed from that: only the annotation, or a method that tensors have, says more.
bool SourceIndex::is_kept_on_host(size_t file, const Value& value) const {
  const FileFacts& facts = *files_[file];
  if (facts.is_compiled() || !facts.dependency(value.dependency) ||
      (value.kind != Kind::device_tensor && value.kind != Kind::mask))
    return false;
  const Value given = resolved(file, depending_on(value.dependency), kMaxHops);
  return given.kind == Kind::host_tensor && given.certainty >= Certainty::likely;
}

/// Whether a loader is an object of a class of the program's own that derives from no library's.
bool SourceIndex::is_own_loader(size_t file, const Value& subject) const {
  const Dependency* const on = files_[file]->dependency(subject.dependency);
  if (!on || last_component(on->name) != "DataLoader" ||
      (on->kind != DependencyKind::instance && on->kind != DependencyKind::returns))
    return false;
  const ClassGraph& classes = graph_->classes();
  return std::ranges::any_of(classes.named("DataLoader"), [&](const ClassPlace& klass) {
    const bool meant = klass.file == file || graph_->imports(file, klass.file);
    return meant && std::ranges::none_of(klass.facts->bases, [](const std::string& base) {
             return last_component(base).ends_with("Loader");
           });
  });
}

}  // namespace stallscope
