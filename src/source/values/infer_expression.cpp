// Inference over expressions; statements are in infer.cpp.
#include <algorithm>

#include "base/text.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// torch.ones(n, dtype=torch.bool, device=d), keep.to(torch.bool), keep.to(torch::kBool)
bool is_given_bool(const Ast& ast, NodeId call) {
  for (NodeId c : children(ast, call)) {
    if (ast[c].role != Role::argument) continue;
    const bool keyword = ast[c].kind == K::keyword;
    if (keyword && ast[c].text != "dtype") continue;
    const NodeId value = keyword ? ast.child(c, Role::value) : c;
    if (value == kNoNode) continue;
    const std::string_view given = ast.slice(value);
    if ((ast[value].kind == K::attribute && given == "torch.bool") ||
        (ast.grammar == Grammar::cuda && is_one_of(given, {"torch::kBool", "at::kBool", "kBool"})))
      return true;
  }
  return false;
}

}  // namespace

Value Inference::eval(NodeId id) {
  Value out;
  switch (ast_[id].kind) {
    case K::name:
      out = eval_name(id);
      break;
    case K::attribute:
      out = eval_attribute(id);
      break;
    case K::call:
      out = eval_call(id);
      if (out.kind == Kind::device_tensor && is_given_bool(ast_, id)) out.kind = Kind::mask;
      break;
    case K::number:
      out = proven(Kind::number);
      break;
    case K::string:
      eval_children(id);
      out = proven(Kind::text);
      break;
    case K::constant:
      out =
          proven(is_one_of(ast_[id].text, {"None", "nullptr", "NULL"}) ? Kind::none : Kind::number);
      break;
    case K::subscript:
      out = eval_subscript(id);
      if (out.kind == Kind::unknown && out.dependency == 0) out.dependency = part_of_given(id);
      break;
    case K::binary:
    case K::unary:
    case K::compare:
    case K::boolean:
    case K::conditional:
      out = eval_operator(id);
      break;
    case K::comprehension:
      out = eval_comprehension(id);
      break;
    case K::tuple:
    case K::list:
    case K::set:
    case K::dict:
      out = eval_collection(id);
      break;
    case K::walrus: {
      NodeId value = ast_.child(id, Role::value), name = ast_.child(id, Role::name);
      if (value != kNoNode) out = eval(value);
      if (name != kNoNode) assign(name, out, value);
      break;
    }
    case K::assign:
    case K::aug_assign:
      statement(id);
      return values_[id];
    case K::lambda:
      run_lambda(id);
      break;
    case K::yield:
    case K::return_:
      statement(id);
      return values_[id];
    default:
      out = eval_children(id);
      break;
  }
  return values_[id] = typed(id, out);
}

/// tree_map(lambda t: t.to(device), batch), map(lambda t: t.to(device), (x, y)): the lambda is
/// given parts of the batch beside it.
void Inference::run_lambda(NodeId id) {
  const NodeId body = ast_.child(id, Role::body), all = ast_.child(id, Role::parameters);
  if (body == kNoNode) return;
  const NodeId only = all == kNoNode ? kNoNode : ast_[all].first_child;
  const NodeId beside = ast_[id].next;
  const bool given = ast_.grammar == Grammar::python && only != kNoNode &&
                     ast_[only].next == kNoNode && ast_[ast_[id].parent].kind == K::call &&
                     ast_[id].role == Role::argument && beside != kNoNode &&
                     (ast_[beside].kind == K::name || ast_[beside].kind == K::tuple ||
                      ast_[beside].kind == K::list);
  const Value batch = given ? eval(beside) : Value{};
  if (batch.kind != Kind::batch) {
    ast_[body].kind == K::block ? statements(body) : void(eval(body));
    return;
  }
  const Held part(scopes_[function_], ast_[only].text);
  scopes_[function_].variables[ast_[only].text] = element_value(batch);
  eval(body);
}

/// Evaluates what is below and gives the value of the first child.
Value Inference::eval_children(NodeId id) {
  Value first;
  bool any = false;
  for (NodeId c : children(ast_, id)) {
    if (ast_[c].kind == K::block) {
      statements(c);
      continue;
    }
    Value v = eval(c);
    if (!any) first = v;
    any = true;
  }
  const K kind = ast_[id].kind;
  return kind == K::await || kind == K::interpolation || kind == K::keyword || kind == K::star ||
                 kind == K::other || kind == K::with_item
             ? first
             : Value{};
}

