// Operands of products as the product library wants them.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "trainer/program/lower.h"

namespace stallscope::trainer {
namespace {

// Rows from which packing weights anew each step pays: below, the copy costs more than it saves.
constexpr int64_t kPackRows = 512;

class Rewriter {
 public:
  Rewriter(Program& program, Precision precision, const ProductLibrary& library)
      : program_(program), half_(precision == Precision::bf16), library_(library) {}

  Status rewrite() {
    if (half_) choose_halves();
    const std::vector<Op> before = std::move(program_.ops);
    for (Section& section : program_.sections) {
      const auto first = static_cast<uint32_t>(ops_.size());
      for (uint32_t i = section.first; i < section.last; ++i) {
        Op op = before[i];
        if (op.kind == OpKind::gemm)
          if (Status status = product(op); !status.ok()) return status;
        for (const TensorId id : op.out)
          if (id != kNoTensor) forget(id);
        ops_.push_back(std::move(op));
      }
      if (section.name == "optimizer") std::ranges::move(packs_, std::back_inserter(ops_));
      section = {section.name, first, static_cast<uint32_t>(ops_.size())};
    }
    program_.ops = std::move(ops_);
    return ok_status();
  }

 private:
  // Whether an op's kernel reads or writes an operand in bf16 as well as in floats.
  static bool takes_halves(const Op& op, bool is_output, size_t i) {
    switch (op.kind) {
      case OpKind::gemm:
        return is_output ? op.in[2] == kNoTensor : i < 2;
      case OpKind::gelu_forward:
      case OpKind::gelu_backward:
        return true;
      case OpKind::column_sum:
        return !is_output && i == 0;
      case OpKind::layer_norm_forward:
      case OpKind::attention_forward:
      case OpKind::attention_backward:
        return is_output && i == 0;
      case OpKind::softmax_cross_entropy:
        return i == 0;
      case OpKind::row_max:
        return !is_output && i == 0;
      case OpKind::softmax_partial:
        return !is_output && i == 2;
      case OpKind::cross_entropy:
        return is_output ? i == 0 : i == 3;
      default:
        return false;
    }
  }

  // Activations that nothing reads or writes otherwise exist in bf16 only: products would read them
  // so anyway, and half of the bytes are moved.
  void choose_halves() {
    std::vector<bool> eligible(program_.tensors.size());
    std::vector<TensorId> order;
    for (TensorId id = 0; id < program_.tensors.size(); ++id) {
      const TensorInfo& it = program_.tensor(id);
      eligible[id] = it.role == Role::activation && it.element == Element::real;
      if (it.role == Role::activation) order.push_back(id);
    }
    // Not those that share memory with others.
    std::ranges::sort(order, {}, [&](TensorId id) { return program_.tensor(id).offset; });
    size_t end = 0;
    TensorId reaching = kNoTensor;
    for (const TensorId id : order) {
      const TensorInfo& it = program_.tensor(id);
      if (it.offset < end) eligible[id] = eligible[reaching] = false;
      if (it.offset + it.room() <= end) continue;
      end = it.offset + it.room();
      reaching = id;
    }
    std::vector<bool> multiplied(program_.tensors.size());
    for (const Op& op : program_.ops) {
      auto see = [&](const auto& operands, bool is_output) {
        for (size_t i = 0; i < operands.size(); ++i) {
          if (operands[i] == kNoTensor) continue;
          if (!takes_halves(op, is_output, i)) eligible[operands[i]] = false;
          if (op.kind == OpKind::gemm) multiplied[operands[i]] = true;
        }
      };
      see(op.in, false);
      see(op.out, true);
    }
    for (const TensorId id : order)
      if (eligible[id] && multiplied[id]) program_.tensors[id].element = Element::bf16;
  }

  bool is_parameter(TensorId id) const { return program_.tensor(id).role == Role::parameter; }

