// Lowering: a program rewritten for speed. The same mathematics in fewer, larger
// kernels, with matrix operands as the product library wants them and memory
// reused. Programs that stand for a user's own (samples) are not lowered.
#pragma once

#include "base/result.h"
#include "trainer/products/library.h"
#include "trainer/program/program.h"

namespace stallscope::trainer {

enum class Precision : uint8_t { fp32, bf16 };

/// Backward sections of layers ("layer.N") compute what they need of their forward section again,
/// so that only the inputs of layers are kept. Dropout drops the same; collectives run again where
/// their results are needed. Before lowering.
void recompute_layers(Program& program);

/// A product followed by the addition of a bias (and a residual) becomes one op; the steps of a
/// cross-entropy over an unsharded vocabulary become one.
void fuse(Program& program);

/// Names each product by its shape; gives weights a copy in the library's layout, made anew after
/// every optimiser step, where that is faster; in bf16, gives every other operand a copy of that
/// type (transposed where the product wants it so). Masters, sums and all else stay floats.
Status prepare_operands(Program& program, Precision precision, const ProductLibrary& library);

/// Lets activations share memory when they are never needed at the same time. Tensors that no op
/// reads (the loss) keep their values to the end of the step. Returns the elements that are
/// live at once at most: what no plan can go below.
size_t plan_memory(Program& program);

/// Adds the sum of the gradients over replicas, in buckets of at least so many elements: each
/// starts on the communication stream when its last gradient is there, and the optimiser waits for
/// all. After the operands are prepared.
void reduce_gradients(Program& program, size_t bucket_elements);

/// Moves the sums of backward sections to the communication stream where other work lies between
/// what they wait for and what waits for them. After memory is planned.
void overlap_collectives(Program& program);

/// Fuses, prepares operands and plans memory. `library` may be null with fp32.
/// Returns what plan_memory returns.
Result<size_t> lower(Program& program, Precision precision, const ProductLibrary* library);

/// The product that an op of kind gemm stands for.
ProductShape product_shape(const Program& program, const Op& op);

}  // namespace stallscope::trainer
