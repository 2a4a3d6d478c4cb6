#include "analyze/constants.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace stallscope {
namespace {

// What a kernel or operator builds from nothing, by its name in lower case.
constexpr std::pair<std::string_view, std::string_view> kConstants[] = {
    {"arange", "arange"},
    {"triu", "triu"},
    {"tril", "tril"},
    {"linspace", "linspace"},
    {"logspace", "logspace"},
    {"aten::eye", "eye"},
    {"aten::full", "fill"},
    {"aten::ones", "fill"},
    {"one_hot", "one-hot"},
    {"hann_window", "window"},
    {"hamming_window", "window"},
    {"bartlett_window", "window"},
    {"meshgrid", "grid"},
    {"iota", "arange"},
    {"causal_mask", "mask"},
    {"causalmask", "mask"},
    {"build_mask", "mask"},
    {"make_mask", "mask"},
    {"attention_mask", "mask"},
    {"rotary_table", "table"},
    {"fillfunctor", "fill"},
    {"fill_kernel", "fill"},
    {"fill_constant", "fill"},
    {"range_cuda", "arange"},
    {"elementwise_kernel_with_index", "arange"}};
// Filling is how gradients and buffers are cleared too: these are no constants.
constexpr std::string_view kNoConstants[] = {"zero_grad", "aten::zero_", "aten::zeros",
                                             "masked_fill", "dropout"};

std::string_view built_by(std::string_view name) {
  const std::string text = lower(name);
  for (std::string_view no : kNoConstants)
    if (text.find(no) != std::string::npos) return {};
  for (const auto& [part, what] : kConstants)
    if (text.find(part) != std::string::npos) return what;
  // A kernel that is called "mask" or "fill" alone builds one.
  if (text == "mask" || text == "fill" || text == "eye") return text == "mask" ? "mask" : "fill";
  return {};
}

// Operations whose result is as constant as their one operand is.
constexpr std::string_view kDerived[] = {
    "sin", "cos", "tan", "exp", "pow", "reciprocal", "outer", "logical", "bitwise", "rsqrt", "neg"};

bool derives(std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto first = name.begin(); first != name.end();) {
    first = std::find_if(first, name.end(), is_word);
    const auto last = std::find_if_not(first, name.end(), is_word);
    if (std::ranges::find(kDerived, std::string_view(first, last)) != std::end(kDerived))
      return true;
    first = last;
  }
  return false;
}

ConstantPart part_of(std::string_view text) {
  return {.built = built_by(text), .derived = derives(text)};
}

}  // namespace

size_t constant_rank(std::string_view built) {
  constexpr std::array<std::string_view, 3> kLeastTelling = {"linspace", "arange", "fill"};
  const auto at = std::ranges::find(kLeastTelling, built);
  return at == kLeastTelling.end() ? 0 : 1 + static_cast<size_t>(at - kLeastTelling.begin());
}

// Operators say more than kernel names: fill kernels come from zero_ as well as from ones.
ConstantPart ConstantNames::of(std::string_view kernel, StringId kernel_id, const Site& site,
                               SiteId site_id) {
  const auto [by_name, new_name] = by_name_.try_emplace(kernel_id);
  if (new_name) by_name->second = part_of(kernel);
  ConstantPart part = by_name->second;
  if (site.operators.empty()) return part;
  const auto [by_site, new_site] = by_site_.try_emplace(site_id);
  if (new_site) by_site->second = part_of(site.operators);
  part.derived = part.derived || by_site->second.derived;
  if (!by_site->second.built.empty())
    part.built = by_site->second.built;
  else if (part.built == "fill")
    part.built = {};
  return part;
}

}  // namespace stallscope