/// rewards = [e.reward for e in batch] before rewards = torch.tensor(rewards): whatever tensors of
/// that name are used for, this is a list.
bool Inference::is_made_as_list(NodeId name) const {
  const NodeId made = definition(function_, ast_[name].text, ast_.statement_of(name));
  return made != kNoNode && (ast_[made].kind == K::comprehension || ast_[made].kind == K::list);
}

Value Inference::eval_name(NodeId id) {
  const std::string_view name = ast_[id].text;
  // Of a PackedSequence: on the host, whatever its data is on.
  if (name == "batch_sizes") return likely(Kind::host_tensor);
  const Scope& own = scopes_[function_];
  Value out;
  bool bound = false;
  for (uint32_t f = function_;;) {
    auto entry = scopes_[f].variables.find(name);
    if (entry != scopes_[f].variables.end()) {
      out = entry->second;
      bound = out.kind != Kind::none;
      break;
    }
    if (f == 0) break;
    f = facts_.functions[f].parent == kNone ? 0 : facts_.functions[f].parent;
  }
  if (!bound) {
    if (const Value carried = carried_into(id); carried.is_device()) return carried;
  }
  // loss = criterion(...) and loss.backward(): no record of outputs, a tensor.
  if (out.kind == Kind::device_tensor &&
      (own.used_as_tensor.contains(name) || is_offsets_name(name)))
    out.flags &= static_cast<uint8_t>(~kModuleOutput);
  if (out.kind != Kind::unknown) return out;
  // env = reset(), and in the loop int(env.player) before env, reward = step(env)
  if (bound && names_.uses_jax() && ast_.grammar == Grammar::python) {
    if (const Value carried = carried_into(id); carried.kind == Kind::jax_array) return carried;
  }
  // A method of C++ names its object's fields without saying `this`.
  const bool of_object = !bound && ast_.grammar == Grammar::cuda;
  if (const Value field = of_object ? field_value(name) : Value{}; field.kind != Kind::unknown)
    return field;
  if (own.used_as_module.contains(name) && is_model_name(name))
    return {Kind::module, Certainty::likely, 0, out.dependency};
  const Dependency* from = dependency(out);
  const bool instance = from && from->kind == DependencyKind::instance;
  // Layer layer; layer.backward(dy, dx): what C++ declares as something else is no tensor.
  // What a helper hands to torch.outer() its callers know better.
  const bool given =
      own.given_as_tensor.contains(name) && (!from || from->kind != DependencyKind::parameter ||
                                             (facts_.functions[function_].flags & kForward) != 0);
  if ((given || own.used_as_tensor.contains(name)) &&
      !(instance && ast_.grammar == Grammar::cuda) && !is_made_as_list(id))
    return likely(Kind::device_tensor, out.flags);
  if (!instance && is_loader_name(name)) {
    // Callers may hand in an object of a class whose __iter__() is the program's.
    Value loader = likely(Kind::loader);
    loader.dependency = out.dependency;
    return loader;
  }
  if (!instance && is_host_copy_of_tensor(name)) return likely(Kind::host_tensor);
  if (out.dependency == 0 && ast_.grammar == Grammar::python && is_numpy_name(name))
    return likely(Kind::numpy);
  if (!instance && is_offsets_name(name)) return likely(Kind::device_tensor);
  return out.dependency == 0 ? function_value(id) : out;
}

/// `if step > 0: log(float(norm))` before `norm = clip_grad_norm_(...)`: what the loop's last pass
/// left in the variable. In programs of JAX also `state, loss = step(state)`.
Value Inference::carried_into(NodeId id) {
  if (looks_ahead_) return {};
  const Value whole = carried_from(definitions_, id);
  if (whole.kind != Kind::unknown || !names_.uses_jax()) return whole;
  const Value part = element_value(carried_from(unpacked_, id));
  return part.kind == Kind::jax_array ? part : whole;
}

/// What the first assignment to the name gives that stands behind the place, in a loop around both.
Value Inference::carried_from(const Assignments& assignments, NodeId id) {
  const auto known = assignments.find(ast_[id].text);
  if (known == assignments.end()) return {};
  const auto behind = std::ranges::lower_bound(known->second, id);
  for (uint32_t loop = outline_.loop_of[id]; loop != kNone; loop = facts_.loops[loop].parent) {
    for (auto made = behind; made != known->second.end() && *made < ast_[outline_.loops[loop]].end;
         ++made) {
      const NodeId source = ast_.child(*made, Role::right);
      if (outline_.function_of[*made] != function_ || source == kNoNode) continue;
      const auto [value, added] = carried_.try_emplace(*made);
      if (added) {
        looks_ahead_ = true;
        const Value given = eval(source);
        looks_ahead_ = false;
        carried_[*made] = given;
        return given;
      }
      return value->second;
    }
  }
  return {};
}

