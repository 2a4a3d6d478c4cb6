// Where what a call is about comes from: the batch that it is a part of.
#include <algorithm>

#include "source/match/subjects.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {
using K = NodeKind;
}  // namespace

/// What the function assigned to a name last, before the statement in which it stands, or kNoNode.
NodeId Subjects::assigned_before(NodeId name) const {
  return file_.inference.definition(file_.outline.function_of[name], ast_[name].text,
                                    ast_.statement_of(name));
}

/// The name that x[...].y, or the loop variable x over such, or x that is a part of a batch, starts
/// from.
NodeId Subjects::root_of(NodeId object, unsigned hops) const {
  NodeId at = object;
  for (NodeId inner = taken_from(at); inner != kNoNode; inner = taken_from(at)) {
    if (ast_[inner].kind == K::name && ast_[inner].text == "self") return kNoNode;
    at = inner;
  }
  if (ast_[at].kind != K::name) return kNoNode;
  const std::string_view name = ast_[at].text;
  for (NodeId up = ast_[at].parent; up != kNoNode; up = ast_[up].parent) {
    if (ast_[up].kind == K::function) break;
    if (ast_[up].kind == K::lambda) {
      const NodeId over = mapped_over(up, name);
      if (over != kNoNode) return over;
    }
    if (ast_[up].kind != K::comprehension) continue;
    for (NodeId clause : children(ast_, up)) {
      if (ast_[clause].kind != K::comp_for) continue;
      NodeId target = ast_.child(clause, Role::left), over = ast_.child(clause, Role::right);
      if (target == kNoNode || over == kNoNode) continue;
      if (ast_[target].text == name && ast_[over].kind == K::name) return over;
      // {k: v.to(device) for k, v in batch.items()}
      const NodeId callee = ast_[over].kind == K::call ? ast_.child(over, Role::callee) : kNoNode;
      const NodeId of = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
      const NodeId value = ast_[target].kind == K::tuple && ast_[target].first_child != kNoNode
                               ? ast_[ast_[target].first_child].next
                               : kNoNode;
      if (of != kNoNode && value != kNoNode && ast_[of].kind == K::name &&
          ast_[callee].text == "items" && ast_[value].text == name)
        return of;
    }
  }
  // x = batch["x"]; x, y = batch; x = x.float()
  const NodeId made = hops == 0 ? kNoNode : given_before(at);
  const NodeId of = made == kNoNode ? kNoNode : root_of(made, hops - 1);
  if (of != kNoNode && is_batch_name(ast_[of].text)) return of;
  // batch = to_device(batch, device)
  const bool moved = made != kNoNode && ast_[made].kind != K::name &&
                     ast_.stands_before(made, object) &&
                     contains_any(ast_.slice(made), {".to(", ".cuda(", "device"});
  return moved ? kNoNode : at;
}

/// Whether `name` is an argument of which only callers know what it is: x = batch[0].float() is a
/// tensor, and where the batch is.
bool Subjects::is_unknown_argument(NodeId name) const {
  return name != kNoNode && handed_in(name, ast_[name].text) != 0 &&
         !file_.inference.at(name).is_device();
}

/// What x.y, x[...], x.float(), x / 255, torch.as_tensor(x) and torch.stack([x for ...]) are made
/// from, on the device where that is, or kNoNode.
NodeId Subjects::taken_from(NodeId made) const {
  if (ast_[made].kind == K::subscript || ast_[made].kind == K::attribute)
    return ast_.child(made, Role::object);
  if (ast_[made].kind == K::comprehension || ast_[made].kind == K::list)
    return ast_[made].first_child;
  if (ast_[made].kind == K::binary) {
    const NodeId left = ast_.child(made, Role::left), right = ast_.child(made, Role::right);
    if (left == kNoNode || right == kNoNode) return kNoNode;
    return ast_[right].kind == K::number ? left : ast_[left].kind == K::number ? right : kNoNode;
  }
  const NodeId callee = ast_[made].kind == K::call ? ast_.child(made, Role::callee) : kNoNode;
  if (callee == kNoNode || ast_[callee].kind != K::attribute) return kNoNode;
  const std::string_view name = ast_[callee].text;
  if (file_.names.resolve(callee).imported)
    return is_one_of(name, {"as_tensor", "from_numpy", "stack", "cat"})
               ? ast_.child(made, Role::argument)
               : kNoNode;
  // x.to(torch.float32)
  if (name == "to") return names_device(made) ? kNoNode : ast_.child(callee, Role::object);
  return is_one_of(name, {"get",     "pop",     "float",   "long",      "int",        "half",
                          "double",  "bool",    "type",    "permute",   "transpose",  "view",
                          "reshape", "flatten", "squeeze", "unsqueeze", "contiguous", "clone",
                          "detach",  "narrow",  "div",     "mul",       "div_",       "mul_"})
             ? ast_.child(callee, Role::object)
             : kNoNode;
}

