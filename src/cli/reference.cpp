#include "cli/reference.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyze/model_shape.h"
#include "base/install_tree.h"
#include "base/temporary_folder.h"
#include "base/terminal.h"
#include "cli/run_program.h"
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

const Size* find_size(std::string_view name) {
  for (const Size& it : kSizes)
    if (std::ranges::find(it.names, name) != it.names.end()) return &it;
  return nullptr;
}

// Every rank has the same operators: the first that tells is enough.
std::string shape_in_operators(std::span<const std::string> inputs) {
  const auto paths = expand_inputs(inputs);
  if (!paths) return {};
  for (const std::string& path : *paths) {
    const Result<Trace> trace = import_trace(path);
    if (!trace) continue;
    if (const auto shape = model_shape(*trace)) return shape->text();
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> bench_options_of(const std::string& shape) {
  std::vector<std::string> out;
  for (size_t at = 0; at < shape.size();) {
    const size_t end = std::min(shape.find(',', at), shape.size());
    const std::string word = shape.substr(at, end - at);
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
    out.emplace_back(known->flag);
    out.push_back(word.substr(equals + 1));
  }
  return out;
}

std::string shape_in_command(const std::vector<std::string>& command) {
  std::map<std::string_view, std::string> found;
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
    const Size* size = find_size(name);
    if (size == nullptr || value.empty() || value.find(',') != std::string::npos) continue;
    if (size->key == "model") {  // "bert-base-uncased" is of the kind bert
      constexpr std::array<std::string_view, 3> kKinds{"bert", "gpt", "clt"};
      const auto kind = std::ranges::find_if(
          kKinds, [&](std::string_view word) { return value.find(word) != std::string::npos; });
      if (kind == kKinds.end()) continue;
      value = *kind;
    }
    if (size->key == "precision" && value != "fp32" && value != "bf16") continue;
    found.emplace(size->key, value);
  }
  // A model without its sizes, or sizes without a model, would be a guess.
  if (!found.contains("model") || !found.contains("layers") || !found.contains("hidden")) return {};
  std::string shape;
  for (const auto& [key, value] : found)
    shape += (shape.empty() ? "" : ",") + std::string(key) + "=" + value;
  return shape;
}

void add_reference_options(CLI::App& app, ReferenceOptions& options) {
  app.add_option("--reference", options.what,
                 "Set the reference trainer beside the run: auto trains it now, or a "
                 "reference.json that stallscope bench wrote")
      ->type_name("auto|FILE|off")
      ->capture_default_str();
  app.add_option(
         "--shape", options.shape,
         "The run's shape for --reference auto, e.g. model=bert,layers=4,hidden=768,"
         "batch=8,seq=128,precision=bf16 (default: from the run's command line, or from its "
         "operators where their shapes were recorded)")
      ->type_name("KEY=VALUE,...");
}

Status add_reference(Report& report, const ReferenceOptions& options,
                     std::span<const std::string> inputs) {
  if (options.what == "off") return ok_status();
  auto compare = [&](const std::string& file) -> Status {
    Result<ReferenceComparison> it = compare_with_reference(report, file);
    if (!it) return it.error();
    report.reference = std::move(*it);
    return ok_status();
  };
  if (options.what != "auto") return compare(options.what);

  std::string shape = options.shape.empty() ? shape_in_command(report.run.command) : options.shape;
  if (shape.empty()) shape = shape_in_operators(inputs);
  if (shape.empty())
    return Error{.message = "the shape of this run is not known",
                 .remedy = "name it with --shape model=bert,layers=4,hidden=768,batch=8,seq=128"};
  // What the reference can multiply in too; of another precision the comparison says so.
  const auto precision = report.environment.find("products.precision");
  if (shape.find("precision=") == std::string::npos && precision != report.environment.end() &&
      (precision->second == "bf16" || precision->second == "fp32"))
    shape += ",precision=" + precision->second;
  const Result<std::vector<std::string>> bench = bench_options_of(shape);
  if (!bench) return bench.error();
  const TemporaryFolder scratch("reference");
  const std::string& folder = scratch.path();
  if (folder.empty()) return Error{.message = "no temporary folder can be made"};
  std::vector<std::string> words{executable_path(), "bench", "-o", folder + "/run"};
  words.insert(words.end(), bench->begin(), bench->end());
  print_message("training the reference: " + shape);
  const int code = run_program(words);
  Status status = code == 0 ? compare(folder + "/run/reference.json")
                            : Error{.message = "the reference could not be trained at " + shape};
  if (status && report.reference) report.reference->source = "stallscope bench, " + shape;
  return status;
}

}  // namespace stallscope