Value Inference::function_value(NodeId id) {
  const Role role = ast_[id].role;
  if (ast_.grammar != Grammar::python || role == Role::callee || role == Role::object) return {};
  const Dotted& path = names_.resolve(id);
  const bool own = ast_[id].kind == K::name && local_function(id) != kNone;
  const bool taken = path.imported && !is_library_root(first_component(path.path)) &&
                     !is_class_like(last_component(path.path));
  Value out;
  if (own || taken) out.dependency = depend(DependencyKind::function, path.path);
  return out;
}

Value Inference::self_attribute(std::string_view name) const {
  uint32_t klass = outline_.class_of[function_];
  for (uint32_t f = function_; klass == kNone && facts_.functions[f].parent != kNone;) {
    f = facts_.functions[f].parent;
    klass = outline_.class_of[f];
  }
  return attribute_of(klass, name);
}

/// What a class of this file, or one of its bases here, keeps under that name.
Value Inference::attribute_of(uint32_t klass, std::string_view name) const {
  for (int hops = 0; klass != kNone && hops < 8; ++hops) {
    auto found = attributes_[klass].find(name);
    if (found != attributes_[klass].end()) return found->second;
    uint32_t next = kNone;
    for (const std::string& base : facts_.classes[klass].bases) {
      auto parent = classes_by_name_.find(last_component(base));
      if (parent != classes_by_name_.end() && parent->second != klass) next = parent->second;
    }
    klass = next;
  }
  return {};
}

Value Inference::eval_attribute(NodeId id) {
  NodeId object = ast_.child(id, Role::object);
  if (object == kNoNode) return {};
  const std::string_view name = ast_[id].text;
  if (is_self(object)) {
    Value out = self_attribute(name);
    if (out.kind == Kind::unknown && uses_thrust_) out = field_value(name);
    if (out.has(kAttribute)) out.flags &= static_cast<uint8_t>(~(kFresh | kFromHost));
    return out;
  }
  const Dotted& path = names_.resolve(id);
  if (path.imported) {
    if (path.path.starts_with("torch.") && path.path.find('.', 6) == std::string::npos)
      return is_device_module(last_component(path.path)) ? Value{} : proven(Kind::device);
    if (path.path.starts_with("math.") || path.path == "numpy.pi") return proven(Kind::number);
  }
  Value receiver = eval(object);
  if (auto known = value_of_attribute(receiver, name)) return *known;
  // of a std::pair
  if (receiver.kind == Kind::tensor_list && ast_.grammar == Grammar::cuda &&
      (name == "first" || name == "second"))
    return element_value(receiver);
  // noise_scheduler.alphas_cumprod: a table that the scheduler keeps on the host; who samples asks
  // for the steps on the device
  if ((receiver.kind == Kind::unknown || receiver.kind == Kind::other) &&
      is_scheduler_table(name) && contains_any(ast_.slice(object), {"scheduler"}) &&
      (name != "timesteps" || !holds_text(ast_.source, "set_timesteps")))
    return likely(Kind::host_tensor, kAttribute);
  // A field that a record of this file declares as a tensor.
  if (receiver.kind == Kind::unknown) {
    // self.buffer.obs, of an object that this file's class makes
    const Dependency* from = dependency(receiver);
    const auto klass = from && from->kind == DependencyKind::instance
                           ? classes_by_name_.find(last_component(from->name))
                           : classes_by_name_.end();
    if (klass != classes_by_name_.end() && ast_.grammar == Grammar::python) {
      Value kept = attribute_of(klass->second, name);
      kept.flags &= static_cast<uint8_t>(~(kFresh | kFromHost));
      if (kept.kind != Kind::unknown) return kept;
    }
    const auto field = fields_.find(name);
    if (field != fields_.end()) return field->second;
    if (is_host_copy_of_tensor(name)) return likely(Kind::host_tensor);
  }
  if (path.imported) return function_value(id);
  // result.energies of what a compiled step of JAX may have given, also in a file that drives it
  // and imports none of JAX
  const bool may = ast_.grammar == Grammar::python && !name.starts_with('_') &&
                   (names_.uses_jax() || !names_.uses("torch"));
  const Dependency* given = may ? dependency(receiver) : nullptr;
  const bool by_step =
      receiver.kind == Kind::unknown && given &&
      (given->by_call() || given->kind == DependencyKind::part ||
       given->kind == DependencyKind::either || given->kind == DependencyKind::element);
  return by_step ? depending_on(depend(DependencyKind::element, {}, receiver.dependency)) : Value{};
}

}  // namespace stallscope
