// Collectives beside computation: gradients of replicas in buckets, and sums whose
// results are not needed at once, on the communication stream.
#include <algorithm>

#include "trainer/program/lower.h"

namespace stallscope::trainer {
namespace {

bool touches(const Program& program, const Op& op, const TensorInfo& it) {
  auto is_part = [&](TensorId id) { return id != kNoTensor && overlap(program.tensor(id), it); };
  return std::ranges::any_of(op.in, is_part) || std::ranges::any_of(op.out, is_part);
}

bool writes(const Program& program, const Op& op, const TensorInfo& it) {
  return std::ranges::any_of(
      op.out, [&](TensorId id) { return id != kNoTensor && overlap(program.tensor(id), it); });
}

// The last op of the compute stream up to `op`.
uint32_t computed_by(const Program& program, uint32_t op) {
  while (op > 0 && program.ops[op].stream != StreamRole::compute) --op;
  return op;
}

// Inserts `op` after the op at `after`, which belongs to the same section.
void insert_after(Program& program, uint32_t after, Op op) {
  program.ops.insert(program.ops.begin() + after + 1, std::move(op));
  for (Section& section : program.sections) {
    if (section.first > after) ++section.first;
    if (section.last > after) ++section.last;
  }
  for (Op& it : program.ops)
    for (uint32_t& awaited : it.waits)
      if (awaited > after) ++awaited;
}

struct Bucket {
  size_t begin, end;  ///< elements of the gradients' arena
};

// From the end of the arena, where the gradients that are ready first lie.
std::vector<Bucket> buckets_of(const Program& program, size_t elements) {
  std::vector<Bucket> buckets;
  std::vector<TensorId> parameters = program.parameters();
  std::ranges::reverse(parameters);
  for (const TensorId id : parameters) {
    const TensorInfo& it = program.tensor(program.tensor(id).gradient);
    const size_t end = it.offset + it.room();
    if (buckets.empty() || buckets.back().end - buckets.back().begin >= elements)
      buckets.push_back({end, end});
    buckets.back().begin = it.offset;
  }
  return buckets;
}

}  // namespace

void reduce_gradients(Program& program, size_t bucket_elements) {
  for (const Bucket& bucket : buckets_of(program, bucket_elements)) {
    const auto id = static_cast<TensorId>(program.tensors.size());
    program.tensors.push_back({.name = "gradients." + std::to_string(bucket.begin),
                               .shape = {bucket.end - bucket.begin},
                               .role = Role::gradient,
                               .offset = bucket.begin,
                               .is_bucket = true});
    const Section& optimizer = *program.section("optimizer");
    uint32_t ready = 0;
    for (uint32_t i = 0; i < optimizer.first; ++i)
      if (writes(program, program.ops[i], program.tensor(id))) ready = i;
    insert_after(program, ready,
                 {.kind = OpKind::all_reduce,
                  .stream = StreamRole::communication,
                  .in = {id},
                  .out = {id},
                  .n = {static_cast<int64_t>(bucket.end - bucket.begin), 0, kDataGroup},
                  .waits = {ready}});
    program.ops[program.section("optimizer")->first].waits.push_back(ready + 1);
  }
}

void overlap_collectives(Program& program) {
  for (const Section& section : program.sections) {
    if (!section.name.ends_with(".backward")) continue;
    for (uint32_t i = section.first; i < section.last; ++i) {
      Op& op = program.ops[i];
      if (!is_collective(op.kind) || op.stream == StreamRole::communication) continue;
      const TensorInfo &from = program.tensor(op.in[0]), &to = program.tensor(op.out[0]);
      // A group's collectives never run beside each other, and the memory of what this one writes
      // may have been another tensor's until just before.
      auto must_precede = [&](const Op& earlier) {
        return (is_collective(earlier.kind) && earlier.n[2] == op.n[2] &&
                earlier.stream == StreamRole::compute) ||
               writes(program, earlier, from) ||
               (op.in[0] != op.out[0] && touches(program, earlier, to));
      };
      auto is_turn = [&](const Op& later) {
        return is_collective(later.kind) && later.n[2] == op.n[2];
      };
      auto needs_result = [&](const Op& later) {
        return touches(program, later, to) || writes(program, later, from);
      };
      uint32_t writer = i;
      while (writer > 0 && !must_precede(program.ops[writer - 1])) --writer;
      const auto later = program.ops.begin() + i + 1;
      const auto turn = std::find_if(later, program.ops.end(), is_turn);
      const auto reader = std::find_if(later, program.ops.end(), needs_result);
      const auto first = std::min(turn, reader) - program.ops.begin();
      // Worth it only when something else runs between its cause and its use.
      if (writer == 0 || first == std::ssize(program.ops) || first - writer < 2) continue;
      op.stream = StreamRole::communication;
      op.waits.push_back(writer - 1);
      // Both: the next of the group may itself leave the compute stream, where the reader stays.
      if (turn != program.ops.end()) turn->waits.push_back(i);
      if (reader != program.ops.end() && reader != turn) reader->waits.push_back(i);
    }
  }
  // What awaited an op that has left the compute stream meant also what that stream did before it;
  // the communication stream keeps its own order anyway.
  for (Op& op : program.ops)
    if (op.stream == StreamRole::communication)
      for (uint32_t& awaited : op.waits) awaited = computed_by(program, awaited);
}

}  // namespace stallscope::trainer
