// Names: what an expression such as `F.softmax` or `torch::softmax` refers to,
// through the imports and aliases of its file.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "source/facts/type_facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// A dotted path and whether its root was imported (or is a known C++ namespace).
struct Dotted {
  std::string path;  ///< "torch.nn.functional.softmax", "self.model.forward"; empty = no name
  bool imported = false;
};

class Names {
 public:
  explicit Names(const Ast& ast);
  /// Gives calls of C++ the library functions they resolve to, through using and namespace aliases.
  void resolve_calls(const ClangTypes& types);

  /// The dotted path of a name or attribute chain; empty for anything else.
  /// Worked out once per path, so asking is cheap.
  const Dotted& resolve(NodeId id) const { return paths_[path_of(id)].dotted; }
  /// The path an import bound `name` to, or empty.
  std::string_view import_of(std::string_view name) const;
  /// Whether anything from the package `root` ("torch", "jax") was imported.
  bool uses(std::string_view root) const;
  /// Whether the file uses JAX, by itself or through a library built on it.
  bool uses_jax() const;
  const std::unordered_map<std::string_view, std::string>& imports() const { return imports_; }
  /// What names were bound to that another import binds further down: of branches, each may run.
  const std::vector<std::pair<std::string_view, std::string>>& earlier_imports() const {
    return earlier_imports_;
  }
  /// Modules all of whose names were imported.
  const std::vector<std::string>& stars() const { return stars_; }

 private:
  void import(NodeId id);
  void import_from(NodeId id);
  void import_customary();
  void alias(NodeId assignment);
  void alias_tensor_class(NodeId assignment);
  void load_module(NodeId assignment);
  void find_shadows();
  bool is_bound(NodeId name) const;
  bool is_shadowed(NodeId id) const;

  /// One distinct path of the file: what it extends by `text`, and how many names it has.
  struct Path {
    Dotted dotted;
    unsigned length = 0;
  };
  struct Extension {
    uint32_t path;
    std::string_view text;
    bool operator==(const Extension&) const = default;
  };
  struct ExtensionHash {
    size_t operator()(const Extension& e) const {
      return std::hash<std::string_view>()(e.text) + e.path * size_t{0x9e3779b97f4a7c15};
    }
  };
  static constexpr uint32_t kNoPath = 0;  ///< index of the empty path
  static constexpr uint32_t kNotAsked = 0xffffffffu;

  uint32_t path_of(NodeId id) const;
  uint32_t find_path(NodeId id) const;
  uint32_t extend(uint32_t path, std::string_view text) const;
  uint32_t local_path(std::string_view text) const;
  void forget_paths();

  const Ast& ast_;
  std::unordered_map<std::string_view, std::string> imports_;
  std::vector<std::pair<std::string_view, std::string>> earlier_imports_;
  std::vector<std::string> stars_;
  std::set<std::string_view> assigned_imports_;  ///< bound by assignments, to what imports bind
  std::vector<std::string_view> roots_;          ///< first components of what was imported
  mutable std::optional<bool> uses_jax_;         ///< once it was asked
  /// Imported names that functions bind anew, and those functions.
  std::unordered_map<std::string_view, std::vector<NodeId>> shadows_;
  mutable std::unordered_map<std::string_view, uint32_t> local_paths_;
  mutable std::vector<uint32_t> path_ids_;  ///< per node
  mutable std::deque<Path> paths_;
  mutable std::unordered_map<Extension, uint32_t, ExtensionHash> extensions_;
};

/// C++: whether a declaration makes something that outlives the call, `static Buffer scratch;`.
bool is_static(const Ast& ast, NodeId declaration);
/// C++: whether a declaration makes an object with each call, and no reference or pointer to one:
/// `Buffer scratch(n);`, not `Buffer& scratch = other;`.
bool declares_local_object(const Ast& ast, NodeId declaration);
/// "c" of "a.b.c".
std::string_view last_component(std::string_view path);
/// ReplayBuffer, _Net: written as Python writes classes, not as it writes functions or constants.
bool is_class_like(std::string_view name);
/// "a" of "a.b.c".
std::string_view first_component(std::string_view path);
/// Whether what is imported from there is never the program's own.
bool is_library_root(std::string_view root);
/// What `exists(x)`, short for `x is not None` in much code, asks about; or kNoNode.
NodeId asked_to_exist(const Ast& ast, NodeId call);

/// The name of isinstance(NAME, torch.Tensor), torch.is_tensor(NAME) or hasattr(NAME, "item"), or
/// kNoNode.
NodeId tested_for_tensor(const Ast& ast, NodeId condition);

/// The names that a comprehension binds: x and y of [x for x in a for y in b].
std::vector<NodeId> names_bound_by(const Ast& ast, NodeId comprehension);
/// The last name of a callee: "item" of `x.y.item`.
std::string_view callee_name(const Ast& ast, NodeId call);

/// Whether a function of CUDA runs on the device alone: a kernel, or what only kernels call.
bool is_device_function(const Ast& ast, NodeId function);

/// What a decorator names, `jit` of @jit and of @jit(...), or kNoNode.
NodeId decorated_by(const Ast& ast, NodeId decorator);

/// The same with `partial` seen through: `jax.jit` of @partial(jax.jit, static_argnums=0), too.
NodeId compiled_by(const Ast& ast, NodeId decorator);

}  // namespace stallscope
