#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "ranks.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/models/gpt.h"

namespace stallscope::trainer {
namespace {

std::string place(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("stallscope-" + std::to_string(getpid()) + name))
      .string();
}

constexpr GptConfig kModel{
    .layers = 1, .hidden = 8, .heads = 2, .vocabulary = 12, .sequence = 5, .batch = 2};

// Parameters after `steps` steps, saved and loaded again after `save_at`.
std::vector<float> train(int steps, int save_at, const std::string& path) {
  std::vector<float> result;
  auto with_session = [&](const std::function<void(Session<float>&)>& body) {
    on_ranks(1, [&](Shard shard, Device& device, Group* group) {
      auto program = build_gpt(kModel, shard);
      REQUIRE(program.ok());
      Session<float> session(std::move(*program), device, group, 1);
      for (size_t i = 0; i < 10; ++i) {
        session.index_data("tokens")[i] = static_cast<int32_t>(i * 5 % 12);
        session.index_data("labels")[i] = static_cast<int32_t>(i * 7 % 12);
      }
      body(session);
    });
  };
  auto step = [](Session<float>& session, int count) {
    for (int s = 0; s < count; ++s) {
      session.forward();
      session.backward();
      session.optimizer_step({});
    }
    session.device().synchronize();
  };
  auto keep = [&](Session<float>& session) {
    result.assign(session.data("embedding.token"),
                  session.data("embedding.token") + session.size("embedding.token"));
  };
  if (save_at == 0) {
    with_session([&](Session<float>& session) {
      step(session, steps);
      keep(session);
    });
    return result;
  }
  with_session([&](Session<float>& session) {
    step(session, save_at);
    REQUIRE(save_checkpoint(path, session).ok());
  });
  with_session([&](Session<float>& session) {
    REQUIRE(load_checkpoint(path, {}, session).ok());
    CHECK(session.steps() == save_at);
    step(session, steps - save_at);
    keep(session);
  });
  return result;
}

TEST_CASE("training resumed from a checkpoint has the same bits") {
  const std::string path = place("resume");
  const auto straight = train(5, 0, path), resumed = train(5, 2, path);
  REQUIRE(straight.size() == resumed.size());
  CHECK(std::memcmp(straight.data(), resumed.data(), straight.size() * sizeof(float)) == 0);
  std::filesystem::remove(path);
}

TEST_CASE("damaged checkpoints are refused, with their name and what is wrong") {
  const std::string path = place("damaged");
  const float values[6] = {1, 2, 3, 4, 5, 6};
  REQUIRE(
      write_safetensors(path, {.tensors = {{"a", "F32", {2, 3}, values}}, .metadata = {}}).ok());
  std::string whole;
  {
    std::ifstream file(path, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto back = read_safetensors(path);
  REQUIRE(back.ok());
  CHECK(std::memcmp(back->find("a")->data, values, sizeof values) == 0);
  auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  std::string endless = whole;
  endless[6] = '\x7f';
  const std::pair<std::string, const char*> cases[] = {
      {"", "too short"},
      {whole.substr(0, 20), "cut short"},
      {whole.substr(0, whole.size() - 1), "does not fit"},
      {endless, "cut short"},
      {replaced("[2,3]", "[2,4]"), "does not fit"},
      {replaced("[2,3]", "[-2,"), "JSON"},
      {replaced("F32", "F99"), "does not fit"},
      {replaced("[0,24]", "[8,32]"), "does not fit"},
      {replaced("{\"a\"", "[\"a\""), "JSON"},
  };
  for (const auto& [bytes, words] : cases) {
    std::ofstream(path, std::ios::binary) << bytes;
    const auto result = read_safetensors(path);
    CAPTURE(words);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().to_string().find(words) != std::string::npos);
    CHECK(result.error().file == path);
  }
  std::filesystem::remove(path);
  CHECK_FALSE(read_safetensors(path).ok());
}

TEST_CASE("a checkpoint of another shape changes nothing") {
  const std::string path = place("other");
  on_ranks(1, [&](Shard shard, Device& device, Group* group) {
    GptConfig wide = kModel;
    wide.hidden = 16;
    auto other = build_gpt(wide, shard);
    auto program = build_gpt(kModel, shard);
    Session<float> from(std::move(*other), device, group, 1);
    Session<float> to(std::move(*program), device, group, 2);
    REQUIRE(save_checkpoint(path, from).ok());
    const float before = *to.data("embedding.token");
    const Status status = load_checkpoint(path, {}, to);
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message.find("embedding.token") != std::string::npos);
    CHECK(*to.data("embedding.token") == before);
  });
  std::filesystem::remove(path);
}

TEST_CASE("the first tensor that is not finite is named") {
  on_ranks(1, [&](Shard shard, Device& device, Group* group) {
    auto program = build_gpt(kModel, shard);
    Session<float> session(std::move(*program), device, group, 1);
    CHECK(session.first_non_finite().empty());
    // Finite, but its product is not.
    for (size_t i = 0; i < session.size("layer.0.mlp.up.weight"); ++i)
      session.data("layer.0.mlp.up.weight")[i] = 3e38F;
    CHECK(session.first_non_finite() == "layer.0: layer.0.mlp.up.product");
    session.data("layer.0.mlp.up.weight")[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK(session.first_non_finite() == "before the forward pass: layer.0.mlp.up.weight");
  });
}

}  // namespace
}  // namespace stallscope::trainer
