#include "cli/run_shape.h"

#include <algorithm>
#include <array>

#include "analyze/model_shape.h"
#include "base/text.h"
#include "import/importer.h"

namespace stallscope {
namespace {

struct Size {
  std::string_view key;   ///< in --shape
  std::string_view flag;  ///< of `stallscope bench`
  /// As training scripts call it, dashes for underscores.
  std::array<std::string_view, 6> names;
};

constexpr Size kSizes[] = {
    {"model", "--model", {"model", "model-type", "arch"}},
    {"layers", "--layers", {"layers", "num-layers", "n-layers", "n-layer", "num-hidden-layers"}},
    {"hidden", "--hidden", {"hidden", "hidden-size", "d-model", "n-embd", "width"}},
    {"heads", "--heads", {"heads", "num-heads", "n-head", "num-attention-heads"}},
    {"batch",
     "--batch",
     {"batch", "batch-size", "micro-batch-size", "per-device-train-batch-size"}},
    {"seq",
     "--seq",
     {"seq", "seq-len", "seq-length", "sequence-length", "block-size", "max-seq-length"}},
    {"vocabulary", "--vocabulary", {"vocabulary", "vocab-size", "vocab"}},
    {"features", "--features", {"features", "n-features"}},
    {"k", "--k", {"k", "top-k"}},
    {"tp", "--tp", {"tp", "tensor-parallel", "tensor-model-parallel-size"}},
    {"precision", "--precision", {"precision", "dtype"}},
    {"head", "--head", {"head"}},
};

const Size* size_of_flag(std::string_view name) {
  for (const Size& it : kSizes)
    if (std::ranges::find(it.names, name) != it.names.end()) return &it;
  return nullptr;
}

std::string kind_of_model(std::string_view model) {  // "bert-base-uncased" is of the kind bert
  const std::string name = lower(model);
  for (const std::string_view kind : {"bert", "gpt", "clt"})
    if (name.find(kind) != std::string::npos) return std::string(kind);
  return {};
}

// A flag's value as `stallscope bench` takes it; empty where it has none such.
std::string bench_value(std::string_view key, const std::string& value) {
  if (key == "model") return kind_of_model(value);
  if (key == "precision") return value == "fp32" || value == "bf16" ? value : std::string();
  if (key == "head") return value == "all" || value == "masked" ? value : std::string();
  const bool is_number =
      std::ranges::all_of(value, [](const char c) { return c >= '0' && c <= '9'; });
  return is_number ? value : std::string();
}

}  // namespace

Result<RunShape> parse_shape(const std::string& text) {
  RunShape shape;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = word.find('=');
    const auto known =
        std::ranges::find(kSizes, std::string_view(word).substr(0, equals), &Size::key);
    if (equals == std::string::npos || known == std::end(kSizes)) {
      std::string keys;
      for (const Size& it : kSizes) keys += (keys.empty() ? "" : ", ") + std::string(it.key);
      return Error{.message = "--shape: '" + word + "' is no KEY=VALUE of a shape",
                   .remedy = "use " + keys};
    }
    const std::string value = bench_value(known->key, word.substr(equals + 1));
    if (value.empty())
      return Error{.message = "--shape: '" + word + "' is no value that the reference can have",
                   .remedy =
                       "models are bert, gpt and clt, precisions fp32 and bf16, heads all and "
                       "masked, sizes whole numbers"};
    shape.insert_or_assign(std::string(known->key), value);
  }
  return shape;
}

RunShape shape_in_command(const std::vector<std::string>& command) {
  RunShape found;
  for (size_t i = 1; i < command.size(); ++i) {
    std::string name = command[i];
    if (!name.starts_with("--")) continue;
    name.erase(0, 2);
    std::string value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < command.size()) {
      value = command[i + 1];
    }
    std::ranges::replace(name, '_', '-');
    const Size* size = size_of_flag(name);
    if (size == nullptr) continue;
    if (const std::string known = bench_value(size->key, value); !known.empty())
      found.emplace(size->key, known);
  }
  // A model without its sizes, or sizes without a model, would be a guess.
  if (!found.contains("model") || !found.contains("layers") || !found.contains("hidden")) return {};
  return found;
}

RunShape shape_in_operators(std::span<const std::string> inputs) {
  const auto paths = expand_inputs(inputs);
  if (!paths) return {};
  for (const std::string& path : *paths) {  // every rank has the same: the first that tells does
    const Result<Trace> trace = import_trace(path);
    if (!trace) continue;
    const auto shape = model_shape(*trace);
    if (!shape) continue;
    if (const Result<RunShape> parsed = parse_shape(shape->text())) return *parsed;
  }
  return {};
}

std::string missing_sizes(const RunShape& shape) {
  std::vector<std::string_view> needed{"model", "layers", "hidden", "batch", "seq"};
  if (const auto model = shape.find("model"); model != shape.end() && model->second == "clt")
    needed.insert(needed.end(), {"features", "k"});
  std::erase_if(needed, [&](std::string_view key) { return shape.contains(key); });
  std::string out;
  for (size_t i = 0; i < needed.size(); ++i)
    out += (i == 0 ? "" : i + 1 == needed.size() ? " and " : ", ") + std::string(needed[i]);
  return out;
}

std::string shape_text(const RunShape& shape) {
  std::string out;
  for (const Size& it : kSizes)
    if (const auto found = shape.find(it.key); found != shape.end())
      out += (out.empty() ? "" : ",") + std::string(it.key) + "=" + found->second;
  return out;
}

std::vector<std::string> bench_options_of(const RunShape& shape) {
  std::vector<std::string> out;
  for (const Size& it : kSizes)
    if (const auto found = shape.find(it.key); found != shape.end())
      out.insert(out.end(), {std::string(it.flag), found->second});
  return out;
}

}  // namespace stallscope