  Status product(Op& op) {
    op.name = std::string(half_ ? "gemm_bf16_" : "gemm_f32_") + std::to_string(op.n[0]) + "x" +
              std::to_string(op.n[1]) + "x" + std::to_string(op.n[2]);
    op.n[6] = program_.tensor(op.out[0]).element == Element::bf16;
    if (is_parameter(op.in[1]) && op.n[0] >= kPackRows && (half_ || op.n[4] == 0))
      if (Status status = pack(op); !status.ok()) return status;
    if (!half_) return ok_status();
    if (op.n[3] != 0) {  // the library is slower with a transposed first operand
      op.in = {converted(op.in[0], op.n[2], op.n[0], true), op.in[1], op.in[2], op.in[3]};
      op.n[3] = 0;
    } else {
      op.in = {converted(op.in[0], op.n[0], op.n[2], false), op.in[1], op.in[2], op.in[3]};
    }
    // Parameters have a bf16 copy already, kept by the optimiser.
    if (!is_parameter(op.in[1]) && program_.tensor(op.in[1]).element == Element::real) {
      const int64_t rows = op.n[4] != 0 ? op.n[1] : op.n[2];
      const int64_t columns = op.n[4] != 0 ? op.n[2] : op.n[1];
      op.in = {op.in[0], converted(op.in[1], rows, columns, false), op.in[2], op.in[3]};
    }
    return ok_status();
  }

  TensorId add_tensor(TensorInfo info) {
    size_t& end = program_.arena_elements[static_cast<size_t>(info.role)];
    info.offset = end;
    end += info.room();
    program_.tensors.push_back(std::move(info));
    return static_cast<TensorId>(program_.tensors.size() - 1);
  }

  // The second operand becomes its copy in the library's layout.
  Status pack(Op& op) {
    const auto key = std::tuple(op.in[1], op.n[0], op.n[4], op.n[6]);
    auto found = packed_.find(key);
    if (found == packed_.end()) {
      ProductShape shape = product_shape(program_, op);
      shape.operands = half_ ? Element::bf16 : Element::real;
      shape.packed_b = true;
      const auto bytes = library_.packed_bytes(shape);
      if (!bytes.ok()) return bytes.error();
      const size_t each = half_ ? sizeof(uint16_t) : sizeof(float);
      const TensorId copy = add_tensor(
          {.name = program_.tensor(op.in[1]).name + ".packed" + (op.n[4] != 0 ? ".transposed" : ""),
           .shape = {(*bytes + each - 1) / each},
           .role = Role::constant,
           .element = shape.operands});
      packs_.push_back({.kind = OpKind::pack, .in = {op.in[1]}, .out = {copy}, .n = op.n});
      found = packed_.emplace(key, copy).first;
    }
    op.in = {op.in[0], found->second, op.in[2], op.in[3]};
    op.n[5] = 1;
    return ok_status();
  }

  // The bf16 copy of x, [rows, columns] or its transpose, made where it is first needed.
  TensorId converted(TensorId x, int64_t rows, int64_t columns, bool transposed) {
    if (program_.tensor(x).element == Element::bf16 && !transposed) return x;
    const auto key = std::pair(x, transposed);
    if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
    TensorId from = x;
    if (const auto plain = copies_.find(std::pair(x, false)); plain != copies_.end())
      from = plain->second;
    const TensorId copy =
        add_tensor({.name = program_.tensor(x).name + (transposed ? ".bf16.transposed" : ".bf16"),
                    .shape = {program_.tensor(x).size()},
                    .element = Element::bf16});
    ops_.push_back(
        {.kind = OpKind::convert, .in = {from}, .out = {copy}, .n = {rows, columns, transposed}});
    copies_[key] = copy;
    return copy;
  }

  // Copies of what an op has overwritten are stale.
  void forget(TensorId written) {
    const TensorInfo& it = program_.tensor(written);
    std::erase_if(copies_,
                  [&](const auto& copy) { return overlap(program_.tensor(copy.first.first), it); });
  }

  Program& program_;
  bool half_;
  const ProductLibrary& library_;
  std::vector<Op> ops_, packs_;
  /// By parameter, m, whether transposed, whether the result is of bf16.
  std::map<std::tuple<TensorId, int64_t, int64_t, int64_t>, TensorId> packed_;
  std::map<std::pair<TensorId, bool>, TensorId> copies_;  ///< by source, transposed
};

}  // namespace

Status prepare_operands(Program& program, Precision precision, const ProductLibrary& library) {
  return Rewriter(program, precision, library).rewrite();
}

}  // namespace stallscope::trainer
