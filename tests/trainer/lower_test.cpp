// A lowered program computes what the program it came from computes.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ranks.h"
#include "trainer/models/bert.h"
#include "trainer/models/clt.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

namespace stallscope::trainer {
namespace {

constexpr size_t kVocabulary = 56;

using Build = std::function<Result<Program>(Shard)>;

Program built(const Build& build, Shard shard) {
  auto program = build(shard);
  REQUIRE(program.ok());
  return std::move(*program);
}

void fill_inputs(Session<float>& session) {
  for (const TensorInfo& it : session.program().tensors) {
    if (it.role != Role::input) continue;
    for (size_t i = 0; i < it.size(); ++i) {
      if (it.element == Element::real) {
        session.data(it.name)[i] = static_cast<float>(2 * random_uniform(it.size(), i) - 1);
      } else if (it.name == "masked") {
        session.index_data(it.name)[i] = static_cast<int32_t>(3 * i);
      } else {
        session.index_data(it.name)[i] = static_cast<int32_t>(random_bits(5, i) % kVocabulary);
      }
    }
  }
}

struct Run {
  std::vector<double> losses;
  std::vector<std::vector<float>> gradients;  ///< of the first step, by parameter
};

Run run(const Build& build, int ranks, const std::function<void(Program&)>& change,
        const ProductLibrary* library) {
  Run result;
  on_ranks(ranks, [&](Shard shard, Device& device, Group* group) {
    Program program = built(build, shard);
    change(program);
    Session<float> session(std::move(program), device, group, 3, library);
    fill_inputs(session);
    for (int step = 0; step < 4; ++step) {
      session.forward();
      session.backward();
      device.synchronize();
      if (!device.status().ok()) MESSAGE(device.status().error().to_string());
      REQUIRE(device.status().ok());
      if (step == 0 && shard.rank == 0) {
        for (const TensorId id : session.program().parameters()) {
          const TensorInfo& it = session.program().tensor(id);
          result.gradients.emplace_back(session.data(it.gradient),
                                        session.data(it.gradient) + it.size());
        }
      }
      session.optimizer_step({});
      device.synchronize();
      if (shard.rank == 0) result.losses.push_back(static_cast<double>(*session.data("loss")));
    }
  });
  return result;
}

double norm(const std::vector<float>& a, const std::vector<float>* b = nullptr) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - (b != nullptr ? static_cast<double>((*b)[i]) : 0);
    sum += d * d;
  }
  return std::sqrt(sum);
}

void check_same(const Run& got, const Run& want, double tolerance) {
  for (size_t i = 0; i < want.losses.size(); ++i)
    CHECK(got.losses[i] == doctest::Approx(want.losses[i]).epsilon(tolerance));
  double all = 0;
  for (const auto& gradient : want.gradients) all += norm(gradient) * norm(gradient);
  for (size_t i = 0; i < want.gradients.size(); ++i)
    CHECK(norm(got.gradients[i], &want.gradients[i]) <=
          10 * tolerance * norm(want.gradients[i]) + tolerance * std::sqrt(all));
}

TEST_CASE("lowered programs compute the same") {
  const GptConfig gpt{
      .layers = 2, .hidden = 24, .heads = 4, .vocabulary = kVocabulary, .sequence = 37, .batch = 3};
  const BertConfig bert{.layers = 2,
                        .hidden = 24,
                        .heads = 4,
                        .vocabulary = kVocabulary,
                        .sequence = 11,
                        .batch = 3,
                        .masked = 9,
                        .masked_head = true};
  const CltConfig clt{.layers = 3, .width = 8, .features = 48, .batch = 16, .k = 5};
  auto sparse = [&](CltActivation activation) {
    CltConfig c = clt;
    c.sparse = true, c.activation = activation, c.dead_after = 1;
    return [c](Shard shard) { return build_clt(c, shard); };
  };
  // Everything kept: in bf16 a selection may go another way.
  auto whole = [&](bool with_lists) {
    CltConfig c = clt;
    c.k = c.layers * c.features, c.sparse = with_lists;
    return [c](Shard shard) { return build_clt(c, shard); };
  };
  const std::vector<std::pair<std::string, Build>> models{
      {"gpt", [&](Shard shard) { return build_gpt(gpt, shard); }},
      {"bert", [&](Shard shard) { return build_bert(bert, shard); }},
      {"clt", [&](Shard shard) { return build_clt(clt, shard); }},
      {"clt BatchTopK", sparse(CltActivation::batch_top_k)},
      {"clt TokenTopK", sparse(CltActivation::token_top_k)},
      {"clt JumpReLU", sparse(CltActivation::jump_relu)},
      {"whole clt", whole(false)},
      {"whole sparse clt", whole(true)}};
  const ProductLibrary* library = product_library();
  for (const auto& [name, build] : models) {
    for (const int ranks : {1, 2}) {
      CAPTURE(name);
      CAPTURE(ranks);
      const Run want = run(build, ranks, [](Program&) {}, nullptr);
      auto lowered = [&](Precision precision, const ProductLibrary* with) {
        return run(
            build, ranks, [&](Program& program) { REQUIRE(lower(program, precision, with).ok()); },
            with);
      };
      check_same(lowered(Precision::fp32, nullptr), want, 1e-6);
      if (library == nullptr) continue;
      check_same(lowered(Precision::fp32, library), want, 1e-6);
      if (name.starts_with("clt") || !library->takes_bf16()) continue;
      // bf16 keeps 8 bits.
      check_same(lowered(Precision::bf16, library), want, 2e-2);
    }
  }
}

