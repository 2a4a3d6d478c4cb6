// Layers whose activations are computed again in the backward pass instead of kept.
#include <algorithm>
#include <map>
#include <set>

#include "trainer/program/lower.h"

namespace stallscope::trainer {
namespace {

// Activations that lie within one another (views and their whole) are one block.
struct Blocks {
  std::vector<size_t> of;  ///< by tensor; kNone when it is no activation
  std::vector<std::pair<size_t, size_t>> range;
  static constexpr size_t kNone = ~size_t{0};

  explicit Blocks(const Program& program) : of(program.tensors.size(), kNone) {
    std::vector<TensorId> order;
    for (TensorId id = 0; id < program.tensors.size(); ++id)
      if (program.tensor(id).role == Role::activation) order.push_back(id);
    std::ranges::stable_sort(order, {}, [&](TensorId id) { return program.tensor(id).offset; });
    for (const TensorId id : order) {
      const TensorInfo& it = program.tensor(id);
      if (range.empty() || it.offset >= range.back().second)
        range.emplace_back(it.offset, it.offset);
      range.back().second = std::max(range.back().second, it.offset + it.room());
      of[id] = range.size() - 1;
    }
  }
};

class Rewriter {
 public:
  explicit Rewriter(Program& program) : program_(program), blocks_(program) {}

  void rewrite() {
    std::vector<Op> ops;
    for (Section& section : program_.sections) {
      const auto first = static_cast<uint32_t>(ops.size());
      constexpr std::string_view kBackward = ".backward";
      copies_.clear();
      if (section.name.starts_with("layer.") && section.name.ends_with(kBackward)) {
        const Section* forward =
            program_.section(section.name.substr(0, section.name.size() - kBackward.size()));
        if (forward != nullptr) std::ranges::move(again(*forward, section), back_inserter(ops));
      }
      for (uint32_t i = section.first; i < section.last; ++i) {
        Op op = program_.ops[i];
        redirect(op);
        ops.push_back(std::move(op));
      }
      section = {section.name, first, static_cast<uint32_t>(ops.size())};
    }
    program_.ops = std::move(ops);
  }

 private:
  // The ops of `forward` that `backward` depends on, on memory of their own.
  std::vector<Op> again(const Section& forward, const Section& backward) {
    std::set<size_t> written, needed;
    auto for_each = [&](const auto& ids, const auto& use) {
      for (const TensorId id : ids)
        if (id != kNoTensor && blocks_.of[id] != Blocks::kNone) use(blocks_.of[id]);
    };
    for (uint32_t i = forward.first; i < forward.last; ++i)
      for_each(original(i).out, [&](size_t block) { written.insert(block); });
    auto need = [&](size_t block) {
      if (written.contains(block)) needed.insert(block);
    };
    for (uint32_t i = backward.first; i < backward.last; ++i) for_each(original(i).in, need);
    std::vector<Op> ops;
    for (uint32_t i = forward.last; i-- > forward.first;) {
      bool is_needed = false;
      for_each(original(i).out, [&](size_t block) { is_needed |= needed.contains(block); });
      if (!is_needed) continue;
      for_each(original(i).in, need);
      for_each(original(i).out, need);
      ops.push_back(original(i));
    }
    std::ranges::reverse(ops);
    size_t& end = program_.arena_elements[static_cast<size_t>(Role::activation)];
    for (const size_t block : needed) {
      copies_[block] = end;
      end += blocks_.range[block].second - blocks_.range[block].first;
    }
    copied_.clear();
    for (Op& op : ops) {
      redirect(op);
      op.again = true;
    }
    return ops;
  }

  const Op& original(uint32_t i) const { return program_.ops[i]; }

  void redirect(Op& op) {
    auto to_copy = [&](auto& operands) {
      auto result = operands;
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i] != kNoTensor) result.set(i, copy_of(operands[i]));
      operands = result;
    };
    to_copy(op.in);
    to_copy(op.out);
  }

  TensorId copy_of(TensorId id) {
    if (id >= blocks_.of.size() || blocks_.of[id] == Blocks::kNone) return id;
    const auto place = copies_.find(blocks_.of[id]);
    if (place == copies_.end()) return id;
    const auto [known, is_new] =
        copied_.emplace(id, static_cast<TensorId>(program_.tensors.size()));
    if (is_new) {
      TensorInfo copy = program_.tensor(id);
      copy.name += ".again";
      copy.offset += place->second - blocks_.range[blocks_.of[id]].first;
      program_.tensors.push_back(std::move(copy));
    }
    return known->second;
  }

  Program& program_;
  Blocks blocks_;
  std::map<size_t, size_t> copies_;  ///< place of a block's copy, within one layer
  std::map<TensorId, TensorId> copied_;
};

}  // namespace

void recompute_layers(Program& program) {
  Rewriter(program).rewrite();
}

}  // namespace stallscope::trainer
