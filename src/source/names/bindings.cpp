#include "source/names/bindings.h"

#include <string_view>

namespace stallscope {
namespace {

using K = NodeKind;

/// .def("unbind", [](const List& self) { return py::cast(self.unbind()); })
void add_bound_by_lambda(const Ast& ast, NodeId lambda, std::vector<std::string>& bound) {
  for (NodeId at = lambda; at < ast[lambda].end; ++at) {
    const NodeId callee = ast[at].kind == K::call ? ast.child(at, Role::callee) : kNoNode;
    if (callee == kNoNode) continue;
    const NodeId object = ast.child(callee, Role::object);
    const bool own =
        object == kNoNode || ast[object].text == "self" ||
        (!ast.slice(callee).starts_with("py::") && !ast.slice(callee).starts_with("std::") &&
         ast.slice(callee).find("::") != std::string_view::npos);
    // size(), dim(): what says nothing of a class.
    if (own && ast[callee].text.size() > 5) bound.emplace_back(ast[callee].text);
  }
}

}  // namespace

void add_bound(const Ast& ast, NodeId id, std::vector<std::string>& bound) {
  const NodeId callee = ast.child(id, Role::callee);
  if (ast[callee].kind != K::attribute ||
      (ast[callee].text != "def" && ast[callee].text != "def_static" && ast[callee].text != "impl"))
    return;
  const NodeId first = ast.child(id, Role::argument);
  if (first == kNoNode || ast[first].next == kNoNode) return;
  for (NodeId at = ast[first].next; at != kNoNode; at = ast[at].next) {
    if (ast[at].kind == K::lambda) add_bound_by_lambda(ast, at, bound);
  }
  std::string_view text = ast.slice(ast[first].next);
  if (ast[first].kind != K::string && !text.starts_with('&')) return;
  if (size_t open = text.find("TORCH_FN("); open != std::string_view::npos)
    text.remove_prefix(open + 9);
  text = text.substr(0, text.find_first_of("<,() \n"));
  const size_t start = text.find_last_of("&:");
  if (start != std::string_view::npos) text.remove_prefix(start + 1);
  if (!text.empty()) bound.emplace_back(text);
}

}  // namespace stallscope
