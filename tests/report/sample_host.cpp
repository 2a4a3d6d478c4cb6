// Observations of a rank that the host and graph tables are made of.
#include "report/sample_report.h"

namespace stallscope::sample {
namespace {

Observation row(const char* kind, const char* subject, Place place) {
  Observation o;
  o.kind = kind;
  o.subject = subject;
  o.place = std::move(place);
  return o;
}

Observation hot(const char* kind, Place place, double own_ns, double inclusive_ns) {
  constexpr double kStep = 12'700'000;
  Observation o = row(kind, "", std::move(place));
  o.subject = o.place.function;
  o.numbers = {{"self_ns", own_ns},
               {"duration_ns", inclusive_ns},
               {"self_fraction", own_ns / kStep},
               {"fraction", inclusive_ns / kStep},
               {"samples", 310}};
  return o;
}

Observation in_library(Observation o, const char* function, double share) {
  o.texts["native"] = function;
  o.numbers["native_fraction"] = share;
  return o;
}

Observation cost(const char* name, double ns, Place place) {
  Observation o = row("host-cost", name, std::move(place));
  o.numbers = {{"duration_ns", ns}, {"fraction", ns / 12'700'000}, {"samples", 120}};
  return o;
}

Observation captured(const char* graph, uint32_t line, double nodes, bool by_node) {
  Observation o = row("graph-capture", graph, {"model/mlp.py", line, 0, "MLP.forward", "python"});
  o.numbers = {{"nodes", nodes}, {"replays", 180}};
  o.numbers[by_node ? "duration_ns" : "graph_ns"] = 91'000'000;
  o.texts["replayed_at"] = "train.py:88";
  return o;
}

}  // namespace

std::vector<Observation> host_observations() {
  return {
      cost("pytree flatten and unflatten", 410'000, {"train.py", 61, 0, "update", "python"}),
      cost("DataLoader wait", 220'000, {"train.py", 40, 0, "main", "python"}),
      hot("hot-function", {"site-packages/jax/_src/tree_util.py", 0, 0, "tree_flatten", "python"},
          390'000, 402'000),
      hot("hot-function", {"train.py", 0, 0, "<b>main</b>", "python"}, 12'000, 12'100'000),
      in_library(hot("hot-line", {"train.py", 61, 0, "update", "python"}, 8'000, 410'000),
                 "dgesdd_ (libscipy_openblas64_)", 0.85),
      captured("CUDA graph 4", 31, 12, true),
      captured("CUDA graph 9", 33, 2, false),
  };
}

}  // namespace stallscope::sample
