// Mentions: the names that a file uses, whatever for. What no file names is never called, unless a
// framework does so.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/ast.h"
#include "source/call_graph.h"
#include "source/names.h"

namespace stallscope {

/// What stands for a name in FileFacts::mentions.
uint32_t name_hash(std::string_view name);
/// What hands each of its copies of a model a part of the batch, on the copy's device.
inline constexpr std::string_view kScatters = "DataParallel";

/// One of 64 bits for a name: a set of names in a word, where a chance hit does no harm.
inline uint64_t name_bit(std::string_view name) {
  return uint64_t{1} << (name_hash(name) % 64);
}

/// What stands for a literal, whichever quotes a text has.
uint32_t literal_hash(std::string_view literal);

/// Hashes of the names, attributes and name-like strings that a file uses, beside where it defines
/// them; sorted. A string that ends in '_' stands for the names that are put together from it.
std::vector<uint32_t> mentions_of(const Ast& ast, const Names& names);
/// The same of a file that is not parsed: every word in it.
std::vector<uint32_t> mentions_of(std::string_view text);

/// What nothing in a project can call.
class DeadCode {
 public:
  /// `graph` must outlive this.
  explicit DeadCode(const CallGraph& graph) : graph_(graph) {}

  /// Whether no file names `id`, or only what is not called itself does, and no class that it is of
  /// comes from outside, apart from torch's modules. What a module offers that nobody in the
  /// project uses, or a single file, may be there for others.
  bool has(FunctionId id) const;

 private:
  enum class Answer : uint8_t { open, no, yes };
  bool decide(FunctionId id, unsigned hops) const;
  static std::string_view module_of(std::string_view path);
  bool is_used_module(FunctionId id) const;
  bool is_in_script(FunctionId id) const;
  bool is_own_class(const FunctionFacts& function, std::string_view name, unsigned hops) const;
  uint32_t files_with(uint32_t hash) const;
  uint32_t files_that_mention(std::string_view name) const;

  const CallGraph& graph_;
  mutable std::vector<Answer> answers_;
  /// Per hash the file that has it, or kSeveral; made when first asked.
  mutable std::unordered_map<uint32_t, uint32_t> file_of_;
};

}  // namespace stallscope
