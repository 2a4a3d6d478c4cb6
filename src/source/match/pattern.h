// Pattern: code with metavariables, matched against code by structure.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "source/names/names.h"

namespace stallscope {

/// What metavariables stand for: name without `$` -> node. Names point into the pattern. Held in
/// place: most of the millions of patterns that are tried in a run bind something before they fail.
class Bindings {
 public:
  static constexpr size_t kMost = 8;  ///< metavariables of one pattern
  using Entry = std::pair<std::string_view, NodeId>;

  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + size_; }
  /// The entry of that name, or end().
  const Entry* find(std::string_view name) const {
    return std::ranges::find(*this, name, &Entry::first);
  }
  void clear() { size_ = 0; }
  /// Adds one where there is room.
  void add(std::string_view name, NodeId node) {
    if (size_ < kMost) entries_[size_++] = {name, node};
  }

 private:
  std::array<Entry, kMost> entries_;
  size_t size_ = 0;
};

/// `$X` stands for any expression (the same one each time), `$_` for any one,
/// `...` for any arguments or statements. Several statements must follow each
/// other in one block, with others between them.
class Pattern {
 public:
  static Result<Pattern> compile(std::string_view text, Grammar grammar);

  /// The kind of node that can match: the kind of the first statement's expression.
  NodeKind anchor() const { return (*ast_)[roots_[0]].kind; }
  /// For a call of a fixed name: that name; else empty.
  std::string_view anchor_call() const { return anchor_call_; }

  /// The kind of what stands on its right-hand side, or of what elements are taken of; `other` when
  /// that may be anything. Where to look for it at nodes of the anchor's kind.
  NodeKind right_kind() const { return right_; }
  static Role right_role(NodeKind anchor) {
    return anchor == NodeKind::subscript ? Role::object : Role::right;
  }

  /// Whether it may match by `right`, of the kind that stands there: most patterns of assignments
  /// and of elements differ there, and most code matches none.
  bool may_match(const Ast& code, const Names& names, NodeId right) const {
    if (!right_text_.empty()) return code[right].text == right_text_;
    if (!right_path_.empty()) {
      const NodeId callee = code.child(right, Role::callee);
      return callee != kNoNode && names.resolve(callee).path.ends_with(right_path_);
    }
    return right_call_.empty() || code[code.child(right, Role::callee)].text == right_call_;
  }

  /// Whether it matches at `node`, and with what. The first statement of a sequence is matched
  /// there.
  bool match(const Ast& code, const Names& names, NodeId node, Bindings& bindings) const;

 private:
  struct Matching {
    const Ast& code;
    const Names& names;
    Bindings& bindings;
  };
  void find_anchor_call(const Ast& ast);
  void find_right(const Ast& ast);
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
  std::string_view anchor_call_;
  NodeKind right_ = NodeKind::other;  ///< of the first statement's right-hand side; other: any
  std::string_view right_call_;       ///< where that calls a plain name, or a method
  std::string_view right_path_;       ///< where that calls a dotted name: its last part
  std::string_view right_text_;       ///< where that is a given attribute, or of an operator
};

}  // namespace stallscope