/// What the function gave a name last, before the statement in which it stands, or kNoNode; of `x,
/// y = batch` the batch, of `x, y = batch.x, batch.y` the part.
NodeId Subjects::given_before(NodeId name) const {
  const NodeId last = assigned_before(name);
  const NodeId statement = ast_.statement_of(name);
  const uint32_t function = file_.outline.function_of[name];
  constexpr NodeId kNear = 4096;
  const NodeId near = statement - std::min(statement, kNear);
  const NodeId from = std::max(near, last == kNoNode ? file_.outline.functions[function] : last);
  for (NodeId at = statement; at-- > from;) {
    const NodeId target = ast_[at].kind == K::assign ? ast_.child(at, Role::left) : kNoNode;
    const NodeId value = target == kNoNode ? kNoNode : ast_.child(at, Role::right);
    if (value == kNoNode || ast_[target].kind != K::tuple ||
        file_.outline.function_of[at] != function || ast_.are_apart(at, statement))
      continue;
    NodeId part = ast_[value].kind == K::tuple ? ast_[value].first_child : kNoNode;
    for (NodeId to : children(ast_, target)) {
      if (ast_[to].kind == K::name && ast_[to].text == ast_[name].text)
        return part == kNoNode ? value : part;
      if (part != kNoNode) part = ast_[part].next;
    }
  }
  return last;
}

/// The name of what a function is called on each part of, if x is all that it takes: batch of
/// tree_map(lambda x: x.to(device), batch), apply(batch, lambda x: x.to(device)) and
/// batch.apply(lambda x: x.to(device)).
NodeId Subjects::mapped_over(NodeId lambda, std::string_view taken) const {
  const NodeId parameters = ast_.child(lambda, Role::parameters);
  const NodeId only = parameters == kNoNode ? kNoNode : ast_[parameters].first_child;
  const NodeId call = ast_[lambda].parent;
  if (only == kNoNode || ast_[only].next != kNoNode || ast_[only].text != taken ||
      ast_[call].kind != K::call || ast_[lambda].role != Role::argument ||
      !contains_any(callee_name(ast_, call), {"map", "apply"}))
    return kNoNode;
  const NodeId callee = ast_.child(call, Role::callee), first = ast_.child(call, Role::argument);
  const NodeId other = first == lambda ? ast_[lambda].next : first;
  const NodeId over = other != kNoNode                    ? other
                      : ast_[callee].kind == K::attribute ? ast_.child(callee, Role::object)
                                                          : kNoNode;
  return over != kNoNode && ast_[over].kind == K::name ? over : kNoNode;
}

/// self.replay_buffer.sample(n).to(device), and of parts of what it gave: what was played before
/// lies on the host.
bool Subjects::is_of_replay(NodeId object) const {
  for (unsigned hops = 0; hops < kHops && object != kNoNode; ++hops) {
    const NodeId callee = ast_[object].kind == K::call ? ast_.child(object, Role::callee) : kNoNode;
    const NodeId from = callee == kNoNode ? kNoNode : ast_.child(callee, Role::object);
    if (from != kNoNode && has_word(ast_[callee].text, {"sample"})) {
      // Of a class of the program's own the link knows where it is.
      const Dependency* of = file_.inference.dependency(file_.inference.at(from));
      return contains_any(ast_.slice(from), {"buffer", "memory", "replay"}) &&
             !(of && of->kind == DependencyKind::instance);
    }
    object = ast_[object].kind == K::name ? given_before(object) : taken_from(object);
  }
  return false;
}

}  // namespace stallscope
