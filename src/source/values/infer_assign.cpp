// Inference over assignments and loops: what names are bound to.
#include <algorithm>
#include <span>
#include <utility>

#include "source/names/iteration.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {
using K = NodeKind;

/// Whether a declaration of C++ says that what it names is a number: uint32_t n = x.size(0) * k.
bool declares_number(const Ast& ast, NodeId target) {
  const Node& parent = ast[ast[target].parent];
  if (ast.grammar != Grammar::cuda || parent.kind != K::assign || ast[target].kind != K::name)
    return false;
  const std::string_view type = parent.text;
  if (is_one_of(type, {"int", "unsigned", "unsigned int", "long", "short", "float", "double",
                       "bool", "char", "half", "uint", "std::size_t", "std::int64_t"}))
    return true;
  return type.ends_with("_t") &&
         contains_any(type, {"int", "size", "scalar", "idx", "index", "float"});
}
/// accelerator.prepare(model, loader), fabric.setup_dataloaders(loader): what the loader yields
/// then is on the device.
bool places_batches(const Ast& ast, NodeId call) {
  if (call == kNoNode || ast[call].kind != K::call ||
      !is_one_of(callee_name(ast, call),
                 {"prepare", "prepare_data_loader", "setup_dataloaders", "MpDeviceLoader"}))
    return false;
  const std::string_view callee = ast.slice(ast.child(call, Role::callee));
  return contains_any(callee, {"accelerator", "fabric", "deviceloader"});
}
/// cycle(loader), iter(loader), endless(loader): yields what the loader does.
NodeId repeated(const Ast& ast, NodeId call) {
  return call != kNoNode && ast[call].kind == K::call &&
                 contains_any(callee_name(ast, call),
                              {"cycle", "iter", "loop", "infinite", "endless"})
             ? ast.child(call, Role::argument)
             : kNoNode;
}
/// mel_loss = criterion(predicted, mel), loss = self.loss_fn(...): a tensor, no record of outputs.
bool gives_loss(const Ast& ast, NodeId target, NodeId source) {
  if (source == kNoNode || ast[source].kind != K::call || ast[target].kind != K::name) return false;
  const std::string name = lower(snake_case(ast[target].text));
  return (name == "loss" || name.ends_with("_loss")) &&
         contains_any(callee_name(ast, source), {"criterion", "loss"});
}
}  // namespace

/// class Space: CHANNELS = (0, 1, 2), which methods know as self.CHANNELS.
void Inference::keep_class_attribute(NodeId target, const Value& value) {
  NodeId around = ast_[ast_[target].parent].parent;
  while (around != kNoNode && (ast_[around].kind == K::other || ast_[around].kind == K::block))
    around = ast_[around].parent;
  const auto klass = std::ranges::find(outline_.classes, around);
  if (around == kNoNode || klass == outline_.classes.end()) return;
  Value kept = value;
  kept.flags |= kAttribute;
  attributes_[static_cast<size_t>(klass - outline_.classes.begin())].try_emplace(ast_[target].text,
                                                                                 kept);
}

