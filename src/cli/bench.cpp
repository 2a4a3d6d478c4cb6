// `stallscope bench`: the reference trainer at a shape, recorded like any program.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/install_tree.h"
#include "base/temporary_folder.h"
#include "cli/bench_result.h"
#include "cli/bench_sweep.h"
#include "cli/command.h"
#include "cli/run_program.h"
#include "report/json_parts.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct BenchFlags {
  BenchShape shape;
  std::string format = "text", output;
  uint64_t steps = 8;
  std::vector<std::string> sweep;  ///< axes; empty: one run
  bool force = false, own_kernels = false;
  // Of the transcoder.
  std::string activation = "batch-topk", decoder = "sparse";
  double sparsity = 0;
};

int cannot(const std::string& message) {
  std::fprintf(stderr, "stallscope: %s\n", message.c_str());
  return kExitCannot;
}

std::vector<std::string> trainer_command(const fs::path& trainer, const BenchFlags& flags,
                                         const std::string& facts) {
  const BenchShape& shape = flags.shape;
  std::vector<std::string> words{trainer.string(), "--model",       shape.model,
                                 "--precision",    shape.precision, "--head",
                                 shape.head,       "--facts",       facts};
  auto add = [&](const char* name, uint64_t value) {
    if (value != 0) words.insert(words.end(), {name, std::to_string(value)});
  };
  add("--layers", shape.layers);
  add("--hidden", shape.hidden);
  add("--heads", shape.heads);
  add("--batch", shape.batch);
  add("--seq", shape.sequence);
  add("--vocabulary", shape.vocabulary);
  add("--features", shape.features);
  add("--k", shape.k);
  add("--tp", shape.ranks);
  add("--steps", flags.steps);
  if (shape.dropout > 0) words.insert(words.end(), {"--dropout", std::to_string(shape.dropout)});
  if (shape.padding > 0) words.insert(words.end(), {"--padding", std::to_string(shape.padding)});
  if (shape.parts > 1) add("--accumulate", shape.parts);
  if (shape.replicas > 1) add("--dp", shape.replicas);
  if (shape.overlap) words.emplace_back("--overlap");
  if (shape.sequence_parallel) words.emplace_back("--sequence-parallel");
  if (shape.recompute) words.emplace_back("--recompute");
  if (shape.model == "clt")
    words.insert(words.end(), {"--activation", flags.activation, "--decoder", flags.decoder,
                               "--sparsity", std::to_string(flags.sparsity)});
  if (flags.own_kernels) words.emplace_back("--own-kernels");
  return words;
}

Json read_json(const fs::path& path) {
  std::ifstream file(path);
  return Json::parse(file, nullptr, false);
}

// Runs the trainer under the recorder; `result` becomes what reference.json holds.
int run_reference(const BenchFlags& flags, Json& result) {
  const std::string tool = executable_path();
  const fs::path trainer = fs::path(tool).parent_path() / "stallscope-trainer";
  if (!fs::exists(trainer)) return cannot("the trainer is missing: " + trainer.string());
  const TemporaryFolder scratch("bench");
  if (scratch.path().empty()) return cannot("no temporary folder can be made");
  const std::string facts = scratch.path() + "/facts.json";

  std::vector<std::string> words{tool, "run", "-q", "-o", flags.output};
  if (flags.force) words.emplace_back("--force");
  words.emplace_back("--");
  for (const std::string& word : trainer_command(trainer, flags, facts)) words.push_back(word);
  if (const int code = run_program(words); code != kExitClean) return code;
  const Json report = read_json(fs::path(flags.output) / "report.json");
  if (report.is_discarded()) return cannot("the recording gave no report");
  const Json known = read_json(facts);
  result = bench_result(flags.shape, report, known.is_object() ? known : Json::object());
  std::ofstream(fs::path(flags.output) / "reference.json") << result.dump(2) << '\n';
  return kExitClean;
}

int bench(const BenchFlags& flags) {
  Json result;
  if (const int code = run_reference(flags, result); code != kExitClean) return code;
  if (flags.format == "json") {
    std::printf("%s\n", result.dump(2).c_str());
  } else {
    std::printf("%s\n%s holds the recording, report.html and reference.json\n",
                bench_text(result).c_str(), flags.output.c_str());
  }
  return kExitClean;
}

// Points that cannot run are rows too; the exit code tells when none could.
int sweep(const BenchFlags& flags) {
  const auto points = sweep_points(flags.shape, flags.sweep);
  if (!points.ok()) return cannot(points.error().to_string());
  std::error_code failed;
  fs::create_directories(flags.output, failed);
  if (failed) return cannot(flags.output + ": " + failed.message());
  Json rows = Json::array();
  int worst = kExitClean;
  bool any = false;
  for (const SweepPoint& point : *points) {
    std::fprintf(stderr, "[%zu/%zu] %s\n", rows.size() + 1, points->size(), point.name.c_str());
    BenchFlags one = flags;
    one.shape = point.shape;
    one.output = (fs::path(flags.output) / point.name).string();
    Json result;
    const int code = run_reference(one, result);
    any |= code == kExitClean;
    worst = std::max(worst, code);
    rows.push_back(sweep_row(point, result));
  }
  const Json all{{"schemaVersion", "1.0"}, {"kind", "stallscope-sweep"}, {"rows", rows}};
  std::ofstream(fs::path(flags.output) / "sweep.json") << all.dump(2) << '\n';
  if (flags.format == "json") {
    std::printf("%s\n", all.dump(2).c_str());
  } else {
    std::printf("%s\n%s holds a recording of each, and sweep.json\n", sweep_text(rows).c_str(),
                flags.output.c_str());
  }
  return any ? kExitClean : worst;
}

