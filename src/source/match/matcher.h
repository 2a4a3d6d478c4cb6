// Matcher: data flow that no pattern can say. At most ten, each registered by
// name in matchers(); every other rule is YAML alone.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "source/guards/guards.h"
#include "source/match/pattern.h"

namespace stallscope {

/// Everything known about one file while its rules are matched.
struct FileView {
  const Ast& ast;
  const Names& names;
  const Outline& outline;
  const Inference& inference;
  const Guards& guards;
  const FileFacts& facts;
};

struct Match {
  NodeId node = 0;
  Value subject;
  Bindings bindings;
  std::vector<NodeId> also = {};  ///< what else it is about
};

struct Matcher {
  std::string_view name;
  std::string_view meaning;
  void (*find)(const FileView& file, std::vector<Match>& out) = nullptr;
};

/// All of them; a test holds their number to ten.
const std::vector<Matcher>& matchers();
const Matcher* matcher_of(std::string_view name);

/// Calls of one function in order, by function.
std::map<uint32_t, std::vector<NodeId>> calls_by_function(const FileView& file);

void find_tensor_conditions(const FileView& file, std::vector<Match>& out);
void find_formatted_tensors(const FileView& file, std::vector<Match>& out);
void find_tensor_slice_bounds(const FileView& file, std::vector<Match>& out);
void find_sort_then_take(const FileView& file, std::vector<Match>& out);
void find_manual_attention(const FileView& file, std::vector<Match>& out);
void find_gathers_per_metric(const FileView& file, std::vector<Match>& out);
void find_eval_with_grad(const FileView& file, std::vector<Match>& out);
void find_bias_before_norm(const FileView& file, std::vector<Match>& out);
void find_accumulation_without_no_sync(const FileView& file, std::vector<Match>& out);
void find_undonated_steps(const FileView& file, std::vector<Match>& out);

}  // namespace stallscope
