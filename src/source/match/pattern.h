// Pattern: code with metavariables, matched against code by structure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/names/names.h"

namespace stallscope {

/// What metavariables stand for: name without `$` -> node.
using Bindings = std::map<std::string, NodeId, std::less<>>;

/// `$X` stands for any expression (the same one each time), `$_` for any one,
/// `...` for any arguments or statements. Several statements must follow each
/// other in one block, with others between them.
class Pattern {
 public:
  static Result<Pattern> compile(std::string_view text, Grammar grammar);

  /// The kind of node that can match: the kind of the first statement's expression.
  NodeKind anchor() const { return ast_->operator[](roots_[0]).kind; }
  /// For a call of a fixed name: that name; else empty.
  std::string_view anchor_call() const;

  /// Matches at `node`; the first statement of a sequence is matched there.
  std::optional<Bindings> match(const Ast& code, const Names& names, NodeId node) const;

 private:
  struct Matching {
    const Ast& code;
    const Names& names;
    Bindings bindings;
  };
  bool node(Matching& m, NodeId pattern, NodeId code) const;
  bool call(Matching& m, NodeId pattern, NodeId code) const;
  bool callee(Matching& m, NodeId pattern, NodeId code) const;
  bool block(Matching& m, NodeId pattern, NodeId code) const;
  bool commuting(Matching& m, NodeId pattern, NodeId code) const;
  bool sequence(Matching& m, const std::vector<NodeId>& patterns, size_t next, NodeId from) const;
  bool bind(Matching& m, std::string_view name, NodeId code) const;

  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const Ast> ast_;
  std::vector<NodeId> roots_;
};

}  // namespace stallscope
