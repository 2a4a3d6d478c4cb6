#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "trainer/models/bert.h"
#include "trainer/models/clt.h"
#include "trainer/plan/plan.h"

namespace stallscope::trainer {
namespace {

TEST_CASE("patterns match whole parts, any number of parts, and characters") {
  const struct {
    const char *pattern, *path;
    bool matches;
  } cases[] = {
      {"a.b", "a.b", true},
      {"a.b", "a.b.c", false},
      {"a.b", "a", false},
      {"a.*", "a.b", true},
      {"a.*", "a.b.c", false},
      {"*.c", "b.c", true},
      {"**", "a.b.c", true},
      {"**.c", "c", true},
      {"**.c", "a.b.c", true},
      {"a.**.d", "a.d", true},
      {"a.**.d", "a.b.c.d", true},
      {"a.**.d", "a.b.c", false},
      {"**.b.**", "a.b.c", true},
      {"q?", "qk", true},
      {"q?", "q", false},
      {"w*t.b*s", "weight.bias", true},
      {"*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false},
  };
  for (const auto& it : cases) {
    CAPTURE(it.pattern);
    CAPTURE(it.path);
    const Plan plan({{it.pattern, Split::row, 0}});
    CHECK((plan.match(it.path) == 0) == it.matches);
  }
}

TEST_CASE("the first match wins; what no rule or more than one names is reported") {
  const auto plan = parse_plan(
      "layer.0.weight column 1\n"
      "layer.*.weight row 0   # comment\n"
      "\n"
      "layer.*.bias replicated\n");
  REQUIRE(plan.ok());
  const std::vector<std::string> paths{"layer.0.weight", "layer.1.weight", "layer.1.bias", "head"};
  const Plan::Applied applied = plan->apply(paths);
  CHECK(applied.rule == std::vector<int>{0, 1, 2, Plan::kNone});
  CHECK(applied.unmatched == std::vector<std::string>{"head"});
  CHECK(applied.ambiguous == std::vector<std::string>{"layer.0.weight"});
}

TEST_CASE("lines that are no plan are refused with their number") {
  for (const char* line : {"a", "a sideways 1", "a row", "a row x", "a row -1", "a replicated 1",
                           "a row 0 more", "a row 99999999999999999999"}) {
    CAPTURE(line);
    const auto plan = parse_plan(std::string("# first\n") + line);
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.error().line == 2);
  }
}

TEST_CASE("the models' parameters are split as their plan says") {
  auto bert = build_bert({}, {.rank = 1, .size = 2});
  auto clt = build_clt({}, {.rank = 0, .size = 4});
  REQUIRE(bert.ok());
  REQUIRE(clt.ok());
  std::map<std::string, int> dimensions;
  for (const Program* program : {&*bert, &*clt})
    for (const TensorId id : program->parameters())
      dimensions[program->tensor(id).name] = program->tensor(id).shard_dimension;
  CHECK(dimensions.at("layer.1.attention.qkv.weight") == 2);
  CHECK(dimensions.at("layer.0.mlp.down.weight") == 0);
  CHECK(dimensions.at("layer.0.norm1.gain") == -1);
  CHECK(dimensions.at("embedding.token") == 0);
  CHECK(dimensions.at("encoder.0.weight") == 1);
  CHECK(dimensions.at("decoder.0") == 0);
  CHECK(dimensions.at("decoder.bias.1") == -1);
  std::vector<std::string> paths;
  for (const auto& [name, dimension] : dimensions) paths.push_back(name);
  CHECK(standard_plan().apply(paths).unmatched.empty());
}

}  // namespace
}  // namespace stallscope::trainer
