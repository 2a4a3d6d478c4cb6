#include "trainer/loop/facts.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "trainer/kernels/table.h"
#include "trainer/ops/ops.h"
#include "trainer/plan/plan.h"

namespace stallscope::trainer {
namespace {

using Json = nlohmann::ordered_json;

// Least runs of each product: the best of these is its rate on an undisturbed machine.
constexpr int kRepeats = 5;

struct KernelWork {
  uint32_t launches = 0;
  Work work;
};

// Per step: everything runs once for each part of it, but the optimiser.
Json kernels_json(const Program& program, size_t parts) {
  std::map<std::string, KernelWork> kernels;
  const Section* const optimizer = program.section("optimizer");
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (is_collective(op.kind)) continue;
    kernels[kernel_name(op)];  // with no launches where its work is done in another's
    const bool once = optimizer != nullptr && i >= optimizer->first && i < optimizer->last;
    const size_t times = once ? 1 : parts;
    KernelWork& it = kernels[kernel_name(op.fused ? program.ops[optimizer->first] : op)];
    const Work work = work_of(program, op, sizeof(float));
    it.launches += op.fused ? 0 : static_cast<uint32_t>(times);
    it.work.flops += work.flops * static_cast<double>(times);
    it.work.bytes += work.bytes * static_cast<double>(times);
  }
  Json out = Json::array();
  for (const auto& [name, it] : kernels)
    out.push_back({{"name", name},
                   {"launches", it.launches},
                   {"flops", it.work.flops},
                   {"bytes", it.work.bytes}});
  return out;
}

// "column, dimension 1"
std::string split_of(const TensorInfo& parameter) {
  const Plan& plan = standard_plan();
  const int rule = plan.match(parameter.name);
  if (rule == Plan::kNone || parameter.shard_dimension < 0) return "replicated";
  return std::string(to_string(plan.rules()[static_cast<size_t>(rule)].split)) + ", dimension " +
         std::to_string(parameter.shard_dimension);
}

// One row per kind of parameter: layers differ by their number only.
Json plan_json(const Program& program) {
  std::map<std::string, Json> rows;
  for (const TensorId id : program.parameters()) {
    const TensorInfo& it = program.tensor(id);
    std::string pattern = it.name;
    for (size_t at = 0; at < pattern.size(); ++at) {
      if (pattern[at] < '0' || pattern[at] > '9') continue;
      pattern.replace(at, pattern.find_first_not_of("0123456789", at) - at, "*");
    }
    std::string shape;
    for (size_t d = 0; d < it.full_shape.size(); ++d) {
      const bool split = static_cast<int>(d) == it.shard_dimension;
      shape += (d == 0 ? "" : " x ") + std::to_string(it.full_shape[d]);
      if (split && it.shape[d] != it.full_shape[d])
        shape += " (" + std::to_string(it.shape[d]) + " here)";
    }
    rows[pattern] = {{"parameters", pattern}, {"split", split_of(it)}, {"shape", shape}};
  }
  Json out = Json::array();
  for (auto& [pattern, row] : rows) out.push_back(std::move(row));
  return out;
}

// `again`: only what recomputation repeats; else only the rest.
double attention_flops(const Program& program, bool again) {
  double flops = 0;
  for (const Op& op : program.ops)
    if (op.again == again &&
        (op.kind == OpKind::attention_forward || op.kind == OpKind::attention_backward))
      flops += work_of(program, op, sizeof(float)).flops;
  return flops;
}

Json size_json(size_t size) {
  return size > 0 ? Json(size) : Json();
}

// What a transcoder's features did: those idle for longer than `dead_after` steps would be sampled
// anew.
Json transcoder_json(const Session<float>& session, size_t dead_after) {
  if (session.program().find("features.idle") == kNoTensor) return {};
  const int32_t* const idle = session.index_data("features.idle");
  const size_t count = session.size("features.idle");
  auto idle_for = [&](int64_t steps) {
    return std::count_if(idle, idle + count, [&](int32_t it) { return it >= steps; });
  };
  const float* const parts = session.data("loss.parts");
  return {{"features", count},
          {"activeInLastStep", static_cast<int64_t>(count) - idle_for(1)},
          {"neverActive", idle_for(session.steps())},
          {"dead", idle_for(static_cast<int64_t>(dead_after) + 1)},
          {"deadAfterSteps", dead_after},
          {"loss",
           {{"reconstruction", parts[0]},
            {"auxiliary", parts[1]},
            {"sparsity", parts[2]},
            {"preactivation", parts[3]}}}};
}

}  // namespace

Status write_facts(const std::string& path, Session<float>& session, const MemoryFacts& memory,
                   const StepEnds& ends, const ProductLibrary* library, const StepFacts& step) {
  const Json transcoder = transcoder_json(session, step.dead_after);  // products overwrite it
  const Program& program = session.program();
  double parameters = 0;
  for (const TensorId id : program.parameters())
    parameters += static_cast<double>(program.tensor(id).size());
  Json steps = Json::array();
  for (size_t i = 1; i < ends.size(); ++i) steps.push_back(ends[i] - ends[i - 1]);
  Json products = Json::array();
  double again = 0;
  const auto parts = static_cast<double>(step.parts);
  for (const auto& rate : session.measure_products(kRepeats)) {
    products.push_back({{"name", rate.name},
                        {"launches", rate.per_step * step.parts},
                        {"flops", rate.flops * rate.per_step * parts},
                        {"bestNs", rate.best_ns * rate.per_step * parts}});
    again += rate.flops * rate.again * parts;
  }
  const Json facts{{"parameters", parameters},
                   {"threads", session.device().options().team},
                   {"instructionSet", kernels<float>().instruction_set},
                   {"products", library != nullptr ? library->version() : "own kernels"},
                   {"denormals", "flushed to zero"},
                   {"stepNs", steps},
                   {"memoryBytes", memory.planned_bytes},
                   {"minimumMemoryBytes", memory.minimum_bytes},
                   {"tokens", step.tokens},
                   {"heads", size_json(step.heads)},
                   {"vocabulary", size_json(step.vocabulary)},
                   {"features", size_json(step.features)},
                   {"k", size_json(step.k)},
                   {"attentionFlops", attention_flops(program, false) * parts},
                   {"recomputedProductFlops", again},
                   {"recomputedFlops", again + attention_flops(program, true) * parts},
                   {"transcoder", transcoder},
                   {"plan", plan_json(program)},
                   {"kernels", kernels_json(program, step.parts)},
                   {"productRates", products}};
  std::ofstream file(path);
  file << facts.dump(1) << '\n';
  file.close();
  if (!file) return Error{.message = "cannot be written", .file = path};
  return ok_status();
}

}  // namespace stallscope::trainer
