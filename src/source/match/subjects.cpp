#include "source/match/subjects.h"

#include <algorithm>

#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {
using K = NodeKind;
}  // namespace

Value Subjects::of(NodeId id) const {
  if (ast_[id].kind != K::call) return file_.inference.at(id);
  NodeId callee = ast_.child(id, Role::callee);
  if (callee == kNoNode) return {};
  NodeId object = ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object) : kNoNode;
  if (object == kNoNode || file_.names.resolve(callee).imported) {
    // DataLoader(data): the loader, which may be of a class of the program's own.
    if (ast_[callee].text == "DataLoader") return file_.inference.at(id);
    NodeId first = ast_.child(id, Role::argument);
    return first == kNoNode ? Value{} : file_.inference.at(first);
  }
  // x.cpu().item() reads x: the copy is part of the read.
  while (ast_[object].kind == K::call) {
    std::string_view name = callee_name(ast_, object);
    const bool copies =
        name == "cpu" || (name == "to" && file_.inference.at(object).kind == Kind::host_tensor &&
                          !has_keyword(object, "non_blocking"));
    if (!copies) break;
    NodeId inner = ast_.child(ast_.child(object, Role::callee), Role::object);
    if (inner == kNoNode) break;
    object = inner;
  }
  if (ast_[callee].text != "to" && ast_[callee].text != "cuda") return file_.inference.at(object);
  const Value& value = file_.inference.at(whole_of(object));
  if (value.is_device() && ast_.slice(id).find("non_blocking=True") == std::string_view::npos) {
    const Value made = made_on_one_path(id, object);
    if (made.kind == Kind::host_tensor) return made;
  }
  // What is called a batch and moved to the device came from the loader.
  // A module's own input is on its device already, unless it is the loader's whole batch.
  const bool forward = (facts_.functions[file_.outline.function_of[id]].flags & kForward) != 0;
  const NodeId origin = root_of(object);
  const std::string_view root = origin == kNoNode ? std::string_view() : ast_[origin].text;
  // A batch's own tensors are where the loader put them, whatever their type says.
  if ((value.kind == Kind::unknown || (value.is_device() && moves_itself(id))) && hands_on(id) &&
      !is_model_name(last_component(ast_.slice(object))))
    return likely(Kind::batch, kLoaded);
  if (value.kind == Kind::unknown && was_moved(object)) return {};
  const bool may_be_whole = !forward || contains_any(root, {"batch", "data"});
  const bool recast = value.kind == Kind::device_tensor && origin != object && may_be_whole &&
                      is_unknown_argument(origin);
  if ((value.kind == Kind::unknown || recast) && names_device(id) &&
      ((is_batch_name(root) && !follows_tensor(id) && may_be_whole) || is_of_step_loop(id, root) ||
       (!forward && is_field_of_batch(object)))) {
    // What callers hand in may have been moved by a framework: the link knows.
    Value batch = likely(Kind::batch, kLoaded);
    batch.dependency = handed_in(id, root);
    return batch;
  }
  if (names_device(id) && !follows_tensor(id) && is_of_batch_getter(id, object))
    return likely(Kind::batch, kLoaded);
  if (value.kind == Kind::unknown && (value.dependency == 0 || is_of_method(value)) &&
      names_device(id) && !follows_tensor(id) && is_of_replay(object))
    return likely(Kind::batch, kLoaded);
  if (names_device(id) && !follows_tensor(id) && is_stepped_with(id, object)) {
    Value batch = likely(Kind::batch, kLoaded);
    batch.dependency = handed_in(id, root);
    return batch;
  }
  return value;
}

/// Whether a value is what a method gives, or a part of that.
bool Subjects::is_of_method(const Value& value) const {
  const Dependency* from = file_.inference.dependency(value);
  if (from && from->kind == DependencyKind::part) from = facts_.dependency(from->function);
  return from && from->kind == DependencyKind::method;
}

