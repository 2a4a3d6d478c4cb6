// Names: what an expression such as `F.softmax` or `torch::softmax` refers to,
// through the imports and aliases of its file.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/ast.h"

namespace stallscope {

/// A dotted path and whether its root was imported (or is a known C++ namespace).
struct Dotted {
  std::string path;  ///< "torch.nn.functional.softmax", "self.model.forward"; empty = no name
  bool imported = false;
};

class Names {
 public:
  explicit Names(const Ast& ast);

  /// The dotted path of a name or attribute chain; empty for anything else.
  Dotted resolve(NodeId id) const;
  /// The path an import bound `name` to, or empty.
  std::string_view import_of(std::string_view name) const;
  /// Whether anything from the package `root` ("torch", "jax") was imported.
  bool uses(std::string_view root) const;
  const std::unordered_map<std::string_view, std::string>& imports() const { return imports_; }

 private:
  void import(NodeId id);
  void import_from(NodeId id);
  void alias(NodeId assignment);

  const Ast& ast_;
  std::unordered_map<std::string_view, std::string> imports_;
};

/// "c" of "a.b.c".
std::string_view last_component(std::string_view path);
/// "a" of "a.b.c".
std::string_view first_component(std::string_view path);
/// The last name of a callee: "item" of `x.y.item`.
std::string_view callee_name(const Ast& ast, NodeId call);
/// Whether `text` contains any of `words`, ignoring case.
bool contains_any(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace stallscope
