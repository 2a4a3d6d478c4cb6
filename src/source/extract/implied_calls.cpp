#include "source/extract/implied_calls.h"

#include "source/names/method_prefix.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

using K = NodeKind;

}  // namespace

void ImpliedCalls::visit(NodeId id) {
  const Node& node = ast_[id];
  if (node.kind == K::attribute && node.role != Role::callee && node.role != Role::left) read(id);
  if (node.kind == K::with_item) enter(id);
  const NodeId callee = node.kind == K::call ? ast_.child(id, Role::callee) : kNoNode;
  if (callee == kNoNode) return;
  if (ast_[callee].text == "getattr") by_prefix(id);
  if (ast_[callee].text == "next" && ast_[callee].kind == K::name) next(id);
  if (is_hook_registration(ast_[callee].text)) hook(ast_.child(id, Role::argument));
  if (ast_[callee].text == "saved_tensors_hooks") {  // one packs, the other unpacks
    for (const NodeId c : children(ast_, id)) {
      if (ast_[c].role == Role::argument)
        hook(ast_[c].kind == K::keyword ? ast_.child(c, Role::value) : c);
    }
  }
}

/// Whether something is known of where the object comes from.
bool ImpliedCalls::may_be_object(const Value& value) const {
  const Dependency* from = inference_.dependency(value);
  return from && from->kind != DependencyKind::element;
}

/// A call of the object's method that is written otherwise.
CallFacts ImpliedCalls::implied(NodeId at, NodeId object, CallForm form,
                                std::string_view name) const {
  CallFacts out;
  out.name = name;
  out.form = form;
  out.function = outline_.function_of[at];
  out.loop = outline_.loop_of[at];
  out.line = ast_[at].first_line;
  out.guards = guards_.around(at);
  out.receiver = inference_.at(object).dependency;
  return out;
}

/// next(loader): calls its __next__().
void ImpliedCalls::next(NodeId call) {
  const NodeId object = ast_.child(call, Role::argument);
  if (object == kNoNode || !may_be_object(inference_.at(object)) ||
      (ast_[object].kind != K::name && ast_[object].kind != K::attribute))
    return;
  facts_.calls.push_back(implied(call, object, CallForm::method, "__next__"));
}

/// with Timer("forward"): calls its __enter__() and its __exit__().
void ImpliedCalls::enter(NodeId item) {
  const NodeId object = ast_.child(item, Role::value);
  if (object == kNoNode || !may_be_object(inference_.at(object))) return;
  for (const char* method : {"__enter__", "__exit__"})
    facts_.calls.push_back(implied(item, object, CallForm::method, method));
}

/// scale.value, self.value: a property runs.
void ImpliedCalls::read(NodeId attribute) {
  const NodeId object = ast_.child(attribute, Role::object);
  if (object == kNoNode || ast_[object].kind != K::name) return;
  const bool own = ast_[object].text == "self" && known_.contains(ast_[attribute].text);
  const Dependency* from = inference_.dependency(inference_.at(object));
  const bool object_of_class =
      from &&
      (from->kind == DependencyKind::instance ||
       (from->kind == DependencyKind::returns && is_class_like(last_component(from->name))));
  if (own || object_of_class)
    facts_.calls.push_back(implied(attribute, object, CallForm::property, ast_[attribute].text));
}

void ImpliedCalls::declare(NodeId assign) {
  const Node& node = ast_[assign];
  const Dependency* const from = inference_.dependency(inference_.at(assign));
  if (!from || from->kind != DependencyKind::instance || node.text.empty() ||
      outline_.function_of[assign] == 0 || ast_[node.parent].kind != K::block ||
      !declares_local_object(ast_, assign))
    return;
  const std::string name(last_component(from->name));
  for (const std::string& made : {name, "~" + name})
    facts_.calls.push_back(implied(assign, assign, CallForm::method, made));
}

/// getattr(self, f"loss_{name}")(x): the methods of that prefix.
void ImpliedCalls::by_prefix(NodeId id) {
  const std::string_view prefix = method_prefix(ast_, id);
  if (!prefix.empty()) facts_.calls.push_back(implied(id, id, CallForm::prefix, prefix));
}

void ImpliedCalls::iterate(uint32_t loop) {
  const NodeId over = consumers_.iterated(loop);
  if (over == kNoNode) return;
  const Value& object = inference_.at(over);
  if (!may_be_object(object) || (ast_[over].kind != K::name && ast_[over].kind != K::attribute))
    return;
  for (const char* method : {"__iter__", "__next__"}) {
    CallFacts out = implied(outline_.loops[loop], over, CallForm::method, method);
    out.consumer = loop;
    facts_.calls.push_back(std::move(out));
  }
}

/// register_forward_hook(self._keep), register_forward_hook(partial(keep, name)): this file's
/// function of that name is a hook; so is what make_hook(name) defines, and what a lambda calls.
void ImpliedCalls::hook(NodeId handed) {
  if (handed == kNoNode) return;
  if (ast_[handed].kind == K::lambda) {
    for (NodeId at = handed; at < ast_[handed].end; ++at) {
      if (ast_[at].kind == K::call) mark_hooks(ast_.child(at, Role::callee), false);
    }
    return;
  }
  if (ast_[handed].kind == K::call && callee_name(ast_, handed) == "partial")
    handed = ast_.child(handed, Role::argument);
  if (handed == kNoNode) return;
  const bool made = ast_[handed].kind == K::call;
  mark_hooks(made ? ast_.child(handed, Role::callee) : handed, made);
}

/// Marks the functions of this file that `named` names as hooks, or those that they define.
void ImpliedCalls::mark_hooks(NodeId named, bool made) {
  if (named == kNoNode || !known_.contains(ast_[named].text)) return;
  const bool method = ast_[named].kind == K::attribute;
  const std::string& klass = facts_.functions[outline_.function_of[named]].class_name;
  constexpr uint32_t kBeside = kEvalFunction | kTestFunction | kInferenceFunction;
  const auto is_named = [&](const FunctionFacts& f) {
    return f.name == ast_[named].text && (!method || f.class_name == klass);
  };
  for (FunctionFacts& f : facts_.functions) {
    const bool meant =
        made ? f.parent != kNone && is_named(facts_.functions[f.parent]) : is_named(f);
    if (meant && (f.flags & kBeside) == 0) f.flags |= kHook;
  }
}

void ImpliedCalls::decorators(uint32_t function) {
  const NodeId definition = outline_.functions[function];
  for (const NodeId d : children(ast_, ast_[definition].parent)) {
    if (ast_[d].kind != K::decorator) continue;
    const NodeId made = decorated_by(ast_, d);
    if (made == kNoNode || (ast_[made].kind != K::name && ast_[made].kind != K::attribute))
      continue;
    CallFacts out;
    out.name = names_.resolve(made).path;
    out.form = CallForm::decorator;
    out.function = function;
    out.line = ast_[definition].first_line;
    if (!out.name.empty()) facts_.calls.push_back(std::move(out));
  }
}

void ImpliedCalls::call_object(NodeId callee, const CallFacts& call, uint8_t given) {
  const Value& object = inference_.at(callee);
  const bool module = object.kind == Kind::module;
  if ((object.kind != Kind::unknown && !module) || !may_be_object(object)) return;
  facts_.calls.push_back(call);
  CallFacts& out = facts_.calls.back();
  out.name = "__call__";
  out.form = module ? CallForm::module : CallForm::method;
  out.receiver = object.dependency;
  out.given = given;
}

}  // namespace stallscope
