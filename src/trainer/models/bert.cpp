#include "trainer/models/bert.h"

#include <string>

#include "trainer/models/transformer.h"

namespace stallscope::trainer {

Result<Program> build_bert(const BertConfig& config, Shard shard) {
  const TransformerShape shape{config.layers,     config.hidden,   config.heads,
                               config.vocabulary, config.sequence, config.batch};
  if (Status status = check(shape, shard); !status.ok()) return status.error();
  const size_t rows = config.batch * config.sequence;
  const size_t h = config.hidden;
  if (config.masked == 0 || config.masked > rows)
    return Error{.message = "masked must lie between 1 and the number of tokens"};
  constexpr double kEpsilon = 1e-12;  // BERT's own
  const Init normal{Init::Kind::normal, 0.02};
  Builder b(shard);

  if (config.parts > 1) b.add_gradients();
  b.begin_section("embed");
  const TensorId tokens = b.input("tokens", {rows}, Element::index);
  const size_t labelled = config.masked_head ? config.masked : rows;
  const TensorId labels = b.input("labels", {labelled}, Element::index);
  const TensorId lengths =
      config.padded ? b.input("lengths", {config.batch}, Element::index) : kNoTensor;
  const TensorId table = b.parameter("embedding.token", {config.vocabulary, h}, normal, true);
  const TensorId positions = b.parameter("embedding.position", {config.sequence, h}, normal, false);
  const TensorId segment = b.parameter("embedding.segment", {h}, normal, false);
  TensorId x = b.embedding("embedding", table, tokens);
  x = b.bias_add("embedded.position", x, positions);
  x = b.bias_add("embedded", x, segment);
  x = norm(b, "embedding.norm", b.split_rows(x), kEpsilon);
  if (config.dropout > 0) x = b.dropout("embedding.dropped", x, config.dropout);

  const BlockOptions options{.causal = false,
                             .tanh_gelu = config.tanh_gelu,
                             .dropout = config.dropout,
                             .lengths = lengths};
  for (size_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = "layer." + std::to_string(layer);
    b.begin_section(name);
    x = attention_block(b, name, x, x, kNoTensor, shape, options);
    x = norm(b, name + ".norm1", x, kEpsilon);
    x = mlp_block(b, name, x, x, shape, options);
    x = norm(b, name + ".norm2", x, kEpsilon);
  }

  b.begin_section("head");
  if (config.masked_head)
    x = b.gather_rows("head.rows", b.join_rows(x),
                      b.input("masked", {config.masked}, Element::index));
  const TensorId weight = b.parameter("head.weight", {h, h}, normal, true);
  const TensorId bias = b.parameter("head.bias", {h}, {}, false);
  x = b.bias_add("head.dense", b.matmul("head.product", x, weight), bias);
  x = b.gelu("head.gelu", x, config.tanh_gelu);
  x = norm(b, "head.norm", x, kEpsilon);
  const TensorId out_bias = b.parameter("head.out.bias", {config.vocabulary}, {}, false);
  TensorId logits = b.matmul_transposed("head.out", b.enter_parallel(x), table);
  logits = b.bias_add("logits", logits, out_bias);
  b.backward(b.cross_entropy("loss", logits, labels,
                             config.masked * config.parts * static_cast<size_t>(shard.replicas)));
  b.adamw();
  return b.finish();
}

}  // namespace stallscope::trainer
