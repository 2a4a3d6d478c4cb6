#include "trainer/program/lower.h"

#include <utility>

namespace stallscope::trainer {
namespace {

// How many ops read each tensor.
std::vector<int> readers(const Program& program) {
  std::vector<int> count(program.tensors.size());
  for (const Op& op : program.ops)
    for (const TensorId id : op.in)
      if (id != kNoTensor) ++count[id];
  return count;
}

bool adds_to(const Program& program, const Op& product, const Op& sum) {
  return product.kind == OpKind::gemm && sum.kind == OpKind::bias_add &&
         sum.in[0] == product.out[0] && product.in[2] == kNoTensor && sum.in[1] != kNoTensor &&
         program.tensor(sum.in[1]).size() == static_cast<size_t>(product.n[1]);
}

Op with_epilogue(const Op& product, const Op& sum) {
  Op op = product;
  op.in = {product.in[0], product.in[1], sum.in[2], sum.in[1]};
  op.out = {sum.out[0]};
  return op;
}

bool is_whole_cross_entropy(const Op& first, const Op& second, const Op& third) {
  return first.kind == OpKind::row_max && second.kind == OpKind::softmax_partial &&
         third.kind == OpKind::cross_entropy && third.out[0] == first.in[0];
}

}  // namespace

void fuse(Program& program) {
  const std::vector<int> read = readers(program);
  std::vector<Op> ops;
  for (Section& section : program.sections) {
    const auto first = static_cast<uint32_t>(ops.size());
    for (uint32_t i = section.first; i < section.last; ++i) {
      const Op& op = program.ops[i];
      const uint32_t left = section.last - i;
      if (left > 1 && adds_to(program, op, program.ops[i + 1]) && read[op.out[0]] == 1) {
        ops.push_back(with_epilogue(op, program.ops[++i]));
      } else if (left > 2 && is_whole_cross_entropy(op, program.ops[i + 1], program.ops[i + 2])) {
        Op whole = program.ops[i + 2];
        whole.kind = OpKind::softmax_cross_entropy;
        whole.in = {op.in[0], whole.in[1]};
        ops.push_back(std::move(whole));
        i += 2;
      } else {
        ops.push_back(op);
      }
    }
    section = {section.name, first, static_cast<uint32_t>(ops.size())};
  }
  program.ops = std::move(ops);
}

ProductShape product_shape(const Program& program, const Op& op) {
  const Element operands = program.tensor(op.in[0]).element;
  using Base = ProductShape::Base;
  return {.m = static_cast<size_t>(op.n[0]),
          .n = static_cast<size_t>(op.n[1]),
          .k = static_cast<size_t>(op.n[2]),
          .transpose_a = op.n[3] != 0,
          .transpose_b = op.n[4] != 0,
          .operands = operands,
          .result = program.tensor(op.out[0]).element,
          .packed_b = op.n[5] != 0,
          .bias = op.in[3] != kNoTensor,
          .base = op.in[2] == kNoTensor   ? Base::none
                  : op.in[2] == op.out[0] ? Base::in_place
                                          : Base::other};
}

Result<size_t> lower(Program& program, Precision precision, const ProductLibrary* library) {
  fuse(program);
  if (library != nullptr) {
    if (precision == Precision::bf16 && !library->takes_bf16())
      return Error{.message = "precision bf16 needs AVX-512, which this CPU lacks: use fp32"};
    if (Status status = prepare_operands(program, precision, *library); !status.ok())
      return status.error();
  } else if (precision == Precision::bf16) {
    return Error{.message = "precision bf16 needs oneDNN"};
  }
  return plan_memory(program);
}

}  // namespace stallscope::trainer
