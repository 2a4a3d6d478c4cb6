// Calls that are made without one being written: in Python of decorators, of what `with` and `for`
// ask of their objects, of properties, of objects that are called, of methods chosen by getattr(),
// and of hooks; in C++ of the constructors and destructors of local objects.
#pragma once

#include <string_view>
#include <unordered_set>

#include "source/guards/guards.h"
#include "source/names/consumers.h"
#include "source/values/infer.h"

namespace stallscope {

class ImpliedCalls {
 public:
  /// All must outlive it; `known` are the names of the file's functions.
  ImpliedCalls(const Ast& ast, const Names& names, const Outline& outline,
               const Inference& inference, const Guards& guards, const Consumers& consumers,
               const std::unordered_set<std::string_view>& known, FileFacts& facts)
      : ast_(ast),
        names_(names),
        outline_(outline),
        inference_(inference),
        guards_(guards),
        consumers_(consumers),
        known_(known),
        facts_(facts) {}

  /// Adds what node `id` implies to the file's calls.
  void visit(NodeId id);
  /// C++: `Timer timer(stream);` in a function makes an object, and takes it down.
  void declare(NodeId assign);
  /// `@timed`, `@timed("step")` of the program's own: their wrappers run when the function does.
  void decorators(uint32_t function);
  /// loader = Prefetcher(data); for batch in loader: calls its __iter__() and its __next__().
  void iterate(uint32_t loop);
  /// metric = Metric(); metric(x): calls its __call__(). fn = linear; fn(x): calls linear().
  /// `call` is what is known of the call itself, `given` the number of its arguments.
  void call_object(NodeId callee, const CallFacts& call, uint8_t given);

 private:
  bool may_be_object(const Value& value) const;
  CallFacts implied(NodeId at, NodeId object, CallForm form, std::string_view name) const;
  void enter(NodeId item);
  void next(NodeId call);
  void read(NodeId attribute);
  void by_prefix(NodeId call);
  void hook(NodeId handed);
  void mark_hooks(NodeId named, bool made);

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const Inference& inference_;
  const Guards& guards_;
  const Consumers& consumers_;
  const std::unordered_set<std::string_view>& known_;
  FileFacts& facts_;
};

}  // namespace stallscope