void Inference::assign(NodeId target, const Value& given, NodeId source) {
  const Node& node = ast_[target];
  const auto is_placed = [&](NodeId loader) {
    return loader != kNoNode && values_[loader].kind == Kind::loader &&
           values_[loader].has(kModuleOutput);
  };
  const bool loader =
      (node.kind == K::name || node.kind == K::attribute) && is_loader_name(ast_.slice(target));
  Value value = loader && places_batches(ast_, source) ? likely(Kind::loader, kModuleOutput)
                : loader && is_placed(repeated(ast_, source))
                    ? likely(Kind::tensor_list, kModuleOutput)
                : declares_number(ast_, target) ? Value{Kind::number, Certainty::proven}
                                                : typed(target, kept_place(target, given));
  if (value.kind == Kind::device_tensor && gives_loss(ast_, target, source))
    value.flags &= static_cast<uint8_t>(~kModuleOutput);
  values_[target] = value;
  if (node.kind == K::name) {
    Value& known = scopes_[function_].variables[node.text];
    const size_t last = std::exchange(scopes_[function_].bound[node.text], ++bindings_);
    const bool sibling = last > alternative_.begin && last <= alternative_.end;
    rebound_.emplace_back(node.text, known);
    const bool counts = value.kind == Kind::number || value.kind == Kind::shape;
    if ((known.is_device() != value.is_device() && (known.is_host() || value.is_host())) ||
        (counts && known.kind == Kind::unknown && known.dependency != 0))
      replaced_.emplace_back(node.text, known);
    // `fn = linear` and `if cubic: fn = cubic`: either is called behind it.
    const Dependency* held = dependency(value);
    const bool function = held && held->kind == DependencyKind::function;
    if (sibling) elsewhere_.emplace_back(node.text, known);
    keep_entries(target, source);
    if (value.kind == Kind::list) keep_class_attribute(target, value);
    known = function && !sibling ? of_both(known, value, value) : value;
  } else if (node.kind == K::attribute && is_self(ast_.child(target, Role::object))) {
    uint32_t klass = outline_.class_of[function_];
    for (uint32_t f = function_; klass == kNone && facts_.functions[f].parent != kNone;) {
      f = facts_.functions[f].parent;
      klass = outline_.class_of[f];
    }
    if (klass == kNone) return;
    Value kept = value;
    kept.flags |= kAttribute;
    auto [entry, added] = attributes_[klass].try_emplace(node.text, kept);
    if (!added) entry->second = of_both(entry->second, kept, merge(entry->second, kept));
  } else if (node.kind == K::tuple || node.kind == K::list || node.kind == K::star) {
    assign_tuple(target, value, source);
  } else {
    node.kind == K::subscript ? eval_subscript(target) : eval_children(target);
    const NodeId object = ast_.child(target, Role::object);
    if (node.kind != K::subscript || object == kNoNode || ast_[object].kind != K::name) return;
    keep_entry(target, value);
    // losses["ce"] = loss: the container holds tensors from here on, or not those alone.
    const auto known = scopes_[function_].variables.find(ast_[object].text);
    const Kind held = value.is_device() ? Kind::list : Kind::tensor_dict;
    if (known != scopes_[function_].variables.end() && known->second.kind == held)
      known->second = {};
  }
}

void Inference::assign_tuple(NodeId target, const Value& value, NodeId source) {
  const bool literal =
      source != kNoNode && (ast_[source].kind == K::tuple || ast_[source].kind == K::list);
  NodeId from = literal ? ast_[source].first_child : kNoNode;
  const Dependency* given = dependency(value);
  // Behind a star, positions are not known.
  bool counted = value.kind == Kind::unknown && given && given->by_call();
  uint32_t position = 0;
  // b, n, dim, device = *x.shape, x.device: what has no source of its own is of the star.
  size_t starred = 0;
  // The grammar reads `*x.shape` as the shape of `*x`.
  const bool spread = from != kNoNode && ast_.slice(from).starts_with('*');
  if (spread) {
    for ([[maybe_unused]] const NodeId part : children(ast_, target)) ++starred;
    for (NodeId at = ast_[from].next; at != kNoNode && starred > 0; at = ast_[at].next) --starred;
  }
  for (NodeId part : children(ast_, target)) {
    if (starred > 0) {
      const NodeId all = ast_[from].kind == K::star ? ast_[from].first_child : from;
      assign(part, all == kNoNode ? Value{} : element_value(values_[all]), kNoNode);
      if (--starred == 0) from = ast_[from].next;
      continue;
    }
    Value v = literal && from != kNoNode ? values_[from] : element_value(value);
    counted = counted && ast_[part].kind != K::star;
    if (counted) v.dependency = depend(DependencyKind::part, {}, value.dependency, position++);
    // a, b = f(): what each part is given is what f() gives
    assign(part, v, literal ? from : source);
    if (from != kNoNode) from = ast_[from].next;
  }
}

/// The same of what a caller hands in: the link tells.
Value Inference::element_value(const Value& container) {
  Value out = stallscope::element_of(container);
  if (is_of_callers(container) && !container.is_device())
    out.dependency = depend(DependencyKind::element, {}, container.dependency, 0);
  return out;
}

Value Inference::element_of(const Value& container, NodeId source) {
  if (source != kNoNode && ast_[source].kind == K::call) {
    std::string_view name = callee_name(ast_, source);
    if (name == "range" || name == "trange" || name == "count") return proven(Kind::number);
  }
  return element_value(container);
}

