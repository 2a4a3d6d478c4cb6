#include "analyze/model_shape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace stallscope {
namespace {

using Dimensions = std::vector<int64_t>;

// Tables of fewer rows tell segments apart, not words or places.
constexpr int64_t kMostSegments = 16;
constexpr int64_t kMostLayers = 10'000;

// [batch, heads, sequence, ...] of an attention; nothing when the operator is none.
std::optional<std::array<int64_t, 3>> attention_of(std::string_view name, const Dimensions& first) {
  if (first.size() != 4) return std::nullopt;
  const bool whole = name == "aten::scaled_dot_product_attention";
  const bool scores = name == "aten::softmax" && first[2] == first[3];
  if (!whole && !scores) return std::nullopt;
  return std::array{first[0], first[1], first[2]};
}

// The key with the largest count.
template <typename Key>
std::pair<Key, int64_t> most_frequent(const std::map<Key, int64_t>& counts) {
  return *std::ranges::max_element(counts, {}, [](const auto& it) { return it.second; });
}

}  // namespace

std::vector<Dimensions> parse_dimensions(std::string_view text) {
  std::vector<Dimensions> lists;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      if (++depth > 2) return {};
      if (depth == 2) lists.emplace_back();
      ++at;
    } else if (c == ']') {
      if (--depth < 0) return {};
      ++at;
    } else if (c == ',' || c == ' ') {
      ++at;
    } else {
      int64_t value = 0;
      const auto read = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (read.ec != std::errc() || depth != 2) return {};
      lists.back().push_back(value);
      at = static_cast<size_t>(read.ptr - text.data());
    }
  }
  return depth == 0 ? lists : std::vector<Dimensions>{};
}

std::optional<ModelShape> model_shape(const Trace& trace) {
  std::map<std::pair<int64_t, int64_t>, int64_t> tables;    // rows and width: look-ups
  std::map<std::array<int64_t, 3>, int64_t> whole, scores;  // attentions
  std::map<int64_t, int64_t> head_sizes;
  for (EventId i = 0; i < trace.size(); ++i) {
    const std::string_view text = trace.text_field(i, kKeyShapes);
    if (text.empty()) continue;
    const std::string_view name = trace.name(i);
    if (name != "aten::embedding" && name != "aten::softmax" &&
        name != "aten::scaled_dot_product_attention")
      continue;
    const std::vector<Dimensions> inputs = parse_dimensions(text);
    if (inputs.empty()) continue;
    if (name == "aten::embedding" && inputs[0].size() == 2) {
      ++tables[{inputs[0][0], inputs[0][1]}];
    } else if (const auto attention = attention_of(name, inputs[0])) {
      ++(name == "aten::softmax" ? scores : whole)[*attention];
      if (name != "aten::softmax") ++head_sizes[inputs[0][3]];
    }
  }
  const auto& attentions = whole.empty() ? scores : whole;
  if (tables.empty() || attentions.empty()) return std::nullopt;
  const auto [table, passes] = *tables.rbegin();  // the largest: the vocabulary
  const auto [attention, count] = most_frequent(attentions);
  ModelShape shape{.model = "gpt",
                   .layers = count / passes,
                   .hidden = table.second,
                   .heads = attention[1],
                   .batch = attention[0],
                   .sequence = attention[2],
                   .vocabulary = table.first};
  for (const auto& [other, uses] : tables)
    if (other.first <= kMostSegments && other.second == table.second) shape.model = "bert";
  for (const int64_t size : {shape.hidden, shape.heads, shape.batch, shape.sequence})
    if (size <= 0) return std::nullopt;
  if (count % passes != 0 || shape.layers <= 0 || shape.layers > kMostLayers) return std::nullopt;
  if (!head_sizes.empty()) {
    int64_t width = 0;
    if (__builtin_mul_overflow(shape.heads, most_frequent(head_sizes).first, &width) ||
        width <= 0 || shape.hidden % width != 0)
      return std::nullopt;
    shape.ranks = shape.hidden / width;
    shape.heads *= shape.ranks;
  }
  return shape;
}

std::string ModelShape::text() const {
  std::string out = "model=" + model;
  auto add = [&](const char* key, int64_t value) {
    out += std::string(",") + key + "=" + std::to_string(value);
  };
  add("layers", layers);
  add("hidden", hidden);
  add("heads", heads);
  add("batch", batch);
  add("seq", sequence);
  add("vocabulary", vocabulary);
  if (ranks > 1) add("tp", ranks);
  return out;
}

}  // namespace stallscope
