#include "analyze/model_shape.h"

#include <doctest/doctest.h>

namespace stallscope {
namespace {

using Lists = std::vector<std::vector<int64_t>>;

TEST_CASE("input shapes are read as profilers write them") {
  CHECK(parse_dimensions("[[8, 128], [], [2]]") == Lists{{8, 128}, {}, {2}});
  CHECK(parse_dimensions("[]").empty());
  for (const char* text : {"[[1, 2]", "[[[1]]]", "[1]", "[[a]]", "]", "[[99999999999999999999]]"})
    CHECK(parse_dimensions(text).empty());
}

struct Operator {
  const char* name;
  const char* shapes;
  int times;
};

std::optional<ModelShape> shape_of(const std::vector<Operator>& operators) {
  Trace trace;
  const uint32_t process = trace.add_process({.pid = 1});
  const TrackId track = trace.track(process, TrackKind::thread, -1, 1);
  Ns at = 0;
  for (const Operator& it : operators) {
    const Field field = Field::of_text(kKeyShapes, trace.strings.intern(it.shapes));
    for (int i = 0; i < it.times; ++i)
      trace.add({.kind = EventKind::range,
                 .start = at += 10,
                 .duration = 5,
                 .track = track,
                 .name = trace.strings.intern(it.name),
                 .payload = trace.add_payload(std::span(&field, 1))});
  }
  trace.finish();
  return model_shape(trace);
}

constexpr const char* kAttention = "aten::scaled_dot_product_attention";
constexpr Operator kTokens{"aten::embedding", "[[50257, 768], [8, 128]]", 3};
constexpr Operator kPlaces{"aten::embedding", "[[1024, 768], [128]]", 3};

TEST_CASE("embeddings and attention tell the shape of a transformer") {
  const auto gpt =
      shape_of({kTokens, kPlaces, {kAttention, "[[8, 12, 128, 64], [8, 12, 128, 64]]", 36}});
  REQUIRE(gpt);
  CHECK(gpt->text() == "model=gpt,layers=12,hidden=768,heads=12,batch=8,seq=128,vocabulary=50257");
  const auto bert = shape_of({kTokens,
                              kPlaces,
                              {"aten::embedding", "[[2, 768], [8, 128]]", 3},
                              {"aten::softmax", "[[8, 12, 128, 128], []]", 12}});
  REQUIRE(bert);
  CHECK(bert->model == "bert");
  CHECK(bert->layers == 4);
  const auto half = shape_of({kTokens, {kAttention, "[[8, 6, 128, 64]]", 12}});
  REQUIRE(half);
  CHECK(half->ranks == 2);
  CHECK(half->heads == 12);
}

TEST_CASE("operators that do not fit together tell nothing") {
  CHECK_FALSE(shape_of({}));
  CHECK_FALSE(shape_of({kTokens, kPlaces}));
  CHECK_FALSE(shape_of({{kAttention, "[[8, 12, 128, 64]]", 36}}));
  CHECK_FALSE(shape_of({kTokens, {kAttention, "[[8, 12, 128, 64]]", 35}}));
  CHECK_FALSE(shape_of({kTokens, {kAttention, "[[8, 12, 128, 65]]", 36}}));
  CHECK_FALSE(shape_of({kTokens, {kAttention, "[[8, 0, 128, 64]]", 36}}));
  CHECK_FALSE(shape_of({kTokens, {"aten::softmax", "[[8, 12, 128, 64]]", 36}}));
}

}  // namespace
}  // namespace stallscope