const RegisterCommand bench_registration({
    .name = "bench",
    .summary = "Train a model of a given shape with the reference trainer, recorded",
    .examples =
        "Examples:\n"
        "  stallscope bench --model gpt --layers 4 --hidden 768 --batch 8 --seq 128\n"
        "  stallscope bench --model bert --tp 2 --precision bf16 --head masked --format json\n"
        "  stallscope bench --model bert --sweep batch=1,8 tp=1,2 -o sweep",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto flags = std::make_shared<BenchFlags>();
      app.add_option("--model", flags->shape.model, "gpt, bert or clt")
          ->check(CLI::IsMember({"gpt", "bert", "clt"}))
          ->capture_default_str();
      // As the trainer bounds them.
      const auto positive = CLI::Range(uint64_t{1}, uint64_t{1} << 32);
      const auto ranks = CLI::Range(uint64_t{1}, uint64_t{1024});
      const auto steps = CLI::Range(uint64_t{1}, uint64_t{1'000'000});
      app.add_option("--layers", flags->shape.layers, "Layers")
          ->check(positive)
          ->capture_default_str();
      app.add_option("--hidden", flags->shape.hidden, "Width of the residual stream")
          ->check(positive)
          ->capture_default_str();
      app.add_option("--heads", flags->shape.heads, "Attention heads (default: hidden / 64)")
          ->check(positive);
      app.add_option("--batch", flags->shape.batch, "Sequences per step")
          ->check(positive)
          ->capture_default_str();
      app.add_option("--seq", flags->shape.sequence, "Tokens per sequence")
          ->check(positive)
          ->capture_default_str();
      app.add_option("--vocabulary", flags->shape.vocabulary,
                     "Vocabulary (default: the model's own)")
          ->check(positive);
      app.add_option("--tp", flags->shape.ranks, "Tensor-parallel ranks")
          ->check(ranks)
          ->capture_default_str();
      app.add_option("--dp", flags->shape.replicas,
                     "Data-parallel replicas, each with its part of the batch")
          ->check(ranks)
          ->capture_default_str();
      app.add_flag("--overlap", flags->shape.overlap,
                   "Sums over the tensor-parallel group run beside computation");
      app.add_flag("--sequence-parallel", flags->shape.sequence_parallel,
                   "Norms, residuals and dropout split over the tokens between parallel blocks "
                   "(bert, gpt with --tp)");
      app.add_option("--features", flags->shape.features, "Features per layer (clt; default: 4096)")
          ->check(positive);
      app.add_option("--k", flags->shape.k, "Features kept per token (clt; default: 32)")
          ->check(positive);
      app.add_option("--activation", flags->activation,
                     "Which features stay active (clt): batch-topk, token-topk or jumprelu")
          ->check(CLI::IsMember({"batch-topk", "token-topk", "jumprelu"}))
          ->capture_default_str();
      app.add_option("--decoder", flags->decoder, "sparse or dense (clt)")
          ->check(CLI::IsMember({"sparse", "dense"}))
          ->capture_default_str();
      app.add_option("--sparsity", flags->sparsity,
                     "Factor of the sparsity penalty (clt; none with batch-topk)")
          ->check(zero_or_more());
      app.add_option("--head", flags->shape.head,
                     "Tokens projected on the vocabulary (bert): all or masked")
          ->check(CLI::IsMember({"all", "masked"}))
          ->capture_default_str();
      app.add_option("--precision", flags->shape.precision, "fp32 or bf16 (of matrix operands)")
          ->check(CLI::IsMember({"fp32", "bf16"}))
          ->capture_default_str();
      app.add_option("--dropout", flags->shape.dropout, "Share of elements dropped (bert, gpt)")
          ->check(CLI::Range(0.0, 0.9))
          ->check(zero_or_more());  // a range lets "nan" through
      app.add_option("--padding", flags->shape.padding,
                     "Share of tokens that are padding (bert, gpt)")
          ->check(CLI::Range(0.0, 0.5))
          ->check(zero_or_more());  // a range lets "nan" through
      app.add_option("--accumulate", flags->shape.parts,
                     "Parts of the batch that run one after another, their gradients added up")
          ->check(positive);
      app.add_flag("--recompute", flags->shape.recompute,
                   "Layers compute their activations again in the backward pass, to save memory");
      app.add_option("--steps", flags->steps, "Steps to train")
          ->check(steps)
          ->capture_default_str();
      app.add_option("--format", flags->format, "text or json")
          ->check(CLI::IsMember({"text", "json"}))
          ->capture_default_str();
      app.add_option("-o,--output", flags->output, "Folder of the recording and its report")
          ->default_str("stallscope-bench");
      flags->output = "stallscope-bench";
      app.add_flag("--force", flags->force, "Replace what an earlier run left there");
      app.add_flag("--own-kernels", flags->own_kernels, "Matrix products without oneDNN");
      app.add_option("--sweep", flags->sweep,
                     "One run for each combination of values, as --sweep batch=1,8 seq=128 tp=1,2")
          ->expected(1, 3);
      return [flags] { return flags->sweep.empty() ? bench(*flags) : sweep(*flags); };
    },
});

}  // namespace
}  // namespace stallscope
