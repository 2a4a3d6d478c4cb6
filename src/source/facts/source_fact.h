// SourceFact: what static analysis says about one place, in the shape of an
// Observation, so that one rule engine filters both.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// How sure an inference is.
enum class Certainty : uint8_t { unknown, likely, proven };

/// A line that a fact is about beside its own: where the class of what it declares allocates.
struct SourceLine {
  std::string file;
  uint32_t line = 0;
  std::string function;
  std::string language;
  bool operator==(const SourceLine&) const = default;
};

/// A rule's source condition that matched a node of a file.
struct SourceFact {
  std::string rule_id;
  std::string file;
  std::string content_hash;  ///< of the file, to join with runs recorded elsewhere
  uint32_t first_line = 0, last_line = 0, column = 0;  ///< the node's span, 1-based
  uint32_t first_byte = 0, last_byte = 0;              ///< of the text behind a byte order mark
  std::string function;                                ///< qualified: "module.Class.method"
  std::string language;                                ///< "python", "cpp", "cuda"
  std::string context;  ///< "step", "forward", "loop", "init", "eval", "jit", "library"
  std::vector<std::string> context_chain;  ///< what proves the context, outermost first
  std::vector<std::string> guards;         ///< guards that were seen and only downgrade
  Certainty certainty = Certainty::unknown;
  std::string line_text;  ///< the first line, trimmed
  unsigned ordinal = 0;   ///< among equal lines of the function
  std::map<std::string, std::string> metavariables;
  unsigned lowered = 0;              ///< severity steps below the rule's worst; see guards
  bool weak = false;                 ///< its clause says that it may cost little
  bool breaks_graph = false;         ///< inside torch.compile or jit: also a graph break
  std::vector<std::string> related;  ///< other rules that matched the same expression
  std::vector<SourceLine> also;      ///< further lines, told with the finding
};

/// Whether a fact names a rule, itself or as one that matched the same expression.
inline bool names_rule(const SourceFact& fact, std::string_view rule) {
  return fact.rule_id == rule || std::ranges::find(fact.related, rule) != fact.related.end();
}

}  // namespace stallscope