/// for kind in features: features[kind]: what the loop takes are the keys of a mapping.
bool Inference::takes_keys(NodeId loop, NodeId target, NodeId over) const {
  if (ast_.grammar != Grammar::python || ast_[target].kind != K::name ||
      (ast_[over].kind != K::name && ast_[over].kind != K::attribute))
    return false;
  const std::string_view container = ast_.slice(over);
  for (NodeId at = ast_[over].end; at < ast_[loop].end; ++at) {
    if (ast_[at].kind != K::subscript) continue;
    const NodeId object = ast_.child(at, Role::object), index = ast_.child(at, Role::index);
    if (object != kNoNode && index != kNoNode && ast_[index].kind == K::name &&
        ast_[index].text == ast_[target].text && ast_.slice(object) == container)
      return true;
  }
  return false;
}

/// Binds the targets of a for statement or a comprehension's for clause.
void Inference::bind_loop(NodeId loop) {
  NodeId target = ast_.child(loop, Role::left), over = ast_.child(loop, Role::right);
  if (target == kNoNode || over == kNoNode) return;
  NodeId inner = over;
  auto first_argument = [&](NodeId call) { return ast_.child(call, Role::argument); };
  std::string_view name;
  const auto look_through = [&] {
    for (;; inner = first_argument(inner)) {
      name = ast_[inner].kind == K::call ? callee_name(ast_, inner) : std::string_view();
      if (!passes_elements(name) || first_argument(inner) == kNoNode) return;
    }
  };
  look_through();
  NodeId number = kNoNode, rest = target;
  if (name == "enumerate" && first_argument(inner) != kNoNode && ast_[target].kind == K::tuple) {
    number = ast_[target].first_child;
    rest = number == kNoNode ? kNoNode : ast_[number].next;
    inner = first_argument(inner);
    look_through();
  } else if ((name == "items" || name == "named_parameters") && ast_[target].kind == K::tuple) {
    number = ast_[target].first_child;
    rest = number == kNoNode ? kNoNode : ast_[number].next;
  }
  if (number != kNoNode)
    assign(number,
           proven(name == "items" || name == "named_parameters" ? Kind::text : Kind::number),
           kNoNode);
  if (rest == kNoNode) return;
  if (name == "zip" && ast_[rest].kind == K::tuple) {
    NodeId from = first_argument(inner);
    for (NodeId part : children(ast_, rest)) {
      if (from == kNoNode) break;
      Value v = element_of(values_[from], from);
      if (v.kind == Kind::unknown && contains_any(ast_.slice(from), {"param"}) &&
          !contains_any(ast_.slice(from), {"param_group"}))
        v = likely(Kind::parameter, kParameterLoop);
      assign(part, v, kNoNode);
      from = ast_[from].next;
    }
    return;
  }
  if (takes_keys(loop, rest, inner)) {
    assign(rest, likely(Kind::text), kNoNode);
    return;
  }
  Value value = element_of(values_[inner], inner);
  // for step, batch in bar: of a bar over enumerate(loader)
  if (ast_[rest].kind == K::tuple && ast_[inner].kind == K::name &&
      is_counter_name(ast_[ast_[rest].first_child].text)) {
    assign(ast_[rest].first_child, proven(Kind::number), kNoNode);
    for (NodeId part = ast_[ast_[rest].first_child].next; part != kNoNode; part = ast_[part].next)
      assign(part, value, kNoNode);
    return;
  }
  if (ast_.slice(inner).ends_with("param_groups")) value = likely(Kind::other);
  if (value.kind == Kind::unknown) {
    std::string_view text = ast_.slice(inner);
    // for i in range(len(params))[::world_size]; for x, y in self.data
    if (text.starts_with("range("))
      value = likely(Kind::number);
    else if (text.size() < 80 && (is_loader_name(text) || (ast_[rest].kind == K::tuple &&
                                                           name.empty() && yields_batches(text))))
      value = likely(Kind::batch, kLoaded);
    else if (text.size() < 80 && contains_any(text, {"params", "parameters()"}))
      value = likely(Kind::parameter, kParameterLoop);
  }
  assign(rest, value, kNoNode);
}

}  // namespace stallscope