/// x = x.to(self.device) before x[:8].to(self.device): its parts are where it is, whatever x is.
bool Subjects::was_moved(NodeId object) const {
  while (ast_[object].kind == K::subscript) object = ast_.child(object, Role::object);
  if (object == kNoNode || ast_[object].kind != K::name) return false;
  const NodeId made = assigned_before(object);
  return made != kNoNode && ast_[made].kind == K::call &&
         is_one_of(callee_name(ast_, made), {"to", "cuda"}) && names_device(made);
}

/// def train_step(self, states): states.to(self.device), in the function that goes backward
/// itself: what it is handed it trains on.
bool Subjects::is_stepped_with(NodeId id, NodeId object) const {
  const FunctionFacts& function = facts_.functions[file_.outline.function_of[id]];
  const Value& value = file_.inference.at(object);
  return ast_[object].kind == K::name && (function.flags & kStepEvidence) != 0 &&
         (function.flags & kForward) == 0 && file_.outline.loop_of[id] == kNone &&
         has_word(lower(snake_case(function.name)),
                  {"step", "train", "update", "learn", "optimize", "fit"}) &&
         handed_in(id, ast_[object].text) != 0 && !is_model_name(ast_[object].text) &&
         !is_batch_name(ast_[object].text) &&
         (value.kind == Kind::unknown || (value.is_device() && value.dependency != 0));
}

/// x of x[:8], if only callers know what x is: a slice of a batch is one.
NodeId Subjects::whole_of(NodeId object) const {
  const NodeId whole =
      ast_[object].kind == K::subscript ? ast_.child(object, Role::object) : kNoNode;
  const NodeId index = whole == kNoNode ? kNoNode : ast_[whole].next;
  const bool slices = index != kNoNode && ast_[index].kind == K::slice;
  return slices && file_.inference.at(whole).dependency != 0 ? whole : object;
}

Value Subjects::receiver(NodeId id) const {
  const NodeId callee = ast_[id].kind == K::call ? ast_.child(id, Role::callee) : kNoNode;
  const NodeId object = callee != kNoNode && ast_[callee].kind == K::attribute
                            ? ast_.child(callee, Role::object)
                            : kNoNode;
  if (object == kNoNode) return {};
  Value handed;
  if (ast_[object].kind == K::name) handed.dependency = handed_in(id, ast_[object].text);
  return handed.dependency != 0 ? handed : file_.inference.at(object);
}

/// What stands for the parameter `name` of the function around `id`; 0 when it is none.
uint32_t Subjects::handed_in(NodeId id, std::string_view name) const {
  const uint32_t function = file_.outline.function_of[id];
  const auto& parameters = facts_.functions[function].parameters;
  const auto found = std::ranges::find(parameters, name);
  return found == parameters.end()
             ? 0
             : file_.inference.parameter_dependency(
                   function, static_cast<uint32_t>(found - parameters.begin()));
}

/// camera.original_image.cuda(): what an object on the host holds, by its name.
bool Subjects::is_field_of_batch(NodeId object) const {
  const NodeId owner =
      ast_[object].kind == K::attribute ? ast_.child(object, Role::object) : kNoNode;
  return owner != kNoNode && ast_[owner].kind == K::name && ast_[owner].text != "self" &&
         is_batch_name(ast_[object].text);
}

/// Whether x.to(...) says where to, rather than what to be like: x.to(other) mostly converts.
bool Subjects::names_device(NodeId call) const {
  if (callee_name(ast_, call) == "cuda") return true;
  for (NodeId c : children(ast_, call)) {
    if (ast_[c].role == Role::argument &&
        (ast_[c].kind == K::number || ast_[c].kind == K::string || ast_[c].kind == K::call ||
         contains_any(ast_.slice(c), {"device", "cuda", "gpu", "rank", "dev"})))
      return true;
  }
  return false;
}

