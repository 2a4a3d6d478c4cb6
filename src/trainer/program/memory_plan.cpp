// Which activations share memory.
#include <algorithm>
#include <numeric>

#include "trainer/program/lower.h"

namespace stallscope::trainer {
namespace {

// Tensors that lie within one another (views and their whole) move together.
struct Block {
  size_t begin = 0, end = 0;       ///< elements of the arena, as built
  uint32_t first = ~0U, last = 0;  ///< ops that touch it
  bool read = false;
  size_t place = 0;  ///< as planned
  std::vector<TensorId> tensors;

  size_t size() const { return end - begin; }
  bool lives_with(const Block& other) const { return first <= other.last && other.first <= last; }
};

std::vector<Block> blocks_of(const Program& program) {
  std::vector<TensorId> order;
  for (TensorId id = 0; id < program.tensors.size(); ++id)
    if (program.tensor(id).role == Role::activation) order.push_back(id);
  std::ranges::stable_sort(order, {}, [&](TensorId id) { return program.tensor(id).offset; });
  std::vector<Block> blocks;
  for (const TensorId id : order) {
    const TensorInfo& it = program.tensor(id);
    if (blocks.empty() || it.offset >= blocks.back().end)
      blocks.push_back({.begin = it.offset, .end = it.offset});
    blocks.back().end = std::max(blocks.back().end, it.offset + it.room());
    blocks.back().tensors.push_back(id);
  }
  return blocks;
}

void find_lives(const Program& program, std::vector<Block>& blocks) {
  std::vector<Block*> of(program.tensors.size());
  for (Block& block : blocks)
    for (const TensorId id : block.tensors) of[id] = &block;
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    auto touch = [&](TensorId id, bool reads) {
      if (id == kNoTensor || of[id] == nullptr) return;
      Block& block = *of[id];
      block.first = std::min(block.first, i);
      block.last = i;
      block.read |= reads;
    };
    // What is only changed in place (a sum over ranks) has not been read yet.
    const auto& out = program.ops[i].out;
    for (const TensorId id : program.ops[i].in)
      touch(id, std::find(out.begin(), out.end(), id) == out.end());
    for (const TensorId id : program.ops[i].out) touch(id, false);
  }
  for (Block& block : blocks)
    if (!block.read) block.last = ~0U;  // a result
}

// The lowest place where no block that lives at the same time is.
size_t lowest_place(const Block& block, const std::vector<const Block*>& placed) {
  std::vector<std::pair<size_t, size_t>> taken;
  for (const Block* other : placed)
    if (block.lives_with(*other)) taken.emplace_back(other->place, other->place + other->size());
  std::ranges::sort(taken);
  size_t place = 0;
  for (const auto& [begin, end] : taken) {
    if (place + block.size() <= begin) break;
    place = std::max(place, end);
  }
  return place;
}

size_t most_alive(const std::vector<Block>& blocks, size_t ops) {
  std::vector<int64_t> change(ops + 1);
  for (const Block& block : blocks) {
    if (block.first == ~0U) continue;
    change[block.first] += static_cast<int64_t>(block.size());
    if (block.last < ops) change[block.last + 1] -= static_cast<int64_t>(block.size());
  }
  int64_t alive = 0, most = 0;
  for (const int64_t step : change) most = std::max(most, alive += step);
  return static_cast<size_t>(most);
}

}  // namespace

size_t plan_memory(Program& program) {
  std::vector<Block> blocks = blocks_of(program);
  find_lives(program, blocks);
  std::vector<Block*> order;
  for (Block& block : blocks)
    if (block.first != ~0U) order.push_back(&block);  // what fusion left unused has no place
  std::ranges::stable_sort(order, std::greater(), [](const Block* b) { return b->size(); });
  std::vector<const Block*> placed;
  size_t end = 0;
  for (Block* block : order) {
    block->place = lowest_place(*block, placed);
    end = std::max(end, block->place + block->size());
    placed.push_back(block);
  }
  for (const Block& block : blocks)
    for (const TensorId id : block.tensors)
      program.tensors[id].offset = program.tensor(id).offset - block.begin + block.place;
  program.arena_elements[static_cast<size_t>(Role::activation)] = end;
  return most_alive(blocks, program.ops.size());
}

}  // namespace stallscope::trainer
