#include "source/names/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Namespaces of C++ that need no import.
constexpr std::array<std::string_view, 12> kCppRoots = {
    "torch", "at", "c10", "std", "cuda", "nccl", "thrust", "cub", "cublas", "caffe2", "fmt", "cg"};

/// What `from .common import *` brings along under the names that everybody gives it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kCustomary = {
    {{"torch", "torch"},
     {"nn", "torch.nn"},
     {"F", "torch.nn.functional"},
     {"dist", "torch.distributed"},
     {"np", "numpy"},
     {"jax", "jax"},
     {"jnp", "jax.numpy"}}};

/// The library that everybody calls so, of what a module of the project hands on; empty if none is.
std::string_view module_handed_on(std::string_view by, std::string_view name) {
  if (!is_one_of(name, {"torch", "jax", "jnp", "np"}) || is_library_root(first_component(by)))
    return {};
  return std::ranges::find(kCustomary, name, &decltype(kCustomary)::value_type::first)->second;
}

}  // namespace

std::string_view last_component(std::string_view path) {
  size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

bool is_class_like(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  return !name.empty() && std::isupper(static_cast<unsigned char>(name[0])) != 0 &&
         std::ranges::any_of(name, [](unsigned char c) { return std::islower(c) != 0; });
}

std::string_view first_component(std::string_view path) {
  return path.substr(0, path.find('.'));
}

bool is_library_root(std::string_view root) {
  return root == "torch" || root == "numpy" || root == "jax" || root == "std";
}

NodeId asked_to_exist(const Ast& ast, NodeId call) {
  if (ast[call].kind != NodeKind::call || ast.grammar != Grammar::python) return kNoNode;
  const NodeId callee = ast.child(call, Role::callee), what = ast.child(call, Role::argument);
  const bool asked = callee != kNoNode && what != kNoNode && ast[callee].kind == NodeKind::name &&
                     ast[callee].text == "exists" && ast[what].next == kNoNode;
  return asked ? what : kNoNode;
}

NodeId tested_for_tensor(const Ast& ast, NodeId condition) {
  if (condition == kNoNode || ast[condition].kind != K::call) return kNoNode;
  const NodeId what = ast.child(condition, Role::argument);
  if (what == kNoNode || ast[what].kind != K::name) return kNoNode;
  const std::string_view callee = callee_name(ast, condition);
  const std::string_view asked =
      ast[what].next != kNoNode ? ast.slice(ast[what].next) : std::string_view();
  const bool says = callee == "is_tensor" ||
                    (callee == "isinstance" && asked.ends_with("Tensor")) ||
                    (callee == "hasattr" && contains_any(asked, {"item", "detach", "cpu"}));
  return says ? what : kNoNode;
}

std::vector<NodeId> names_bound_by(const Ast& ast, NodeId comprehension) {
  std::vector<NodeId> out;
  for (const NodeId clause : children(ast, comprehension)) {
    const NodeId target =
        ast[clause].kind == NodeKind::comp_for ? ast.child(clause, Role::left) : kNoNode;
    for (NodeId part = target; part != kNoNode && part < ast[target].end; ++part) {
      if (ast[part].kind == NodeKind::name) out.push_back(part);
    }
  }
  return out;
}

std::string_view callee_name(const Ast& ast, NodeId call) {
  NodeId callee = ast.child(call, Role::callee);
  if (callee == kNoNode) return {};
  const Node& node = ast[callee];
  return node.kind == K::name || node.kind == K::attribute ? node.text : std::string_view();
}

bool is_device_function(const Ast& ast, NodeId function) {
  const NodeId body = ast.child(function, Role::body);
  if (ast.grammar != Grammar::cuda || body == kNoNode) return false;
  const uint32_t first = ast[function].first_byte;
  const std::string_view head = ast.source.substr(first, ast[body].first_byte - first);
  return head.find("__host__") == std::string_view::npos &&
         (head.find("__global__") != std::string_view::npos ||
          head.find("__device__") != std::string_view::npos);
}

bool is_static(const Ast& ast, NodeId declaration) {
  const uint32_t first = ast[declaration].first_byte;
  const size_t before = ast.source.find_last_of(";{}", first);
  const size_t from = before == std::string_view::npos ? 0 : before + 1;
  return ast.source.substr(from, first - from).find("static") != std::string_view::npos;
}

bool declares_local_object(const Ast& ast, NodeId declaration) {
  const NodeId left = ast.child(declaration, Role::left);
  const uint32_t first = ast[declaration].first_byte;
  return left != kNoNode && !is_static(ast, declaration) &&
         ast.source.substr(first, ast[left].first_byte - first).find_first_of("*&") ==
             std::string_view::npos;
}

NodeId decorated_by(const Ast& ast, NodeId decorator) {
  const NodeId made = ast[decorator].first_child;
  return made != kNoNode && ast[made].kind == K::call ? ast.child(made, Role::callee) : made;
}

NodeId compiled_by(const Ast& ast, NodeId decorator) {
  const NodeId by = decorated_by(ast, decorator);
  const NodeId made = ast[decorator].first_child;
  return by != made && callee_name(ast, made) == "partial" ? ast.child(made, Role::argument) : by;
}

Names::Names(const Ast& ast) : ast_(ast) {
  if (ast.grammar == Grammar::cuda) {
    imports_["at"] = "torch";
    for (std::string_view root : kCppRoots) imports_.try_emplace(root, root);
    forget_paths();
    return;
  }
  forget_paths();
  std::vector<NodeId> assignments;
  for (NodeId id = 0; id < ast.size(); ++id) {
    if (ast[id].kind == K::import) import(id);
    if (ast[id].kind == K::import_from) import_from(id);
    if (ast[id].kind == K::assign && ast[id].column == 1) assignments.push_back(id);
    if (ast[id].kind == K::assign) {
      alias_tensor_class(id);
      load_module(id);
    }
  }
  if (!stars_.empty()) import_customary();
  for (NodeId id : assignments) alias(id);
  forget_paths();
  find_shadows();
}

void Names::resolve_calls(const ClangTypes& types) {
  for (NodeId id = 1; id < ast_.size(); ++id) {
    if (ast_[id].kind != K::call || ast_[id].column == 0) continue;
    const NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode || (ast_[callee].kind != K::name && ast_[callee].kind != K::attribute) ||
        resolve(callee).imported)
      continue;
    const std::string_view path = types.callee(ast_[id].first_byte, ast_[id].last_byte);
    if (path.empty()) continue;
    uint32_t at = kNoPath;
    for (std::string_view rest = path; !rest.empty();) {
      at = extend(at, first_component(rest));
      rest.remove_prefix(std::min(rest.find('.'), rest.size() - 1) + 1);
    }
    path_ids_[callee] = at;
  }
}