TEST_CASE("the masked head gives the loss and gradients of the whole one") {
  BertConfig config{.layers = 1,
                    .hidden = 16,
                    .heads = 2,
                    .vocabulary = kVocabulary,
                    .sequence = 12,
                    .batch = 2,
                    .masked = 8};
  auto gradients = [&](bool masked_head) {
    Run result;
    config.masked_head = masked_head;
    on_ranks(1, [&](Shard shard, Device& device, Group* group) {
      Session<float> session(built([&](Shard s) { return build_bert(config, s); }, shard), device,
                             group, 3);
      for (size_t i = 0; i < 24; ++i) {
        session.index_data("tokens")[i] = static_cast<int32_t>(7 * i % kVocabulary);
        const auto label = static_cast<int32_t>(5 * i % kVocabulary);
        if (!masked_head) session.index_data("labels")[i] = i % 3 == 1 ? label : -1;
        if (masked_head && i % 3 == 1) {
          session.index_data("labels")[i / 3] = label;
          session.index_data("masked")[i / 3] = static_cast<int32_t>(i);
        }
      }
      session.forward();
      session.backward();
      device.synchronize();
      result.losses.push_back(static_cast<double>(*session.data("loss")));
      for (const TensorId id : session.program().parameters()) {
        const TensorInfo& it = session.program().tensor(id);
        result.gradients.emplace_back(session.data(it.gradient),
                                      session.data(it.gradient) + it.size());
      }
    });
    return result;
  };
  check_same(gradients(true), gradients(false), 1e-6);
}

TEST_CASE("a lowered program needs less memory, close to what is live at once") {
  auto program = build_bert({.layers = 6}, {});
  REQUIRE(program.ok());
  const auto activations = static_cast<size_t>(Role::activation);
  const size_t before = program->arena_elements[activations];
  const auto live = lower(*program, Precision::fp32, nullptr);
  REQUIRE(live.ok());
  CHECK(program->arena_elements[activations] < before * 2 / 3);
  CHECK(program->arena_elements[activations] < *live * 11 / 10);
}

TEST_CASE("what only products and their neighbours read is kept in bf16, sums are not") {
  const ProductLibrary* library = product_library();
  if (library == nullptr || !library->takes_bf16()) return;
  auto program = build_bert({.layers = 2}, {});
  REQUIRE(program.ok());
  REQUIRE(lower(*program, Precision::bf16, library).ok());
  auto element = [&](const char* name) { return program->tensor(program->find(name)).element; };
  for (const char* name : {"logits", "layer.0.mlp.up", "layer.0.mlp.gelu", "layer.1.attention",
                           "layer.1.mlp.up.gradient", "layer.0.qkv.gradient"}) {
    CAPTURE(std::string(name));
    CHECK(element(name) == Element::bf16);
  }
  for (const char* name : {"loss", "layer.0.attended", "layer.0.norm1", "layer.0.norm1.gradient",
                           "layer.0.qkv", "embedded", "layer.0.mlp.up.weight.gradient"}) {
    CAPTURE(std::string(name));
    CHECK(element(name) == Element::real);
  }
}

TEST_CASE("bf16 is refused without a product library that takes it") {
  auto program = build_gpt({}, {});
  REQUIRE(program.ok());
  CHECK_FALSE(lower(*program, Precision::bf16, nullptr).ok());
  const ProductLibrary* library = product_library();
  if (library == nullptr || library->takes_bf16()) return;
  const auto refused = lower(*program, Precision::bf16, library);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.ends_with("use fp32"));
}

}  // namespace
}  // namespace stallscope::trainer
