#include "source/extract/macro_functions.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "source/match/macro_calls.h"
#include "source/names/roles.h"
#include "source/syntax/ast.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

/// What stops the host, memory that is allocated among it.
bool waits(std::string_view call) {
  return is_one_of(call, {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaThreadSynchronize",
                          "hipDeviceSynchronize", "hipStreamSynchronize", "cuCtxSynchronize",
                          "cuStreamSynchronize", "cudaMalloc", "hipMalloc", "cudaMallocManaged"});
}

/// Reads a text from its start on: the line of a place, and the #if lines that it stands under.
class Preprocessed {
 public:
  explicit Preprocessed(std::string_view text) : text_(text), hash_(text.find('#')) {}

  /// `at` is never less than before.
  void go_to(size_t at) {
    line_ += static_cast<uint32_t>(std::ranges::count(text_.substr(at_, at - at_), '\n'));
    at_ = at;
    for (; hash_ < at; hash_ = text_.find('#', hash_ + 1)) {
      const std::string_view head = text_.substr(hash_, text_.find('\n', hash_) - hash_);
      size_t word = 1;
      while (word < head.size() && (head[word] == ' ' || head[word] == '\t')) ++word;
      const std::string_view directive = head.substr(word);
      if (directive.starts_with("if")) open_.push_back(head);
      if (directive.starts_with("endif") && !open_.empty()) open_.pop_back();
    }
  }
  /// Counted from 1.
  uint32_t line() const { return line_; }
  /// Whether builds for trials alone have what stands there.
  bool is_for_trials() const {
    return std::ranges::any_of(open_, [](std::string_view head) {
      return contains_any(head, {"debug", "profil", "timing", "timer", "trace", "verbos", "bench",
                                 "sync", "check", "safe"});
    });
  }

 private:
  const std::string_view text_;
  size_t at_ = 0, hash_;
  uint32_t line_ = 1;
  std::vector<std::string_view> open_;  ///< the heads of the #if lines
};

/// Where the block ends that stands first behind a condition; npos if none does.
size_t end_of_block(std::string_view body, size_t condition) {
  const size_t open = body.find_first_not_of(") \t\\\r\n", condition);
  if (open == body.npos || body[open] != '{') return body.npos;
  int depth = 0;
  for (size_t at = open; at < body.size(); ++at) {
    depth += body[at] == '{' ? 1 : body[at] == '}' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return body.npos;
}

/// The call in a macro's body that waits whenever the macro is used; empty if there is none.
std::string_view waiting_call(std::string_view body, unsigned nested = 0) {
  constexpr unsigned kDeepest = 8;  // conditions in conditions
  if (nested > kDeepest) return {};
  for (size_t at = 0; at < body.size();) {
    if (body.substr(at, 2) == "/*") at = std::min(body.find("*/", at), body.size());
    if (at < body.size() && !is_identifier_char(body[at])) {
      ++at;
      continue;
    }
    const size_t from = at;
    while (at < body.size() && is_identifier_char(body[at])) ++at;
    const std::string_view word = body.substr(from, at - from);
    // Only in some case, or in another function.
    if (word == "if" || word == "for" || word == "define") {
      const size_t close = body.find('\n', at);
      const std::string_view head = body.substr(at, close - at);
      const size_t open = head.find('(');
      size_t end = open;
      for (int depth = 0; end < head.size(); ++end) {
        depth += head[end] == '(' ? 1 : head[end] == ')' ? -1 : 0;
        if (depth == 0 && end > open) break;
      }
      if (word != "if" || open == std::string_view::npos) return {};
      const std::string_view condition = head.substr(open, end - open);
      if (contains_any(condition, {"&&", "||"})) return {};
      const std::string_view asked = waiting_call(condition, nested + 1);
      // `if (error != cudaSuccess) { ...exit(1); }`: what follows is done where nothing failed.
      const size_t behind = end_of_block(body, at + end);
      if (!asked.empty() || behind == body.npos ||
          !contains_any(condition, {"success", "err", "status"}))
        return asked;
      at = behind;
      continue;
    }
    if (waits(word)) return word;
  }
  return {};
}

}  // namespace

bool may_be_waiting_macro(std::string_view name) {
  if (starts_with_any(name, {"TORCH_", "AT_", "C10_", "EXPECT_", "ASSERT_", "TF_"})) return false;
  const std::string text = lower(snake_case(name));
  return has_word(text, {"sync", "synchronize", "wait", "check", "error", "errors", "err", "kernel",
                         "launch", "alloc", "malloc", "allocate"}) &&
         !has_word(text, {"time", "timer", "timing", "tic", "toc", "bench", "profile", "debug"});
}

void add_macro_functions(std::string_view text, const RuleSet& rules, uint32_t languages,
                         FileFacts& facts) {
  struct Macro {
    std::string_view name, body;
    size_t at = 0;
    std::string_view call;  ///< that waits whenever the macro is used; empty if there is none
  };
  std::vector<Macro> macros;
  std::unordered_set<std::string_view> may_pass;
  for_each_macro(text, [&](std::string_view name, std::string_view body, size_t at) {
    if (!body.starts_with('(') || !may_be_waiting_macro(name)) return;
    macros.push_back({name, body, at, waiting_call(body)});
    if (macros.back().call.empty()) may_pass.insert(name);
  });
  Preprocessed reader(text);
  for (const Macro& macro : macros) {
    const auto index = static_cast<uint32_t>(facts.functions.size());
    reader.go_to(macro.at);
    const uint32_t line = reader.line();
    FunctionFacts& f = facts.functions.emplace_back();
    f.name = f.qualified = macro.name;
    f.first_line = f.last_line = line;
    f.flags = kMacro;
    // Defined twice, it may be one that does not wait in other builds.
    if (may_pass.contains(macro.name) || reader.is_for_trials()) continue;
    const std::vector<uint32_t>* const clauses = rules.by_call(macro.call);
    if (clauses == nullptr) continue;
    const auto waits_at =
        line + static_cast<uint32_t>(std::count(macro.body.data(), macro.call.data(), '\n'));
    for (const uint32_t c : *clauses) {
      const CompiledClause& clause = rules.clauses()[c];
      if (clause.on != nullptr || !clause.nested.empty() || !clause.clause->args.empty() ||
          !clause.clause->function_has.empty() || (clause.languages & languages) == 0)
        continue;
      Candidate& candidate = facts.candidates.emplace_back();
      candidate.rule = clause.rule;
      candidate.clause = c;
      candidate.function = index;
      candidate.first_line = candidate.last_line = candidate.anchor_line = waits_at;
      candidate.first_byte = candidate.last_byte = static_cast<uint32_t>(macro.at);
      candidate.line_text = line_text(text, candidate.first_byte);
    }
  }
}

}  // namespace stallscope