/// labels.to(logits.device): they are there, unless the model is spread over devices.
bool Subjects::follows_tensor(NodeId call) const {
  const NodeId to = ast_.child(call, Role::argument);
  if (to == kNoNode || ast_[to].kind != K::attribute || ast_[to].text != "device") return false;
  const NodeId of = ast_.child(to, Role::object);
  return of != kNoNode && file_.inference.at(of).is_device();
}

/// Whether a call stands in a function that moves data: to_device(tree).
bool Subjects::hands_on(NodeId id) const {
  for (uint32_t f = file_.outline.function_of[id]; f != kNone && f != 0;
       f = facts_.functions[f].parent) {
    if (moves_data(facts_.functions[f].name)) return true;
    if (facts_.functions[f].name == "to" && is_batch_class(facts_.functions[f].class_name))
      return true;
  }
  return false;
}

/// Whether a call stands in a method that moves a batch: GraphBatch.to_device().
bool Subjects::moves_itself(NodeId id) const {
  const FunctionFacts& f = facts_.functions[file_.outline.function_of[id]];
  return moves_own_batch(f.class_name, f.name) && is_batch_class(f.class_name);
}

/// Batch.to(device), SampleList.to(device): a container of the program's own, not a module.
bool Subjects::is_batch_class(std::string_view name) const {
  return is_batch_class_name(name) &&
         std::ranges::none_of(facts_.classes,
                              [&](const ClassFacts& c) { return c.name == name && c.is_module; });
}

/// (norm(x) if x else torch.zeros(n)).to(device), and `else: h = torch.zeros(n)` before
/// h.to(device): the tensor that the host makes on one of two paths, or nothing.
Value Subjects::made_on_one_path(NodeId call, NodeId object) const {
  const auto is_made = [&](NodeId node) {
    const Value& v = file_.inference.at(node);
    return v.kind == Kind::host_tensor && (v.has(kFresh) || v.has(kFromHost));
  };
  if (ast_[object].kind == K::conditional) {
    for (NodeId c : children(ast_, object)) {
      if (ast_[c].role != Role::condition && is_made(c)) return file_.inference.at(c);
    }
    return {};
  }
  if (ast_[object].kind != K::name || ast_.grammar != Grammar::python) return {};
  const NodeId made = assigned_before(object);
  if (made == kNoNode || !is_made(made)) return {};
  for (NodeId at = ast_[made].parent; at != kNoNode && !ast_.inside(call, at);
       at = ast_[at].parent) {
    if (ast_[at].role == Role::alternative) return file_.inference.at(made);
  }
  return {};
}

/// x.to(device) in get_batch(), of a name that is put together there.
bool Subjects::is_of_batch_getter(NodeId id, NodeId object) const {
  const uint32_t function = file_.outline.function_of[id];
  const NodeId made = ast_[object].kind == K::name
                          ? file_.inference.definition(function, ast_[object].text, id)
                          : kNoNode;
  return made != kNoNode && callee_name(ast_, made) == "stack" &&
         is_batch_getter(facts_.functions[function].name);
}

/// Whether `name` is what a loop with a training step in it takes each time.
bool Subjects::is_of_step_loop(NodeId id, std::string_view name) const {
  if (name.empty()) return false;
  for (uint32_t at = file_.outline.loop_of[id]; at != kNone; at = facts_.loops[at].parent) {
    const LoopFacts& loop = facts_.loops[at];
    if ((!loop.backward && !loop.optimizer_step) || loop.over_parameters || loop.over_optimizers)
      continue;
    const NodeId target = ast_.child(file_.outline.loops[at], Role::left);
    if (target == kNoNode) continue;
    for (NodeId part = target; part < ast_[target].end; ++part) {
      if (ast_[part].kind == K::name && ast_[part].text == name) return true;
    }
  }
  return false;
}

bool Subjects::has_keyword(NodeId call, std::string_view name) const {
  for (NodeId c : children(ast_, call)) {
    if (ast_[c].kind == K::keyword && ast_[c].text == name) return true;
  }
  return false;
}

}  // namespace stallscope
