// Dead code: what nothing in a project can call.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/link/call_graph.h"

namespace stallscope {

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
