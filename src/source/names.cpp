#include "source/names.h"

#include <algorithm>
#include <array>

namespace stallscope {
namespace {

using K = NodeKind;

/// Namespaces of C++ that need no import.
constexpr std::array<std::string_view, 12> kCppRoots = {
    "torch", "at", "c10", "std", "cuda", "nccl", "thrust", "cub", "cublas", "caffe2", "fmt", "cg"};

}  // namespace

std::string_view last_component(std::string_view path) {
  size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::string_view first_component(std::string_view path) {
  return path.substr(0, path.find('.'));
}

std::string_view callee_name(const Ast& ast, NodeId call) {
  NodeId callee = ast.child(call, Role::callee);
  if (callee == kNoNode) return {};
  const Node& node = ast[callee];
  return node.kind == K::name || node.kind == K::attribute ? node.text : std::string_view();
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view word) {
    auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
    return !std::ranges::search(text, word, same).empty();
  });
}

Names::Names(const Ast& ast) : ast_(ast) {
  if (ast.grammar == Grammar::cuda) {
    imports_["at"] = "torch";
    for (std::string_view root : kCppRoots) imports_.try_emplace(root, root);
    return;
  }
  for (NodeId id = 0; id < ast.size(); ++id) {
    if (ast[id].kind == K::import) import(id);
    if (ast[id].kind == K::import_from) import_from(id);
    if (ast[id].kind == K::assign && ast[id].column == 1) alias(id);
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
    NodeId as = ast_.child(name, Role::left);
    std::string_view bound = as != kNoNode ? ast_[as].text : ast_[name].text;
    imports_[bound] = prefix + std::string(ast_[name].text);
  }
}

/// `Tensor = torch.Tensor` at module level binds a name like an import does.
void Names::alias(NodeId assignment) {
  NodeId left = ast_.child(assignment, Role::left), right = ast_.child(assignment, Role::right);
  if (left == kNoNode || right == kNoNode) return;
  if (ast_[left].kind != K::name || ast_[right].kind != K::attribute) return;
  Dotted to = resolve(right);
  if (to.imported) imports_.try_emplace(ast_[left].text, to.path);
}

Dotted Names::resolve(NodeId id) const {
  std::array<std::string_view, 12> parts;
  size_t count = 0;
  while (ast_[id].kind == K::attribute) {
    if (count + 1 == parts.size()) return {};
    parts[count++] = ast_[id].text;
    NodeId object = ast_.child(id, Role::object);
    if (object == kNoNode) return {};
    id = object;
  }
  if (ast_[id].kind != K::name) return {};
  Dotted out;
  auto found = imports_.find(ast_[id].text);
  if (found != imports_.end()) {
    out.path = found->second;
    out.imported = true;
  } else {
    out.path = ast_[id].text;
  }
  while (count-- > 0) {
    out.path += '.';
    out.path += parts[count];
  }
  return out;
}

std::string_view Names::import_of(std::string_view name) const {
  auto found = imports_.find(name);
  return found == imports_.end() ? std::string_view() : std::string_view(found->second);
}

bool Names::uses(std::string_view root) const {
  return std::ranges::any_of(
      imports_, [root](const auto& entry) { return first_component(entry.second) == root; });
}

}  // namespace stallscope