/// Functions that bind a name of their own which an import has too.
void Names::find_shadows() {
  std::vector<NodeId> functions;
  for (NodeId id = 1; id < ast_.size(); ++id) {
    while (!functions.empty() && id >= ast_[functions.back()].end) functions.pop_back();
    if (ast_[id].kind == K::function) functions.push_back(id);
    if (functions.empty()) continue;
    const Node& node = ast_[id];
    const bool parameter = node.kind == K::parameter;
    if (!parameter && (node.kind != K::name || !is_bound(id))) continue;
    if (imports_.contains(node.text) && !assigned_imports_.contains(node.text))
      shadows_[node.text].push_back(functions.back());
  }
}

/// Whether `name` is what an assignment or a loop binds, alone or in a tuple.
bool Names::is_bound(NodeId name) const {
  NodeId at = name;
  while (ast_[ast_[at].parent].kind == K::tuple) at = ast_[at].parent;
  const K parent = ast_[ast_[at].parent].kind;
  return ast_[at].role == Role::left &&
         (parent == K::assign || parent == K::for_ || parent == K::with_item);
}

bool Names::is_shadowed(NodeId id) const {
  const auto found = shadows_.find(ast_[id].text);
  return found != shadows_.end() && std::ranges::any_of(found->second, [&](NodeId function) {
           return id > function && id < ast_[function].end;
         });
}

/// What was worked out before all imports were known.
void Names::forget_paths() {
  path_ids_.assign(ast_.size(), kNotAsked);
  paths_.assign(1, {});
  extensions_.clear();
  local_paths_.clear();
  roots_.clear();
  uses_jax_.reset();
  std::set<std::string_view> known;
  for (const auto& [bound, path] : imports_) {
    if (known.insert(first_component(path)).second) roots_.push_back(first_component(path));
  }
}

void Names::import(NodeId id) {
  for (NodeId name : children(ast_, id)) {
    if (ast_[name].kind != K::import_name) continue;
    std::string_view path = ast_[name].text;
    NodeId as = ast_.child(name, Role::left);
    if (as != kNoNode)
      imports_[ast_[as].text] = path;
    else
      imports_[first_component(path)] = first_component(path);
  }
}

void Names::import_from(NodeId id) {
  const std::string base(ast_[id].text);
  const std::string prefix = base.ends_with('.') ? base : base + ".";
  for (NodeId name : children(ast_, id)) {
    if (ast_[name].kind != K::import_name || ast_[name].role == Role::object) continue;
    if (ast_[name].text == "*") {
      stars_.push_back(base);
      continue;
    }
    NodeId as = ast_.child(name, Role::left);
    std::string_view bound = as != kNoNode ? ast_[as].text : ast_[name].text;
    std::string& from = imports_[bound];
    if (!from.empty()) earlier_imports_.emplace_back(bound, std::move(from));
    from = prefix + std::string(ast_[name].text);
    // from project.compat import torch: a module that the project imports in one place
    const std::string_view module = module_handed_on(base, ast_[name].text);
    if (!module.empty()) earlier_imports_.emplace_back(bound, std::exchange(from, module));
  }
}

/// Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor, in whichever function: a class
/// of tensors on the device.
void Names::alias_tensor_class(NodeId assignment) {
  const NodeId left = ast_.child(assignment, Role::left);
  NodeId right = ast_.child(assignment, Role::right);
  if (left == kNoNode || right == kNoNode || ast_[left].kind != K::name) return;
  if (ast_[right].kind == K::conditional) right = ast_.child(right, Role::consequence);
  if (right == kNoNode || ast_[right].kind != K::attribute) return;
  const std::string_view path = ast_.slice(right);
  if (!path.starts_with("torch.cuda.") || !path.ends_with("Tensor")) return;
  if (imports_.try_emplace(ast_[left].text, path).second) assigned_imports_.insert(ast_[left].text);
}

/// torch = require_torch("training"), pytest.importorskip("torch"): a module that is loaded when
/// it is asked for.
void Names::load_module(NodeId assignment) {
  const NodeId left = ast_.child(assignment, Role::left);
  const NodeId right = ast_.child(assignment, Role::right);
  if (left == kNoNode || right == kNoNode || ast_[left].kind != K::name ||
      ast_[right].kind != K::call || !is_one_of(ast_[left].text, {"torch", "jax", "jnp"}))
    return;
  const std::string_view path = ast_[left].text == "jnp" ? "jax.numpy" : ast_[left].text;
  if (imports_.try_emplace(ast_[left].text, path).second) assigned_imports_.insert(ast_[left].text);
}

/// torch.zeros(n) in a file that only imports everything of another one, which has torch.
void Names::import_customary() {
  std::set<std::string_view> bound, asked;
  for (NodeId id = 1; id < ast_.size(); ++id) {
    const Node& node = ast_[id];
    if (node.kind == K::function || node.kind == K::class_) bound.insert(node.text);
    if (node.kind != K::name) continue;
    if (is_bound(id)) bound.insert(node.text);
    if (node.role == Role::object && ast_[node.parent].kind == K::attribute)
      asked.insert(node.text);
  }
  for (const auto& [name, path] : kCustomary) {
    if (asked.contains(name) && !bound.contains(name)) imports_.try_emplace(name, path);
  }
}

/// `Tensor = torch.Tensor` at module level binds a name like an import does.
void Names::alias(NodeId assignment) {
  NodeId left = ast_.child(assignment, Role::left), right = ast_.child(assignment, Role::right);
  if (left == kNoNode || right == kNoNode) return;
  if (ast_[left].kind != K::name || ast_[right].kind != K::attribute) return;
  Dotted to = paths_[find_path(right)].dotted;
  if (to.imported) imports_.try_emplace(ast_[left].text, to.path);
}

uint32_t Names::path_of(NodeId id) const {
  if (id == kNoNode) return kNoPath;
  if (path_ids_[id] == kNotAsked) path_ids_[id] = find_path(id);
  return path_ids_[id];
}

uint32_t Names::find_path(NodeId id) const {
  constexpr unsigned kLongest = 11;
  if (ast_[id].kind == K::name) {
    if (!shadows_.empty() && is_shadowed(id)) return local_path(ast_[id].text);
    return extend(kNoPath, ast_[id].text);
  }
  if (ast_[id].kind != K::attribute) return kNoPath;
  const uint32_t path = path_of(ast_.child(id, Role::object));
  return path == kNoPath || paths_[path].length > kLongest ? kNoPath : extend(path, ast_[id].text);
}

/// The path of a name that means no import where it stands.
uint32_t Names::local_path(std::string_view text) const {
  auto [entry, added] = local_paths_.try_emplace(text, static_cast<uint32_t>(paths_.size()));
  if (added) {
    Path& out = paths_.emplace_back();
    out.length = 1;
    out.dotted.path = text;
  }
  return entry->second;
}

uint32_t Names::extend(uint32_t path, std::string_view text) const {
  auto [entry, added] = extensions_.try_emplace({path, text}, static_cast<uint32_t>(paths_.size()));
  if (!added) return entry->second;
  Path& out = paths_.emplace_back();
  const Path& start = paths_[path];
  out.length = start.length + 1;
  if (path != kNoPath) {
    out.dotted.imported = start.dotted.imported;
    out.dotted.path.reserve(start.dotted.path.size() + 1 + text.size());
    out.dotted.path.append(start.dotted.path).append(1, '.').append(text);
  } else if (auto found = imports_.find(text); found != imports_.end()) {
    out.dotted = {found->second, true};
  } else {
    out.dotted.path = text;
  }
  return entry->second;
}

std::string_view Names::import_of(std::string_view name) const {
  auto found = imports_.find(name);
  return found == imports_.end() ? std::string_view() : std::string_view(found->second);
}

bool Names::uses(std::string_view root) const {
  return std::ranges::find(roots_, root) != roots_.end();
}

bool Names::uses_jax() const {
  if (!uses_jax_)
    uses_jax_ = uses("jax") || uses("equinox") || uses("flax") || uses("haiku") || uses("nnx");
  return *uses_jax_;
}

}  // namespace stallscope
