#include "source/extract/references.h"

#include <string>

#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Whether JAX traces, and mostly compiles, the function that is handed to the call.
bool is_traced_by(const Ast& ast, const Names& names, NodeId call) {
  const std::string_view name = callee_name(ast, call);
  if (contains_any(name, {"jit", "pmap", "scan", "while_loop", "fori_loop", "shard_map"}))
    return true;
  if (name.empty()) return false;  // broken syntax, or what another call gives
  const std::string& path = names.resolve(ast.child(call, Role::callee)).path;
  return (path.starts_with("jax.") || path.starts_with("equinox.")) &&
         contains_any(name, {"vmap", "grad", "checkpoint", "remat", "cond", "switch", "vjp", "jvp",
                             "hessian", "jacfwd", "jacrev", "linearize"});
}

}  // namespace

/// jax.pmap(training.train_step), loss=losses.focal: handed to a call, and of the project. What is
/// named like a class is a function where JAX traces it: jax.vmap(FocalLoss).
bool References::may_be_imported_function(NodeId id) const {
  if (ast_.grammar != Grammar::python) return false;
  const Node& parent = ast_[ast_[id].parent];
  if (is_class_like(ast_[id].text) &&
      !(parent.kind == K::call && is_traced_by(ast_, names_, ast_[id].parent)))
    return false;
  if (ast_[id].role != Role::argument && parent.kind != K::keyword) return false;
  const Dotted& path = names_.resolve(id);
  return path.imported && path.path.find('.') != std::string::npos &&
         !is_library_root(first_component(path.path));
}

References::References(const Ast& ast, const Names& names, const Outline& outline,
                       const Inference& inference, const Guards& guards, const Consumers& consumers,
                       std::unordered_set<std::string_view>& known, FileFacts& facts)
    : ast_(ast),
      names_(names),
      outline_(outline),
      inference_(inference),
      guards_(guards),
      consumers_(consumers),
      known_(known),
      facts_(facts) {
  for (uint32_t f = 0; f < facts.functions.size(); ++f) {
    const FunctionFacts& function = facts.functions[f];
    const bool method = !function.class_name.empty() && function.parent == kNone;
    (method ? methods_ : functions_).insert(function.name);
  }
}

/// `use_running_average=not train` where `train` is what the function, or one around it, is given.
bool References::is_parameter(NodeId name) const {
  for (uint32_t f = outline_.function_of[name]; f != kNone && f != 0;
       f = facts_.functions[f].parent) {
    const std::vector<std::string>& parameters = facts_.functions[f].parameters;
    if (std::ranges::find(parameters, ast_[name].text) != parameters.end()) return true;
  }
  return false;
}

void References::visit(NodeId id) {
  const Node& node = ast_[id];
  if (node.role == Role::callee || node.role == Role::left || node.role == Role::object ||
      !(known_.contains(node.text) || may_be_imported_function(id)))
    return;
  const K parent = ast_[node.parent].kind;
  if (parent == K::function || parent == K::class_ || parent == K::parameters ||
      parent == K::import_name || node.role == Role::type) {
    return;
  }
  if (node.kind == K::name && inference_.at(id).kind != Kind::unknown) return;
  const bool flag = parent != K::call && parent != K::keyword && parent != K::return_;
  if (node.kind == K::name && flag && ast_.grammar == Grammar::python && is_parameter(id)) return;
  CallFacts out;
  out.function = outline_.function_of[id];
  // metrics = {"acc": accuracy}; for f in metrics.values(): f(x)
  const uint32_t over = consumers_.of_element(id);
  out.loop = over == kNone ? outline_.loop_of[id] : over;
  out.line = node.first_line;
  out.form = CallForm::reference;
  const Dotted& path = names_.resolve(id);
  if (path.path.empty()) return;
  const bool of_object = node.kind == K::attribute && !path.imported;
  // cfg.train is no reference to this file's train(), nor a parameter `sample` to a method of that
  // name: what an object's attribute names is a method, what stands alone is none.
  if (ast_.grammar == Grammar::python && !path.imported &&
      !(of_object ? methods_ : functions_).contains(node.text))
    return;
  out.name = of_object ? std::string(node.text) : path.path;
  if (of_object) out.object = last_component(ast_.slice(node.first_child));
  out.guards = guards_.around(id);
  handed_to(id, out);
  facts_.calls.push_back(std::move(out));
}

/// f = torch.compile(f) of a module: nobody calls the function as it was written.
bool References::is_recompiled(NodeId id, NodeId assign) const {
  const NodeId call = ast_[id].parent, left = ast_.child(assign, Role::left);
  return ast_.grammar == Grammar::python && outline_.function_of[assign] == 0 &&
         ast_[call].kind == K::call && ast_[call].parent == assign && left != kNoNode &&
         ast_.slice(left) == ast_.slice(id) &&
         names_.resolve(ast_.child(call, Role::callee)).path == "torch.compile";
}

/// jit(partial(f, n)) compiles f; `step = jit(f)` gives it a second name.
void References::handed_to(NodeId id, CallFacts& out) {
  NodeId assign = ast_[id].parent;
  if (ast_[assign].kind == K::keyword) assign = ast_[assign].parent;
  if (ast_[assign].kind != K::call) return;
  while (ast_[assign].kind == K::call) {
    if (is_traced_by(ast_, names_, assign)) out.guards |= kGuardJit;
    assign = ast_[assign].parent;
  }
  if (ast_[assign].kind != K::assign) return;
  NodeId left = ast_.child(assign, Role::left);
  if (is_recompiled(id, assign)) out.guards |= kGuardJit;
  if (left == kNoNode || (ast_[left].kind != K::name && ast_[left].kind != K::attribute)) return;
  facts_.aliases.emplace_back(ast_[left].text, out.name);
  methods_.insert(ast_[left].text);
  functions_.insert(ast_[left].text);
  if (ast_[left].kind == K::name) known_.insert(ast_[left].text);
}

}  // namespace stallscope
