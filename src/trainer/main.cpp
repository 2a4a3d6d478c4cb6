// stallscope-trainer: the reference trainer as a program. `stallscope bench` runs it under the
// recorder; alone, it prints the loss.
#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <string>

#include "trainer/loop/bench.h"

int main(int argc, char** argv) {
  stallscope::trainer::BenchOptions options;
  CLI::App app("Train a model of a given shape as well as this machine can.", "stallscope-trainer");
  // A range lets "nan" through.
  const CLI::Validator finite(
      [](const std::string& text) {
        double value = 0;
        const bool passes = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        return passes ? std::string() : "'" + text + "' is no number that can be used";
      },
      "");
  const auto size = CLI::Range(size_t{1}, size_t{1} << 32);
  app.add_option("--model", options.model, "gpt, bert or clt")
      ->check(CLI::IsMember({"gpt", "bert", "clt"}));
  app.add_option("--layers", options.layers, "Layers")->check(size);
  app.add_option("--hidden", options.hidden, "Width of the residual stream")->check(size);
  app.add_option("--heads", options.heads, "Attention heads (default: hidden / 64)")->check(size);
  app.add_option("--batch", options.batch, "Sequences per step")->check(size);
  app.add_option("--seq", options.sequence, "Tokens per sequence")->check(size);
  app.add_option("--vocabulary", options.vocabulary, "Vocabulary")->check(size);
  app.add_option("--features", options.features, "Features per layer (clt)")->check(size);
  app.add_option("--k", options.k, "Features kept per token (clt)")->check(size);
  // Words, not CLI11's mapped enumerations: its help and errors would print their bytes.
  const std::map<std::string, stallscope::trainer::CltActivation> activations{
      {"batch-topk", stallscope::trainer::CltActivation::batch_top_k},
      {"token-topk", stallscope::trainer::CltActivation::token_top_k},
      {"jumprelu", stallscope::trainer::CltActivation::jump_relu}};
  std::string activation = "batch-topk";
  app.add_option("--activation", activation, "batch-topk, token-topk or jumprelu (clt)")
      ->check(CLI::IsMember({"batch-topk", "token-topk", "jumprelu"}));
  std::string decoder = "sparse";
  app.add_option("--decoder", decoder, "sparse or dense (clt)")
      ->check(CLI::IsMember({"sparse", "dense"}));
  app.add_option("--sparsity", options.sparsity, "Factor of the sparsity penalty (clt)")
      ->check(CLI::Range(0.0, 1e6))
      ->check(finite);
  app.add_option("--dead-after", options.dead_after,
                 "Steps without activity after which a feature is dead (clt)");
  app.add_option("--tp", options.ranks, "Tensor-parallel ranks")->check(CLI::Range(1, 1024));
  app.add_option("--dp", options.replicas, "Data-parallel replicas of those")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--overlap", options.overlap, "Sums over the group run beside computation");
  app.add_flag("--sequence-parallel", options.splits_rows,
               "Between parallel blocks each rank has its part of the tokens");
  app.add_option("--steps", options.steps, "Steps")->check(CLI::Range(1, 1'000'000));
  std::string precision = "fp32";
  app.add_option("--precision", precision, "fp32 or bf16 (of matrix operands)")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  std::string head = "all";
  app.add_option("--head", head, "Tokens projected on the vocabulary (bert): all or masked")
      ->check(CLI::IsMember({"all", "masked"}));
  app.add_option("--dropout", options.dropout, "Share of elements dropped (bert, gpt)")
      ->check(CLI::Range(0.0, 0.9))
      ->check(finite);
  app.add_option("--padding", options.padding, "Share of tokens that are padding (bert, gpt)")
      ->check(CLI::Range(0.0, 0.5))
      ->check(finite);
  app.add_option("--accumulate", options.parts, "Parts of the batch whose gradients add up")
      ->check(size);
  app.add_flag("--recompute", options.recompute,
               "Layers compute their activations again in the backward pass");
  app.add_flag("--own-kernels", options.own_kernels, "Matrix products without oneDNN");
  app.add_option("--rate", options.rate, "Learning rate of AdamW")
      ->check(CLI::Range(0.0, 1e30))
      ->check(finite);  // wide enough to diverge at once, as a test of that does
  app.add_option("--save", options.save, "Write parameters and moments here at the end");
  app.add_option("--resume", options.resume, "Start from what --save wrote");
  app.add_option("--record-run", options.record,
                 "Write initial parameters, inputs, first gradients, losses and final parameters "
                 "here, for a check by another implementation");
  app.add_option("--facts", options.facts, "Write shapes, work and product rates here as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.activation = activations.at(activation);
  if (precision == "bf16") options.precision = stallscope::trainer::Precision::bf16;
  options.dense_decoder = decoder == "dense";
  options.masked_head = head == "masked" && options.model == "bert";
  return stallscope::trainer::run_bench(options);
}
