#include "analyze/product_precision.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyze/operator_groups.h"
#include "base/text.h"

namespace stallscope {
namespace {

// The first that a name contains decides: a kernel that takes bf16 and sums in fp32 names both.
constexpr std::pair<std::string_view, std::string_view> kPrecisions[] = {
    {"bf16", "bf16"},   {"bfloat16", "bf16"}, {"nvjet_t", "bf16"}, {"f16", "fp16"},
    {"half", "fp16"},   {"hgemm", "fp16"},    {"h884", "fp16"},    {"h1688", "fp16"},
    {"h16816", "fp16"}, {"nvjet_h", "fp16"},  {"fp16", "fp16"},    {"tf32", "tf32"},
    {"s1688", "tf32"},  {"sgemm", "fp32"},    {"f32", "fp32"},     {"fp32", "fp32"}};

// Types of operands as PyTorch's profiler writes them.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"c10::BFloat16", "bf16"}, {"c10::Half", "fp16"}, {"float", "fp32"}};

constexpr std::array<std::string_view, 4> kProducts{"aten::mm", "aten::addmm", "aten::bmm",
                                                    "aten::baddbmm"};

std::string_view precision_of_type(std::string_view type) {
  for (const auto& [name, precision] : kTypes)
    if (type == name) return precision;
  return {};
}

using Times = std::map<std::string_view, Ns>;

std::string_view longest(const Times& times) {
  const auto most =
      std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; });
  return most == times.end() ? std::string_view() : most->first;
}

}  // namespace

std::string_view precision_in_name(std::string_view kernel) {
  const std::string name = lower(kernel);
  for (const auto& [word, precision] : kPrecisions)
    if (name.find(word) != std::string::npos) return precision;
  return {};
}

std::string_view product_precision(const Trace& trace) {
  struct Name {
    bool known = false, is_operator = false;
    std::string_view of_kernel;
  };
  std::vector<Name> names(trace.strings.size());
  Times kernels, operators;
  for (EventId i = 0; i < trace.size(); ++i) {
    const EventKind kind = trace.kinds()[i];
    if (kind != EventKind::kernel && kind != EventKind::range) continue;
    Name& name = names[trace.names()[i]];
    if (!name.known) {
      name.known = true;
      name.is_operator = std::ranges::find(kProducts, trace.name(i)) != kProducts.end();
      if (operator_group(trace.name(i), "") == OperatorGroup::product)
        name.of_kernel = precision_in_name(trace.name(i));
    }
    if (kind == EventKind::kernel && !name.of_kernel.empty()) {
      kernels[name.of_kernel] += trace.durations()[i];
    } else if (kind == EventKind::range && name.is_operator) {
      const std::string_view precision = precision_of_type(trace.text_field(i, kKeyDataType));
      if (!precision.empty()) operators[precision] += trace.durations()[i];
    }
  }
  return longest(kernels.empty() ? operators : kernels);
}

}  // namespace stallscope
