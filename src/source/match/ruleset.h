// RuleSet: source conditions compiled for matching: patterns parsed, words
// turned into bits, clauses found by the name of the call they start from.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "source/facts/condition.h"
#include "source/match/matcher.h"

namespace stallscope {

/// A call's name as a rule writes it: "item", ".item", "torch.linalg.*".
struct CallName {
  std::string path;  ///< without the leading dot and the star
  std::string last;  ///< last component; empty with a star
  bool method_only = false;
  bool prefix = false;
  bool dotted = false;
};

struct CompiledNested {
  const NestedTest* test = nullptr;
  std::vector<Pattern> patterns[2];  ///< per grammar
  std::vector<CallName> calls;
  bool inside = false, negated = false;
};

struct CompiledClause {
  uint32_t rule = 0, index = 0;
  const SourceClause* clause = nullptr;
  std::vector<CallName> calls;
  std::vector<Pattern> patterns[2];  ///< per Grammar
  const Matcher* matcher = nullptr;
  const KindWord* on = nullptr;
  Certainty certainty = Certainty::likely;
  uint32_t unless = 0, lower = 0;  ///< Guard bits
  uint32_t contexts = 0;           ///< 1 << Context
  uint32_t languages = 0;          ///< 1 << (python, cpp, cuda, config)
  std::vector<CompiledNested> nested;
  std::map<std::string, const KindWord*> where;
  bool own_device_buffers = false;  ///< of what is declared, only the program's own classes
  /// Whether the clause is about places in that context.
  bool wants(Context context) const {
    return (contexts & (1u << static_cast<unsigned>(context))) != 0;
  }

  /// Whether a value is what `where` asks of its `at`-th metavariable, counted from 1.
  bool accepts(uint8_t at, const Value& value) const {
    if (at == 0 || at > where.size()) return false;
    const std::vector<Kind>& kinds = std::next(where.begin(), at - 1)->second->kinds;
    return value.certainty >= certainty && std::ranges::find(kinds, value.kind) != kinds.end();
  }

  unsigned specificity = 0;  ///< of two that match one expression, the higher is reported
};

class RuleSet {
 public:
  /// Errors name the rule whose pattern or matcher cannot be used.
  static Result<RuleSet> compile(std::span<const SourceRule> rules);

  const std::vector<CompiledClause>& clauses() const { return clauses_; }
  const std::vector<SourceRule>& rules() const { return rules_; }
  /// Clauses to try at a call of `name`; null when there are none.
  const std::vector<uint32_t>* by_call(std::string_view name) const;
  /// Clauses whose calls end in a star, or whose pattern starts from another node.
  const std::vector<uint32_t>& by_any_call() const { return any_call_; }
  /// A pattern of a clause, which starts from nodes of one kind.
  struct KindPattern {
    uint32_t clause, pattern;
  };
  /// Whether any pattern of a grammar starts from nodes of a kind that no call's name leads to.
  bool starts_from(Grammar grammar, NodeKind kind) const {
    return !by_kind_[static_cast<size_t>(grammar)][static_cast<size_t>(kind)].empty();
  }
  /// Those of them to try where something of the kind `right` stands on the right-hand side, or is
  /// what elements are taken of; those of one clause stand together.
  const std::vector<KindPattern>& by_kind(Grammar grammar, NodeKind kind, NodeKind right) const {
    return by_kind_[static_cast<size_t>(grammar)][static_cast<size_t>(kind)]
                   [static_cast<size_t>(right)];
  }
  /// Clauses about declarations of C++, and about decorators of Python.
  const std::vector<uint32_t>& by_declaration() const { return declaring_; }
  /// Whether a rule is told where objects that own memory of the device are declared, and not in
  /// their constructors.
  bool tells_declarations(uint32_t rule) const {
    return std::ranges::any_of(declaring_, [&](uint32_t clause) {
      return clauses_[clause].rule == rule && clauses_[clause].own_device_buffers;
    });
  }
  const std::vector<uint32_t>& by_decorator() const { return decorating_; }
  const std::vector<uint32_t>& by_matcher() const { return by_matcher_; }
  /// Changes when any condition does: part of the cache's key.
  const std::string& digest() const { return digest_; }

 private:
  Status add(uint32_t rule, uint32_t index, const SourceClause& clause);
  void dispatch(uint32_t clause);

  std::vector<SourceRule> rules_;
  std::vector<CompiledClause> clauses_;
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::unordered_map<std::string, std::vector<uint32_t>, NameHash, std::equal_to<>> by_call_;
  std::vector<uint32_t> any_call_, by_matcher_, declaring_, decorating_;
  static constexpr size_t kKinds = 64;
  /// By grammar, by kind, and by the kind on the right; empty where no pattern starts.
  std::vector<std::vector<KindPattern>> by_kind_[2][kKinds];
  std::string digest_;
};

CallName call_name(std::string_view text);
/// Whether the clause is about kinds of values or methods, whose classes the types of C++ tell.
bool rests_on_types(const CompiledClause& clause);
/// Whether the call `node` is of that name.
bool is_call_of(const FileView& file, NodeId node, const CallName& name);

}  // namespace stallscope
