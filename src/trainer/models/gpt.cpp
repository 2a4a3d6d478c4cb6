#include "trainer/models/gpt.h"

#include <cmath>
#include <string>

#include "trainer/models/transformer.h"

namespace stallscope::trainer {

Result<Program> build_gpt(const GptConfig& config, Shard shard) {
  const TransformerShape shape{config.layers,     config.hidden,   config.heads,
                               config.vocabulary, config.sequence, config.batch};
  if (Status status = check(shape, shard); !status.ok()) return status.error();
  Builder b(shard);
  const size_t rows = config.batch * config.sequence;
  const size_t h = config.hidden;
  const Init normal{Init::Kind::normal, 0.02};

  if (config.parts > 1) b.add_gradients();
  b.begin_section("embed");
  const TensorId tokens = b.input("tokens", {rows}, Element::index);
  const TensorId labels = b.input("labels", {rows}, Element::index);
  const TensorId mask = config.explicit_mask
                            ? b.input("mask", {config.sequence, config.sequence}, Element::real)
                            : kNoTensor;
  const TensorId lengths =
      config.padded ? b.input("lengths", {config.batch}, Element::index) : kNoTensor;
  const TensorId table = b.parameter("embedding.token", {config.vocabulary, h}, normal, true);
  const TensorId positions =
      config.explicit_positions
          ? b.input("positions", {config.sequence, h}, Element::real)
          : b.parameter("embedding.position", {config.sequence, h}, normal, false);
  TensorId x = b.embedding("embedding", table, tokens);
  x = b.split_rows(b.bias_add("embedded", x, positions));
  if (config.dropout > 0) x = b.dropout("embedding.dropped", x, config.dropout);

  for (size_t layer = 0; layer < config.layers; ++layer) {
    const std::string name = "layer." + std::to_string(layer);
    b.begin_section(name);
    const BlockOptions options{.causal = !config.explicit_mask,
                               .tanh_gelu = true,
                               .residual_scale = 0.02 / std::sqrt(2.0 * config.layers),
                               .dropout = config.dropout,
                               .lengths = lengths};
    TensorId normed = norm(b, name + ".norm1", x);
    x = attention_block(b, name, normed, x, mask, shape, options);
    normed = norm(b, name + ".norm2", x);
    x = mlp_block(b, name, normed, x, shape, options);
  }

  b.begin_section("head");
  x = norm(b, "final.norm", x);
  const TensorId logits = b.matmul_transposed("logits", b.enter_parallel(x), table);
  b.backward(b.cross_entropy("loss", logits, labels,
                             (config.counted != 0 ? config.counted : rows * config.parts) *
                                 static_cast<size_t>(shard.replicas)));
  b.adamw();
  return b.finish();
}

}  // namespace stallscope::trainer
